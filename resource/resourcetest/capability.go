package resourcetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
)

// capability is a set of capabilities of a collection.
type capability uint

const (
	creator capability = 1 << iota
	inserter
	replacer
	deleter
	tombstoner
	counter
	aggregator
	multiGetter
	multiInserter
	grouper
	transactor
	locker
	watcher
	restorer
	jsonLister
	revisionLister
	revisioner
	searcher
	batchCounter

	// These are derived from several capabilities, or from Options.Support.
	filler     // items can be stored, by Create or Insert
	sorter     // lists can be sorted
	natural    // lists are in the order of the store
	filterer   // lists can be filtered
	fastReader // reads without values
	aggregates // items can be grouped
)

// namedCapability is a capability with the name of its interface.
type namedCapability struct {
	bit  capability
	name string
}

// capabilityNames are the interfaces of packages resource and feed, in the order of the report.
var capabilityNames = []namedCapability{
	{creator, "Creator"},
	{inserter, "Inserter"},
	{replacer, "Replacer"},
	{deleter, "Deleter"},
	{tombstoner, "Tombstoner"},
	{restorer, "Restorer"},
	{counter, "Counter"},
	{aggregator, "Aggregator"},
	{searcher, "Searcher"},
	{multiGetter, "MultiGetter"},
	{multiInserter, "MultiInserter"},
	{grouper, "BatchLister"},
	{batchCounter, "BatchCounter"},
	{transactor, "Transactor"},
	{locker, "Locker"},
	{watcher, "Watcher"},
	{jsonLister, "JSONLister"},
	{revisionLister, "RevisionLister"},
	{revisioner, "Revisioner"},
}

// capabilitiesOf returns the capabilities that can be tested.
func capabilitiesOf(ops operations, s query.Support) capability {
	var c capability
	fast := ops.FastReads()
	for bit, present := range map[capability]bool{
		creator:        ops.Create != nil,
		inserter:       ops.Insert != nil,
		replacer:       ops.Replace != nil,
		deleter:        ops.Delete != nil,
		tombstoner:     ops.Deleted != nil,
		counter:        ops.Count != nil,
		aggregator:     ops.Aggregate != nil,
		aggregates:     ops.Aggregate != nil && s.CanAggregate(),
		searcher:       ops.Search != nil && len(s.Search) > 0,
		multiGetter:    ops.GetMany != nil,
		multiInserter:  ops.InsertMany != nil && ops.Insert != nil,
		grouper:        ops.ListByKeys != nil,
		batchCounter:   ops.CountByKeys != nil,
		transactor:     ops.Transactions != nil,
		locker:         ops.GetForUpdate != nil,
		watcher:        ops.Watch != nil,
		restorer:       ops.Restore != nil,
		jsonLister:     fast.ListJSON != nil,
		revisionLister: fast.ListRevisions != nil,
		revisioner:     fast.GetRevision != nil,
		fastReader:     fast.ListJSON != nil || fast.ListRevisions != nil || fast.GetRevision != nil,
		filler:         ops.Create != nil || ops.Insert != nil,
		sorter:         !s.Natural,
		natural:        s.Natural,
		filterer:       len(s.Filter) > 0,
	} {
		if present {
			c |= bit
		}
	}
	return c
}

// has reports whether all of want are in c.
func (c capability) has(want capability) bool { return c&want == want }

// describe returns a sentence that lists the tested and the absent capabilities.
func (c capability) describe() string {
	tested, absent := []string{"Collection"}, []string(nil)
	for _, n := range capabilityNames {
		if c.has(n.bit) {
			tested = append(tested, n.name)
		} else {
			absent = append(absent, n.name)
		}
	}
	if !c.has(filterer) {
		absent = append(absent, "filters (Options.Support declares none)")
	}
	if c.has(aggregator) && !c.has(aggregates) {
		absent = append(absent, "groups (Options.Support declares none)")
	}
	if len(absent) == 0 {
		absent = []string{"nothing"}
	}
	return fmt.Sprintf("tested: %s; absent and not tested: %s",
		strings.Join(tested, ", "), strings.Join(absent, ", "))
}

// require returns an error for each name that is unknown or absent.
func (c capability) require(names []string) (failures []string) {
	for _, name := range names {
		i := slices.IndexFunc(capabilityNames, func(n namedCapability) bool { return n.name == name })
		switch {
		case i < 0:
			failures = append(failures, fmt.Sprintf("Options.Require: unknown capability %q", name))
		case !c.has(capabilityNames[i].bit):
			pkg := "resource"
			if capabilityNames[i].bit == watcher {
				pkg = "feed"
			}
			failures = append(failures, fmt.Sprintf(
				"the collection does not implement %s.%s, which Options.Require lists", pkg, name))
		}
	}
	return failures
}
