package exec

// One execution of a plan: its state, and the checks before anything is fetched. Calls run_cost.go
// for the limits, run_fetch.go for the first phase and write.go for the second.

import (
	"context"
	"net/http"
	"slices"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/observe"
	"github.com/stoa-go/stoa/resource/schema"
)

// Run executes a plan and appends the response, a JSON object, to dst. variables has the members of
// the request's variables, and may be nil.
//
// Errors are part of the response. They precede data, as the specification recommends (section
// 7.1), and there are at most 1,000. Run rejects subscriptions.
func (e *Engine) Run(ctx context.Context, p *Plan, variables map[string]jsontext.Value,
	dst []byte) ([]byte, Outcome) {
	// Introspection without variables: computed when the plan was compiled.
	if p.answer != nil {
		return append(dst, p.answer...), Done
	}
	if p.Kind == "subscription" {
		return gqlerror.Answer(dst, unresolvable(
			"Subscriptions are not supported by this transport.")), Refused
	}
	r := e.begin(p)
	defer r.end()
	if errs := r.prepare(variables); errs != nil {
		return gqlerror.Answer(dst, errs...), Refused
	}
	return r.execute(ctx, dst)
}

// execute runs both phases. A panic with [http.ErrAbortHandler] in a goroutine of the first phase, or in a
// field, becomes one of the caller.
func (r *run) execute(ctx context.Context, dst []byte) ([]byte, Outcome) {
	r.loadRoot(ctx)
	dst, outcome := r.answer(ctx, dst)
	if r.aborted.Load() {
		panic(http.ErrAbortHandler)
	}
	return dst, outcome
}

// run is an execution of a plan. Runs are pooled with their memory. The first phase may use several
// goroutines, each of which writes only the elements of loaded of its fields.
type run struct {
	e    *Engine
	plan *Plan

	variables map[string]any // coerced
	argued    []argued       // indexed by field.dynamic
	on        []bool         // switches
	loaded    []loaded       // indexed by field.fetchIndex
	free      atomic.Int32   // number of goroutines that may still be started
	aborted   atomic.Bool    // a hook has panicked with http.ErrAbortHandler
	attempt   Attempt
	// broken reports an error in a run with Attempt.Whole, which uses a single goroutine.
	broken bool
	change *feed.Change[resource.Entry] // of a subscription: the change
	rec    *observe.Recording           // nil if the operation is not observed, and in a subscription

	values map[string]any // variables, or an empty map for those of other runs; may be nil

	// The fields below are used by the second phase, in one goroutine.
	ctx      context.Context // for the log
	dst      []byte
	path     []segment // response path of the current object or list
	errs     []*gqlerror.Error
	failures int   // number of errors, including those that are not reported
	cause    error // the first error
	errBytes int   // estimated size of errs
	reported map[*field][]reportedError

	introspected int  // number of introspection objects written
	most         int  // maximum length of dst
	long         bool // dst exceeds most

	encoders []*schema.MembersEncoder // indexed by joined.index; nil if not used
}

// begin returns a run with space for the fetched values of a plan. Each field has its own index, so
// that goroutines need no lock.
func (e *Engine) begin(p *Plan) *run {
	r, _ := e.runs.Get().(*run)
	if r == nil {
		r = &run{e: e}
	}
	r.plan = p
	r.loaded = slices.Grow(r.loaded[:0], p.fetches)[:p.fetches]
	r.encoders = slices.Grow(r.encoders[:0], p.joins)[:p.joins]
	return r
}

// end returns the run to the pool. It clears fetched values, so that the pool does not retain data
// of clients.
func (r *run) end() {
	r.forget()
	for i := range r.argued {
		r.argued[i].release()
	}
	// Each element keeps a map. A document may have thousands of them, but most have few.
	if r.argued = r.argued[:0]; cap(r.argued) > maxArgued {
		r.argued = nil
	}
	r.plan, r.variables, r.attempt, r.change = nil, nil, Attempt{}, nil
	r.values = emptied(r.values)
	for i, e := range r.encoders {
		if e != nil {
			e.Release()
			r.encoders[i] = nil
		}
	}
	r.e.runs.Put(r)
}

// maxArgued is the maximum number of maps of arguments that a run keeps.
const maxArgued = 64

// emptied returns m without its values, or nil in place of a large map. Only runs refer to the maps of
// variables and arguments: stores and functions get values from them.
func emptied(m map[string]any) map[string]any {
	if len(m) > 32 {
		return nil
	}
	clear(m)
	return m
}

// forget clears the results of an execution, but keeps what prepare has set. The path is cleared up
// to its capacity, because elements beyond its length still contain keys of the document.
func (r *run) forget() {
	for i := range r.loaded {
		r.loaded[i].release()
	}
	clear(r.reported)
	clear(r.path[:cap(r.path)])
	r.ctx, r.dst, r.errs, r.cause, r.rec = nil, nil, nil, nil, nil
	r.failures, r.errBytes, r.introspected, r.long, r.broken = 0, 0, 0, false, false
	r.path = r.path[:0]
	r.aborted.Store(false)
}

// prepare coerces variables and checks the limits. It returns request errors.
func (r *run) prepare(variables map[string]jsontext.Value) []*gqlerror.Error {
	if defs := r.plan.variables; defs != nil {
		if r.values == nil {
			r.values = make(map[string]any, len(defs))
		}
		values, bad := coerce.Variables(defs, variables, r.values)
		if len(bad) > 0 {
			return variableErrors(r.plan, bad)
		}
		r.variables = values
	}
	// The order matters: conditions need variables, and the cost counts only what is switched on and
	// needs arguments such as first.
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

// active reports whether a fetch is on. Switch 0 is always on, so unconditional fetches need no
// other test.
func (r *run) active(l *fetchOp) bool { return r.on[l.group] && r.on[l.via[0]] && r.on[l.via[1]] }
