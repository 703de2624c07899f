package graphql

import (
	"bytes"
	"cmp"
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
)

// Request is a GraphQL request for [Handler.Execute] and [Handler.Subscribe]. In JSON it is the
// request of GraphQL over HTTP, so a message of a queue can be unmarshaled into it.
type Request struct {
	// Query is the text of the document.
	Query string
	// DocumentID is the id of a known document, if Query is empty. See [Documents].
	DocumentID string
	// OperationName selects an operation of the document. It may be empty if there is only one.
	OperationName string
	// Variables is a map, a struct or raw JSON. Encoded in JSON it must be an object. Nil means no
	// variables.
	Variables any
	// IdempotencyKey executes a mutation once. See the section Idempotency keys. The principal of
	// the key is that of the context. As over HTTP, the key has no effect if the catalog has no
	// CatalogOptions.Idempotency.
	IdempotencyKey string
	// After is the [Response].Cursor after which Subscribe resumes. It is not part of the JSON.
	After string
}

// requestJSON is the JSON of a Request.
type requestJSON struct {
	Query         string         `json:"query,omitzero"`
	DocumentID    string         `json:"documentId,omitzero"`
	OperationName string         `json:"operationName,omitzero"`
	Variables     any            `json:"variables,omitzero"`
	Extensions    extensionsJSON `json:"extensions,omitzero"`
}

// extensionsJSON are the extensions of a Request.
type extensionsJSON struct {
	IdempotencyKey string `json:"idempotencyKey,omitzero"`
}

// MarshalJSON returns the request as clients send it.
func (r Request) MarshalJSON() ([]byte, error) {
	return json.Marshal(requestJSON{r.Query, r.DocumentID, r.OperationName, r.Variables,
		extensionsJSON{r.IdempotencyKey}}, json.Deterministic(true), json.WithMarshalers(numbers))
}

// numbers writes a Number of encoding/json as a number; it would be a string. An empty one is 0, as in
// encoding/json.
var numbers = json.MarshalToFunc(func(enc *jsontext.Encoder, n stdjson.Number) error {
	return enc.WriteValue(jsontext.Value(cmp.Or(n.String(), "0")))
})

// UnmarshalJSON reads a request as a client sends it. Variables becomes a map of raw values. The hash
// of an automatic persisted query without text becomes the DocumentID. Unknown members are ignored.
// The error is a problem that names the invalid member.
func (r *Request) UnmarshalJSON(content []byte) error {
	var limits Limits
	limits.setDefaults()
	list, _, err := readRequests(bytes.Clone(content), &limits, 0)
	if err != nil {
		return err
	}
	q := &list[0]
	if q.foreign {
		return malformed("/extensions/persistedQuery/version", "the version is not supported; use 1")
	}
	if q.keyed && q.key == "" {
		return malformed("/extensions/idempotencyKey", "the key is empty")
	}
	*r = Request{Query: q.text, DocumentID: q.id, OperationName: q.operation, IdempotencyKey: q.key}
	if !q.hasText && q.hash != "" {
		r.DocumentID = sha256Prefix + q.hash
	}
	if q.variables != nil {
		r.Variables = q.variables
	}
	return nil
}

// parse converts a Request to one that was received, under the same limits.
func (h *Handler) parse(r *Request) (*parsedRequest, error) {
	content, err := r.MarshalJSON()
	if err != nil {
		return nil, malformed("/variables", "the variables cannot be encoded as JSON")
	}
	if int64(len(content)) > h.opts.Limits.Body {
		return nil, problem.New(problem.TooLarge,
			fmt.Sprintf("The request is larger than %d bytes.", h.opts.Limits.Body))
	}
	list, _, err := readRequests(content, &h.opts.Limits, 0)
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}
