package idempotency

import (
	"net/http"
	"time"
)

// Record is what became of an operation, so that it can be answered again. Whoever gets one must not change what Result and
// Header refer to: others may have the same.
type Record struct {
	// Status is that of the answer. In a store, zero says that nobody knows what became of it.
	Status int
	Media  string      // the media type of Result; empty for none
	Result []byte      // in the newest contract, before it was rendered for anybody; nil if it was too large
	Header http.Header // of the answer, the few that cannot be made again: Location
	// Collection, ID and Rev are of the item that was written, empty for none.
	Collection, ID, Rev string
	// Done is when it was done. Zero is now, for Do. Stores may round to microseconds.
	Done time.Time
}

// Reference reports whether there was a result which is not kept, as it was too large: Media says what it was. Who answers
// again then sends the item as it is now, or nothing, with the field [ResultField].
func (r *Record) Reference() bool { return r.Media != "" && len(r.Result) == 0 }

// SetModified stores the time of the last modification of the item in Header, to the second. A zero time is unknown, and changes
// nothing.
func (r *Record) SetModified(modified time.Time) {
	if !modified.IsZero() {
		r.Header = http.Header{"Last-Modified": {modified.UTC().Format(http.TimeFormat)}}
	}
}

// Modified returns the time that SetModified has stored; zero if it is unknown.
func (r *Record) Modified() time.Time {
	modified, _ := time.Parse(http.TimeFormat, r.Header.Get("Last-Modified")) // zero if it is absent
	return modified
}

// Names of header fields.
const (
	// KeyField is in requests.
	KeyField = "Idempotency-Key"
	// ReplayedField is "true" in an answer that was given before.
	ReplayedField = "Idempotency-Replayed"
	// ResultField is "reference" in one whose content was too large to keep.
	ResultField = "Idempotency-Result"
)

// most returns the record with no more than max bytes of result.
func (r Record) most(max int) Record {
	if len(r.Result) > max {
		r.Result = nil
		if r.Media == "" {
			r.Media = "application/octet-stream" // so that it is a Reference
		}
	}
	return r
}
