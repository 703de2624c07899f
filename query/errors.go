package query

import "strings"

// Error reports one invalid part of a client's query. Its texts are for the client: they name
// parameters, fields and comparisons, and no Go identifiers.
//
// Code is one of "unknownParameter", "duplicateParameter", "invalidValue", "invalidFilter",
// "unsupportedFilter", "unsupportedSort", "unsupportedGroup", "unsupportedAggregate",
// "unsupportedSearch", "tooMany" and "invalidCursor".
type Error struct {
	// the URL parameter as the client has spelled it; empty if only the caller can determine it
	Parameter string
	Code      string // a stable identifier for programs
	Detail    string // one sentence without a full stop
}

// Error returns the detail, preceded by the parameter.
func (e *Error) Error() string {
	if e.Parameter == "" {
		return e.Detail
	}
	return e.Parameter + ": " + e.Detail
}

// Errors has all errors of one query, ordered by parameter. [errors.As] finds the first of them as
// an *Error.
type Errors []*Error

// Error returns one error per line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the individual errors.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

const (
	unknownParameter     = "unknownParameter"
	duplicateParameter   = "duplicateParameter"
	invalidValue         = "invalidValue"
	invalidFilter        = "invalidFilter"
	unsupportedFilter    = "unsupportedFilter"
	unsupportedSort      = "unsupportedSort"
	unsupportedGroup     = "unsupportedGroup"
	unsupportedAggregate = "unsupportedAggregate"
	unsupportedSearch    = "unsupportedSearch"
	tooMany              = "tooMany"
	invalidCursor        = "invalidCursor"
)
