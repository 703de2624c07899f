package resourcetest_test

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// TestWalkEndsAtTheFirstRepeatedItem: a store that ignores After is called a few times, and is reported once in
// each case. Without an end each case would read hundreds of pages in each order.
func TestWalkEndsAtTheFirstRepeatedItem(t *testing.T) {
	t.Parallel()
	mutant := findMutant(t, "after is ignored")
	for _, name := range []string{"page-walk", "page-changes"} {
		pages := 0
		verdict := resourcetest.Judge(t, func() ops {
			o := mutant.newOps()
			list := o.List
			o.List = func(ctx context.Context, q query.Query) seq {
				if q.After != nil {
					pages++
				}
				return list(ctx, q)
			}
			return o
		}, smallOptions(), unhurried, name)[name]
		if len(verdict.Failures) != 1 || !strings.Contains(verdict.Failures[0], "which an earlier page has returned") {
			t.Errorf("%s has the failures %q, want one about a repeated item", name, verdict.Failures)
		}
		if pages > 20 {
			t.Errorf("%s read %d pages after a position, want at most 20", name, pages)
		}
	}
}

// TestDependentCasesAreSkipped runs the kit for a broken store in a process of its own.
func TestDependentCasesAreSkipped(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunOfABrokenStore$", "-test.v")
	cmd.Env = append(os.Environ(), brokenVariable+"=after is ignored")
	out, _ := cmd.CombinedOutput()
	for _, want := range []string{
		"--- FAIL: TestRunOfABrokenStore/page-walk",
		"--- SKIP: TestRunOfABrokenStore/page-deleted",
		"--- SKIP: TestRunOfABrokenStore/page-changes",
		"skipped: the case builds on page-walk, which failed",
		"--- PASS: TestRunOfABrokenStore/filter-comparisons",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output of a broken store lacks %q:\n%s", want, out)
		}
	}
	if n := strings.Count(string(out), "--- FAIL: TestRunOfABrokenStore/"); n != 1 {
		t.Errorf("%d cases failed, want 1", n)
	}
}

// TestFoundations: a case builds on cases that exist and precede it.
func TestFoundations(t *testing.T) {
	t.Parallel()
	position := map[string]int{}
	for i, name := range resourcetest.CaseNames() {
		position[name] = i + 1
	}
	for name, names := range resourcetest.Foundations() {
		for _, other := range names {
			if position[name] == 0 || position[other] == 0 || position[other] >= position[name] {
				t.Errorf("%s builds on %s, but they are at positions %d and %d", name, other, position[name],
					position[other])
			}
		}
	}
}

// TestInstants: a correct store passes that returns each time with a monotonic clock reading, and in another
// location than before.
func TestInstants(t *testing.T) {
	t.Parallel()
	zones := []*time.Location{time.UTC, time.FixedZone("east", 7200), time.FixedZone("west", -12600)}
	var n atomic.Int64
	instant := func(at time.Time) time.Time {
		at = at.Round(0)
		if now := time.Now(); at.Sub(now).Abs() < 100*365*24*time.Hour {
			at = now.Add(at.Sub(now) - 1).Add(1) // the same instant with another monotonic clock reading
		}
		return at.In(zones[int(n.Add(1))%len(zones)])
	}
	elsewhere := func(it item, err error) (item, error) {
		v := it.Value.clone()
		v.Born, v.Created, v.Added = instant(v.Born), instant(v.Created), instant(v.Added)
		if v.Ends != nil {
			ends := instant(*v.Ends)
			v.Ends = &ends
		}
		it.Value = v
		return it, err
	}
	opts := smallOptions()
	opts.Support = query.Support{Sort: thingSupport.Sort}
	resourcetest.RunOps(t, func(*testing.T) ops {
		o := resource.OpsOf(newTable(""))
		return resource.Ops[thing]{
			Get: func(ctx context.Context, id string) (item, error) { return elsewhere(o.Get(ctx, id)) },
			List: func(ctx context.Context, q query.Query) seq {
				return each(o.List(ctx, q), func(it *item) { *it, _ = elsewhere(*it, nil) })
			},
			Create: func(ctx context.Context, v thing) (item, error) {
				v.Created = time.Now()
				return elsewhere(o.Create(ctx, v))
			},
			Replace: func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				return elsewhere(o.Replace(ctx, id, expect, v))
			},
		}
	}, opts)
}

// TestResourceUnderTest: Options.Resource determines the queries and the id field, and a Support that differs
// is rejected.
func TestResourceUnderTest(t *testing.T) {
	t.Parallel()
	served := resource.New("things", newTable(""), &resource.Options[thing]{Query: query.Support{
		Filter: map[string][]query.Op{"name": {query.Eq, query.In}, "size": {query.Lt}}, Sort: []string{"size", "name"}}})
	filters := func(name ...query.Op) map[string][]query.Op {
		return map[string][]query.Op{"name": name, "size": {query.Lt}}
	}
	tests := []struct {
		name    string
		support query.Support
		want    string // empty if it is accepted
	}{
		{"left out", query.Support{}, ""},
		{"in another order", query.Support{Filter: filters(query.In, query.Eq), Sort: []string{"name", "size"}}, ""},
		{"fewer", query.Support{Filter: filters(query.Eq), Sort: []string{"size"}},
			`Options.Support.Filter["name"] is [eq], but the resource things declares [eq in]
Options.Support.Sort is [size], but the resource things declares [name size]
use the same query.Support for both, or leave Options.Support out`},
		{"more", query.Support{Filter: filters(query.Eq, query.In, query.Lt), Sort: []string{"size", "name"}},
			`Options.Support.Filter["name"] is [eq in lt], but the resource things declares [eq in]
use the same query.Support for both, or leave Options.Support out`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			err := resourcetest.SetupError(&resourcetest.Options[thing]{Resource: served, Support: tt.support})
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("the error differs (-want +got):\n%s", diff)
			}
		})
	}
	type other struct {
		ID string `json:"id"`
	}
	err := resourcetest.SetupError(&resourcetest.Options[other]{Resource: served})
	if err == nil || !strings.Contains(err.Error(), "want resourcetest_test.other") {
		t.Errorf("a resource of another type returned %v", err)
	}
	report, _ := resourcetest.Describe(resource.OpsOf(newTable("")), &resourcetest.Options[thing]{Resource: served})
	if strings.Contains(report, "filters") {
		t.Errorf("the filters of the resource are not tested: %s", report)
	}
}
