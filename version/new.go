package version

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// New returns a Negotiator. Contracts may be in any order. The order of the strategies decides
// which one Source of contract.Selection returns. opts may be nil.
//
// New panics if there is no contract or no strategy, if a name is malformed or not unique, or if
// the default or a successor is not among the contracts. It also panics if dates contradict each
// other or [Options.MinDeprecation], if [Contract.At] is not valid, if a [Reserver] returns an error,
// and if [Options.Snapshots] show that a contract breaks clients. A contract that is not retired must
// have either a handler or At.
func New(contracts []Contract, strategies []Strategy, opts *Options) *Negotiator {
	n := &Negotiator{strategies: slices.Clone(strategies)}
	if opts != nil {
		n.opts = *opts
	}
	if n.opts.Now == nil {
		n.opts.Now = time.Now
	}
	if n.opts.MinDeprecation == 0 {
		n.opts.MinDeprecation = defaultMinDeprecation
	}
	n.addStrategies()
	n.addContracts(contracts)
	n.initProxies()
	n.setDefault()
	n.reserve()
	n.addSnapshots()
	return n
}

// addStrategies registers the places of all strategies. It runs before addContracts, which needs
// the media types and the number of places.
func (n *Negotiator) addStrategies() {
	if len(n.strategies) == 0 {
		panic("version: no strategies; pass at least one, such as version.Path{}")
	}
	for _, s := range n.strategies {
		switch s := s.(type) {
		case nil:
			panic("version: nil strategy; remove it")
		case builtin:
			s.install(n)
		default:
			n.add(s, place{locator: custom{s}})
		}
	}
	n.vary.names = newVary(n.strategies)
	if len(n.vary.names) > 0 {
		n.vary.line = n.vary.merge("")
	}
}

// add registers a place of a strategy.
func (n *Negotiator) add(s Strategy, p place) {
	p.source = s.Source()
	if p.label == "" {
		p.label = p.source
	}
	n.places = append(n.places, p)
}

// addContracts sorts the contracts from new to old, so that the first match of a name is the
// newest.
func (n *Negotiator) addContracts(contracts []Contract) {
	if len(contracts) == 0 {
		panic("version: no contracts; pass at least one")
	}
	for _, c := range contracts {
		n.contracts = append(n.contracts, n.newContract(c))
	}
	slices.SortFunc(n.contracts, func(a, b *contract) int {
		return cmp.Compare(b.name.number, a.name.number)
	})
	for i, c := range n.contracts {
		if i > 0 && c.name == n.contracts[i-1].name {
			panic("version: contract " + c.Name + " is given twice; each name must be unique")
		}
		if c.Successor != "" && (c.Successor == c.Name || n.lookup(c.Successor) == nil) {
			panic(fmt.Sprintf("version: Successor %q of contract %s is not the name of another contract",
				c.Successor, c.Name))
		}
	}
}

// newContract validates a contract and computes its header values.
func (n *Negotiator) newContract(given Contract) *contract {
	c := &contract{Contract: given}
	c.Brownouts = slices.Clone(given.Brownouts)
	var ok bool
	if c.name, ok = parseParts(c.Name, '.'); !ok || c.name.parts != fullParts {
		panic(fmt.Sprintf("version: contract name %q is invalid; use MAJOR.MINOR.PATCH, such as 1.1.0",
			c.Name))
	}
	if h := reflect.ValueOf(c.Handler); h.Kind() == reflect.Pointer && h.IsNil() {
		panic(fmt.Sprintf("version: contract %s: Handler is a nil %T; pass an initialized one",
			c.Name, c.Handler))
	}
	c.remote = newRemote(&given)
	if !c.served() && !c.retired(n.opts.Now()) {
		panic("version: contract " + c.Name +
			" has no Handler and no At; only a retired contract may have none")
	}
	c.checkDates()
	n.checkDeprecation(c)
	c.initHeader()
	if n.media != nil {
		c.mediaPrefix = n.media.prefix + "." + c.Name + "."
	}
	c.usage.seed = maphash.MakeSeed()
	c.usage.sources = make([]atomic.Int64, len(n.places))
	return c
}

// checkDates panics if the dates of a contract contradict each other.
func (c *contract) checkDates() {
	fail := func(what string) { panic("version: contract " + c.Name + ": " + what) }
	for _, at := range []time.Time{c.Contract.Deprecated, c.Sunset} {
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			fail("Deprecated and Sunset must be between the years 1 and 9999")
		}
	}
	if !c.Sunset.IsZero() && c.Sunset.Before(c.Contract.Deprecated) {
		fail("Sunset is before Deprecated (RFC 9745 section 4)")
	}
	for _, w := range c.Brownouts {
		switch {
		case c.Sunset.IsZero():
			fail("Brownouts need a Sunset")
		case !w.From.Before(w.Until):
			fail("a brownout ends before it begins")
		case w.Until.After(c.Sunset):
			fail("a brownout ends after Sunset")
		}
	}
}

// checkDeprecation panics if the period between Deprecated and Sunset is shorter than
// MinDeprecation. The Sunset of a retired contract may be its only date, because a period that is
// over cannot be corrected.
func (n *Negotiator) checkDeprecation(c *contract) {
	least, from, until := n.opts.MinDeprecation, c.Contract.Deprecated, c.Sunset
	if least < 0 || until.IsZero() || c.Preview {
		return
	}
	if from.IsZero() {
		if !c.retired(n.opts.Now()) {
			panic(fmt.Sprintf("version: contract %s has Sunset %s but no Deprecated; "+
				"set Deprecated to %s or earlier (Options.MinDeprecation is %s)",
				c.Name, date(until), date(until.Add(-least)), period(least)))
		}
		return
	}
	if found := until.Sub(from); found < least {
		panic(fmt.Sprintf("version: contract %s: Deprecated %s is %s before Sunset %s, want at least %s; "+
			"set Sunset to %s or later, or change Options.MinDeprecation",
			c.Name, date(from), period(found), date(until), period(least), date(from.Add(least))))
	}
}

// date returns a time as errors and reports show it.
func date(at time.Time) string { return at.UTC().Format(time.RFC3339Nano) }

// period returns a duration in days if it has whole days.
func period(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d%day != 0:
		return d.String()
	case d == day:
		return "1 day"
	}
	return strconv.FormatInt(int64(d/day), 10) + " days"
}

// setDefault panics if the default contract does not exist or is retired. A default that is retired
// later remains, and requests without a version are then 410.
func (n *Negotiator) setDefault() {
	name := n.opts.Default
	if name == "" {
		return
	}
	n.defaultContract = n.lookup(name)
	switch {
	case n.defaultContract == nil:
		panic(fmt.Sprintf("version: Options.Default %q is not the full name of a contract", name))
	case n.defaultContract.retired(n.opts.Now()):
		panic("version: Options.Default " + name + " is retired; choose a contract that is served")
	}
}

// reserve passes the reserved names to the handlers.
func (n *Negotiator) reserve() {
	member := ""
	if n.body != nil {
		member = n.body.Name
	}
	for _, c := range n.contracts {
		if r, ok := c.Handler.(Reserver); ok {
			if err := r.Reserve(member, n.query); err != nil {
				panic(fmt.Sprintf("version: contract %s: %v", c.Name, err))
			}
		}
	}
}
