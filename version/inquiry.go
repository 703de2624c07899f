package version

import (
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Kinds of problems, by shorter names.
const (
	malformed   = problem.MalformedVersion
	unsupported = problem.UnsupportedVersion
)

// inquiry is what is being found out about a request. It lives on the stack, so that what is asked of a request costs no
// memory before it is known who answers.
type inquiry struct {
	n        *Negotiator
	request  *http.Request
	now      time.Time
	contract *contract
	place    int // which named the contract; -1 is none
	said     string
	raw      spelling
	private  bool

	worst   finding // of what is wrong, that which the client is told
	worstAt int
	rank    rank

	content *content // what the body has been read into
	named   bool     // the content names the contract
	lazy    bool     // it may still do so

	refusal *problem.Details
}

// rank orders what may be wrong with a request: of several things the client is told the first. Who asks for a resource
// that is not there learns that before anything else.
type rank int

const (
	fine rank = iota
	notFound
	misdirected
	misspelled
	divided
	unserved
)

// rank says how early a client learns of what is wrong with what a place says.
func (p *place) rank(f *finding) rank {
	switch {
	case f.kind == problem.Misdirected:
		return misdirected
	case f.kind == problem.AmbiguousVersion:
		return divided
	case p.status == http.StatusNotFound:
		return notFound
	// in Accept it is passed over like those that are not served
	case f.kind == malformed && p.kind != inAccept:
		return misspelled
	}
	return unserved
}

// ask asks every place. Accept comes last, as it leaves a choice to the others, and the content before it, as to read it
// costs more than all of the others.
func (q *inquiry) ask() {
	var wish finding
	wished := -1
	represents := hasRepresentation(q.request)
	for i := range q.n.places {
		p := &q.n.places[i]
		switch p.kind {
		case inAccept:
			wish, wished = p.locator.locate(q.n, q.request, q.now), i
			continue
		case inType:
			if !represents {
				continue
			}
		case inContent:
			continue
		}
		found := p.locator.locate(q.n, q.request, q.now)
		q.add(i, &found)
	}
	if q.n.body != nil && represents && (q.rank == fine || q.rank > misspelled) {
		q.read(wish.named() || wish.kind != "")
	}
	if wish.contract != nil && wish.kind == "" {
		wish = q.choose(wish)
	}
	if wished >= 0 {
		q.add(wished, &wish)
	}
	if q.rank != fine {
		q.refusal = q.n.refusal(q)
	}
}

// hasRepresentation reports whether the content of the request would be a representation. That of PATCH is a patch, which is
// of no contract (RFC 5789 section 2), and other methods have none.
func hasRepresentation(r *http.Request) bool {
	return r.Method == http.MethodPost || r.Method == http.MethodPut
}

// add adds what a place says.
func (q *inquiry) add(i int, f *finding) {
	if f.contract == nil && f.kind == "" {
		return
	}
	q.raw.note(q.n.places[i].kind, f.raw)
	switch {
	case f.kind != "":
		q.fail(i, f)
	case q.contract == nil:
		q.contract, q.place, q.said = f.contract, i, f.raw
	case q.contract != f.contract:
		f.kind = problem.AmbiguousVersion
		q.fail(i, f)
	case i < q.place:
		q.place, q.said = i, f.raw
	}
}

// fail notes what is wrong, if it comes before what else is.
func (q *inquiry) fail(i int, f *finding) {
	if rank := q.n.places[i].rank(f); q.rank == fine || rank < q.rank {
		q.worst, q.worstAt, q.rank = *f, i, rank
	}
}

// choose settles what Accept leaves open: it agrees with any contract that it admits, and with the default if that is liked
// as much as others.
func (q *inquiry) choose(wish finding) finding {
	a := accept{q.n.media}
	if q.contract != nil {
		if a.admits(q.n, q.request, q.contract, q.now) {
			wish.contract = q.contract
		}
		return wish
	}
	if !wish.several {
		return wish
	}
	c, private, ok := q.n.defaultFor(q.request)
	if !ok || c == nil || c.retired(q.now) {
		return wish
	}
	if a.weight(q.n, q.request, c, q.now, true) == a.weight(q.n, q.request, wish.contract, q.now, true) {
		wish.contract = c
	}
	q.private = private
	return wish
}

// settle gives a request that names no contract to the default.
func (q *inquiry) settle() {
	if q.contract != nil {
		return
	}
	c, private, ok := q.n.defaultFor(q.request)
	switch {
	case !ok:
		q.refusal = problem.New(problem.Internal, "")
	case c == nil:
		q.refusal = q.n.required()
	}
	q.contract, q.private = c, private
}

// defaultFor returns the contract for a request that names none, nil if there is none, and whether only the request knows
// why. It is not ok if the application says a name that no contract has.
func (n *Negotiator) defaultFor(r *http.Request) (c *contract, private, ok bool) {
	if n.opts.DefaultFor == nil {
		return n.fallback, false, true
	}
	pinned := n.opts.DefaultFor(r)
	if pinned == "" {
		return n.fallback, true, true
	}
	c = n.lookup(pinned)
	return c, true, c != nil
}
