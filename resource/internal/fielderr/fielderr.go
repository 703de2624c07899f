// Package fielderr has the errors of single fields, which stores and hooks return, and makes
// problems of them that point into the document of the client. The functions Taken and Invalid of
// package resource return its errors.
package fielderr

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
)

// Error is an error of one field. It is comparable, which Is uses.
type Error struct {
	Field string // the JSON name of the field in the store
	Code  string
	Taken bool // another item has the value
}

// Error returns a message for logs.
func (e *Error) Error() string {
	if e.Taken {
		return fmt.Sprintf("the value of %s is taken", e.Field)
	}
	return fmt.Sprintf("the value of %s is not valid: %s", e.Field, e.Code)
}

// Is reports whether target is an Error of the same field and code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && *t == *e
}

// Problem returns the problem of the field errors in err, joined or alone, and nil if there are
// none. pointer returns the JSON Pointer of a field in the document of the client. If one of the
// errors is not Taken, the problem is 422 instead of 409: its value is wrong whatever other items
// have.
func Problem(err error, pointer func(field string) string) *problem.Details {
	fields := collect(nil, err)
	if len(fields) == 0 {
		return nil
	}
	d := problem.New(problem.Conflict, "Another item already has the same value of a unique field.")
	for _, f := range fields {
		v := problem.Violation{Pointer: pointer(f.Field), Code: f.Code}
		v.Detail = f.detail(v.Pointer)
		if !f.Taken {
			d.Kind, d.Detail = problem.Invalid, "The content is not valid."
		}
		d.Errors = append(d.Errors, v)
	}
	return d
}

// detail returns the detail of the violation for the member at a pointer in the document of the
// client.
func (e *Error) detail(pointer string) string {
	name := "the content"
	if pointer != "" {
		name = jsontext.Pointer(pointer).LastToken()
	}
	switch {
	case e.Taken:
		return name + " must be unique; another item has this value"
	case e.Code == "unknown":
		return name + " refers to an item that does not exist"
	}
	return name + " is not valid (" + e.Code + ")"
}

// Locate joins the problem of the field errors in err, if there are any, to err. An err that has a
// problem already is returned as it is.
func Locate(err error, pointer func(field string) string) error {
	if d := Problem(err, pointer); d != nil && !errors.As(err, new(*problem.Details)) {
		return errors.Join(d, err)
	}
	return err
}

// DependsOnOthers reports whether err has field errors that a change of other items can remove: the values
// are taken, or refer to items that do not exist.
func DependsOnOthers(err error) bool {
	fields := collect(nil, err)
	return len(fields) > 0 &&
		!slices.ContainsFunc(fields, func(e *Error) bool { return !e.Taken && e.Code != "unknown" })
}

// collect appends the field errors in err to found. errors.As would find only the first one of
// several joined errors.
func collect(found []*Error, err error) []*Error {
	switch e := err.(type) {
	case nil:
	case *Error:
		return append(found, e)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			found = collect(found, one)
		}
	case interface{ Unwrap() error }:
		return collect(found, e.Unwrap())
	}
	return found
}
