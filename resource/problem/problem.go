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
// A Details travels as an error, too: errors.As finds it, and the doors write the one they find.
package problem

import "net/http"

// Kind names a sort of problem. It is the last segment of the type URI, so it never changes once published.
type Kind string

// Details is one problem, RFC 9457 section 3. The zero value is an internal error: Kind "" stands for [Internal].
type Details struct {
	// Kind decides type, title and status.
	Kind Kind
	// Status replaces the status of Kind where it is not zero.
	Status int
	// Detail explains this occurrence to the client. Empty is left out.
	Detail string
	// Instance identifies this occurrence, such as "urn:uuid:...", so that it can be found in a log. Empty is left out.
	Instance string
	// Errors lists the places that are wrong, in document order. Empty is left out.
	Errors []Violation
	// Extensions are further members (RFC 9457 section 3.2), written in the order of their names. A name that
	// Details itself writes is ignored.
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
	// Code is a stable word for programs, such as "required", "maxLength" or "unknown".
	Code string
	// Detail says it to a person. Empty is left out.
	Detail string
	// Operation is the index of the JSON Patch operation at fault, and nil elsewhere.
	Operation *int
}
