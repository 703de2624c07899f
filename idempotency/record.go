package idempotency

import (
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// Record is the outcome of an operation, from which its response can be repeated. Do not modify
// Result and Header of a returned Record, because they may be shared.
type Record struct {
	// Status is the status code of the response. In a store, zero means that the outcome is
	// unknown.
	Status int
	// Media is the media type of Result; empty if there is none.
	Media string
	// Result is the content in the newest contract, before it was converted for the client. It is
	// nil if it was too large.
	Result []byte
	// Schema is the schema.Type.Fingerprint of the type of Result. A program with another type shows
	// the current item instead. Empty means the type of the reader.
	Schema string
	// Header has the fields that cannot be derived again: Last-Modified of an item, Retry-After and
	// WWW-Authenticate of a refusal, and with Wrap those that describe the response, such as
	// Location.
	Header http.Header
	// Collection, ID and Rev identify the item that was written; they are empty if there is none.
	Collection, ID, Rev string
	// Done is when the operation finished. Do replaces zero by the current time. Stores may round
	// it to microseconds.
	Done time.Time
}

// Reference reports whether the result was too large to store. Media is then its media type. A
// replay sends the current item, or the problem of NotKept, with the field [ResultField].
func (r *Record) Reference() bool { return r.Media != "" && len(r.Result) == 0 }

// NotKept returns the problem for a replay of a [Record.Reference], if there is no item to send: 409
// with the members firstStatus and, if the first response had a Location, firstLocation.
func (r *Record) NotKept() *problem.Details {
	d := problem.New(problem.Conflict, "The first request with this key was answered with status "+
		strconv.Itoa(r.Status)+", and its content was not kept. Do not send it again with another key.")
	d.Extensions = map[string]any{"firstStatus": r.Status}
	if location := r.Header.Get("Location"); location != "" {
		d.Extensions["firstLocation"] = location
	}
	return d
}

// SetModified stores the last modification time of the item in Header, in whole seconds. A zero time
// changes nothing.
func (r *Record) SetModified(modified time.Time) {
	if !modified.IsZero() {
		r.Header = http.Header{"Last-Modified": {modified.UTC().Format(http.TimeFormat)}}
	}
}

// Modified returns the time stored by [Record.SetModified], or the zero time if there is none.
func (r *Record) Modified() time.Time {
	// The zero time is right for a field that cannot be parsed.
	modified, _ := time.Parse(http.TimeFormat, r.Header.Get("Last-Modified"))
	return modified
}

// Names of header fields.
const (
	// KeyField is the request field with the key.
	KeyField = "Idempotency-Key"
	// ReplayedField is "true" in a replayed response.
	ReplayedField = "Idempotency-Replayed"
	// ResultField is "reference" in a replay that lacks the content of the first response.
	ResultField = "Idempotency-Result"
)

// limitResult returns the record with its result removed if it exceeds max bytes.
func (r Record) limitResult(max int) Record {
	if len(r.Result) > max {
		r.Result = nil
		if r.Media == "" {
			r.Media = "application/octet-stream" // makes it a Reference
		}
	}
	return r
}
