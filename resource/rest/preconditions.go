package rest

// Preconditions of a request (RFC 9110 section 13.1), and the revision that is current if one of
// them fails. Called by the handlers of items, lists and blobs, and by call.go. It calls package
// header.

import (
	"errors"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// parsePreconditions reads the conditional fields of a request. The error is a [*problem.Details]
// that names the field if its list of entity tags is not valid. Dates that are not valid are
// ignored (RFC 9110 section 13.1.3).
func parsePreconditions(h http.Header) (resource.Preconditions, error) {
	var p resource.Preconditions
	for _, f := range [...]struct {
		name string
		tags *header.Tags
	}{{"If-Match", &p.IfMatch}, {"If-None-Match", &p.IfNoneMatch}} {
		lines, ok := h[f.name]
		if !ok {
			continue
		}
		// A list that cannot be parsed is an error and not ignored. Without its If-Match, a write
		// would overwrite the changes of other clients.
		tags, err := header.ParseTags(lines)
		if err != nil {
			d := problem.New(problem.InvalidHeader, f.name+" must be * or a list of entity tags.")
			d.Errors = []problem.Violation{{Header: f.name, Code: "syntax", Detail: err.Error()}}
			return p, d
		}
		*f.tags = tags
	}
	p.IfModifiedSince = parseDate(h, "If-Modified-Since")
	p.IfUnmodifiedSince = parseDate(h, "If-Unmodified-Since")
	return p, nil
}

// parseDate parses a field with one HTTP-date. It returns the zero time if the field is absent,
// repeated or not a date.
func parseDate(h http.Header, name string) time.Time {
	lines, ok := h[name]
	if !ok || len(lines) != 1 {
		return time.Time{}
	}
	t, err := http.ParseTime(lines[0])
	if err != nil {
		return time.Time{}
	}
	return t
}

// currentRev returns the current revision of the item if err reports a failed precondition, and
// otherwise an empty Rev.
func currentRev(err error) resource.Rev {
	var at *resource.Error
	if errors.As(err, &at) {
		return at.CurrentRev()
	}
	return ""
}
