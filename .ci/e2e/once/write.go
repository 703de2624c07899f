package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// kind is what a write does.
type kind int

const (
	create   kind = iota // POST, an item
	change               // PATCH, which adds to a list: done twice, it is there twice
	transfer             // a command, which changes an account and notes it
	remove               // DELETE, which the second time would find nothing
	kinds
)

// write is one thing that a client wants done once, and what it was told.
type write struct {
	kind                           kind
	key, method, path, media, body string

	mu      sync.Mutex
	answers map[string]int // of those that say it was done, by their essence
	id      string         // of the item that the answer names, if it names one
	unknown bool           // nobody knows
	refused string         // an answer that there is no reason for
}

// newWrite makes the nth write. A remove is of the item with the id.
func newWrite(k kind, key string, n int, id string) *write {
	w := &write{kind: k, key: key, media: "application/json", answers: map[string]int{}}
	at := strconv.Itoa(n % shared)
	switch k {
	case create:
		w.method, w.path, w.body = http.MethodPost, "/effects", fmt.Sprintf(`{"key":%q,"amount":%d}`, key, n)
	case change:
		w.method, w.path, w.media = http.MethodPatch, "/lists/"+at, "application/json-patch+json"
		w.body = fmt.Sprintf(`[{"op":"add","path":"/keys/-","value":%q}]`, key)
	case transfer:
		w.method, w.path = http.MethodPost, "/accounts/deposit"
		w.body = fmt.Sprintf(`{"account":%q,"key":%q,"amount":%d}`, at, key, n)
	case remove:
		w.method, w.path = http.MethodDelete, "/effects/"+id
	}
	return w
}

// note remembers an answer, and reports whether there is nothing more to ask.
func (w *write) note(a answer) (settled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case a.done():
		w.answers[a.essence()]++
		var made effect
		if (w.kind == create || w.kind == transfer) && json.Unmarshal([]byte(a.body), &made) == nil {
			w.id = made.ID
		}
	case a.again():
		return false
	case a.unknown():
		w.unknown = true
	default:
		w.refused = fmt.Sprintf("%s %s: %d %.300s", w.method, w.path, a.status, a.body)
	}
	return true
}

// acknowledged reports whether somebody was told that it was done.
func (w *write) acknowledged() bool { return len(w.answers) > 0 }

// writer sends writes until they are answered.
type writer struct {
	c *client
	f *fleet.Fleet
}

// persist sends a write again and again, with the same key, until it is answered. The first time it is sent to a process
// at random, copies times at once, and dies of it as die says.
func (p *writer) persist(ctx context.Context, rng *rand.Rand, w *write, copies int, die string) error {
	for {
		bases := make([]string, copies)
		for i := range bases {
			var err error
			if bases[i], err = p.f.Pick(ctx, rng); err != nil {
				return err
			}
		}
		settled := make([]bool, copies)
		var wg sync.WaitGroup
		for i := range bases {
			wg.Go(func() { settled[i] = w.note(p.c.send(ctx, bases[i], w, die)) })
		}
		wg.Wait()
		for _, one := range settled {
			if one {
				return ctx.Err()
			}
		}
		copies, die = 1, ""
		if err := pause(ctx, rng); err != nil {
			return err
		}
	}
}

// once sends a write one more time: to be told the same.
func (p *writer) once(ctx context.Context, rng *rand.Rand, w *write) error {
	base, err := p.f.Pick(ctx, rng)
	if err == nil {
		w.note(p.c.send(ctx, base, w, ""))
	}
	return err
}

// prepare makes what is changed and removed, before anybody is killed.
func prepare(c *client, base string, removed []*write) error {
	for i := range shared {
		for path, body := range map[string]string{
			fmt.Sprintf("/lists/%d", i):    fmt.Sprintf(`{"id":"%d","keys":[]}`, i),
			fmt.Sprintf("/accounts/%d", i): fmt.Sprintf(`{"id":"%d","balance":0}`, i),
		} {
			req, err := http.NewRequest(http.MethodPut, base+path, strings.NewReader(body))
			if err != nil {
				return err
			}
			req.Header.Set("Content-Type", "application/json")
			if a := c.do(req); !a.done() {
				return fmt.Errorf("PUT %s: %d %s %v", path, a.status, a.body, a.err)
			}
		}
	}
	for _, w := range removed {
		item := newWrite(create, "item-of-"+w.key, 0, "")
		a := c.send(context.Background(), base, item, "")
		item.note(a)
		if item.id == "" {
			return fmt.Errorf("POST /effects: %d %s %v", a.status, a.body, a.err)
		}
		w.path = "/effects/" + item.id
	}
	return nil
}
