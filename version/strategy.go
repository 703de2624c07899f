package version

import (
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Strategy finds the name of a contract in one part of a request. This package has [Path], [Host],
// [Query], [Header], [MediaType] and [Body]. An application can implement others, for example for a
// claim of a token.
//
// A name is [v]MAJOR[.MINOR[.PATCH]]: 1, v1, 1.1 or 1.1.0. The [Negotiator] validates the names
// that a Strategy finds. It responds with 400 if a name is malformed, selects no contract, or
// contradicts another part of the request.
//
// Implementations must be safe for concurrent use.
type Strategy interface {
	// Source describes where the name is, for problem details: "the query parameter version".
	Source() string
	// Vary returns the names of the request header fields that Find reads. It returns nil if Find
	// reads the URL or the body only, because caches need no Vary for those.
	Vary() []string
	// Find returns the name in r, and false if there is none. It must not modify r or read its
	// body.
	Find(r *http.Request) (name string, ok bool)
}

// builtin is a Strategy of this package. It can register several places, and it defines their
// status codes and what is removed from the request.
type builtin interface {
	Strategy
	install(n *Negotiator)
}

// rejectTwice panics if a strategy is given twice.
func rejectTwice(twice bool, what string) {
	if twice {
		panic("version: the strategy " + what + " is given twice; remove one")
	}
}

// place is a location in a request that can name a contract. Each strategy has one, except
// MediaType, which has two.
type place struct {
	locator
	kind   kind
	source string // for contract.Selection
	label  string // for problem details
	status int    // status of malformed and unsupported names; 0 is that of the problem kind

	parameter, header, pointer string // location in problem documents, if any
}

// locator reads a place. It is called for every request and must be safe for concurrent use.
type locator interface {
	locate(n *Negotiator, r *http.Request, now time.Time) match
}

// kind distinguishes the places that need special treatment, such as those that are part of the
// URL.
type kind int

const (
	inOther kind = iota
	inPath
	inHost
	inQuery
	inAccept
	inType    // Content-Type
	inContent // the body; it has no locator, see [negotiation.readBody]
)

// spelling is how the URL names the contract. Links repeat it.
type spelling struct {
	path, query string // as received
	host        bool
}

// record notes how the request spells its version, so that links can repeat it.
func (s *spelling) record(k kind, raw string) {
	switch k {
	case inPath:
		s.path = raw
	case inHost:
		s.host = raw != ""
	case inQuery:
		s.query = raw
	}
}

// match is the result of reading one place. The zero value means that the place names nothing.
type match struct {
	contract *contract    // nil if no contract has the name
	kind     problem.Kind // kind of error; "" if there is none
	raw      string       // as received
	otherRaw string       // a second, contradicting value of the same place
	media    string       // representation name in a media type
	tied     bool         // Accept prefers several contracts equally
}

// selects reports whether the match is valid and names a contract.
func (f *match) selects() bool { return f.kind == "" && f.contract != nil }

// merge combines two values of one place.
func (f match) merge(g match) match {
	switch {
	case f.contract == nil && f.kind == "":
		return g
	case f.kind == problem.MalformedVersion:
		return f
	case g.kind == problem.MalformedVersion:
		return g
	case f.kind == problem.AmbiguousVersion:
		return f
	case f.contract != nil && g.contract != nil && f.contract != g.contract:
		f.kind, f.otherRaw = problem.AmbiguousVersion, g.raw
		return f
	case g.kind != "":
		return g
	}
	return f
}

// custom is the place of a Strategy from outside this package.
type custom struct{ Strategy }

func (c custom) locate(n *Negotiator, r *http.Request, now time.Time) match {
	if found, ok := c.Find(r); ok {
		return n.matchName(found, now)
	}
	return match{}
}
