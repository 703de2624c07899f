package graphql

import (
	"bytes"
	"net/url"

	"github.com/stoa-go/stoa/resource/problem"
)

// parseQuery parses the request of a GET (section 5.2). It ignores other parameters.
func parseQuery(raw string, limits *Limits) (q parsedRequest, err error) {
	params, err := url.ParseQuery(raw)
	if err != nil {
		return q, problem.New(problem.BadRequest, "The query of the URL is not percent-encoded correctly.")
	}
	for _, name := range []string{"query", "documentId", "operationName", "variables", "extensions"} {
		values, ok := params[name]
		if len(values) > 1 {
			return q, badParameter(name, "repeated", "must not be repeated")
		}
		if !ok {
			continue
		}
		if err := q.parameter(name, values[0], limits); err != nil {
			return q, err
		}
	}
	if err := q.complete(); err != nil {
		return q, badParameter("query", "required", "query or documentId is required")
	}
	return q, nil
}

// parameter sets a parameter from its decoded value. Unlike in JSON, null is an ordinary string. An
// empty operationName means none.
func (q *parsedRequest) parameter(name, value string, limits *Limits) error {
	switch name {
	case "query":
		q.text, q.hasText = value, true
	case "documentId":
		q.id = value
	case "operationName":
		q.operation = value
	default:
		return q.parameterJSON(name, value, limits)
	}
	return nil
}

// parameterJSON parses a parameter in JSON with the parser of request bodies.
func (q *parsedRequest) parameterJSON(name, value string, limits *Limits) error {
	doc := []byte(value)
	d := &reader{doc: doc, nesting: limits.Nesting, in: *bytes.NewBuffer(doc)}
	d.dec.Reset(&d.in)
	read := d.variables
	if name == "extensions" {
		read = d.extensions
	}
	err := read(q)
	if err == nil {
		err = d.end()
	}
	if err != nil {
		return badParameter(name, "type", "must be a JSON object")
	}
	return nil
}
