// Package linearizetest tests whether a collection is linearizable: the results of concurrent calls
// must be possible if the calls were executed one after another, each between its start and its
// end.
//
// It records histories of concurrent Get, Insert, Replace and Delete calls and uses porcupine to
// search for a valid order. It finds faults that the specific tests of package resourcetest miss.
// The package is a module of its own, so that porcupine is not a dependency of the main module.
//
//	func TestLinearizable(t *testing.T) {
//		linearizetest.Run(t, func(t *testing.T) resource.Ops[Order] {
//			return resource.OpsOf(NewOrders(openDatabase(t)))
//		}, func(n int) Order { return Order{Total: n} }, nil)
//	}
//
// If a history has no valid order, the test fails and prints the calls of the item concerned and
// the seed. The seed determines the calls of each client, but not their timing.
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

// Options configures [Run]. The zero value checks 100 histories of 300 operations.
type Options struct {
	// Histories is the number of histories, each with a new collection. Default 100.
	Histories int
	// Operations is the number of calls in a history. Default 300.
	Operations int
	// Clients is the number of concurrent goroutines. Default 8.
	Clients int
	// Items is the number of items that are used at the same time. Default 3.
	Items int
	// ID returns the nth id. Default "id-<n>".
	ID func(n int) string
	// Recreates declares that Insert accepts the ids of deleted items. Default false.
	Recreates bool
	// Seed is the seed of the first history; each further one adds 1. Default 1.
	Seed uint64
}

// withDefaults returns o with defaults for zero values. o may be nil.
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

// Run tests a collection that has Insert, Replace and Delete. newOps returns an empty collection
// and is called for each history. newValue returns a different value for each n. It must be safe
// for concurrent use. opts may be nil.
func Run[T any](t *testing.T, newOps func(t *testing.T) resource.Ops[T], newValue func(n int) T,
	opts *Options) {
	t.Helper()
	o := opts.withDefaults()
	// Each history has a new collection, so a failure needs only its own seed.
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

// History is a list of calls with their results.
type History []porcupine.Operation

// Judge returns the calls for which h has no valid order, as text; "" if it is linearizable.
// recreates is Options.Recreates. If the search takes more than ten minutes per item, the result is
// reported as undecided.
func Judge(h History, recreates bool) string {
	m := model(recreates)
	// The search of porcupine is exponential in the worst case.
	const timeout = 10 * time.Minute
	for _, part := range m.Partition(h) {
		switch porcupine.CheckOperationsTimeout(m, part, timeout) {
		case porcupine.Illegal:
			return describe(m, shortest(m, part))
		case porcupine.Unknown:
			return "undecided: the search took more than ten minutes\n"
		}
	}
	return ""
}

// shortest returns the shortest prefix of an invalid history that is invalid. It ends a prefix only
// if no call is in progress, because such a call may already have had its effect.
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
	// Invalid prefixes stay invalid when calls are added, so a binary search is possible.
	n := sort.Search(len(cuts)-1, func(i int) bool { return !porcupine.CheckOperations(m, part[:cuts[i]]) })
	return part[:cuts[n]]
}

// describe formats the last calls of a history.
func describe(m porcupine.Model, part []porcupine.Operation) string {
	const maxCalls = 30
	var b strings.Builder
	if skipped := len(part) - maxCalls; skipped > 0 {
		fmt.Fprintf(&b, "    (%d calls before these)\n", skipped)
		part = part[skipped:]
	}
	for _, op := range part {
		fmt.Fprintf(&b, "    [%5d,%5d] client %d: %s\n", op.Call, op.Return, op.ClientId,
			m.DescribeOperation(op.Input, op.Output))
	}
	return b.String()
}
