package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
)

func (p *pairs) other(rng *rand.Rand, who string) string {
	for {
		if other := users[rng.IntN(len(users))]; other != who {
			return other
		}
	}
}

func (p *pairs) otherCaller(rng *rand.Rand, c call) call {
	c.who = p.other(rng, c.who)
	return c
}

func (p *pairs) nobody(_ *rand.Rand, c call) call {
	c.who = ""
	return c
}

func (p *pairs) same(_ *rand.Rand, c call) call { return c }

// otherDoor is another order: GraphQL is another operation, whatever it says.
func (p *pairs) otherDoor(rng *rand.Rand, c call) call { return p.newMutation(rng, c.who, 1) }

func (p *pairs) otherRequest(rng *rand.Rand, c call) call {
	return p.newNote(rng, p.other(rng, c.who), -1)
}

func (p *pairs) otherPath(_ *rand.Rand, c call) call {
	for _, id := range p.orders[c.who] {
		if path := "/orders/" + id; path != c.path {
			c.path = path
			break
		}
	}
	return c
}

func (p *pairs) otherMethod(_ *rand.Rand, c call) call {
	c.method, c.media = http.MethodPut, "application/json"
	c.body = fmt.Sprintf(`{"lines":[{"itemId":1,"qty":1}],"customerId":%d}`, 1+slices.Index(users, c.who))
	return c
}

// otherContract is what newOrder asks for, in the words of contract 2.0.0.
func (p *pairs) otherContract(_ *rand.Rand, c call) call {
	var o struct {
		ItemID, Qty int
		Note        string
	}
	if err := json.Unmarshal([]byte(c.body), &o); err != nil {
		panic(err) // newOrder made it
	}
	c.path, c.body = "/v2/orders", fmt.Sprintf(`{"note":%q,"lines":[{"itemId":%d,"qty":%d}]}`, o.Note, o.ItemID, o.Qty)
	return c
}

func (p *pairs) otherAccept(_ *rand.Rand, c call) call {
	c.accept = "application/vnd.shop.1.1.0.order+json"
	return c
}

// otherSpelling has other white space, another order of members, and another way to write a character.
func (p *pairs) otherSpelling(_ *rand.Rand, c call) call {
	head, note, _ := strings.Cut(strings.TrimSuffix(c.body, "}"), `,"note":`)
	note = strings.Replace(note, "s", `\u0073`, 1)
	c.body = "{ \"note\" :\t" + note + " ,\n" + strings.TrimPrefix(head, "{") + "}\r\n"
	return c
}

func (p *pairs) otherMeaning(_ *rand.Rand, c call) call {
	c.body = strings.Replace(c.body, "secret", "other", 1)
	return c
}

// apartFrom is for a second request that has nothing to do with the first: it is done as if that had not been.
func apartFrom(first, second reply) error {
	switch {
	case second.replayed:
		return errReplayed
	case !second.done() || strings.Contains(second.body, `"errors"`):
		return fmt.Errorf("%d %s", second.status, second.body)
	case second.body == first.body || second.location != "" && second.location == first.location:
		return errors.New("both made the same order")
	}
	return nil
}

// strangerTo is for a second request of nobody: it is told nothing, not even that there was a first.
func strangerTo(_, second reply) error {
	if second.status != http.StatusUnauthorized || second.replayed || strings.Contains(second.body, "secret") {
		return fmt.Errorf("%d %s", second.status, second.body)
	}
	return nil
}

func repeated(first, second reply) error {
	if !second.replayed || first.essence() != second.essence() {
		return fmt.Errorf("want %s, got %s", first.essence(), second.essence())
	}
	return nil
}

// inOtherShape wants the same order, in contract 2.0.0.
func inOtherShape(first, second reply) error {
	var one struct {
		ID          int64
		ItemID, Qty int
		Note        string
	}
	var two struct {
		ID    int64
		Lines []struct{ ItemID, Qty int }
		Note  string
	}
	if err := errors.Join(json.Unmarshal([]byte(first.body), &one), json.Unmarshal([]byte(second.body), &two)); err != nil {
		return err
	}
	if !second.replayed || second.status != first.status || one.ID != two.ID || one.Note != two.Note || len(two.Lines) != 1 ||
		two.Lines[0].Qty != one.Qty {
		return fmt.Errorf("want %s, got %d %s", first.body, second.status, second.body)
	}
	return nil
}

func inOtherType(first, second reply) error {
	if !second.replayed || second.status != first.status || second.body != first.body ||
		second.media != "application/vnd.shop.1.1.0.order+json" {
		return fmt.Errorf("want %s, got %d %s %s", first.body, second.status, second.media, second.body)
	}
	return nil
}

// refusedFor is for another request under the key: it is told so, and nothing of the first.
func refusedFor(_, second reply) error {
	if second.status != http.StatusUnprocessableEntity || second.replayed ||
		!strings.Contains(second.body, "/idempotency-key-reused") || strings.Contains(second.body, "secret") {
		return fmt.Errorf("%d %s", second.status, second.body)
	}
	return nil
}
