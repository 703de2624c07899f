package version

import (
	"net/http"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Options adjust a [Negotiator]. The zero value is fine: then a request must name a contract.
type Options struct {
	// Default is the full name of the contract for requests that name none. Empty means that they are refused: with 404
	// where [Path] is the only strategy, else with 400. It is a name and not "the newest", so that a new contract does
	// not change what old clients get.
	Default string
	// DefaultFor chooses the default by request, such as the contract to which an account is pinned: a full name, or ""
	// for Default. What it decides is made private for caches, since nothing in the request that they know of says it.
	DefaultFor func(r *http.Request) string
	// Principal names the caller, for [Negotiator.Usage]; nil, and "", mean nobody in particular.
	Principal func(r *http.Request) string
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
}

// Reserver is a handler with names of its own. [New] tells it which member of the content and which query parameter
// mean the version ("" if none does), and panics with its error: a handler whose resources have such a field, or such
// a filter, must rename one of the two. What wraps a Reserver should be one, too, and ask it.
type Reserver interface {
	Reserve(member, parameter string) error
}

// Opaque is a handler that takes content which is nobody's but the client's: files, stored octet by octet. [Body] does not
// look into the content of a request for which any contract's handler reports true, so that a file in JSON keeps its
// member and its size has no limit. The URL is as the handler will see it. What wraps an Opaque should be one, too, and ask
// it.
type Opaque interface {
	Opaque(r *http.Request) bool
}

// Negotiator hands each request to the contract that it names. It is an [http.Handler], and all its methods are safe for
// concurrent use.
//
// Every response, whoever wrote it, says what a cache and a client have to know of versions: Vary with each header field that
// decides, merged with what the handler has put there; the contract, in the field of [Header]; Deprecation, Sunset and
// Link. A refusal is a problem document (RFC 9457) that names the contracts which are served.
//
// A CORS preflight is not refused for its version, since the request it asks for has not named anything yet.
type Negotiator struct {
	contracts  []*contract // newest first
	strategies []Strategy
	places     []place // in the order of the strategies
	opts       Options
	fallback   *contract // Options.Default
	vary       vary
	echo       []string // the fields of Header

	// What else there is to know of the strategies of this package, if they are among them.
	path      bool
	host      *Host
	query     string
	media     *media
	body      *Body
	bodyPlace int
}

// ServeHTTP answers one request.
func (n *Negotiator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := n.opts.Now()
	if isPreflight(r) && n.preflight(w, r, now) {
		return
	}
	q := inquiry{n: n, request: r, now: now, place: -1}
	q.ask()
	if q.refusal == nil {
		q.settle()
	}
	if q.refusal != nil {
		n.refuse(w, r, q.refusal, now)
		return
	}
	n.count(&q)
	// Where there is no handler the contract has been retired; a clock that goes backwards does not bring it back.
	if q.contract.retired(now) || q.contract.brownout(now) > 0 || q.contract.Handler == nil {
		n.refuse(w, r, n.gone(&q), now)
		return
	}
	n.hand(w, &q)
}

// count keeps the books for [Negotiator.Usage].
func (n *Negotiator) count(q *inquiry) {
	principal := ""
	if n.opts.Principal != nil {
		principal = n.opts.Principal(q.request)
	}
	q.contract.used.count(q.place, principal, q.now)
}

// isPreflight reports whether the request asks whether another one may be made (Fetch standard, CORS preflight).
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil &&
		r.Header["Access-Control-Request-Method"] != nil
}

