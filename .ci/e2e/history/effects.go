package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// WriteKind is what a write with a key does.
type WriteKind int

const (
	Create  WriteKind = iota // POST of an item
	Append                   // PATCH that appends to a list: twice shows
	Command                  // a command that changes an account and records that
	Remove                   // DELETE, which fails the second time
	WriteKinds
)

// Write is a write with an idempotency key, and the responses to all its requests. It is safe for concurrent use.
type Write struct {
	Kind WriteKind
	Key  string

	mu         sync.Mutex
	responses  map[string]int // of 2xx, by essence
	id         string         // of the item in the response
	unknown    bool           // the server has answered that the outcome is unknown
	unexpected string         // a response that has no explanation
}

// Record adds a response. It returns false if the request has to be repeated.
func (w *Write) Record(request string, a client.Answer) (settled bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case a.Retry():
		return false
	case a.OK():
		if w.responses == nil {
			w.responses = map[string]int{}
		}
		w.responses[a.Essence()]++
		var made struct{ ID string }
		if (w.Kind == Create || w.Kind == Command) && json.Unmarshal(a.Body, &made) == nil {
			w.id = made.ID
		}
	case a.Status == 409 && a.Problem("outcome-unknown"):
		w.unknown = true
	default:
		w.unexpected = a.Unexpected(request).Error()
	}
	return true
}

// Settled reports whether the write has a final response.
func (w *Write) Settled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.responses) > 0 || w.unexpected != ""
}

// ID returns the id of the item in the response.
func (w *Write) ID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.id
}

// Effects is how often writes were done.
type Effects struct {
	Keys, Acknowledged, Unknown, Effects int
	UnknownCreates                       int // of Unknown
	Violations
}

// String returns the numbers in one line.
func (e *Effects) String() string {
	return fmt.Sprintf("%d keys, %d effects, %d acknowledged, %d unknown: %d duplicate, %d lost, %d changed", e.Keys, e.Effects,
		e.Acknowledged, e.Unknown, e.Count(Duplicate), e.Count(Lost), e.Count(Changed))
}

// CheckEffects compares the responses to writes with their effects: left has the ids of the items that each key has left, and
// the item that a Remove was to delete under "item-of-" and its key.
func CheckEffects(writes []*Write, left map[string][]string) *Effects {
	e := &Effects{}
	for _, w := range writes {
		e.Keys++
		ids := left[w.Key]
		effects := len(ids)
		if w.Kind == Remove && len(left["item-of-"+w.Key]) == 0 {
			effects = 1
		}
		e.Effects += effects
		e.check(w, effects)
		if len(w.responses) > 1 {
			e.Add(Changed, 1, "%s got %v", w.Key, w.responses)
		} else if w.id != "" && effects == 1 && ids[0] != w.id {
			e.Add(Changed, 1, "%s got %s, and made %s", w.Key, w.id, ids[0])
		}
	}
	return e
}

// check compares the responses to one write with the number of its effects.
func (e *Effects) check(w *Write, effects int) {
	switch {
	case w.unexpected != "":
		e.Add(Unexpected, 1, "%s: %s", w.Key, w.unexpected)
	case len(w.responses) > 0:
		e.Acknowledged++
		if effects == 0 {
			e.Add(Lost, 1, "%s was acknowledged and has no effect", w.Key)
		}
	case w.unknown:
		e.Unknown++
		if w.Kind == Create {
			e.UnknownCreates++
		}
	default:
		e.Add(Unexpected, 1, "%s was never answered", w.Key)
	}
	if effects > 1 {
		e.Add(Duplicate, effects-1, "%s was done %d times", w.Key, effects)
	}
}

// Guarantee is what a server promises for writes with keys.
type Guarantee int

const (
	AtMostOnce     Guarantee = iota // or the response is that the outcome is unknown
	OnceByIdentity                  // for creates, because their ids follow from the keys; at most once for others
	ExactlyOnce
)

// Check returns an error if a guarantee was broken.
func (e *Effects) Check(g Guarantee) error {
	ok := e.Keys > 0 && e.Count() == 0
	switch g {
	case ExactlyOnce:
		ok = ok && e.Unknown == 0 && e.Effects == e.Keys && e.Acknowledged == e.Keys
	case OnceByIdentity:
		ok = ok && e.UnknownCreates == 0
	}
	if ok {
		return nil
	}
	return errors.New(e.String() + "; " + e.Violations.String() + "\n    " + strings.Join(e.Examples(), "\n    "))
}
