// Package inputerr makes problems of the errors that leaf packages return for what a client has
// sent: documents, patches and queries.
package inputerr

import (
	"errors"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// Problem returns the problem of an error of package schema, patch or query in err, and nil if
// there is none. Package resource calls it for errors of every protocol, so that equal mistakes are
// equal problems. A *query.Error may be alone or in query.Errors.
func Problem(err error) *problem.Details {
	var (
		invalid  schema.Violations
		syntax   *schema.SyntaxError
		row      *csv.SyntaxError
		patching *patch.Error
		queries  query.Errors
		one      *query.Error
	)
	switch {
	case errors.As(err, &invalid):
		return ofDocument(invalid)
	// 400, because the text is not JSON or exceeds a limit; violations of a schema are 422.
	case errors.As(err, &syntax):
		// The pointer is that of the value in which parsing failed, if it was found.
		d := problem.New(problem.MalformedJSON, "The content is not valid JSON.")
		if syntax.Code == "depth" || syntax.Code == "names" {
			d.Detail = "The content exceeds a limit for JSON."
		}
		d.Errors = []problem.Violation{{Pointer: syntax.Pointer, Code: syntax.Code, Detail: syntax.Detail}}
		return d
	case errors.As(err, &row):
		d := problem.New(problem.BadRequest, "The row is not valid CSV.")
		d.Errors = []problem.Violation{{Pointer: row.Pointer, Code: row.Code, Detail: row.Detail}}
		return d
	case errors.As(err, &patching):
		return ofPatch(patching)
	// Before a single error: Errors unwraps to its elements, and all of them are reported.
	case errors.As(err, &queries):
		return ofQuery(queries...)
	case errors.As(err, &one):
		return ofQuery(one)
	}
	return nil
}

// ofDocument makes a 422 of violations: the document is JSON, but not a valid item. Pointers are
// those of the decoded document, which is that of the client unless a view converts it.
func ofDocument(bad schema.Violations) *problem.Details {
	d := problem.New(problem.Invalid, "The content is not valid.")
	for _, v := range bad {
		d.Errors = append(d.Errors, problem.Violation{Pointer: v.Pointer, Code: v.Code, Detail: v.Detail})
	}
	return d
}

// ofPatch makes a 409 of a conflict, such as a failed test, a 413 of too many operations, and a 400
// of anything else. Pointer is the path of the operation, which is in the target and not in the
// patch.
func ofPatch(e *patch.Error) *problem.Details {
	kind := problem.MalformedPatch
	switch e.Kind {
	case patch.Conflict:
		kind = problem.PatchConflict
	case patch.TooLarge:
		kind = problem.TooLarge
	}
	d := problem.New(kind, "The patch cannot be applied.")
	v := problem.Violation{Pointer: e.Path, Code: e.Code, Detail: e.Detail}
	// It is negative for a merge patch, which has no operations.
	if e.Operation >= 0 {
		v.Operation = &e.Operation
	}
	d.Errors = []problem.Violation{v}
	return d
}

// ofQuery makes one problem of all errors of a query. An invalid cursor has a type of its own,
// because its client must begin at the first page. Other errors are then omitted.
func ofQuery(all ...*query.Error) *problem.Details {
	d := problem.New(problem.InvalidParameter, "A parameter of the request is not valid.")
	for _, f := range all {
		v := problem.Violation{Parameter: f.Parameter, Code: f.Code, Detail: f.Detail}
		// Errors that were found before it are dropped with d.
		if f.Code == "invalidCursor" {
			d = problem.New(problem.InvalidCursor, "The cursor is not valid for this list.")
			d.Errors = []problem.Violation{v}
			return d
		}
		d.Errors = append(d.Errors, v)
	}
	return d
}
