package version

import (
	"net/http"
	"time"
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
// a filter, must rename one of the two.
type Reserver interface {
	Reserve(member, parameter string) error
}

// Negotiator hands each request to the contract that it names. It is an [http.Handler], and all its methods are safe for
// concurrent use.
//
// Every response, whoever wrote it, says what a cache and a client have to know of versions: Vary with each header field that
// decides, merged with what the handler has put there; the contract, in the field of [Header]; Deprecation, Sunset and
// Link. A refusal is a problem document (RFC 9457) that names the contracts which are served.
//
// A CORS preflight is never refused, since the request it asks for has not named anything yet.
type Negotiator struct {
	todo int
}

// New returns a Negotiator. opts may be nil. It panics if there is no contract or no strategy, if a name is malformed or
// there twice, if a default or a successor is not among the contracts, if dates contradict each other, if a handler is
// missing, and if a handler is a [Reserver] and has an objection.
func New(contracts []Contract, strategies []Strategy, opts *Options) *Negotiator {
	return &Negotiator{}
}

// ServeHTTP answers one request.
func (n *Negotiator) ServeHTTP(w http.ResponseWriter, r *http.Request) {}

// Contracts returns the contracts, newest first.
func (n *Negotiator) Contracts() []Contract { return nil }

// Strategies returns the strategies in the order in which they were given.
func (n *Negotiator) Strategies() []Strategy { return nil }

// Default returns the full name of the contract for requests that name none; "" if they are refused.
func (n *Negotiator) Default() string { return "" }

// Status returns where a contract is in its life, now. A contract in a brownout is what it is around it. It is "" if there
// is no such contract.
func (n *Negotiator) Status(contract string) Status { return "" }

// Names returns the names that select a contract now, the shortest first: 1, 1.1, 1.1.0. It is nil for a contract that is
// not served.
func (n *Negotiator) Names(contract string) []string { return nil }

// Resolve returns the contract that a name selects now, as rule 24 of the negotiation has it: the newest one served with
// the prefix. It is "" if the name is malformed or selects nothing that is served.
func (n *Negotiator) Resolve(name string) string { return "" }

// List serves the list of contracts as JSON: their names, statuses, dates and documents. It is neutral: mount it where no
// contract is asked for.
func (n *Negotiator) List() http.Handler { return nil }

// Usage tells how much a contract is used, since a contract can be retired only when it is not.
type Usage struct {
	Contract string
	// Requests counts those that were handed to the contract, or refused because it is retired.
	Requests int64
	// Last is when the last of them came; zero if none did.
	Last time.Time
	// Sources counts them by where the contract was named; "" is for those to which it is the default.
	Sources map[string]int64
	// Principals counts them by caller. Only so many callers are remembered; those beyond are counted under "".
	Principals map[string]int64
}

// Usage returns the counts since the start of the program, newest contract first.
func (n *Negotiator) Usage() []Usage { return nil }
