// Package linearizetest checks that a collection is linearizable: that whatever many callers do at once, their answers
// are those of a collection to which one call after the other was made.
//
// It records histories of concurrent Get, Insert, Replace and Delete, each call with what it was told, and has porcupine
// look for an order that explains them. Package resourcetest tests the promises one by one; this package finds what
// nobody thought of. It is a module of its own, so that the root module does without porcupine:
//
//	func TestLinearizable(t *testing.T) {
//		linearizetest.Run(t, func(t *testing.T) resource.Ops[Order] {
//			return resource.OpsOf(NewOrders(openDatabase(t)))
//		}, func(n int) Order { return Order{Total: n} }, nil)
//	}
//
// A history without an order is printed, from the item on which it fails, with the seed that made it. The seed fixes
// what each client does; which client is faster is up to the machine.
package linearizetest

import (
	"fmt"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/stoa-go/stoa/resource"
)

// Options adjust [Run]. The zero value checks 100 histories of 300 operations.
type Options struct {
	// Histories is how many histories are recorded and checked, each with a collection of its own.
	Histories int
	// Operations is the length of one history.
	Operations int
	// Clients is how many goroutines make it; 0 means 8.
	Clients int
	// Items is how many items they fight over at a time; 0 means 3.
	Items int
	// ID returns the nth id; nil means "id-<n>".
	ID func(n int) string
	// Recreates says that Insert gives deleted ids a second life.
	Recreates bool
	// Seed determines what the clients do; 0 means 1, so that a run is like the one before.
	Seed uint64
}

// withDefaults returns o with every zero filled in.
func (o *Options) withDefaults() Options {
	full := Options{}
	if o != nil {
		full = *o
	}
	for field, value := range map[*int]int{&full.Histories: 100, &full.Operations: 300, &full.Clients: 8,
		&full.Items: 3} {
		if *field == 0 {
			*field = value
		}
	}
	if full.ID == nil {
		full.ID = func(n int) string { return fmt.Sprintf("id-%d", n) }
	}
	if full.Seed == 0 {
		full.Seed = 1
	}
	return full
}

// Run checks a collection with Insert, Replace and Delete. newOps is called for each history and returns an empty one;
// newValue returns a value that differs for each n. opts may be nil.
func Run[T any](t *testing.T, newOps func(t *testing.T) resource.Ops[T], newValue func(n int) T,
	opts *Options) {
	t.Helper()
	o := opts.withDefaults()
	for i := range o.Histories {
		seed := o.Seed + uint64(i)
		h, err := Record(t.Context(), newOps(t), newValue, &o, seed)
		if err != nil {
			t.Fatalf("history %d, seed %d: %v", i, seed, err)
		}
		if verdict := Judge(h, o.Recreates); verdict != "" {
			t.Fatalf("history %d is not linearizable: no order of these calls explains their answers.\n%s"+
				"    Seed %d: linearizetest.Options{Seed: %[3]d, Histories: 1}", i, verdict, seed)
		}
	}
}

// History is what happened: every call that was made of a collection, with its answer.
type History []porcupine.Operation

// Judge returns the part of a history that no order of its calls explains, or the empty string if there is none.
func Judge(h History, recreates bool) string {
	m := model(recreates)
	const patience = 10 * time.Minute // porcupine's search is exponential in the worst case
	for _, part := range m.Partition(h) {
		switch porcupine.CheckOperationsTimeout(m, part, patience) {
		case porcupine.Illegal:
			return describe(m, shortest(m, part))
		case porcupine.Unknown:
			return "no order was found in ten minutes, and none was ruled out\n"
		}
	}
	return ""
}

// shortest returns the shortest beginning of an illegal history that is illegal by itself. It cuts only where no call is
// under way: a call that is may have had its effect already, and a history without it would be illegal for no reason.
func shortest(m porcupine.Model, part []porcupine.Operation) []porcupine.Operation {
	var cuts []int
	busy := int64(0)
	for i, op := range part {
		if op.Call > busy {
			cuts = append(cuts, i)
		}
		busy = max(busy, op.Return)
	}
	cuts = append(cuts, len(part))
	n := sort.Search(len(cuts)-1, func(i int) bool { return !porcupine.CheckOperations(m, part[:cuts[i]]) })
	return part[:cuts[n]]
}

// describe prints the last calls of a history; with the last ones it begins to be illegal.
func describe(m porcupine.Model, part []porcupine.Operation) string {
	const most = 30
	var b strings.Builder
	if skipped := len(part) - most; skipped > 0 {
		fmt.Fprintf(&b, "    (%d calls before these)\n", skipped)
		part = part[skipped:]
	}
	for _, op := range part {
		fmt.Fprintf(&b, "    [%5d,%5d] client %d: %s\n", op.Call, op.Return, op.ClientId,
			m.DescribeOperation(op.Input, op.Output))
	}
	return b.String()
}
