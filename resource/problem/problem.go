// Package problem describes errors as RFC 9457 problem details.
//
// A [Kind] is a type of problem with a stable name, a status code, a title and a GraphQL code. A
// [Details] is one occurrence of it. All errors that Stoa returns to clients are Details, over
// every protocol:
//
//	d := problem.New(problem.Conflict, "the address is taken")
//	d.Errors = []problem.Violation{{Pointer: "/email", Code: "taken"}}
//	problem.Write(w, r, d)
//
// The response has the status code 409 and the content
//
//	{"type":"https://stoa-go.github.io/problems/conflict","title":"Conflict","status":409,
//	 "detail":"the address is taken","errors":[{"pointer":"/email","code":"taken"}]}
//
// *Details implements error, so stores, hooks and policies can return it; Stoa finds it with
// errors.As. Every field is sent to the client. Do not put the cause of an internal error into it:
// log the cause, or join both errors with errors.Join.
package problem

import (
	"cmp"
	"fmt"
	"net/http"
	"strings"
)

// Details is one occurrence of a problem (RFC 9457 section 3). The zero value is an internal error,
// because the empty Kind is equivalent to [Internal].
type Details struct {
	// Kind determines the type, the title and the default status code.
	Kind Kind
	// Status overrides the status code of Kind. Values outside of 400 to 599 are ignored.
	Status int
	// Detail explains this occurrence to the client. It is omitted if empty.
	Detail string
	// Instance is a URI that identifies this occurrence in a log, such as "urn:uuid:...". See
	// [NewInstance]. It is omitted if empty.
	Instance string
	// Errors lists the invalid parts of the request, in document order. It is omitted if empty.
	Errors []Violation
	// Extensions are additional members (RFC 9457 section 3.2). Members with the name of a standard
	// member, and values that cannot be encoded as JSON, are ignored.
	Extensions map[string]any
	// Header has additional header fields of the response, such as Allow and Retry-After.
	Header http.Header
}

// Violation describes one invalid part of a request. Set exactly one of Pointer, Parameter and
// Header; if all are empty, the violation concerns the whole request body.
type Violation struct {
	// Pointer is a JSON Pointer (RFC 6901) into the request body. The empty pointer is the body
	// itself.
	Pointer string
	// Parameter is the name of a query parameter.
	Parameter string
	// Header is the name of a request header field.
	Header string
	// Code identifies the violation for programs, such as "required", "maxLength" or "unknown". It
	// is omitted if empty.
	Code string
	// Detail describes the violation for developers of the client. It is omitted if empty.
	Detail string
	// Operation is the index of the JSON Patch operation that failed, or nil.
	Operation *int
}

// New returns a problem of the kind. The detail is sent to the client; it may be empty.
func New(kind Kind, detail string) *Details {
	return &Details{Kind: kind, Detail: detail}
}

// Error returns the kind, followed by the detail and up to three violations with another text. It is
// intended for logs.
func (d *Details) Error() string {
	var b strings.Builder
	b.WriteString(string(d.Kind.orInternal()))
	separator := ": "
	if d.Detail != "" {
		b.WriteString(separator + d.Detail)
		separator = " "
	}
	for i, v := range d.Errors {
		if i == 3 {
			fmt.Fprintf(&b, " and %d more", len(d.Errors)-i)
			break
		}
		if v.Detail != "" && v.Detail == d.Detail {
			continue
		}
		_, where := v.location()
		if where != "" {
			where += " "
		}
		b.WriteString(separator + where + cmp.Or(v.Detail, v.Code))
		separator = "; "
	}
	return b.String()
}

// StatusCode returns the status code of the response: Status if it is an error status, otherwise
// that of Kind.
func (d *Details) StatusCode() int {
	if isErrorStatus(d.Status) {
		return d.Status
	}
	return d.Kind.Status()
}

// Code returns the code in the extensions of the GraphQL error. It is that of Kind, with two
// exceptions: a kind of the application, and a kind of server error with Status below 500, such as
// [OutcomeUnknown] with 409. Their code is derived from the status code, because GraphQL servers
// hide the message of an INTERNAL_SERVER_ERROR.
//
// UNAVAILABLE means that the same request can be sent again. Therefore [OutcomeUnknown] has it only
// with Retry-After: without an idempotency key, a second request could repeat the write.
func (d *Details) Code() string {
	status := d.StatusCode()
	info, known := lookup(d.Kind)
	if status == http.StatusServiceUnavailable && d.Header.Get("Retry-After") != "" {
		return unavailable
	}
	if known && (info.status < http.StatusInternalServerError || status >= http.StatusInternalServerError) {
		return info.code
	}
	return codeOf(status)
}

// location returns the name and the value of the JSON member that locates the violation.
func (v *Violation) location() (member, value string) {
	switch {
	case v.Parameter != "":
		return "parameter", v.Parameter
	case v.Header != "":
		return "header", v.Header
	}
	return "pointer", v.Pointer
}

// isErrorStatus reports whether status is a client or server error status code.
func isErrorStatus(status int) bool {
	return 400 <= status && status <= 599
}
