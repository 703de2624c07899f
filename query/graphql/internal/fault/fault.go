// Package fault is what a GraphQL answer says of what went wrong (section 7.1.2), for query/graphql and the packages beside it.
package fault

import (
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
	// Problem has what else is known, nil for nothing: extensions.errors and extensions.instance are its Errors and
	// Instance, and extensions.type is its type URI.
	Problem *problem.Details
}

// Place is a place in the document; both numbers count from 1.
type Place struct{ Line, Column int }

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Of returns what a client is told about an error of the catalog or of custom code, without a place and a path. What is not
// meant for clients becomes an internal error that has an instance, under which the caller logs it.
func Of(err error) *Error { panic("not written yet") }

// Append appends the error as a JSON object (section 7.1.2): message, locations, path, extensions.
func (e *Error) Append(dst []byte) []byte { panic("not written yet") }
