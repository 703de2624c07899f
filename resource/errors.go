package resource

// The errors of stores and hooks, and the error that methods of Resource return. problem.go
// converts them to problem details.

import (
	"errors"
	"fmt"

	"github.com/stoa-go/stoa/resource/internal/fielderr"
)

// The errors that collections and hooks return, bare or wrapped. The library detects them with
// [errors.Is] and adds the operation, the resource and the id in an [*Error]. It also recognizes
// [Taken] and [Invalid], [tx.ErrUnavailable], [tx.ErrOutcomeUnknown] and [context.DeadlineExceeded]
// (503), and a [*problem.Details], which is sent as it is. Any other error becomes an internal
// error (500); its text is logged and never sent.
var (
	// ErrNotFound: the item does not exist, or the caller may not know that it exists. 404.
	ErrNotFound = errors.New("no such item")
	// ErrGone: the item was deleted. 410.
	ErrGone = errors.New("the item has been deleted")
	// ErrExists: the id is in use. 409, or 412 if the request has If-None-Match: *.
	ErrExists = errors.New("an item with this id exists")
	// ErrStale: the item no longer has the revision that the write names. 412 if If-Match named it;
	// otherwise the library tries again for up to 10 seconds, then 503.
	ErrStale = errors.New("the item has been changed since it was read")
	// ErrForbidden: the caller may see the item but may not carry out the operation. 403.
	ErrForbidden = errors.New("not allowed")
	// ErrUnauthenticated: the caller must authenticate. 401.
	ErrUnauthenticated = errors.New("not authenticated")
	// ErrUnavailable: the store is temporarily unavailable and has not written anything. 503 with
	// Retry-After. If the store may have written, the error is [tx.ErrOutcomeUnknown].
	ErrUnavailable = errors.New("not available at the moment")
)

// Error adds the operation, the resource and the id to an error. The methods of [Resource] return
// it, except Batch and Import and for errors of an idempotency key. Its text is for logs, not for
// clients.
type Error struct {
	Op       Op
	Resource string
	ID       string // empty if the operation is not about one item
	Err      error  // the cause
}

// Error returns the operation, the resource, the id and the cause.
func (e *Error) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("%s %s: %v", e.Op, e.Resource, e.Err)
	}
	return fmt.Sprintf("%s %s/%s: %v", e.Op, e.Resource, e.ID, e.Err)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CurrentRev returns the current revision of the item if a precondition failed, and otherwise an
// empty Rev. A protocol sends it with the error, so that the client can repeat the request with
// that revision.
func (e *Error) CurrentRev() Rev {
	var failed *failedError
	if errors.As(e.Err, &failed) {
		return failed.current.Rev
	}
	return ""
}

// Taken returns the error of a store in which another item has the same value of a unique field. It
// becomes 409 with a pointer to the field. For field see [Invalid].
func Taken(field string) error { return &fielderr.Error{Field: field, Code: "taken", Taken: true} }

// Invalid returns the error of a store or a hook that rejects the value of a field. It becomes 422
// with a pointer to the field. field is the JSON name of a top-level field in the store; if the
// client does not see it, the pointer is to the whole document. code is a stable identifier for
// programs, such as "unknownCustomer", and part of the detail. The code "unknown" is for a
// reference: the detail is then that the field refers to an item that does not exist. To reject
// several fields, join errors with [errors.Join].
func Invalid(field, code string) error { return &fielderr.Error{Field: field, Code: code} }

// errStoreFault marks an error as internal, whatever else it wraps.
var errStoreFault = errors.New("internal error")

// storeFault returns an error for a store that violates its contract. It is an errStoreFault. The
// format begins with the verb of a sentence about the store.
func storeFault(format string, args ...any) error {
	return &storeFaultError{fmt.Sprintf("store "+format, args...)}
}

type storeFaultError struct{ text string }

func (e *storeFaultError) Error() string        { return e.text }
func (e *storeFaultError) Is(target error) bool { return target == errStoreFault }
