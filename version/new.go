package version

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"sync/atomic"
	"time"
)

// New returns a Negotiator. opts may be nil. It panics if there is no contract or no strategy, if a name is malformed or
// there twice, if a default or a successor is not among the contracts, if dates contradict each other, if a handler is
// missing, and if a handler is a [Reserver] and has an objection.
func New(contracts []Contract, strategies []Strategy, opts *Options) *Negotiator {
	n := &Negotiator{strategies: slices.Clone(strategies)}
	if opts != nil {
		n.opts = *opts
	}
	if n.opts.Now == nil {
		n.opts.Now = time.Now
	}
	n.addStrategies()
	n.addContracts(contracts)
	n.setDefault()
	n.reserve()
	return n
}

// addStrategies lets each strategy of the package say its places; the others have one each. It comes before the contracts,
// which speak of media types and count by place.
func (n *Negotiator) addStrategies() {
	if len(n.strategies) == 0 {
		panic("version: no strategies: no request can name a contract")
	}
	for _, s := range n.strategies {
		switch s := s.(type) {
		case nil:
			panic("version: a strategy is nil")
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

// add adds a place of a strategy.
func (n *Negotiator) add(s Strategy, p place) {
	p.source = s.Source()
	if p.label == "" {
		p.label = p.source
	}
	n.places = append(n.places, p)
}

// addContracts sorts the contracts, so that the first that a name covers is the newest.
func (n *Negotiator) addContracts(contracts []Contract) {
	if len(contracts) == 0 {
		panic("version: no contracts: nothing can be served")
	}
	for _, c := range contracts {
		n.contracts = append(n.contracts, n.newContract(c))
	}
	slices.SortFunc(n.contracts, func(a, b *contract) int {
		return cmp.Compare(b.name.number, a.name.number)
	})
	for i, c := range n.contracts {
		if i > 0 && c.name == n.contracts[i-1].name {
			panic("version: the contract " + c.Name + " is given twice")
		}
		if c.Successor != "" && (c.Successor == c.Name || n.lookup(c.Successor) == nil) {
			panic(fmt.Sprintf("version: the successor %s of %s is not another contract", c.Successor, c.Name))
		}
	}
}

// newContract does for a contract all that need not be done for a request.
func (n *Negotiator) newContract(given Contract) *contract {
	c := &contract{Contract: given}
	c.Brownouts = slices.Clone(given.Brownouts)
	var ok bool
	if c.name, ok = parseNumbers(c.Name, '.'); !ok || c.name.parts != fullParts {
		panic(fmt.Sprintf("version: %q is no name of a contract, which is MAJOR.MINOR.PATCH", c.Name))
	}
	if c.Handler == nil && !c.retired(n.opts.Now()) {
		panic("version: the contract " + c.Name + " has no Handler, and is not retired")
	}
	c.checkDates()
	c.describe()
	if n.media != nil {
		c.media = n.media.prefix + "." + c.Name + "."
	}
	c.used.seed = maphash.MakeSeed()
	c.used.sources = make([]atomic.Int64, len(n.places))
	return c
}

// checkDates panics if the dates of a contract contradict each other.
func (c *contract) checkDates() {
	complain := func(what string) { panic("version: the contract " + c.Name + " " + what) }
	for _, at := range []time.Time{c.Contract.Deprecated, c.Sunset} {
		if year := at.UTC().Year(); year < 1 || year > 9999 {
			complain("has a date that no header field can tell")
		}
	}
	if !c.Sunset.IsZero() && c.Sunset.Before(c.Contract.Deprecated) {
		complain("has its Sunset before it is Deprecated (RFC 9745 section 4)")
	}
	for _, w := range c.Brownouts {
		switch {
		case c.Sunset.IsZero():
			complain("has Brownouts and no Sunset")
		case !w.From.Before(w.Until):
			complain("has a brownout that ends before it begins")
		case w.Until.After(c.Sunset):
			complain("has a brownout after its Sunset")
		}
	}
}

// setDefault refuses a default that nobody can be given, now rather than with the first request.
func (n *Negotiator) setDefault() {
	name := n.opts.Default
	if name == "" {
		return
	}
	n.fallback = n.lookup(name)
	switch {
	case n.fallback == nil:
		panic(fmt.Sprintf("version: the default %q is the full name of no contract", name))
	case n.fallback.retired(n.opts.Now()):
		panic("version: the default " + name + " is retired")
	}
}

// reserve tells the handlers which names they cannot use.
func (n *Negotiator) reserve() {
	member := ""
	if n.body != nil {
		member = n.body.Name
	}
	for _, c := range n.contracts {
		if r, ok := c.Handler.(Reserver); ok {
			if err := r.Reserve(member, n.query); err != nil {
				panic(fmt.Sprintf("version: the contract %s: %v", c.Name, err))
			}
		}
	}
}
