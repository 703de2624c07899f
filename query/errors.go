package query

import "strings"

// Error is a fault in what a client asked. Its texts are meant for that client: they name parameters, fields and
// comparisons, never anything of Go.
//
// The codes are "unknownParameter", "duplicateParameter", "invalidValue", "invalidFilter", "unsupportedFilter",
// "unsupportedSort", "tooMany" and "invalidCursor".
type Error struct {
	Parameter string // the URL parameter at fault, as it is spelled there; empty where the caller knows it better
	Code      string // for programs
	Detail    string // for people: a sentence without its full stop
}

// Error gives the detail, preceded by the parameter.
func (e *Error) Error() string {
	if e.Parameter == "" {
		return e.Detail
	}
	return e.Parameter + ": " + e.Detail
}

// Errors are all the faults of one question, ordered by parameter. [errors.As] finds the first of them as an *Error.
type Errors []*Error

// Error gives every fault, one to a line.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap gives the faults one by one.
func (es Errors) Unwrap() []error {
	errs := make([]error, len(es))
	for i, e := range es {
		errs[i] = e
	}
	return errs
}

const (
	unknownParameter   = "unknownParameter"
	duplicateParameter = "duplicateParameter"
	invalidValue       = "invalidValue"
	invalidFilter      = "invalidFilter"
	unsupportedFilter  = "unsupportedFilter"
	unsupportedSort    = "unsupportedSort"
	tooMany            = "tooMany"
	invalidCursor      = "invalidCursor"
)
