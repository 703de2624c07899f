package graphql

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
)

// Response is the result of a GraphQL operation, as specified in section 7.1. In JSON it is the
// response that a client receives.
type Response struct {
	// Errors are request errors or field errors.
	Errors Errors `json:"errors,omitzero"`
	// Data is a JSON object, or null because of an error. It is nil if the operation was not
	// executed.
	Data jsontext.Value `json:"data,omitzero"`
	// Cursor is the position of a message of a subscription, for [Request].After.
	Cursor string `json:"-"`
	// Replayed reports that the response was stored for the idempotency key.
	Replayed bool `json:"-"`
}

// Decode unmarshals Data into v, which must be a non-nil pointer, and returns Err. v may be set in
// part if there are errors. Names of members match struct fields without case, as in encoding/json.
func (r *Response) Decode(v any) error {
	if len(r.Data) > 0 {
		if err := json.Unmarshal(r.Data, v, json.MatchCaseInsensitiveNames(true)); err != nil {
			return errors.Join(r.Err(), fmt.Errorf("graphql: decode data: %w", err))
		}
	}
	return r.Err()
}

// Err returns Errors as an error, or nil if there are none.
func (r *Response) Err() error {
	if len(r.Errors) == 0 {
		return nil
	}
	return r.Errors
}

// Errors are the errors of a response. They are not empty when used as an error. [errors.As] finds
// each [Error].
type Errors []*Error

// Error returns the first error and the number of the others.
func (e Errors) Error() string {
	switch len(e) {
	case 0:
		return "graphql: no errors"
	case 1:
		return e[0].Error()
	}
	return fmt.Sprintf("%v (and %d more)", e[0], len(e)-1)
}

// Unwrap returns the errors.
func (e Errors) Unwrap() []error {
	list := make([]error, len(e))
	for i := range e {
		list[i] = e[i]
	}
	return list
}

// Error is an error of a response (section 7.1.6). Its contents are safe to send to clients.
type Error struct {
	Message   string     `json:"message"`
	Locations []Location `json:"locations,omitzero"`
	// Path is the response path of a field: names as string and list indexes as float64. It is nil
	// for a request error.
	Path []any `json:"path,omitzero"`
	// Extensions has the member code, and others as over HTTP.
	Extensions map[string]any `json:"extensions,omitzero"`

	cause error // of the context
}

// Location is a position in a document. Line and Column count from 1.
type Location struct {
	Line   int `json:"line"`
	Column int `json:"column"`
}

// Error returns the message and the path.
func (e *Error) Error() string {
	text := "graphql: "
	for i, step := range e.Path {
		if i > 0 {
			text += "."
		}
		text += fmt.Sprint(step)
	}
	if len(e.Path) > 0 {
		text += ": "
	}
	return text + e.Message
}

// Code returns the member code of Extensions, such as NOT_FOUND. Package resource/problem lists the
// codes.
func (e *Error) Code() string {
	code, _ := e.Extensions["code"].(string)
	return code
}

// Unwrap returns the error of the context if it ended the execution, and nil otherwise.
func (e *Error) Unwrap() error { return e.cause }

// parseResponse parses a response that the engine has written.
func parseResponse(content []byte) *Response {
	res := new(Response)
	if err := json.Unmarshal(content, res); err != nil { // a defect of this package
		panic(fmt.Sprintf("graphql: invalid response: %v", err))
	}
	return res
}

// errorsOf converts errors to those of a Response.
func errorsOf(errs ...*gqlerror.Error) Errors {
	return parseResponse(gqlerror.Answer(nil, errs...)).Errors
}
