package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/problem"
)

// mostErrors is how many errors an answer tells. A relation that fails does so for each item of its level.
const mostErrors = 1000

// mostTold is about how many bytes the errors of an answer take: behind those that reach it, no more are told. A key in a
// path is as long as a client likes, and may be in the paths of all errors.
const mostTold = 1 << 20

// mostMessage is how many bytes of a message are told. Those about documents and variables repeat what is in them, and
// twenty of them may all repeat the same name, of a megabyte.
const mostMessage = 1000

// shortened cuts a message.
func shortened(message string) string {
	if len(message) <= mostMessage {
		return message
	}
	return strings.ToValidUTF8(message[:mostMessage], "") + "..."
}

// maxReported is how many different errors of one answer are told apart. A field whose values are all wrong in ways of
// their own does not fill the log.
const maxReported = 64

// errEnded is what fields are told that were not fetched any more.
var errEnded error = problem.New(problem.Unavailable, "The operation was given up before it was done.")

// ended replaces an error that says no more than that the context has ended: that is no fault of anyone's.
func ended(ctx context.Context, err error) error {
	if ctx.Err() != nil && (errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)) {
		return errEnded
	}
	return err
}

// unfit are the errors for variables that do not fit. They stand where the variables are defined.
func unfit(p *Plan, bad []*coerce.Error) []*gqlerror.Error {
	out := make([]*gqlerror.Error, len(bad))
	for i, e := range bad {
		out[i] = &gqlerror.Error{Message: shortened(e.Error()), Code: gqlerror.BadUserInput,
			Places: p.defined(e.Variable)}
	}
	return out
}

// defined returns where a variable is defined, which is all that one can point to: the value came without the document.
func (p *Plan) defined(variable string) []gqlerror.Place {
	for _, def := range p.variables {
		if def.Name == variable {
			return []gqlerror.Place{gqlerror.Place(*def.Loc)}
		}
	}
	return nil
}

// segment is one step of a path: a key, or the place in a list.
type segment struct {
	key   string // empty for a place: no key is
	index int
}

// reportedError is what clients are told of one error, wherever it turns up again.
type reportedError struct {
	field *field
	err   error
	reply *gqlerror.Error
}

// failAt is fail for a field whose key is not in the path yet.
func (r *run) failAt(n *field, err error) bool {
	r.path = append(r.path, segment{key: n.key})
	r.fail(n, err)
	r.path = r.path[:len(r.path)-1]
	return false
}

// fail notes an error of a field at the current path, and reports false, for the value that is not there.
func (r *run) fail(n *field, err error) bool {
	if err == errSkipped {
		return false
	}
	if r.failures++; r.cause == nil {
		r.cause = err
	}
	if len(r.errs) == mostErrors || r.errBytes >= mostTold {
		return false
	}
	// a copy: what it says of the error is shared with others, and where it is is not
	e := *r.clientError(n, err)
	e.Places = n.places
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

// clientError returns the GraphQL error for an error of a field. An internal error is logged once, however many items it
// concerns, because the log is for finding the fault and not for counting the items.
func (r *run) clientError(n *field, err error) *gqlerror.Error {
	for i := range r.reported {
		if b := &r.reported[i]; b.field == n && (len(r.reported) == maxReported || sameError(b.err, err)) {
			return b.reply
		}
	}
	told, known := clientErrorOf(err)
	if !known && told.Problem != nil && told.Problem.Kind == problem.Internal {
		r.e.log(r.ctx, "stoa: internal error", "instance", told.Problem.Instance, "field", n.def.Name,
			"error", gqlerror.Cut(err.Error()))
	}
	if len(r.reported) < maxReported {
		r.reported = append(r.reported, reportedError{n, err, told})
	}
	return told
}

// sameError reports whether two errors of one field are the same, as far as they can be compared. Those of leaves are made
// anew for each item, and say the same about all.
func sameError(a, b error) bool { return a == b || a.Error() == b.Error() }

// clientErrorOf is gqlerror.Of for the errors that are made here, too. It reports whether the log has it, or need not have it.
func clientErrorOf(err error) (told *gqlerror.Error, known bool) {
	if errors.As(err, &told) {
		return told, true
	}
	var unfit *coerce.Error
	if errors.As(err, &unfit) {
		return &gqlerror.Error{Message: shortened(unfit.Error()), Code: gqlerror.BadUserInput}, true
	}
	return gqlerror.Of(err), false
}

// panicked tells the log of a panic of code that is not ours, and returns what clients are told.
func (r *run) panicked(ctx context.Context, v any) error { return r.e.panicked(ctx, v) }

func (e *Engine) panicked(ctx context.Context, v any) *gqlerror.Error {
	err := fmt.Errorf("panic: %v", v)
	told := gqlerror.Of(err)
	instance := ""
	if told.Problem != nil {
		instance = told.Problem.Instance
	}
	e.log(ctx, "stoa: panic", "instance", instance, "error", gqlerror.Cut(err.Error()), "stack",
		string(debug.Stack()))
	return told
}
