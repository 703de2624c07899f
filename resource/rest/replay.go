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
func (x *call) parseKey() (string, error) {
	// Without a store of records the field is ignored, like any unknown field. The start-up report
	// states that.
	once := x.h.catalog.Idempotency()
	if once == nil {
		return "", nil
	}
	key, err := once.Key(x.r.Header)
	if err != nil || key == "" {
		return "", err
	}
	if x.principal() == "" {
		d := problem.New(problem.InvalidHeader, "Idempotency-Key requires an authenticated caller.")
		d.Errors = []problem.Violation{{Header: idempotency.KeyField, Code: "anonymous",
			Detail: "requires an authenticated caller"}}
		return "", d
	}
	return key, nil
}

// useKey returns the key of this request's write, or nil if it has none. The write fails if the
// same key was used for another method, path, query or body.
func (x *call) useKey(key, id, mediaType string) *resource.Key {
	if key == "" {
		return nil
	}
	// The target has neither prefix nor contract: a retry through another host or version is the
	// same request.
	target := x.route.name
	if x.onItem {
		target += "/" + id
	}
	if x.restores {
		target += "/" + id + restoreSuffix
	}
	x.key = x.h.catalog.Key(x.route.name, idempotency.Operation{
		Principal: x.principal(), Method: x.r.Method, Target: target, Key: key,
	}, x.canonicalQuery(), mediaType)
	return x.key
}

// canonicalQuery returns the query in one spelling, without the parameter that selects the
// contract.
func (x *call) canonicalQuery() string {
	if x.r.URL.RawQuery == "" {
		return ""
	}
	// Encode sorts by name. A client may build the query of a retry in another order.
	pairs, _ := parsePairs(x.r.URL.RawQuery) // malformed pairs have been rejected
	return pairs.Encode()
}

// replayError sends the recorded error response of the first request.
func (x *call) replayError(rec *idempotency.Record) {
	h := x.w.Header()
	for name, lines := range rec.Header {
		h[name] = lines
	}
	h["Vary"] = x.vary()
	h["Cache-Control"] = noStore
	h["Content-Type"] = []string{mediaProblem}
	h["X-Content-Type-Options"] = nosniff
	x.replayed()
	// A replay is the recorded document and not a new one, because the state may have changed
	// since.
	validators{length: len(rec.Result)}.set(h)
	_ = x.respond(rec.Status, rec.Result)
}

var isTrue = []string{"true"}

// replayed sets the header fields of a replayed response. It does nothing if this is the first
// request.
func (x *call) replayed() {
	rec := x.key.Replayed()
	if rec == nil {
		return
	}
	h := x.w.Header()
	h[idempotency.ReplayedField] = isTrue
	// The result was too large to record, so the current item is sent. The field states that.
	if rec.Reference() {
		h[idempotency.ResultField] = []string{"reference"}
	}
}
