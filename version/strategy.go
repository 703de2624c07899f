package version

import (
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Strategy is one place in a request where a client may name a contract. The ones in this package are [Path], [Host],
// [Query], [Header], [MediaType] and [Body]; an application can have its own, such as a claim of a token.
//
// A name is [v]MAJOR[.MINOR[.PATCH]]: 1, v1, 1.1, 1.1.0. What the strategy finds is taken as the client wrote it: a
// malformed name and one that selects nothing are answered with 400, and one that selects another contract than a second
// source of the same request is, too.
//
// A Strategy is called from many goroutines at once.
type Strategy interface {
	// Source says where the name stands, as problem details tell it to a client: "the query parameter version".
	Source() string
	// Vary returns the names of the request header fields that decide; nil where it is the URL or the content, which
	// caches know of by themselves.
	Vary() []string
	// Find returns the name that r holds, and false if it holds none. It changes nothing about r and does not read its
	// content.
	Find(r *http.Request) (name string, ok bool)
}

// builtin is a Strategy of this package. It knows more than the interface says: its status, its part in what the handler
// sees, a choice of several contracts.
type builtin interface {
	Strategy
	install(n *Negotiator)
}

// once panics if a strategy is given twice, of which there is no use but as a mistake.
func once(twice bool, what string) {
	if twice {
		panic("version: the strategy " + what + " is given twice")
	}
}

// place is where in a request a name can stand. A strategy has one, but MediaType has two.
type place struct {
	locator
	kind   kind
	source string // as Selection tells it
	label  string // as problems tell it
	status int    // of a name that selects nothing; 0 is that of the kind of problem

	parameter, header, pointer string // what problems point at, if anything
}

// locator finds out what a place says. It is asked about every request.
type locator interface {
	locate(n *Negotiator, r *http.Request, now time.Time) finding
}

// kind says what has to be known of a place beside what it found: how to repeat it in links.
type kind int

const (
	inOther kind = iota
	inPath
	inHost
	inQuery
	inAccept
	inType    // of the content
	inContent // which is not asked like the others, see [inquiry.read]
)

// spelling is how the parts of the URL name the contract, so that links can do it in the same way.
type spelling struct {
	path, query string // as the client wrote it
	host        bool
}

func (s *spelling) note(k kind, raw string) {
	switch k {
	case inPath:
		s.path = raw
	case inHost:
		s.host = raw != ""
	case inQuery:
		s.query = raw
	}
}

// finding is what a place says. The zero value is nothing.
type finding struct {
	contract *contract    // nil if there is none with that name
	kind     problem.Kind // what is wrong with it; "" if nothing is
	raw      string       // as the client wrote it
	other    string       // the same, where the place disagrees with itself
	media    string       // the name in a media type
	several  bool         // other contracts are liked as much
}

// named reports whether the place selects a contract.
func (f *finding) named() bool { return f.kind == "" && f.contract != nil }

// and returns what a place says that says both.
func (f finding) and(g finding) finding {
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
		f.kind, f.other = problem.AmbiguousVersion, g.raw
		return f
	case g.kind != "":
		return g
	}
	return f
}

// custom is the place of a Strategy that is not of this package.
type custom struct{ Strategy }

func (c custom) locate(n *Negotiator, r *http.Request, now time.Time) finding {
	if found, ok := c.Find(r); ok {
		return n.read(found, now)
	}
	return finding{}
}
