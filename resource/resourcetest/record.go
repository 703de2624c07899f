package resourcetest

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// testCase is one requirement and its test.
type testCase struct {
	name     string
	needs    capability
	contract string // part of the failure message: the requirement and its reason
	run      func(k *kit)
}

// foundations are the cases that a case builds on. If one of them has failed, the case is skipped:
// its failures would have the same cause, and often obscure it.
var foundations = map[string][]string{
	"create-race":              {"create-get"},
	"create-id-reuse":          {"create-get"},
	"create-beside-insert":     {"create-get"},
	"insert-duplicate":         {"insert-get"},
	"insert-race":              {"insert-get"},
	"insertmany-all-or-none":   {"insertmany-get"},
	"insertmany-deleted":       {"insertmany-get"},
	"insertmany-transaction":   {"insertmany-get"},
	"replace-get":              {"create-get", "insert-get"},
	"replace-stale":            {"replace-get"},
	"replace-revisions":        {"replace-get"},
	"replace-race":             {"replace-get"},
	"replace-duel":             {"replace-get"},
	"delete-get":               {"create-get", "insert-get"},
	"delete-stale":             {"delete-get"},
	"delete-race":              {"delete-get"},
	"delete-replace-race":      {"delete-get", "replace-get"},
	"delete-insert":            {"delete-get"},
	"tombstone-deleted":        {"delete-get"},
	"tombstone-precedes-stale": {"delete-get"},
	"tombstone-recreate":       {"delete-get"},
	"restore-get":              {"delete-get"},
	"restore-existing":         {"delete-get"},
	"restore-unique":           {"restore-get"},
	"restore-race":             {"restore-get"},
	"restore-insert-race":      {"restore-get"},
	"restore-rollback":         {"restore-get"},
	"list-get":                 {"create-get", "insert-get"},
	"list-sort":                {"list-get"},
	"list-limit":               {"list-get"},
	"list-stop":                {"list-get"},
	"page-walk":                {"list-sort", "list-limit"},
	"page-deleted":             {"page-walk"},
	"page-changes":             {"page-walk"},
	"page-natural":             {"list-limit"},
	"filter-comparisons":       {"list-get"},
	"filter-trees":             {"filter-comparisons"},
	"count-list":               {"list-get"},
	"aggregate-groups":         {"list-get"},
	"aggregate-exact":          {"aggregate-groups"},
	"aggregate-pages":          {"aggregate-groups"},
	"search-match":             {"list-sort", "filter-comparisons"},
	"search-rank":              {"search-match"},
	"search-changes":           {"search-rank"},
	"search-groups":            {"search-match", "aggregate-groups"},
	"search-write":             {"search-match"},
	"getmany-get":              {"create-get", "insert-get"},
	"listby-list":              {"list-sort"},
	"cancel-write":             {"list-get"},
	"cancel-read":              {"list-get"},
	"cancel-list":              {"list-get"},
	"value-edges":              {"create-get", "insert-get"},
	"value-hard":               {"create-get", "insert-get"},
	"alias-stored":             {"create-get", "insert-get"},
	"alias-returned":           {"create-get", "insert-get"},
	"unique-taken":             {"create-get", "insert-get"},
	"unique-together":          {"create-get", "insert-get"},
	"unique-race":              {"unique-taken"},
	"tx-commit":                {"create-get", "insert-get"},
	"tx-rollback":              {"tx-commit"},
	"tx-panic":                 {"tx-rollback"},
	"tx-nested":                {"tx-rollback"},
	"tx-after-commit":          {"tx-commit"},
	"tx-isolation":             {"tx-commit"},
	"tx-race":                  {"tx-commit"},
	"tx-lock":                  {"tx-commit"},
	"watch-changes":            {"create-get", "insert-get"},
	"watch-resume":             {"watch-changes"},
	"watch-rollback":           {"watch-changes", "tx-rollback"},
	"watch-race":               {"watch-changes"},
	"listjson-list":            {"list-get"},
	"listrevisions-list":       {"list-get"},
	"getrevision-get":          {"create-get", "insert-get"},
	"fastreads-transaction":    {"tx-rollback", "listjson-list", "listrevisions-list", "getrevision-get"},
	"cache-rollback":           {"tx-isolation", "fastreads-transaction"},
}

// missing returns a case that this one builds on, directly or through others, and that has failed,
// or "".
func (c testCase) missing(failed map[string]bool) string {
	names := slices.Clone(foundations[c.name])
	for i := 0; i < len(names); i++ { // there are no cycles: a case follows those that it builds on
		if failed[names[i]] {
			return names[i]
		}
		names = append(names, foundations[names[i]]...)
	}
	return ""
}

// cases returns all cases, simple ones first.
func cases() []testCase {
	return slices.Concat(getCases(), createCases(), insertCases(), insertManyCases(),
		replaceCases(), deleteCases(), tombstoneCases(), restoreCases(),
		listCases(), pageCases(),
		filterCases(), aggregateCases(), searchCases(), manyCases(), cancelCases(),
		valueCases(), uniqueCases(), transactionCases(), watchCases(),
		fastCases())
}

// record has the findings of one case.
type record struct {
	mu       sync.Mutex
	failures []string
	notes    []string
	panicked bool
	blocked  bool
}

// add appends a failure or a note.
func (r *record) add(list *[]string, format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	*list = append(*list, fmt.Sprintf(format, args...))
}

// catch records a panic of the collection as a failure. It is deferred in each goroutine that calls
// the collection.
func (r *record) catch() {
	if p := recover(); p != nil {
		r.add(&r.failures, "the collection panicked: %v\n%s", p, debug.Stack())
		r.mu.Lock()
		defer r.mu.Unlock()
		r.panicked = true
	}
}

// result returns a copy that goroutines which are still running cannot change.
func (r *record) result() *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	return &record{failures: slices.Clone(r.failures), notes: slices.Clone(r.notes),
		panicked: r.panicked, blocked: r.blocked}
}

// try runs the case with a new collection, in a goroutine of its own, so that a case that blocks
// fails alone.
func (c testCase) try(ctx context.Context, s *setup, ops operations) *record {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rec := &record{}
	k := &kit{
		setup: s, ops: ops, able: capabilitiesOf(ops, s.Support), ctx: ctx, rec: rec,
		rng: rand.New(rand.NewPCG(s.Seed, caseHash(c.name))),
	}
	rec.within(s.patience, func() { c.run(k) })
	return rec.result()
}

// caseHash gives each case its own random choices.
func caseHash(name string) uint64 {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return hash.Sum64()
}

// within runs a case in a goroutine of its own, and waits up to patience.
func (r *record) within(patience time.Duration, run func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer r.catch()
		run()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		r.add(
			&r.failures,
			"the case did not end within %v: a call blocks, for example because an iterator that was "+
				"stopped early kept a lock or a connection",
			patience,
		)
		r.mu.Lock()
		r.blocked = true
		r.mu.Unlock()
	}
}
