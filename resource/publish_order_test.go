package resource_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// TestOrderOfEvents changes four letters from 16 concurrent writers through all contracts. The
// events of each letter are its history from its creation: each begins with the state in which the
// last one ended, and the last one ends with the stored state. The number of events is the number
// of effective writes.
func TestOrderOfEvents(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		log  func(b *postbox) feed.Log
		// number of kinds of writes in write; the last kind is transactions, which only a log in
		// the same transaction orders
		handlers int
	}{
		{"shared", func(b *postbox) feed.Log { return b.log }, 6},
		{"shared, run again", func(b *postbox) feed.Log {
			runner := &again{b.db, 2}
			b.ops.Transactions = func() tx.Runner { return runner }
			return feed.NewMemory(&feed.MemoryOptions{Runner: runner})
		}, 6},
		{"none", func(b *postbox) feed.Log { return feed.NewMemory(nil) }, 5},
		{"another", func(b *postbox) feed.Log { return feed.NewMemory(&feed.MemoryOptions{Runner: memory.NewDB()}) }, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				b := newPostbox(t, "shared")
				b.log = tt.log(b)
				var mu sync.Mutex
				hooks := 0
				b.opts.After = func(context.Context, resource.Op, *letter, *letter) { mu.Lock(); hooks++; mu.Unlock() }
				b.open(t)
				var wg sync.WaitGroup
				for writer := range 16 {
					wg.Go(func() {
						random := rand.New(rand.NewPCG(7, uint64(writer)))
						for n := range 40 {
							b.write(t, random, tt.handlers, fmt.Sprint(writer, "-", n))
						}
					})
				}
				wg.Wait()
				events := b.events(t)
				same(t, "events", hooks, len(events))
				same(t, "enough happened", true, len(events) > 100)
				first := map[string]bool{}
				for _, e := range events {
					kind, rest, _ := strings.Cut(e, " ")
					id, _, _ := strings.Cut(rest, " ")
					if !first[id] {
						first[id] = true
						same(t, "the first event of "+id, "created", kind)
					}
				}
			})
		})
	}
}

// slow is a log that waits for goOn before it appends a deletion.
type slow struct {
	*feed.Memory
	goOn chan struct{}
}

func (s slow) Append(ctx context.Context, events ...*feed.Event) error {
	if events[0].Kind == feed.Deleted {
		<-s.goOn
	}
	return s.Memory.Append(ctx, events...)
}

// TestCreationWaitsForDeletion: if events are appended after their writes, the creation of a
// deleted id is reported after the deletion.
func TestCreationWaitsForDeletion(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := newPostbox(t, "none")
		log := slow{b.log.(*feed.Memory), make(chan struct{})}
		b.log = log
		b.ops.Deleted = nil // no tombstones
		b.open(t)
		create(t, b.letters, `{"id":"a","text":"x"}`)
		var both sync.WaitGroup
		both.Go(func() { wantStatus(t, do(t.Context(), t, b.letters, "delete a", ""), http.StatusNoContent) })
		synctest.Wait() // it is deleted in the store and waits for the log
		both.Go(func() { create(t, b.letters, `{"id":"a","text":"y"}`) })
		synctest.Wait()
		close(log.goOn)
		both.Wait()
		b.wantEvents(t, `created a null -> {"id":"a","text":"x"}`, `deleted a {"id":"a","text":"x"} -> null`,
			`created a null -> {"id":"a","text":"y"}`)
	})
}

// write does one random write to one of the letters. handlers is the number of kinds of writes. Each
// text is written once.
func (b *postbox) write(t testing.TB, random *rand.Rand, handlers int, text string) {
	id := strconv.Itoa(random.IntN(4))
	doc := fmt.Sprintf(`{"id":%q,"text":%q}`, id, text)
	var a *answer
	switch random.IntN(handlers) {
	case 0:
		a = do(t.Context(), t, b.letters, "create", doc)
	case 1:
		a = do(t.Context(), t, b.letters, "delete "+id, "")
	case 2:
		a = do(t.Context(), t, b.letters, "patch "+id, fmt.Sprintf(`{"text":%q}`, text))
	case 3, 4:
		a = do(t.Context(), t, b.letters, "put "+id, doc)
	case 5:
		a = do(t.Context(), t, b.letters, "batch", operations(`{"op":"replace","id":"`+id+`","value":`+doc+`}`,
			`{"op":"patch","id":"`+id+`","patch":{"stars":`+strconv.Itoa(1+random.IntN(1000))+`}}`))
	}
	if a.err != nil && !slices.Contains([]problem.Kind{problem.Exists, problem.Gone, problem.NotFound},
		resource.Problem(a.err).Kind) {
		t.Errorf("%s: %v", a.line, a.err)
	}
}
