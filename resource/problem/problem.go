// Package problem says what went wrong, as RFC 9457 problem details.
//
// Its nouns are a [Kind], the stable name of one sort of problem with its status, title and GraphQL code, and
// [Details], one occurrence of it. Every error that Stoa answers is one of these, on every door:
//
//	d := problem.New(problem.Conflict, "the address is taken")
//	d.Errors = []problem.Violation{{Pointer: "/email", Code: "taken"}}
//	problem.Write(w, r, d)
//
// answers 409 with
//
//	{"type":"https://stoa-go.github.io/problems/conflict","title":"Conflict","status":409,
//	 "detail":"the address is taken","errors":[{"pointer":"/email","code":"taken"}]}
//
// A *Details travels as an error, too: errors.As finds it, and the doors write the one they find. Everything in it but
// its Error text is meant for the client, so it is no place for a cause: log that, or wrap both with errors.Join.
package problem

import (
	"net/http"
	"strings"
)

// Details is one problem, RFC 9457 section 3. The zero value is an internal error: Kind "" stands for [Internal].
type Details struct {
	// Kind decides type, title and status.
	Kind Kind
	// Status replaces the status of Kind. What is no error status (400 to 599), such as zero, is ignored.
	Status int
	// Detail explains this occurrence to the client. Empty is left out.
	Detail string
	// Instance identifies this occurrence, such as "urn:uuid:...", so that it can be found in a log. Empty is left out.
	Instance string
	// Errors lists the places that are wrong, in document order. Empty is left out.
	Errors []Violation
	// Extensions are further members (RFC 9457 section 3.2), written in the order of their names. A name that
	// Details itself writes is ignored, and so is a value that has no JSON form.
	Extensions map[string]any
	// Header is added to the response beside the body: Allow, Retry-After and their like.
	Header http.Header
}

// Violation is one place that is wrong. Exactly one of Pointer, Parameter and Header says where.
type Violation struct {
	// Pointer is a JSON Pointer (RFC 6901) into the request body; the empty pointer, the body itself, is written too,
	// where Parameter and Header are empty.
	Pointer string
	// Parameter names a query parameter.
	Parameter string
	// Header names a request header field.
	Header string
	// Code is a stable word for programs, such as "required", "maxLength" or "unknown". Empty is left out.
	Code string
	// Detail says it to a person. Empty is left out.
	Detail string
	// Operation is the index of the JSON Patch operation at fault, and nil elsewhere.
	Operation *int
}

// New returns a problem of the given kind. The detail is for the client; empty says no more than the kind does.
func New(kind Kind, detail string) *Details {
	return &Details{Kind: kind, Detail: detail}
}

// Error returns a line for a log: the kind, and the detail or else the first violation.
func (d *Details) Error() string {
	var b strings.Builder
	b.WriteString(string(d.Kind.orInternal()))
	switch {
	case d.Detail != "":
		b.WriteString(": ")
		b.WriteString(d.Detail)
	case len(d.Errors) > 0:
		v := d.Errors[0]
		_, where := v.place()
		b.WriteString(": ")
		b.WriteString(strings.TrimLeft(where+" "+v.Code, " "))
	}
	return b.String()
}

// StatusCode returns the status that the problem is answered with, always an error status.
func (d *Details) StatusCode() int {
	if isErrorStatus(d.Status) {
		return d.Status
	}
	return d.Kind.Status()
}

// Code returns the GraphQL code of the problem: that of its kind, or for a kind of the application the code that fits
// its status, so that its message is not masked as an internal error. So it is where Status makes a refusal of a kind that
// is none by itself, as of OutcomeUnknown with 409.
func (d *Details) Code() string {
	status := d.StatusCode()
	if r, known := lookup(d.Kind); known && (r.code != internalError || status >= http.StatusInternalServerError) {
		return r.code
	}
	return codeOf(status)
}

// place returns the member that says where a violation is, and its value.
func (v *Violation) place() (member, where string) {
	switch {
	case v.Parameter != "":
		return "parameter", v.Parameter
	case v.Header != "":
		return "header", v.Header
	}
	return "pointer", v.Pointer
}

func isErrorStatus(status int) bool {
	return 400 <= status && status <= 599
}
