package resource

import (
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/resource/internal/fielderr"
)

// What a collection or a hook says when it cannot do as asked. Return these bare or wrapped: the library finds them
// with [errors.Is] and adds where it happened, as an [*Error]. Any other error is answered as an internal error (500),
// and its text goes to the log, never to the client.
var (
	// ErrNotFound: there is no such item, or the caller may not know that there is one. 404.
	ErrNotFound = errors.New("no such item")
	// ErrGone: there was such an item and it has been deleted. 410.
	ErrGone = errors.New("the item has been deleted")
	// ErrExists: the id is in use. 409, or 412 where the client said If-None-Match: *.
	ErrExists = errors.New("an item with this id exists")
	// ErrStale: the item has been changed since the revision that was named. 412, or another attempt.
	ErrStale = errors.New("the item has been changed meanwhile")
	// ErrForbidden: the caller may see the item but not do this to it. 403.
	ErrForbidden = errors.New("not allowed")
	// ErrUnauthenticated: the caller must say who it is first. 401.
	ErrUnauthenticated = errors.New("not authenticated")
	// ErrUnavailable: the store cannot answer now, but may later, and has done nothing of what it was asked. 503 with
	// Retry-After. Where it may have done it the error is [tx.ErrOutcomeUnknown].
	ErrUnavailable = errors.New("not available at the moment")
)

// Error is an error with the place where it happened. The methods of [Resource] return it; its text is for logs, not
// for clients.
type Error struct {
	Op       Op     // what was being done
	Resource string // the name of the resource
	ID       string // the item, if it was about one
	Err      error  // what went wrong
}

// Error returns the place and the cause.
func (e *Error) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s %s: %v", e.Op, e.Resource, e.Err)
	}
	return fmt.Sprintf("%s %s/%s: %v", e.Op, e.Resource, e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CurrentRev returns the current revision of the item if a precondition failed, and otherwise an empty Rev. A protocol sends
// it with the error, so that the client can repeat the request for that revision.
func (e *Error) CurrentRev() Rev {
	var failed *failedError
	if errors.As(e.Err, &failed) {
		return failed.current.Rev
	}
	return ""
}

// Taken returns the error of a store that has an item with the same value in a unique field already. It is answered
// with 409 and a pointer to the field. field is the store's JSON name of it.
func Taken(field string) error { return &fielderr.Error{Field: field, Code: "taken", Taken: true} }

// Invalid returns the error of a store, or of a hook, that refuses the value of a field for a reason of its own. It is
// answered with 422 and a pointer to the field. field is the store's JSON name of it, and code a stable word for
// programs, such as "unknownCustomer". Several can be joined with [errors.Join].
func Invalid(field, code string) error { return &fielderr.Error{Field: field, Code: code} }
