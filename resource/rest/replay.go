package rest

// Requests with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-08). Called by all
// handlers that write; calls package idempotency through the catalog. The key is parsed after the
// checks that do not need stored data, and the write looks it up when the body is known. A replayed
// result is rendered for the contract, the media type and the selection of the new request.

import (
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// parseKey returns the Idempotency-Key of the request. It returns "" if there is none, or if the
// catalog has no idempotency store. A key needs a principal, because keys are scoped to it.
func (c *call) parseKey() (string, error) {
	// Without a store of records the field is ignored, like any unknown field. The start-up report
	// states that.
	once := c.h.catalog.Idempotency()
	if once == nil {
		return "", nil
	}
	key, err := once.Key(c.r.Header)
	if err != nil || key == "" {
		return "", err
	}
	if c.principal() == "" {
		d := problem.New(problem.InvalidHeader, "Idempotency-Key requires an authenticated caller.")
		d.Errors = []problem.Violation{{Header: idempotency.KeyField, Code: "anonymous",
			Detail: "requires an authenticated caller"}}
		return "", d
	}
	return key, nil
}

// useKey returns the key of this request's write, or nil if it has none. The write fails if the
// same key was used for another method, path, query or body.
func (c *call) useKey(key, id, mediaType string) *resource.Key {
	if key == "" {
		return nil
	}
	// The target has neither prefix nor contract: a retry through another host or version is the
	// same request.
	target := c.route.name
	if c.onItem {
		target += "/" + id
	}
	if c.restores {
		target += "/" + id + restoreSuffix
	}
	c.key = c.h.catalog.Key(c.route.name, idempotency.Operation{
		Principal: c.principal(), Method: c.r.Method, Target: target, Key: key,
	}, c.canonicalQuery(), mediaType)
	return c.key
}

// canonicalQuery returns the query in one spelling, without the parameter that selects the
// contract.
func (c *call) canonicalQuery() string {
	if c.r.URL.RawQuery == "" {
		return ""
	}
	// Encode sorts by name. A client may build the query of a retry in another order.
	pairs, _ := parsePairs(c.r.URL.RawQuery) // malformed pairs have been rejected
	return pairs.Encode()
}

// replayError sends the recorded error response of the first request.
func (c *call) replayError(rec *idempotency.Record) {
	h := c.w.Header()
	for name, lines := range rec.Header {
		h[name] = lines
	}
	h["Vary"] = c.vary()
	h["Cache-Control"] = noStore
	h["Content-Type"] = []string{mediaProblem}
	h["X-Content-Type-Options"] = nosniff
	c.replayed()
	// A replay is the recorded document and not a new one, because the state may have changed
	// since.
	validators{length: len(rec.Result)}.set(h)
	_ = c.respond(rec.Status, rec.Result)
}

var isTrue = []string{"true"}

// replayed sets the header fields of a replayed response. It does nothing if this is the first
// request.
func (c *call) replayed() {
	rec := c.key.Replayed()
	if rec == nil {
		return
	}
	h := c.w.Header()
	h[idempotency.ReplayedField] = isTrue
	// The result was too large to record, so the current item is sent. The field states that.
	if rec.Reference() {
		h[idempotency.ResultField] = []string{"reference"}
	}
}
