package resourcetest_test

import (
	"context"
	"errors"
	"iter"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// brokenVariable has the name of a mutant in the test binaries that tests start.
const brokenVariable = "RESOURCETEST_BROKEN"

// findMutant returns the mutant with this bug.
func findMutant(t *testing.T, bug string) mutant {
	t.Helper()
	all := mutants()
	i := slices.IndexFunc(all, func(p mutant) bool { return p.bug == bug })
	if i < 0 {
		t.Fatalf("there is no mutant %q", bug)
	}
	return all[i]
}

func TestRunOfABrokenStore(t *testing.T) {
	if os.Getenv(brokenVariable) == "" {
		t.Skip("TestRunFailsTheTest runs this test in a separate process, because it fails")
	}
	p := findMutant(t, os.Getenv(brokenVariable))
	resourcetest.RunOps(t, func(*testing.T) ops { return p.newOps() }, p.options())
}

func TestRunFailsTheTest(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunOfABrokenStore$", "-test.v")
	cmd.Env = append(os.Environ(), brokenVariable+"=an empty revision matches")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("go test of a broken store ended with %v, want a failure:\n%s", err, out)
	}
	for _, want := range []string{
		"--- FAIL: TestRunOfABrokenStore/replace-stale",
		"--- PASS: TestRunOfABrokenStore/delete-stale",
		"tested: Collection, Creator, Inserter, Replacer",
		"A write names the revision it read.",
		"-run '^TestRunOfABrokenStore$/^replace-stale$'",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("the output of a broken store lacks %q:\n%s", want, out)
		}
	}
}

// The command of a failure message runs the case, which needs a capability, without the subtest
// capabilities.
func TestReplayRunsTheCase(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunOfABrokenStore$/^replace-stale$", "-test.v")
	cmd.Env = append(os.Environ(), brokenVariable+"=an empty revision matches")
	out, err := cmd.CombinedOutput()
	if want := "--- FAIL: TestRunOfABrokenStore/replace-stale"; err == nil || !strings.Contains(string(out), want) {
		t.Errorf("%v, and the output lacks %q:\n%s", err, want, out)
	}
}

func TestFailureMessage(t *testing.T) {
	t.Parallel()
	p := findMutant(t, "an empty revision matches")
	message := resourcetest.Judge(t, p.newOps, p.options(), unhurried)["replace-stale"].Message
	pattern := regexp.MustCompile(`(?s)^Replace with revision "" of an item that has revision "[^"]+" returned no error, ` +
		`want "the item has been changed since it was read".*` +
		`\n    A write names the revision it read\. .*` +
		`\n    Seed 20261120\. Replay: RESOURCETEST_SEED=20261120 go test -C /\S+ -count=1 ` +
		`-run '\^TestFailureMessage\$/\^replace-stale\$' \.$`)
	if !pattern.MatchString(message) {
		t.Errorf("the message does not match %s:\n%s", pattern, message)
	}
}

func TestSeedReplays(t *testing.T) {
	t.Parallel()
	p := findMutant(t, "or without parentheses")
	var runs [2][]string
	for i := range runs {
		runs[i] = resourcetest.Judge(t, p.newOps, p.options(), unhurried)["filter-trees"].Failures
	}
	if len(runs[0]) == 0 {
		t.Fatal("the mutant was not detected")
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" {
		t.Errorf("two runs with one seed failed differently (-first +second):\n%s", diff)
	}
}

func TestSeedFromTheEnvironment(t *testing.T) {
	t.Setenv("RESOURCETEST_SEED", "4711")
	p := findMutant(t, "count ignores the filter")
	message := resourcetest.Judge(t, p.newOps, p.options(), unhurried)["count-list"].Message
	if !strings.Contains(message, "Seed 4711.") {
		t.Errorf("the seed of the environment was not used:\n%s", message)
	}
	t.Setenv("RESOURCETEST_SEED", "many")
	if err := resourcetest.SetupError(smallOptions()); err == nil || !strings.Contains(err.Error(), "RESOURCETEST_SEED") {
		t.Errorf("a seed that is not a number returned %v", err)
	}
}

func TestPanicIsAFailureOfItsCase(t *testing.T) {
	t.Parallel()
	verdicts := resourcetest.Judge(t, func() ops {
		o := resource.OpsOf(newTable(""))
		o.Count = func(context.Context, query.Query) (int, error) { panic("no such luck") }
		return o
	}, smallOptions(), unhurried)
	v := verdicts["count-list"]
	if !v.Panicked || !strings.Contains(v.Message, "no such luck") {
		t.Errorf("a panic gave %+v", v)
	}
	if v := verdicts["create-get"]; len(v.Failures) > 0 {
		t.Errorf("a panic in Count failed create-get: %q", v.Failures)
	}
}

