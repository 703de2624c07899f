package resource

// Problem details (RFC 9457) of errors, with pointers in the names of the client's projection.
// Called by protocols.

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/inputerr"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/internal/retry"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// translate converts violations of the stored type to the names of this projection.
func (p *projection) translate(bad []schema.Violation) schema.Violations {
	if p.storeNames == nil {
		return bad
	}
	stored := p.root().typ
	out := make(schema.Violations, len(bad))
	for i, v := range bad {
		first, rest, deeper := strings.Cut(strings.TrimPrefix(v.Pointer, "/"), "/")
		first = pointer.Unescape(first)
		name := p.fieldOf(first)
		at := pointer.To(name)
		if deeper && name != "" &&
			p.typ.Field(name).Type == stored.Field(first).Type { // else it is built otherwise inside
			at += "/" + rest
		}
		out[i] = v.At(at)
	}
	return out
}

// Problem returns the problem details of err, an error of a method of [Resource] or of a hook. Any
// error that is not meant for clients, and nil, becomes an internal error (500) without its text;
// the caller then logs err. The result is never nil.
func Problem(err error) *problem.Details {
	var operation *operationError
	var details *problem.Details
	switch {
	case errors.As(err, &operation):
		return operation.problem()
	case errors.As(err, &details):
		return details
	}
	if d := inputerr.Problem(err); d != nil {
		return d
	}
	if d := fielderr.Problem(err, pointer.To); d != nil { // straight from a store
		return d
	}
	return plainProblem(err)
}

// plainProblem is Problem for errors without details.
func plainProblem(err error) *problem.Details {
	var failed *failedError
	switch {
	case errors.Is(err, errStoreFault):
	case errors.Is(err, feed.ErrExpired):
		return expired()
	case errors.Is(err, ErrNotFound):
		return problem.New(problem.NotFound, "There is no such item.")
	case errors.Is(err, ErrGone):
		return problem.New(problem.Gone, "The item has been deleted.")
	case errors.Is(err, ErrExists):
		return problem.New(problem.Exists, "An item with this id exists or has existed.")
	case errors.As(err, &failed):
		return problem.New(problem.PreconditionFailed, failed.detail())
	case errors.Is(err, ErrForbidden):
		return problem.New(problem.Forbidden, "The caller is not allowed to carry out this operation.")
	case errors.Is(err, ErrUnauthenticated):
		return problem.New(problem.Unauthenticated, "The operation requires authentication.")
	case errors.Is(err, feed.ErrCursor):
		return problem.New(problem.InvalidCursor, "The cursor is not a valid position of the feed.")
	case errors.Is(err, tx.ErrOutcomeUnknown): // no Retry-After: a retry could repeat the write
		return problem.New(problem.OutcomeUnknown,
			"It is not known whether the write was committed. Read the current state before you repeat it.")
	case errors.Is(err, ErrStale), errors.Is(err, retry.ErrContended):
		return unavailable("Too many concurrent writes to the item; retry after 1 second.")
	case errors.Is(err, ErrUnavailable), errors.Is(err, tx.ErrUnavailable), errors.Is(err, feed.ErrClosed),
		errors.Is(err, context.DeadlineExceeded), retry.Exhausted(err):
		return unavailable("The service is temporarily unavailable; retry after 1 second.")
	}
	return problem.New(problem.Internal, "")
}

// unavailable returns a 503 with Retry-After.
func unavailable(detail string) *problem.Details {
	d := problem.New(problem.Unavailable, detail)
	d.Header = http.Header{"Retry-After": {"1"}}
	return d
}

// expired returns the problem of a cursor that a stream cannot resume from.
func expired() *problem.Details {
	return problem.New(problem.CursorExpired, "The feed no longer has all changes after the cursor. "+
		"Read the list again and resume from its cursor.")
}
