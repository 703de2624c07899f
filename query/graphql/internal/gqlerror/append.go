package gqlerror

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
)

// List appends errs as a JSON array, the value of the response's errors member.
func List(dst []byte, errs []*Error) []byte {
	dst = append(dst, '[')
	for i, e := range errs {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.Append(dst)
	}
	return append(dst, ']')
}

// Answer appends a response that has errors and no data (section 7.1.3).
func Answer(dst []byte, errs ...*Error) []byte {
	return append(List(append(dst, `{"errors":`...), errs), '}')
}

// Append appends e as a JSON object (section 7.1.6) with the members message, locations, path and
// extensions. Equal errors produce equal bytes. Invalid UTF-8 becomes U+FFFD, and an extension that
// cannot be marshaled is left out.
func (e *Error) Append(dst []byte) []byte {
	dst = appendString(append(dst, `{"message":`...), e.Message)
	if len(e.Locations) > 0 {
		dst = e.appendLocations(dst)
	}
	if e.Path != nil {
		dst = e.appendPath(dst)
	}
	dst = appendString(append(dst, `,"extensions":{"code":`...), e.Code)
	if e.Rule != "" {
		dst = appendString(append(dst, `,"rule":`...), e.Rule)
	}
	if e.Problem != nil {
		dst = e.appendProblem(dst)
	}
	return append(dst, "}}"...)
}

// appendLocations appends the member locations.
func (e *Error) appendLocations(dst []byte) []byte {
	dst = append(dst, `,"locations":[`...)
	for i, p := range e.Locations {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"line":`...), int64(p.Line), 10)
		dst = strconv.AppendInt(append(dst, `,"column":`...), int64(p.Column), 10)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

// appendPath appends the member path. An empty path is written; a nil path is not.
func (e *Error) appendPath(dst []byte) []byte {
	dst = append(dst, `,"path":[`...)
	for i, step := range e.Path {
		if i > 0 {
			dst = append(dst, ',')
		}
		switch step := step.(type) {
		case int:
			dst = strconv.AppendInt(dst, int64(step), 10)
		case string:
			dst = appendString(dst, step)
		}
	}
	return append(dst, ']')
}

// reserved lists the members of extensions that Append writes itself. An extension of a problem
// with one of these names is left out.
var reserved = [...]string{"code", "rule", "type", "instance", "errors"}

// appendRetryAfter appends the member retryAfter: the delay in seconds of the header field
// Retry-After (RFC 9110 section 10.2.3). GraphQL clients do not see the header fields of a problem.
// A date is left out. An extension of the application with this name takes precedence.
func appendRetryAfter(dst []byte, d *problem.Details) []byte {
	if _, given := d.Extensions["retryAfter"]; given {
		return dst
	}
	for name, values := range d.Header { // an application may write a name in lower case
		if !strings.EqualFold(name, "Retry-After") || len(values) == 0 {
			continue
		}
		if seconds, err := strconv.ParseUint(values[0], 10, 31); err == nil {
			return strconv.AppendUint(append(dst, `,"retryAfter":`...), seconds, 10)
		}
	}
	return dst
}

// appendProblem appends the members of extensions that come from the problem.
func (e *Error) appendProblem(dst []byte) []byte {
	d := e.Problem
	dst = appendString(append(dst, `,"type":`...), d.Kind.URI())
	if d.Instance != "" {
		dst = appendString(append(dst, `,"instance":`...), d.Instance)
	}
	dst = appendRetryAfter(dst, d)
	if len(d.Errors) > 0 {
		dst = append(dst, `,"errors":[`...)
		for i := range d.Errors {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.appendViolation(dst, i)
		}
		dst = append(dst, ']')
	}
	for _, name := range slices.Sorted(maps.Keys(d.Extensions)) {
		if slices.Contains(reserved[:], name) || !utf8.ValidString(name) {
			continue
		}
		value, err := json.Marshal(d.Extensions[name], json.Deterministic(true),
			jsontext.AllowInvalidUTF8(true))
		if err == nil {
			dst = append(append(appendString(append(dst, ','), name), ':'), value...)
		}
	}
	return dst
}

// appendViolation appends the violation with index i. Over GraphQL a query parameter or header is
// an argument; a pointer refers to the content, as in other protocols.
func (e *Error) appendViolation(dst []byte, i int) []byte {
	v := &e.Problem.Errors[i]
	dst = append(dst, '{')
	if i < len(e.Arguments) && e.Arguments[i] != "" {
		dst = appendMember(dst, "argument", e.Arguments[i])
	}
	if v.Parameter == "" && v.Header == "" {
		dst = appendMember(dst, "pointer", v.Pointer)
	}
	if v.Code != "" {
		dst = appendMember(dst, "code", v.Code)
	}
	if v.Detail != "" {
		dst = appendMember(dst, "detail", v.Detail)
	}
	return append(dst, '}')
}

// appendMember appends a member of a JSON object, preceded by a comma unless it is the first.
func appendMember(dst []byte, name, value string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return appendString(append(appendString(dst, name), ':'), value)
}

// appendString appends s as a JSON string. AppendQuote replaces invalid UTF-8 and returns an error
// only to report it.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
