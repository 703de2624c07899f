// Package history decides whether the responses and events that clients have received can follow from the writes that were made.
//
// register.go checks writes and reads of one item, effects.go writes with idempotency keys, events.go what subscribers receive.
// Each adds to [Violations] what cannot be.
package history

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Kind is a kind of violation.
type Kind string

const (
	Lost       Kind = "lost"         // acknowledged, or expected by a subscriber, and not there
	Torn       Kind = "torn"         // a state that no order of the writes explains
	Duplicate  Kind = "duplicate"    // an effect or an event for the second time
	Repeated   Kind = "repeated"     // an event for the second time, with the same cursor
	Changed    Kind = "changed"      // a replay that differs from the first response, or from what was stored
	Leaked     Kind = "leaked"       // a response that reveals something of another caller or request
	Disordered Kind = "out of order" // an event after a later one of the same item
	Surplus    Kind = "surplus"      // an event of something that did not happen
	Unexpected Kind = "unexpected"   // a response or a state that has no explanation
)

// maxExamples is the number of examples that are kept of each kind.
const maxExamples = 3

// Violations counts violations and keeps the first of each kind. The zero value has none. It is safe for concurrent use.
type Violations struct {
	mu       sync.Mutex
	kinds    []Kind // in the order in which they were found
	counts   map[Kind]int
	examples map[Kind][]string
}

// Add adds n violations of a kind, with one example.
func (v *Violations) Add(kind Kind, n int, format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.add(kind, n, fmt.Sprintf("%.600s", fmt.Sprintf(format, args...)))
}

func (v *Violations) add(kind Kind, n int, examples ...string) {
	if v.counts == nil {
		v.counts, v.examples = map[Kind]int{}, map[Kind][]string{}
	}
	if v.counts[kind] == 0 {
		v.kinds = append(v.kinds, kind)
	}
	v.counts[kind] += n
	room := maxExamples - len(v.examples[kind])
	v.examples[kind] = append(v.examples[kind], examples[:min(room, len(examples))]...)
}

// Merge adds the violations of other.
func (v *Violations) Merge(other *Violations) {
	other.mu.Lock()
	defer other.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, kind := range other.kinds {
		v.add(kind, other.counts[kind], other.examples[kind]...)
	}
}

// Count returns the number of violations of some kinds, or of all if none is given.
func (v *Violations) Count(kinds ...Kind) (n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for kind, count := range v.counts {
		if len(kinds) == 0 || slices.Contains(kinds, kind) {
			n += count
		}
	}
	return n
}

// Examples returns the first violations of each kind.
func (v *Violations) Examples() (all []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, kind := range v.kinds {
		for _, example := range v.examples[kind] {
			all = append(all, string(kind)+": "+example)
		}
	}
	return all
}

// String returns the numbers, as in "3 lost, 1 torn".
func (v *Violations) String() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	var parts []string
	for _, kind := range v.kinds {
		parts = append(parts, fmt.Sprint(v.counts[kind], " ", kind))
	}
	if parts == nil {
		return "no violations"
	}
	return strings.Join(parts, ", ")
}

// Err returns an error if there are violations.
func (v *Violations) Err() error {
	if v.Count() == 0 {
		return nil
	}
	return errors.New(v.String())
}

// ControlErr returns an error unless a control has violations of each kind. A control that has none shows that the check
// cannot fail.
func (v *Violations) ControlErr(kinds ...Kind) error {
	for _, kind := range kinds {
		if v.Count(kind) == 0 {
			return fmt.Errorf("the control has no violation of the kind %q, so this check cannot fail", kind)
		}
	}
	return nil
}
