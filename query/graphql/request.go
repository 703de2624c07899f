package graphql

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
)

// request is one request of GraphQL (GraphQL over HTTP, section 5), by whatever way it came. It shares the memory of what
// it was read from.
type request struct {
	text      string // of the document
	hasText   bool
	id        string // of a document that is known: documentId
	hash      string // of the document, in hexadecimal: extensions.persistedQuery.sha256Hash
	operation string // which of its operations; "" if it has one
	variables map[string]jsontext.Value
	foreign   bool   // extensions.persistedQuery is of a version that nobody knows here
	key       string // extensions.idempotencyKey
	keyed     bool   // that it is there
	place     int    // in a batch, from 1
}

// complete refuses a request that names no document.
func (q *request) complete() error {
	switch {
	case q.hasText && q.id != "":
		return malformed("/documentId", "a request has query or documentId, not both")
	case !q.hasText && q.id == "" && q.hash == "" && !q.foreign:
		return malformed("/query", "query is missing")
	}
	return nil
}

// malformed is what to tell about a request that is none. The pointer leads into its JSON.
func malformed(pointer, detail string) error {
	d := problem.New(problem.BadRequest, "This is not a request of GraphQL.")
	d.Errors = []problem.Violation{{Pointer: pointer, Detail: detail}}
	return d
}

// named is what to call the part of a request at a pointer.
func named(pointer string) string {
	if pointer == "" {
		return "a request"
	}
	return strings.ReplaceAll(pointer[1:], "/", ".")
}

func notJSON() error {
	return problem.New(problem.MalformedJSON, "The content is not acceptable JSON.")
}

func badParameter(name, code, detail string) error {
	d := problem.New(problem.InvalidParameter, "A parameter of the request is not valid.")
	d.Errors = []problem.Violation{{Parameter: name, Code: code, Detail: detail}}
	return d
}
