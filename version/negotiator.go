package version

import (
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Options configures a [Negotiator]. With the zero value, requests must name a contract.
type Options struct {
	// Default is the full name of the contract for requests that name none. If it is empty, such
	// requests are rejected: with 404 if [Path] is the only strategy, and otherwise with 400. There
	// is no setting for the newest contract, because a release would then change what existing
	// clients receive.
	Default string
	// DefaultFor returns the full name of the default contract for a request, for example the one
	// that an account is pinned to; "" means Default. An unknown name is 500. Responses are marked
	// private, because caches do not know what DefaultFor depends on. Nil means Default for all
	// requests.
	DefaultFor func(r *http.Request) string
	// Principal returns the caller for [Negotiator.Usage]; "" is an anonymous caller. Nil means
	// that all callers are anonymous.
	Principal func(r *http.Request) string
	// MinDeprecation is the minimum period between Deprecated and Sunset of a contract. [New] panics
	// if it is shorter, or if a contract that is served has a Sunset and no Deprecated. Default 60
	// days; negative means no minimum. It does not apply to preview contracts.
	MinDeprecation time.Duration
	// Snapshots are the committed snapshots of the contracts, such as the result of compat.MustLoad.
	// [New] panics if a contract breaks the rules of version names, see [Snapshots.Violations].
	// [Negotiator.List] and [Negotiator.Changelog] show the changes. Package versiontest writes snapshots
	// and compares them with the handlers. Nil means that nothing is checked and no changes are shown.
	Snapshots Snapshots
	// Transport sends the requests to contracts with [Contract.Proxy], and is required for them. Use
	// a clone of [http.DefaultTransport] with a ResponseHeaderTimeout, because otherwise only the
	// context of a request limits how long the other server may take. A timeout is 504.
	Transport http.RoundTripper
	// Logger receives errors of contracts with [Contract.Proxy]. Default [slog.Default].
	Logger *slog.Logger
	// Now is the clock. Default [time.Now].
	Now func() time.Time
}

// defaultMinDeprecation is the default of Options.MinDeprecation.
const defaultMinDeprecation = 60 * 24 * time.Hour

// Reserver is implemented by handlers that have parameters or fields of their own. [New] calls
// Reserve with the body member and the query parameter that name the version, "" if there is none.
// It panics with the returned error. A handler should return an error if one of its fields or
// filters has that name. A handler that wraps a Reserver should implement it and call the wrapped
// one.
type Reserver interface {
	Reserve(member, parameter string) error
}

// Opaque is implemented by handlers that accept opaque request bodies, such as files. [Body] does
// not read the body of a request for which the handler of any contract returns true. The request
// has the URL that the handler will see. A handler that wraps an Opaque should implement it and
// call the wrapped one.
type Opaque interface {
	Opaque(r *http.Request) bool
}

// PatchVersioner is implemented by handlers that let patches name the contract. [Body] reads the
// member of a patch that is a JSON object, such as a merge patch (RFC 7396), if the handler of any
// contract returns true. A JSON Patch (RFC 6902) has no members, so VersionInPatch is not called for
// one. The request has the URL that the handler will see. A handler that wraps a PatchVersioner should
// implement it and call the wrapped one.
type PatchVersioner interface {
	VersionInPatch(r *http.Request) bool
}

// Negotiator selects the contract of each request and passes the request to its handler. It
// implements [http.Handler]. All methods are safe for concurrent use.
//
// Every response contains Vary, merged with that of the handler, the contract in the field of
// [Header], and Deprecation, Sunset and Link. An error is a problem document (RFC 9457) with the
// names of the supported contracts.
//
// A CORS preflight is never rejected because of its version, because it cannot carry the version of
// the request that it asks for.
type Negotiator struct {
	contracts       []*contract // newest first
	strategies      []Strategy
	places          []place // in the order of the strategies
	opts            Options
	defaultContract *contract // Options.Default
	vary            varyFields
	echoFields      []string // field names of the Header strategies

	// Set by the strategies of this package.
	path      bool
	host      *Host
	query     string
	media     *media
	body      *Body
	bodyPlace int
}

// ServeHTTP selects a contract and calls its handler.
func (n *Negotiator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	now := n.opts.Now()
	if isPreflight(r) && n.preflight(w, r, now) {
		return
	}
	q := negotiation{n: n, request: r, now: now, place: -1}
	q.run()
	if q.refusal == nil {
		q.applyDefault()
	}
	if q.refusal != nil {
		n.refuse(w, r, q.refusal, now)
		return
	}
	n.count(&q)
	// A contract that nothing serves was retired when New was called, even if the clock has been set
	// back.
	if q.contract.retired(now) || q.contract.brownout(now) > 0 || !q.contract.served() {
		n.refuse(w, r, n.retiredProblem(&q), now)
		return
	}
	n.dispatch(w, &q)
}

// count records the request for [Negotiator.Usage].
func (n *Negotiator) count(q *negotiation) {
	principal := ""
	if n.opts.Principal != nil {
		principal = n.opts.Principal(q.request)
	}
	q.contract.usage.count(q.place, principal, q.now)
}

// isPreflight reports whether the request is a CORS preflight (Fetch standard).
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header["Origin"] != nil &&
		r.Header["Access-Control-Request-Method"] != nil
}