// preflight hands a preflight to the contract that the URL names, since there is no other place where one can: to the
// default if it names none, and to the newest one if there is no default. It is false if no contract is served any more, and
// for a host that is not ours.
func (n *Negotiator) preflight(w http.ResponseWriter, r *http.Request, now time.Time) bool {
	q := inquiry{n: n, request: r, now: now, place: -1}
	for i := range n.places {
		p := &n.places[i]
		if p.kind != inPath && p.kind != inHost && p.kind != inQuery {
			continue
		}
		found := p.locate(n, r, now)
		if found.kind == problem.Misdirected { // which is not about versions
			return false
		}
		q.raw.note(p.kind, found.raw)
		if q.contract == nil && found.named() && !found.contract.retired(now) {
			q.contract, q.place = found.contract, i
		}
	}
	if q.contract == nil && n.fallback != nil && !n.fallback.retired(now) {
		q.contract = n.fallback
	}
	for _, c := range n.contracts {
		if q.contract == nil && c.status(now) != Preview && !c.retired(now) {
			q.contract = c
		}
	}
	if q.contract == nil || q.contract.Handler == nil {
		return false
	}
	n.hand(w, &q)
	return true
}

// find returns what a name selects, as a finding.
func (n *Negotiator) find(raw string, v name, now time.Time) finding {
	c, _ := n.resolve(v, now)
	if c == nil {
		return finding{kind: unsupported, raw: raw}
	}
	return finding{contract: c, raw: raw}
}

// read does so for a name that has not been parsed yet.
func (n *Negotiator) read(raw string, now time.Time) finding {
	v, ok := parseName(raw)
	if !ok {
		return finding{kind: malformed, raw: raw}
	}
	return n.find(raw, v, now)
}

// resolve returns the newest contract that is served and begins with the parts of v; if all of them are retired, the newest
// of these.
func (n *Negotiator) resolve(v name, now time.Time) (c *contract, served bool) {
	var retired *contract
	for _, c := range n.contracts {
		switch {
		case !v.covers(c.name), c.Preview && v.parts < fullParts:
		case !c.retired(now):
			return c, true
		case retired == nil:
			retired = c
		}
	}
	return retired, false
}

// lookup returns the contract with a full name; nil if there is none.
func (n *Negotiator) lookup(full string) *contract {
	for _, c := range n.contracts {
		if c.Name == full {
			return c
		}
	}
	return nil
}

// Contracts returns the contracts, newest first.
func (n *Negotiator) Contracts() []Contract {
	all := make([]Contract, len(n.contracts))
	for i, c := range n.contracts {
		all[i] = c.Contract
		all[i].Brownouts = slices.Clone(c.Brownouts)
	}
	return all
}

// Strategies returns the strategies in the order in which they were given.
func (n *Negotiator) Strategies() []Strategy { return append([]Strategy(nil), n.strategies...) }

// Default returns the full name of the contract for requests that name none; "" if they are refused.
func (n *Negotiator) Default() string { return n.opts.Default }

// Status returns where a contract is in its life, now. A contract in a brownout is what it is around it. It is "" if there
// is no such contract.
func (n *Negotiator) Status(contract string) Status {
	if c := n.lookup(contract); c != nil {
		return c.status(n.opts.Now())
	}
	return ""
}

// Names returns the names that select a contract now, the shortest first: 1, 1.1, 1.1.0. It is nil for a contract that is
// not served.
func (n *Negotiator) Names(contract string) []string {
	if c := n.lookup(contract); c != nil {
		return n.names(c, n.opts.Now())
	}
	return nil
}

// names returns the prefixes of a contract's name that select it, by asking for each: there are three.
func (n *Negotiator) names(c *contract, now time.Time) (all []string) {
	v := c.name
	for v.parts = 1; v.parts <= fullParts; v.parts++ {
		if selected, served := n.resolve(v, now); served && selected == c {
			all = append(all, cutParts(c.Name, v.parts))
		}
	}
	return all
}

// Resolve returns the contract that a name selects now, as rule 24 of the negotiation has it: the newest one served with
// the prefix. It is "" if the name is malformed or selects nothing that is served.
func (n *Negotiator) Resolve(name string) string {
	v, ok := parseName(name)
	if !ok {
		return ""
	}
	if c, served := n.resolve(v, n.opts.Now()); served {
		return c.Name
	}
	return ""
}
