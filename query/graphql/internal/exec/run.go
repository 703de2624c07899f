package exec

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// Run executes a plan and appends the answer, a JSON object, to dst. Variables are the members of the request's
// variables, nil for none.
//
// What goes wrong on the way is told in the answer. Errors stand in front of the data there, as the specification
// proposes (section 7.1), and there are 1,000 of them at most. A plan for a subscription is refused.
func (e *Engine) Run(ctx context.Context, p *Plan, variables map[string]jsontext.Value,
	dst []byte) ([]byte, Outcome) {
	if p.answer != nil {
		return append(dst, p.answer...), Done
	}
	if p.Kind == "subscription" {
		return gqlerror.Answer(dst, unresolvable(
			"A subscription is answered with a stream of events, and not here.")), Refused
	}
	r := e.begin(p)
	defer r.end()
	if errs := r.prepare(variables); errs != nil {
		return gqlerror.Answer(dst, errs...), Refused
	}
	r.loadRoot(ctx)
	return r.answer(ctx, dst)
}

// run is one execution of a plan. It is used again, with the memory that it has grown.
type run struct {
	e    *Engine
	plan *Plan

	variables map[string]any // coerced
	argued    []argued       // by field.dynamic
	on        []bool         // switches
	loaded    []loaded       // by field.fetchIndex
	free      atomic.Int32   // goroutines that may still be started
	attempt   Attempt
	// there was an error; only looked at in a transaction, where there are no goroutines
	broken bool
	change *feed.Change[resource.Entry] // of a subscription: what is told

	// From here on it is the answer, which one goroutine writes when everything is loaded.
	ctx      context.Context // for the log
	dst      []byte
	path     []segment // to the object or list that is being written
	errs     []*gqlerror.Error
	failures int   // all of them, told or not
	cause    error // the first of them
	errBytes int   // about how many bytes errs takes
	reported []reportedError

	described int  // objects of introspection so far
	most      int  // how long dst may be
	long      bool // it is longer
}

// begin returns a run with room for everything that the plan loads. Goroutines find their place in it by number, so that
// they need no lock.
func (e *Engine) begin(p *Plan) *run {
	r, _ := e.runs.Get().(*run)
	if r == nil {
		r = &run{e: e}
	}
	r.plan = p
	r.loaded = slices.Grow(r.loaded[:0], p.fetches)[:p.fetches]
	return r
}

// end gives back what is held. Nothing of what was loaded is kept: a pool is no place for other people's data.
func (r *run) end() {
	r.forget()
	clear(r.argued)
	r.plan, r.variables, r.argued, r.attempt, r.change = nil, nil, r.argued[:0], Attempt{}, nil
	r.e.runs.Put(r)
}

// forget makes it a run that has been prepared and not begun.
func (r *run) forget() {
	for i := range r.loaded {
		r.loaded[i].release()
	}
	clear(r.reported)
	clear(r.path[:cap(r.path)])
	r.ctx, r.dst, r.errs, r.cause = nil, nil, nil, nil
	r.failures, r.errBytes, r.described, r.long, r.broken = 0, 0, 0, false, false
	r.reported, r.path = r.reported[:0], r.path[:0]
}

// prepare does what is to be done before anything is fetched. Its errors are why nothing is.
func (r *run) prepare(variables map[string]jsontext.Value) []*gqlerror.Error {
	if defs := r.plan.variables; defs != nil {
		values, bad := coerce.Variables(defs, variables)
		if len(bad) > 0 {
			return unfit(r.plan, bad)
		}
		r.variables = values
	}
	if failed := r.evalConditions(); failed != nil {
		return []*gqlerror.Error{failed}
	}
	if failed := r.checkRepeated(); failed != nil {
		return []*gqlerror.Error{failed}
	}
	r.coerceArguments()
	if failed := r.checkCost(); failed != nil {
		return []*gqlerror.Error{failed}
	}
	return nil
}

// active reports whether a load is wanted.
func (r *run) active(l *fetchOp) bool { return r.on[l.group] && r.on[l.via[0]] && r.on[l.via[1]] }