// preflight passes a CORS preflight to the contract that the URL names, otherwise to the default,
// otherwise to the newest current one. It returns false if there is none, or if the host is
// unknown.
func (n *Negotiator) preflight(w http.ResponseWriter, r *http.Request, now time.Time) bool {
	q := negotiation{n: n, request: r, now: now, place: -1}
	for i := range n.places {
		p := &n.places[i]
		if p.kind != inPath && p.kind != inHost && p.kind != inQuery {
			continue
		}
		found := p.locate(n, r, now)
		if found.kind == problem.Misdirected { // an unknown host is an error even for a preflight
			return false
		}
		q.spelled.record(p.kind, found.raw)
		if q.contract == nil && found.selects() && !found.contract.retired(now) {
			q.contract, q.place = found.contract, i
		}
	}
	if q.contract == nil && n.defaultContract != nil && !n.defaultContract.retired(now) {
		q.contract = n.defaultContract
	}
	for _, c := range n.contracts {
		if q.contract == nil && c.status(now) != Preview && !c.retired(now) {
			q.contract = c
		}
	}
	if q.contract == nil || !q.contract.served() {
		return false
	}
	n.dispatch(w, &q)
	return true
}

// matchVersion returns the match of a parsed name.
func (n *Negotiator) matchVersion(raw string, v versionName, now time.Time) match {
	c, _ := n.resolve(v, now)
	if c == nil {
		return match{kind: unsupported, raw: raw}
	}
	return match{contract: c, raw: raw}
}

// matchName parses a name and returns its match.
func (n *Negotiator) matchName(raw string, now time.Time) match {
	v, ok := parseName(raw)
	if !ok {
		return match{kind: malformed, raw: raw}
	}
	return n.matchVersion(raw, v, now)
}

// resolve returns the newest contract that is served and begins with the parts of v. If all of
// these are retired, it returns the newest retired one and false.
func (n *Negotiator) resolve(v versionName, now time.Time) (c *contract, served bool) {
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

// Contracts returns a copy of the contracts, newest first.
func (n *Negotiator) Contracts() []Contract {
	all := make([]Contract, len(n.contracts))
	for i, c := range n.contracts {
		all[i] = c.Contract
		all[i].Brownouts = slices.Clone(c.Brownouts)
	}
	return all
}

// Strategies returns a copy of the strategies in the order given to [New].
func (n *Negotiator) Strategies() []Strategy { return append([]Strategy(nil), n.strategies...) }

// Default returns the full name of the contract for requests that name none; "" if such requests
// are rejected.
func (n *Negotiator) Default() string { return n.opts.Default }

// Status returns the current status of a contract; "" if there is no contract with this full name.
// A brownout does not change the status.
func (n *Negotiator) Status(contract string) Status {
	if c := n.lookup(contract); c != nil {
		return c.status(n.opts.Now())
	}
	return ""
}

// Names returns the names that select a contract now, shortest first: 1, 1.1, 1.1.0. It returns nil
// for a contract that is not served.
func (n *Negotiator) Names(contract string) []string {
	if c := n.lookup(contract); c != nil {
		return n.names(c, n.opts.Now())
	}
	return nil
}

// names resolves each prefix of the contract's name and returns those that select it.
func (n *Negotiator) names(c *contract, now time.Time) (all []string) {
	v := c.name
	for v.parts = 1; v.parts <= fullParts; v.parts++ {
		if selected, served := n.resolve(v, now); served && selected == c {
			all = append(all, cutParts(c.Name, v.parts))
		}
	}
	return all
}

// Resolve returns the full name of the contract that name selects now: the newest served contract
// that begins with its parts. It returns "" if name is malformed or selects no contract that is
// served.
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
