package resourcetest_test

import (
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// ops and item are what the wrappers below are made of.
type (
	ops  = resource.Ops[thing]
	item = resource.Item[thing]
	seq  = iter.Seq2[item, error]
)

// mutant is a broken collection and the cases of the kit that must detect it.
type mutant struct {
	bug   string
	want  []string
	wrap  func(o ops) ops // nil: the reference itself implements the bug
	opts  *resourcetest.Options[thing]
	blind bool // the case hangs instead of failing: only the watch notices
}

// unhurried is for cases that run by the clock of the machine, and of which none blocks.
const unhurried = time.Hour

// smallOptions keep a run of all cases against all bugs short.
func smallOptions() *resourcetest.Options[thing] {
	return &resourcetest.Options[thing]{Support: thingSupport, Recreates: true, Writers: 8, Items: 40, Seed: 20261120}
}

func TestReferencePasses(t *testing.T) {
	t.Parallel()
	opts := smallOptions()
	opts.Items, opts.Writers = 0, 0
	opts.Require = []string{"Creator", "Inserter", "Replacer", "Deleter", "Tombstoner", "Restorer", "Counter", "Aggregator", "Searcher", "MultiGetter",
		"MultiInserter", "BatchLister", "BatchCounter", "Transactor", "Watcher", "JSONLister", "RevisionLister", "Revisioner"}
	resourcetest.Run(t, func(*testing.T) resource.Collection[thing] { return newTable("") }, opts)
}

func TestReferencePassesWithoutRecreates(t *testing.T) {
	t.Parallel()
	opts := smallOptions()
	opts.Recreates = false
	resourcetest.Run(t, func(*testing.T) resource.Collection[thing] {
		strict := newTable("")
		strict.recreates = false
		return strict
	}, opts)
}

func TestMutantsDetected(t *testing.T) {
	t.Parallel()
	if !full() {
		t.Log("each bug meets only the cases that must find it; STOA_MUTANTS=full runs all cases against all bugs")
	}
	for _, tt := range mutants() {
		t.Run(strings.NewReplacer(", ", "-", " ", "-").Replace(tt.bug), func(t *testing.T) {
			t.Parallel()
			verdicts := tt.judge(t)
			var caught []string
			for name, v := range verdicts {
				if len(v.Failures) > 0 && !v.Panicked {
					caught = append(caught, name)
				}
			}
			slices.Sort(caught)
			t.Logf("%-45s caught by %s", tt.bug, strings.Join(caught, ", "))
			for _, want := range tt.want {
				v, ok := verdicts[want]
				if !ok || len(v.Failures) == 0 || v.Panicked || v.Blocked != tt.blind {
					t.Errorf("%s: case %s should have found it: %+v", tt.bug, want, v)
				}
			}
		})
	}
}

// TestEveryCaseCanFail keeps cases out of the kit that no mutant ever made fail.
func TestEveryCaseCanFail(t *testing.T) {
	t.Parallel()
	var proven []string
	for _, tt := range mutants() {
		proven = append(proven, tt.want...)
	}
	for name, contract := range resourcetest.Contracts() {
		if !slices.Contains(proven, name) {
			t.Errorf("no mutant must be detected by case %s", name)
		}
		if len(contract) < 60 || !strings.HasSuffix(contract, ".") && !strings.HasSuffix(contract, ".)") {
			t.Errorf("the contract of case %s does not explain anything: %q", name, contract)
		}
	}
}

// mutants returns all mutants.
func mutants() []mutant {
	return slices.Concat(referenceMutants(), writeMutants(), absentMutants(), readMutants(), listMutants(), transactionMutants(),
		naturalMutants(), watchMutants(), fastMutants(), searchMutants(), stampMutants())
}

// judge runs the cases that must find the bug, or with STOA_MUTANTS=full all cases.
func (p mutant) judge(t *testing.T) (verdicts map[string]resourcetest.Verdict) {
	t.Helper()
	only := p.want
	if full() {
		only = nil
	}
	if p.blind { // its goroutines do not end, which a bubble does not allow
		return resourcetest.Judge(t, p.newOps, p.options(), 2*time.Second, only...)
	}
	synctest.Test(t, func(t *testing.T) { verdicts = resourcetest.Judge(t, p.newOps, p.options(), time.Hour, only...) })
	return verdicts
}

// newOps returns the broken collection.
func (p mutant) newOps() ops {
	o := resource.OpsOf(newTable(p.bug))
	if p.wrap != nil {
		o = p.wrap(o)
	}
	return o
}

func (p mutant) options() *resourcetest.Options[thing] {
	if p.opts != nil {
		return p.opts
	}
	return smallOptions()
}

// referenceMutants returns mutants that the reference store implements itself: races, locks, transactions.
func referenceMutants() []mutant {
	return []mutant{
		{bug: "two creations use one id", want: []string{"create-race"}},
		{bug: "insert checks without a lock", want: []string{"insert-race"}},
		{bug: "replace checks without a lock", want: []string{"replace-race", "replace-duel"}},
		{bug: "delete checks without a lock", want: []string{"delete-race", "delete-replace-race"}},
		{bug: "the id of the last item is used again", want: []string{"create-id-reuse"}},
		{bug: "create overwrites inserted items", want: []string{"create-beside-insert"}},
		{bug: "unique is checked without a lock", want: []string{"unique-race"}},
		{bug: "a list of unique fields is not checked", want: []string{"unique-taken"}},
		{bug: "a list of unique fields is its first field", want: []string{"unique-together"}},
		{bug: "a restored item has another value", want: []string{"restore-get"}},
		{bug: "restore of an existing item succeeds", want: []string{"restore-existing"}},
		{bug: "restore does not check unique values", want: []string{"restore-unique"}},
		{bug: "restore checks without a lock", want: []string{"restore-race", "restore-insert-race"}},
		{bug: "the revision restarts at 1 after a deletion", want: []string{"delete-insert"}},
		{bug: "a stopped list keeps the lock", want: []string{"list-stop"}, blind: true},
		{bug: "keeps the caller's value", want: []string{"alias-stored"}},
		{bug: "transactions do not lock", want: []string{"tx-isolation", "tx-race", "tx-lock"}},
		{bug: "a rollback keeps everything", want: []string{"tx-rollback", "tx-race", "restore-rollback"}},
		{bug: "a rollback keeps tombstones", want: []string{"tx-rollback"}},
		{bug: "a panic commits", want: []string{"tx-panic"}},
		{bug: "an inner transaction commits", want: []string{"tx-nested"}},
		{bug: "AfterCommit runs after a rollback", want: []string{"tx-after-commit", "tx-nested"}},
		{bug: "AfterCommit runs twice", want: []string{"tx-after-commit"}},
		{bug: "AfterRollback does not run", want: []string{"tx-after-commit"}},
		{bug: "getrevision does not use the transaction", want: []string{"fastreads-transaction", "cache-rollback"}},
		{bug: "a transaction is not in its context", want: []string{"tx-after-commit", "cache-rollback"}},
		{bug: "a rolled back change is yielded", want: []string{"watch-rollback"}},
	}
}
