package rest

import (
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Requests with an Idempotency-Key (draft-ietf-httpapi-idempotency-key-header-07). The key is read when everything has been
// checked that does not depend on stored data, and it is looked up by the write, when the content is known. A replayed result
// is rendered again for the contract, the media type and the selection of this request.

// parseKey returns the Idempotency-Key of the request; "" if it has none, or if the catalog keeps no keys.
func (x *call) parseKey() (string, error) {
	once := x.h.catalog.Idempotency()
	if once == nil {
		return "", nil
	}
	key, err := once.Key(x.r.Header)
	if err != nil || key == "" {
		return "", err
	}
	if x.principal() == "" {
		const detail = "an idempotency key needs an authenticated caller"
		d := problem.New(problem.InvalidHeader, detail)
		d.Errors = []problem.Violation{{Header: idempotency.KeyField, Code: "anonymous", Detail: detail}}
		return "", d
	}
	return key, nil
}

// useKey returns the key for the write of this request; nil if it has none.
func (x *call) useKey(key, id, mediaType string) *resource.Key {
	if key == "" {
		return nil
	}
	target := x.route.name
	if x.onItem {
		target += "/" + id
	}
	x.key = x.h.catalog.Key(x.route.name, idempotency.Operation{
		Principal: x.principal(), Method: x.r.Method, Target: target, Key: key,
	}, x.canonicalQuery(), mediaType)
	return x.key
}

// canonicalQuery is the query in one spelling, without what names the contract.
func (x *call) canonicalQuery() string {
	if x.r.URL.RawQuery == "" {
		return ""
	}
	return x.r.URL.Query().Encode() // what it cannot read has been refused
}

// refuseAgain answers with a refusal that was given before.
func (x *call) replayError(rec *idempotency.Record) {
	h := x.w.Header()
	for name, lines := range rec.Header {
		h[name] = lines
	}
	h["Vary"] = x.vary()
	h["Cache-Control"] = noStore
	h["Content-Type"] = []string{mediaProblem}
	x.replayed()
	validators{length: len(rec.Result)}.set(h)
	_ = x.respond(rec.Status, rec.Result)
}

var isTrue = []string{"true"}

// replayed sets the fields of a replayed response, if this is one.
func (x *call) replayed() {
	rec := x.key.Replayed()
	if rec == nil {
		return
	}
	h := x.w.Header()
	h[idempotency.ReplayedField] = isTrue
	if rec.Reference() {
		h[idempotency.ResultField] = []string{"reference"}
	}
}
