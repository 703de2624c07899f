package gqlerror

import (
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// List appends errors as the JSON array that the member errors of an answer is.
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

// Answer appends an answer that has errors and no data (section 7.1.1).
func Answer(dst []byte, errs ...*Error) []byte {
	return append(List(append(dst, `{"errors":`...), errs), '}')
}

// Append appends the error as a JSON object (section 7.1.2): message, locations, path, extensions. The same error always
// gives the same bytes. Bytes that are no UTF-8 become U+FFFD, and an extension that cannot be written is left out.
func (e *Error) Append(dst []byte) []byte {
	dst = text(append(dst, `{"message":`...), e.Message)
	if len(e.Places) > 0 {
		dst = e.appendPlaces(dst)
	}
	if e.Path != nil {
		dst = e.appendPath(dst)
	}
	dst = text(append(dst, `,"extensions":{"code":`...), e.Code)
	if e.Rule != "" {
		dst = text(append(dst, `,"rule":`...), e.Rule)
	}
	if e.Problem != nil {
		dst = e.appendProblem(dst)
	}
	return append(dst, "}}"...)
}

func (e *Error) appendPlaces(dst []byte) []byte {
	dst = append(dst, `,"locations":[`...)
	for i, p := range e.Places {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = strconv.AppendInt(append(dst, `{"line":`...), int64(p.Line), 10)
		dst = strconv.AppendInt(append(dst, `,"column":`...), int64(p.Column), 10)
		dst = append(dst, '}')
	}
	return append(dst, ']')
}

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
			dst = text(dst, step)
		}
	}
	return append(dst, ']')
}

// own are the members that extensions of problems may not be called.
var own = [...]string{"code", "rule", "type", "instance", "errors"}

func (e *Error) appendProblem(dst []byte) []byte {
	d := e.Problem
	dst = text(append(dst, `,"type":`...), d.Kind.URI())
	if d.Instance != "" {
		dst = text(append(dst, `,"instance":`...), d.Instance)
	}
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
		if slices.Contains(own[:], name) || !utf8.ValidString(name) {
			continue
		}
		value, err := json.Marshal(d.Extensions[name], json.Deterministic(true),
			jsontext.AllowInvalidUTF8(true))
		if err == nil {
			dst = append(append(text(append(dst, ','), name), ':'), value...)
		}
	}
	return dst
}

// appendViolation appends one of the errors of the problem. What other doors call a parameter or a header is an argument
// here; a pointer is into the content as every door has it.
func (e *Error) appendViolation(dst []byte, i int) []byte {
	v := &e.Problem.Errors[i]
	dst = append(dst, '{')
	if i < len(e.Arguments) && e.Arguments[i] != "" {
		dst = member(dst, "argument", e.Arguments[i])
	}
	if v.Parameter == "" && v.Header == "" {
		dst = member(dst, "pointer", v.Pointer)
	}
	if v.Code != "" {
		dst = member(dst, "code", v.Code)
	}
	if v.Detail != "" {
		dst = member(dst, "detail", v.Detail)
	}
	return append(dst, '}')
}

// member appends a member of an object, with the comma in front of it unless it is the first.
func member(dst []byte, name, value string) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return text(append(text(dst, name), ':'), value)
}

// text appends a JSON string. AppendQuote reports what is no UTF-8, but has replaced it by then.
func text(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s)
	return dst
}
