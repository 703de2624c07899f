// Package gqlerror represents and writes the errors of a GraphQL response (section 7.1.6).
//
// Packages create an [Error] from one of the codes below if they reject a request. [Of] converts an
// error of the catalog or of a custom field: it reports the same problem as the other protocols do,
// with the code of [problem.Details], and masks errors that are not meant for clients.
package gqlerror

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// The codes of errors that have no [problem.Details]. For the others, [problem.Details.Code]
// returns the code.
const (
	ParseFailed      = "GRAPHQL_PARSE_FAILED"
	ValidationFailed = "GRAPHQL_VALIDATION_FAILED"
	BadUserInput     = "BAD_USER_INPUT"
	// Unresolvable: the document has no operation, or several and the request names none.
	Unresolvable = "OPERATION_RESOLUTION_FAILURE"
	NotPersisted = "PERSISTED_QUERY_NOT_FOUND"
	Internal     = "INTERNAL_SERVER_ERROR"
)

// Error is an entry of errors in a response. All its fields are safe to send to clients.
type Error struct {
	Message   string
	Code      string // extensions.code
	Rule      string // extensions.rule: the validation rule that the document breaks, or empty
	Locations []Location
	// Path is the response path of the field: names as string and list indexes as int. It is nil
	// for a request error.
	Path []any
	// Problem adds details if it is not nil. extensions.type is its type URI, extensions.errors its
	// Errors, and extensions.instance its Instance. Its own Extensions are added to them.
	Problem *problem.Details
	// Arguments has the argument that each of Problem.Errors is about, such as input.lines[0].qty,
	// or an empty string if that is not known. It may be shorter than Problem.Errors.
	Arguments []string
}

// Location is a position in the document. Line and column count from 1.
type Location struct{ Line, Column int }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// InputError is an error about input from the client. It maps the names of the resource's content
// to those of the arguments.
type InputError struct {
	Err error
	// Argument returns the argument for a JSON Pointer into the content. It is called only for
	// pointers that occur in Err.
	Argument func(pointer string) string
}

// Error returns the text of Err. It is meant for logs.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *InputError) Unwrap() error { return e.Err }

// masked replaces the message of internal errors.
const masked = "Internal server error"

// Status returns the HTTP status of an error in an observation, and 0 for nil.
func Status(err error) int {
	var own *Error
	switch {
	case err == nil:
		return 0
	case !errors.As(err, &own):
		return resource.Problem(err).StatusCode()
	case own.Problem != nil:
		return own.Problem.StatusCode()
	case own.Code == Internal:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// Of returns the [Error] for an error of the catalog or of a custom field. The caller adds the
// location and the path.
//
// An error that is not meant for clients becomes an internal error with a fixed message. Its
// Problem.Instance is a new URN; the caller logs err with this URN. The instance of any other error
// is empty or set by the application.
func Of(err error) *Error {
	d := *resource.Problem(err) // a copy: custom code may return the same problem for several requests
	if d.StatusCode() == http.StatusInternalServerError {
		if d.Instance == "" {
			d.Instance = problem.NewInstance()
		}
		return &Error{Message: masked, Code: Internal,
			Problem: &problem.Details{Kind: problem.Internal, Instance: d.Instance}}
	}
	e := &Error{Code: d.Code(), Problem: &d, Arguments: arguments(err, d.Errors)}
	e.Message = e.message()
	return e
}

// arguments returns the argument that each violation is about. A violation with a pointer needs an
// [InputError]; a parameter or the header If-Match is an argument.
func arguments(err error, bad []problem.Violation) []string {
	if len(bad) == 0 {
		return nil
	}
	var in *InputError
	known := errors.As(err, &in)
	out := make([]string, len(bad))
	for i, v := range bad {
		switch {
		case v.Parameter != "":
			out[i] = v.Parameter
		case v.Header == "If-Match":
			out[i] = "ifMatch"
		case v.Header == "" && known:
			out[i] = in.Argument(v.Pointer)
		}
	}
	return out
}

// locate adds the name of an argument to a detail. A detail that begins with the name of the member
// gets the whole path instead: "qty must be at most 5" becomes "input.qty must be at most 5".
func locate(argument, detail string) string {
	name, rest, _ := strings.Cut(detail, " ")
	if argument == name || strings.HasSuffix(argument, "."+name) {
		return argument + " " + rest
	}
	return argument + ": " + detail
}

// message returns the message of an error with a problem. Many clients display nothing else, so it
// includes the first violation.
func (e *Error) message() string {
	d := e.Problem
	text := d.Detail
	if text == "" {
		text = d.Kind.Title()
	}
	if len(d.Errors) == 0 {
		return text
	}
	detail, where := d.Errors[0].Detail, e.Arguments[0]
	if detail == "" {
		detail = d.Errors[0].Code
	}
	if detail == "" || strings.EqualFold(strings.TrimSuffix(detail, "."), strings.TrimSuffix(text, ".")) {
		return text
	}
	if where != "" {
		detail = locate(where, detail)
	}
	if more := len(d.Errors) - 1; more > 0 {
		detail += " (and " + strconv.Itoa(more) + " more)"
	}
	return text + " " + detail
}

// Truncate limits s to 256 bytes, so that a request cannot write a large text into a log or a
// message.
func Truncate(s string) string {
	if len(s) > 256 {
		return strings.ToValidUTF8(s[:256], "") + "..."
	}
	return s
}
