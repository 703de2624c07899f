package exec

// Field errors (section 6.4.4): their paths, their number and size, and what is logged. Called by
// write.go when it reaches the field.

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// maxErrors is the maximum number of errors in a response. A relation may fail for each item of a
// level.
const maxErrors = 1000

// maxErrorBytes is the size of errors in bytes after which no more are added. It is needed because a
// response key may be long and occurs in the path of each error.
const maxErrorBytes = 1 << 20

// maxMessage is the maximum size of a message in bytes. Messages repeat names of the document,
// which may be long.
const maxMessage = 1000

// shortened truncates a message.
func shortened(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "..."
}

// maxReported is the maximum number of distinct internal errors of one field that are logged. They are
// compared with each other, so the limit also bounds the time. Further ones have the instance of the first.
const maxReported = 64

// errEnded is the error of fields that were not fetched because the context was done. It has the
// delay of the same problem in REST.
var errEnded error = &problem.Details{Kind: problem.Unavailable,
	Detail: "The operation did not finish in time.", Header: http.Header{"Retry-After": {"1"}}}

// contextError replaces an error that results from the end of the context, which is not an internal
// error. Otherwise it would be logged, and masked for the client. An unknown outcome stays as it is,
// because the client must not repeat the write.
func contextError(ctx context.Context, err error) error {
	ended := errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
	if ctx.Err() != nil && ended && !errors.Is(err, tx.ErrOutcomeUnknown) {
		return errEnded
	}
	return err
}

// variableErrors converts errors of variables. Their locations are those of the variable definitions.
func variableErrors(p *Plan, bad []*coerce.Error) []*gqlerror.Error {
	out := make([]*gqlerror.Error, len(bad))
	for i, e := range bad {
		out[i] = &gqlerror.Error{Message: shortened(e.Error()), Code: gqlerror.BadUserInput,
			Locations: p.defined(e.Variable)}
	}
	return out
}

// defined returns the location of a variable definition.
func (p *Plan) defined(variable string) []gqlerror.Location {
	for _, def := range p.variables {
		if def.Name == variable {
			return []gqlerror.Location{gqlerror.Location(*def.Loc)}
		}
	}
	return nil
}

// segment is an element of a response path: a key or an index.
type segment struct {
	key   string // empty for an index
	index int
}

// reportedError is an internal error of a field, which may occur for several items.
type reportedError struct {
	err   error
	reply *gqlerror.Error
}

// failAt is fail for a field that is not yet in the path. Leaf fields do not add themselves to the
// path before an error, because most of them have none.
func (r *run) failAt(n *field, err error) bool {
	r.path = append(r.path, segment{key: n.key})
	r.fail(n, err)
	r.path = r.path[:len(r.path)-1]
	return false
}

// fail records a field error at the current path. It returns false, which means that there is no
// value.
func (r *run) fail(n *field, err error) bool {
	if err == errSkipped {
		return false
	}
	if r.failures++; r.cause == nil {
		r.cause = err
	}
	// Further errors are counted and still make their fields null.
	if len(r.errs) == maxErrors || r.errBytes >= maxErrorBytes {
		return false
	}
	// a copy, because the path and the value differ
	e := *r.clientError(n, err)
	if bad := (outputError{}); errors.As(err, &bad) {
		e.Message = shortened(bad.reason + ": " + bad.value)
	}
	e.Locations = n.locations
	e.Path = make([]any, 0, len(r.path))
	r.errBytes += len(e.Message)
	for _, s := range r.path {
		r.errBytes += len(s.key)
		if s.key == "" {
			e.Path = append(e.Path, s.index)
		} else {
			e.Path = append(e.Path, s.key)
		}
	}
	r.errs = append(r.errs, &e)
	return false
}

// clientError returns the GraphQL error for an error of a field. An internal error is logged once,
// regardless of the number of items. The caller sets the message of an outputError, which has a value.
func (r *run) clientError(n *field, err error) *gqlerror.Error {
	reported := r.reported[n]
	for _, b := range reported {
		if sameError(b.err, err) {
			return b.reply
		}
	}
	reply, known := clientErrorOf(err)
	if known || reply.Problem == nil || reply.Problem.Kind != problem.Internal {
		return reply
	}
	// A field has at most one text of an outputError, so these are added beyond the limit.
	if len(reported) >= maxReported && !errors.As(err, new(outputError)) {
		return reported[0].reply // the client sees no difference
	}
	r.e.log(r.ctx, "stoa: internal error", "instance", reply.Problem.Instance, "field", n.def.Name,
		"error", gqlerror.Truncate(err.Error()))
	if r.reported == nil {
		r.reported = map[*field][]reportedError{}
	}
	r.reported[n] = append(reported, reportedError{err, reply})
	return reply
}

// sameError reports whether two errors of one field are equal. Leaf errors are separate values with
// equal texts for each item. Comparing texts keeps the log short if a whole level fails for one
// reason.
func sameError(a, b error) bool { return a == b || a.Error() == b.Error() }

// clientErrorOf converts err like [gqlerror.Of], and handles errors of this package too. known
// reports that err need not be logged.
func clientErrorOf(err error) (reply *gqlerror.Error, known bool) {
	if errors.As(err, &reply) {
		return reply, true
	}
	var invalid *coerce.Error
	if errors.As(err, &invalid) {
		return &gqlerror.Error{Message: shortened(invalid.Error()), Code: gqlerror.BadUserInput}, true
	}
	return gqlerror.Of(err), false
}

// observedStatus returns the status of err in the observation of an operation, and 0 for nil.
func observedStatus(err error) int {
	if errors.As(err, new(*coerce.Error)) {
		return http.StatusBadRequest
	}
	return gqlerror.Status(err)
}

// panicked logs a panic in code of the application and returns the error for the client.
func (r *run) panicked(ctx context.Context, v any) error {
	if v == http.ErrAbortHandler {
		r.aborted.Store(true)
		return errSkipped
	}
	return r.e.panicked(ctx, v)
}

// panicked logs a panic and returns the error for the client.
func (e *Engine) panicked(ctx context.Context, v any) *gqlerror.Error {
	err := fmt.Errorf("panic: %v", v)
	reply := gqlerror.Of(err)
	e.log(ctx, "stoa: panic", "instance", reply.Problem.Instance, "error", gqlerror.Truncate(err.Error()),
		"stack", string(debug.Stack()))
	return reply
}