func TestDescribeCapabilities(t *testing.T) {
	t.Parallel()
	o := resource.OpsOf(newTable(""))
	o.Count, o.ListByKeys, o.CountByKeys = nil, nil, nil
	report, failures := resourcetest.Describe(o, &resourcetest.Options[thing]{
		Require: []string{"Replacer", "Counter", "Teleporter"},
	})
	want := "tested: Collection, Creator, Inserter, Replacer, Deleter, Tombstoner, Restorer, Aggregator, MultiGetter, MultiInserter, Transactor, " +
		"Locker, Watcher, JSONLister, RevisionLister, Revisioner; " +
		"absent and not tested: Counter, Searcher, BatchLister, BatchCounter, filters (Options.Support declares none), groups (Options.Support declares none)"
	if diff := cmp.Diff(want, report); diff != "" {
		t.Errorf("the report differs (-want +got):\n%s", diff)
	}
	wantFailures := []string{
		"the collection does not implement resource.Counter, which Options.Require lists",
		`Options.Require: unknown capability "Teleporter"`,
	}
	if diff := cmp.Diff(wantFailures, failures); diff != "" {
		t.Errorf("the failures differ (-want +got):\n%s", diff)
	}
}

func TestInvalidOptions(t *testing.T) {
	t.Parallel()
	type unnamed struct {
		Code string `json:"code"`
	}
	type selfish struct {
		ID  string `json:"id"`
		Odd string `json:"odd" pattern:"^a$" minLength:"3"`
	}
	sorted := func(s query.Support) *resourcetest.Options[thing] { return &resourcetest.Options[thing]{Support: s} }
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"no id", resourcetest.SetupError[unnamed](nil), "Options.IDField"},
		{"unknown sort key", resourcetest.SetupError(sorted(query.Support{Sort: []string{"nme"}})), `"nme"`},
		{"sort by a list", resourcetest.SetupError(sorted(query.Support{Sort: []string{"tags"}})), `"tags"`},
		{"contains on a boolean", resourcetest.SetupError(&resourcetest.Options[thing]{Support: query.Support{
			Filter: map[string][]query.Op{"done": {query.Contains}}}}), `Options.Support.Filter["done"] has the operator "contains"`},
		{"pointer", resourcetest.SetupError[*thing](nil), "the type *resourcetest_test.thing is a pointer"},
		{"natural and sorted", resourcetest.SetupError(sorted(query.Support{Natural: true, Sort: []string{"name"}})), "Natural"},
		{"no valid value", resourcetest.SetupError[selfish](nil), "Options.New"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.err == nil || !strings.Contains(tt.err.Error(), tt.want) {
				t.Errorf("got %v, want an error that contains %s", tt.err, tt.want)
			}
		})
	}
	if err := resourcetest.SetupError(&resourcetest.Options[unnamed]{IDField: "code"}); err != nil {
		t.Errorf("Options.IDField was rejected: %v", err)
	}
}

// numbered is read-only and has integers for ids, no id beside the value, and no revisions.
type numbered struct {
	ID   uint8  `json:"id"`
	Name string `json:"name"`
}

type numbers []resource.Item[numbered]

func (n numbers) Get(_ context.Context, id string) (resource.Item[numbered], error) {
	for _, it := range n {
		if id == string('0'+rune(it.Value.ID)) {
			return it, nil
		}
	}
	return resource.Item[numbered]{}, resource.ErrNotFound
}

func (n numbers) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[numbered], error] {
	return memory.List(n, q)
}

func TestReadOnlyCollections(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		items numbers
	}{
		{"empty", nil},
		{"some", numbers{{Value: numbered{3, "c"}}, {Value: numbered{1, "a"}}, {Value: numbered{2, "a"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			resourcetest.Run(t, func(*testing.T) resource.Collection[numbered] { return tt.items },
				&resourcetest.Options[numbered]{Support: query.Support{
					Filter: map[string][]query.Op{"name": {query.Eq}}, Sort: []string{"name"},
				}})
		})
	}
}

func TestOwnValues(t *testing.T) {
	t.Parallel()
	opts := smallOptions()
	opts.New = func(n int) thing {
		return thing{Serial: strconv.Itoa(n), Code: strconv.Itoa(n), Name: strings.Repeat("x", n%5), Size: int64(n), Color: "red", Tags: []string{"own"}}
	}
	opts.Change = func(v thing) thing { v = v.clone(); v.Size += 1000; return v }
	opts.ID = func(n int) string { return "own-" + strings.Repeat("i", n+1) }
	opts.Equal = func(sent, got thing) bool { return sent.Size == got.Size }
	opts.Support.Sort = nil
	opts.Items = 20
	resourcetest.Run(t, func(*testing.T) resource.Collection[thing] { return newTable("") }, opts)
}

// TestFiltersFitTheLimits checks that a server with the default limits accepts every filter of the kit.
func TestFiltersFitTheLimits(t *testing.T) {
	t.Parallel()
	longest := 0
	for _, f := range resourcetest.Filters(t, smallOptions(), 100_000) {
		longest = max(longest, f.Terms())
	}
	if limit := 20; longest != limit {
		t.Errorf("the longest filter has %d comparisons, want %d", longest, limit)
	}
}
