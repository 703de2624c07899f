// Package gqlerror is what a GraphQL answer says of what went wrong (section 7.1.2), for query/graphql and the packages beside it.
//
// An [Error] is made either by whoever refuses a request, from one of the codes below, or by [Of], from an error of the
// catalog or of custom code. The latter are the same problems that every other door answers: the code is that of
// [problem.Details], and what is not meant for clients is masked.
package gqlerror

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// The codes of errors that are no problem of a resource; those of problems are [problem.Details.Code].
const (
	ParseFailed      = "GRAPHQL_PARSE_FAILED"
	ValidationFailed = "GRAPHQL_VALIDATION_FAILED"
	BadUserInput     = "BAD_USER_INPUT"
	Unresolvable     = "OPERATION_RESOLUTION_FAILURE" // no operation, or more than one and no name
	NotPersisted     = "PERSISTED_QUERY_NOT_FOUND"
	Internal         = "INTERNAL_SERVER_ERROR"
)

// Error is one error of an answer. It is fit for clients.
type Error struct {
	Message string
	Code    string // extensions.code
	Rule    string // extensions.rule: the rule of validation that is broken, or empty
	Places  []Place
	// Path leads to the field at fault: names and indexes, strings and ints. It is nil for an error of the request.
	Path []any
	// Problem has what else is known, nil for nothing: extensions.type is its type URI, extensions.errors are its Errors,
	// extensions.instance its Instance, and its own Extensions stand beside them.
	Problem *problem.Details
	// Arguments say for each of Problem.Errors which argument it is about, such as input.lines[0].qty; empty where that is
	// not known. It may be shorter than these.
	Arguments []string
}

// Place is a place in the document; both numbers count from 1.
type Place struct{ Line, Column int }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// InputError is an error about what a client gave, with the way from the names that the catalog uses to those of the
// arguments.
type InputError struct {
	Err error
	// Argument returns which argument a JSON Pointer into the content leads to. It is asked while the error is written,
	// and only for pointers that Err has.
	Argument func(pointer string) string
}

// Error returns the text of Err, which is for logs.
func (e *InputError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *InputError) Unwrap() error { return e.Err }

// masked is all that clients learn of internal errors.
const masked = "Internal server error"

// Of returns what a client is told about an error of the catalog or of custom code, without a place and a path. What is not
// meant for clients becomes an internal error: its message is masked, and its Problem.Instance is a new URN, under which
// the caller logs err. The instance of every other error is empty, or what custom code has set.
func Of(err error) *Error {
	d := *resource.Problem(err) // a copy, since custom code may give out the same one again and again
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

// arguments finds the arguments that violations are about: by their pointers, where somebody knows what these lead to, or
// because a parameter or a header is an argument here.
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

// message is one sentence or two: many clients show nothing else of an error, so the first violation is in it.
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
	if detail == "" || detail == text {
		return text
	}
	if where != "" {
		detail = where + ": " + detail
	}
	if more := len(d.Errors) - 1; more > 0 {
		detail += " (and " + strconv.Itoa(more) + " more)"
	}
	return text + " " + detail
}

// Cut bounds what a request can write into a log or a message.
func Cut(s string) string {
	if len(s) > 256 {
		return strings.ToValidUTF8(s[:256], "") + "..."
	}
	return s
}
