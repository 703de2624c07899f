package version

import (
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

const (
	malformed   = problem.MalformedVersion
	unsupported = problem.UnsupportedVersion
)

// negotiation is the state of selecting a contract for one request. It is allocated on the stack.
// Memory is allocated only after a handler has been selected.
type negotiation struct {
	n        *Negotiator
	request  *http.Request
	now      time.Time
	contract *contract
	place    int // index of the place that named the contract; -1 if none did
	raw      string
	spelled  spelling
	private  bool

	// failure is the error with the lowest rank so far, and failedPlace is where it was found.
	failure     match
	failedPlace int
	rank        failureRank

	body     *requestBody // set by readBody
	inBody   bool         // the body names the contract
	lazyBody bool         // the body is read when the handler reads it

	refusal *problem.Details
}

// failureRank orders errors: of several errors in one request, the client receives the one with the
// lowest rank. A wrong path is reported first, because the resource does not exist.
type failureRank int

const (
	rankNone failureRank = iota
	rankNotFound
	rankMisdirected
	rankMalformed
	rankAmbiguous
	rankUnsupported
)

// rank returns the rank of an error in a match of this place.
func (p *place) rank(f *match) failureRank {
	switch {
	case f.kind == problem.Misdirected:
		return rankMisdirected
	case f.kind == problem.AmbiguousVersion:
		return rankAmbiguous
	case p.status == http.StatusNotFound:
		return rankNotFound
	// in Accept, malformed ranges are skipped like unsupported ones
	case f.kind == malformed && p.kind != inAccept:
		return rankMalformed
	}
	return rankUnsupported
}

// run collects the matches of all places and combines them. The body is examined after the other
// places, because reading it is expensive. Accept is last, because the other places may choose
// among its contracts.
func (q *negotiation) run() {
	var accepted match
	acceptPlace := -1
	represents := hasRepresentation(q.request)
	for i := range q.n.places {
		p := &q.n.places[i]
		switch p.kind {
		case inAccept:
			accepted, acceptPlace = p.locator.locate(q.n, q.request, q.now), i
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
	inBody := represents || q.request.Method == http.MethodPatch
	if q.n.body != nil && inBody && (q.rank == rankNone || q.rank > rankMalformed) {
		q.readBody(accepted.selects() || accepted.kind != "")
	}
	if accepted.contract != nil && accepted.kind == "" {
		accepted = q.resolveAccept(accepted)
	}
	if acceptPlace >= 0 {
		q.add(acceptPlace, &accepted)
	}
	if q.rank != rankNone {
		q.refusal = q.n.failureProblem(q)
	}
}

// hasRepresentation reports whether the request body is a representation. The body of a PATCH is a
// patch document and belongs to no contract (RFC 5789 section 2).
func hasRepresentation(r *http.Request) bool {
	return r.Method == http.MethodPost || r.Method == http.MethodPut
}

// add combines the match of place i with the previous ones.
func (q *negotiation) add(i int, f *match) {
	if f.contract == nil && f.kind == "" {
		return
	}
	q.spelled.record(q.n.places[i].kind, f.raw)
	switch {
	case f.kind != "":
		q.fail(i, f)
	case q.contract == nil:
		q.contract, q.place, q.raw = f.contract, i, f.raw
	case q.contract != f.contract:
		f.kind = problem.AmbiguousVersion
		q.fail(i, f)
	case i < q.place:
		q.place, q.raw = i, f.raw
	}
}

// fail records an error if its rank is lower than that of the previous one.
func (q *negotiation) fail(i int, f *match) {
	if rank := q.n.places[i].rank(f); q.rank == rankNone || rank < q.rank {
		q.failure, q.failedPlace, q.rank = *f, i, rank
	}
}

// resolveAccept selects one of the contracts that Accept allows. The contract that another place
// has named takes precedence, then the default if it has the same quality as the best one.
func (q *negotiation) resolveAccept(accepted match) match {
	a := acceptField{q.n.media}
	if q.contract != nil {
		if a.allows(q.n, q.request, q.contract, q.now) {
			accepted.contract = q.contract
		}
		return accepted
	}
	if !accepted.tied {
		return accepted
	}
	c, private, ok := q.n.defaultFor(q.request)
	if !ok || c == nil || c.retired(q.now) {
		return accepted
	}
	if a.quality(q.n, q.request, c, q.now, true) == a.quality(q.n, q.request, accepted.contract, q.now,
		true) {
		accepted.contract = c
	}
	q.private = private
	return accepted
}

// applyDefault selects the default contract if the request names none.
func (q *negotiation) applyDefault() {
	if q.contract != nil {
		return
	}
	c, private, ok := q.n.defaultFor(q.request)
	switch {
	case !ok:
		q.refusal = problem.New(problem.Internal, "")
	case c == nil:
		q.refusal = q.n.requiredProblem()
	}
	q.contract, q.private = c, private
}

// defaultFor returns the contract for a request that names none, or nil if such requests are
// rejected. private is true if the choice depends on Options.DefaultFor. ok is false if DefaultFor
// returned an unknown name.
func (n *Negotiator) defaultFor(r *http.Request) (c *contract, private, ok bool) {
	if n.opts.DefaultFor == nil {
		return n.defaultContract, false, true
	}
	pinned := n.opts.DefaultFor(r)
	if pinned == "" {
		return n.defaultContract, true, true
	}
	c = n.lookup(pinned)
	return c, true, c != nil
}
