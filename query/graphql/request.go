package graphql

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
)

// parsedRequest is a GraphQL request (GraphQL over HTTP, section 5). It shares memory with the buffer it
// was read from.
type parsedRequest struct {
	text      string // the document
	hasText   bool
	id        string // documentId: id of a known document
	hash      string // extensions.persistedQuery.sha256Hash: hexadecimal hash of the document
	operation string // operationName; empty if the document has one operation
	variables map[string]jsontext.Value
	foreign   bool   // extensions.persistedQuery has an unsupported version
	key       string // extensions.idempotencyKey
	keyed     bool   // key is present
	place     int    // position in a batch, from 1; 0 if not in a batch
}

// complete returns an error if the request contains no document and refers to none.
func (q *parsedRequest) complete() error {
	switch {
	case q.hasText && q.id != "":
		return malformed("/documentId", "query and documentId cannot be used together")
	case !q.hasText && q.id == "" && q.hash == "" && !q.foreign:
		return malformed("/query", "query is missing")
	}
	return nil
}

// malformed returns the error for an invalid request. pointer is a JSON Pointer into it.
func malformed(pointer, detail string) error {
	d := problem.New(problem.BadRequest, "The body is not a valid GraphQL request.")
	d.Errors = []problem.Violation{{Pointer: pointer, Detail: detail}}
	return d
}

// named returns the part of a request at a JSON Pointer as error messages show it.
func named(pointer string) string {
	if pointer == "" {
		return "the request"
	}
	return strings.ReplaceAll(pointer[1:], "/", ".")
}

// notJSON returns the error for content that is not valid JSON.
func notJSON() error {
	return problem.New(problem.MalformedJSON, "The body is not valid JSON.")
}

// badParameter returns the error for an invalid query parameter.
func badParameter(name, code, detail string) error {
	d := problem.New(problem.InvalidParameter, "A query parameter is not valid.")
	d.Errors = []problem.Violation{{Parameter: name, Code: code, Detail: detail}}
	return d
}
