package relationtest_test

import (
	"context"
	"iter"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
)

// open returns stores in memory, which join each other.
func open(*testing.T) relationtest.Stores {
	return relationtest.Stores{
		Companies: resource.OpsOf(memory.New[relationtest.Company](nil)),
		Customers: resource.OpsOf(memory.New[relationtest.Customer](nil)),
		Orders:    resource.OpsOf(memory.New[relationtest.Order](nil)),
		Lines:     resource.OpsOf(memory.New[relationtest.Line](nil)),
		Tags:      resource.OpsOf(memory.New[relationtest.Tag](nil)),
		OrderTags: resource.OpsOf(memory.New[relationtest.OrderTag](nil)),
	}
}

// decorated returns stores that cannot be joined.
func decorated(t *testing.T) relationtest.Stores {
	s := open(t)
	s.Companies = s.Companies.WithFastReads(resource.FastReads{})
	s.Customers = s.Customers.WithFastReads(resource.FastReads{})
	s.Orders = s.Orders.WithFastReads(resource.FastReads{})
	s.Lines = s.Lines.WithFastReads(resource.FastReads{})
	s.Tags = s.Tags.WithFastReads(resource.FastReads{})
	s.OrderTags = s.OrderTags.WithFastReads(resource.FastReads{})
	return s
}

func TestRun(t *testing.T) {
	for _, test := range []struct {
		name string
		open func(t *testing.T) relationtest.Stores
		opts relationtest.Options
	}{
		{"joined", open, relationtest.Options{Requests: 5000}},
		{"joined with Authorize", open, relationtest.Options{Requests: 2000, Authorize: true}},
		{"by keys", decorated, relationtest.Options{Requests: 2000}},
		{"by keys with Authorize", decorated, relationtest.Options{Requests: 1000, Authorize: true}},
	} {
		t.Run(test.name, func(t *testing.T) { relationtest.Run(t, test.open, &test.opts) })
	}
}

// mutants are bugs in the capabilities that package relationtest alone tests. Each breaks the customers.
var mutants = map[string]func(ops *resource.Ops[relationtest.Customer]){
	"links are counted, and not the items": func(ops *resource.Ops[relationtest.Customer]) {
		count := ops.CountByKeys
		ops.CountByKeys = func(ctx context.Context, field string, keys []string, q query.Query) (map[string]int, error) {
			counts, err := count(ctx, field, keys, q)
			if q.Links != nil {
				for key := range counts {
					counts[key]++
				}
			}
			return counts, err
		}
	},
	"the filter of the items is ignored": func(ops *resource.Ops[relationtest.Customer]) {
		list := ops.ListByKeys
		ops.ListByKeys = func(
			ctx context.Context, field string, keys []string, q query.Query,
		) iter.Seq2[resource.Item[relationtest.Customer], error] {
			if q.Links != nil {
				q.Filter = query.Filter{}
			}
			return list(ctx, field, keys, q)
		}
	},
}

const mutantVariable = "STOA_RELATION_MUTANT"

// TestMutant runs the kit with a bug, and fails.
func TestMutant(t *testing.T) {
	broken := mutants[os.Getenv(mutantVariable)]
	if broken == nil {
		t.Skip("TestMutantsDetected runs this test in a separate process, because it fails")
	}
	relationtest.Run(t, func(t *testing.T) relationtest.Stores {
		s := open(t)
		broken(&s.Customers)
		return s
	}, nil)
}

// TestMutantsDetected checks that the kit detects each bug.
func TestMutantsDetected(t *testing.T) {
	t.Parallel()
	for bug := range mutants {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMutant$", "-test.v")
		cmd.Env = append(os.Environ(), mutantVariable+"="+bug)
		if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "orders buyers") {
			t.Errorf("%s: %v\n%s", bug, err, out)
		}
	}
}
