package resource

import (
	"net/http"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// Preconditions are the conditional fields of a request, RFC 9110 section 13.1. The zero value has none. They are
// judged in the order of section 13.2.2, and only once nothing else is wrong with the request.
type Preconditions struct {
	match, noneMatch               header.Tags
	hasMatch, hasNoneMatch         bool
	modifiedSince, unmodifiedSince time.Time
}

// ParsePreconditions reads the conditional fields of a request. The error is a [*problem.Details] that names the field
// whose list of tags cannot be read; dates that cannot be read are ignored, as RFC 9110 section 13.1.3 demands.
func ParsePreconditions(h http.Header) (Preconditions, error) {
	var p Preconditions
	for _, f := range [...]struct {
		name string
		tags *header.Tags
		has  *bool
	}{{"If-Match", &p.match, &p.hasMatch}, {"If-None-Match", &p.noneMatch, &p.hasNoneMatch}} {
		lines, ok := h[f.name]
		if !ok {
			continue
		}
		tags, err := header.ParseTags(lines)
		if err != nil {
			d := problem.New(problem.InvalidHeader, f.name+" is not a list of entity tags, nor *.")
			d.Errors = []problem.Violation{{Header: f.name, Code: "syntax", Detail: err.Error()}}
			return p, d
		}
		*f.tags, *f.has = tags, true
	}
	p.modifiedSince = parseDate(h, "If-Modified-Since")
	p.unmodifiedSince = parseDate(h, "If-Unmodified-Since")
	return p, nil
}

// ifMatch returns the precondition that value, written like an If-Match field, states. Empty states none.
func ifMatch(value string) (Preconditions, error) {
	if value == "" {
		return Preconditions{}, nil
	}
	return ParsePreconditions(http.Header{"If-Match": {value}})
}

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

// failedError says that a precondition does not hold. It carries the item as it is, so that a door can tell the client
// which revision is current.
type failedError struct {
	current Entry // zero if there is none
	field   string
}

func (e *failedError) Error() string { return e.field + " does not hold" }
func (e *failedError) Unwrap() error { return ErrStale }

// namesRevision reports whether If-Match lists tags, so that one revision alone will do.
func (p *Preconditions) namesRevision() bool { return p.hasMatch && !p.match.Any }

// tagger knows which entity tags name which revision of what it serves.
type tagger interface {
	// anyMatches reports whether one of the tags names the revision; weak tags count only for a weak comparison.
	anyMatches(tags header.Tags, rev Rev, weak bool) bool
	// wantsIfMatch reports whether nobody may change anything without If-Match.
	wantsIfMatch() bool
}

// check judges the conditions for a method that changes the item: all but If-Modified-Since, which is for reading.
// current is nil where there is no item.
func (p *Preconditions) check(h tagger, current *Entry) error {
	failed := func(field string) error {
		e := &failedError{field: field}
		if current != nil {
			e.current = *current
		}
		return e
	}
	switch {
	case p.hasMatch:
		if current == nil || !p.match.Any && !h.anyMatches(p.match, current.Rev, false) {
			return failed("If-Match")
		}
	case current != nil && !p.unmodifiedSince.IsZero() && !current.Modified.IsZero():
		if current.Modified.Truncate(time.Second).After(p.unmodifiedSince) {
			return failed("If-Unmodified-Since")
		}
	}
	if p.hasNoneMatch && current != nil && (p.noneMatch.Any || h.anyMatches(p.noneMatch, current.Rev, true)) {
		return failed("If-None-Match")
	}
	if h.wantsIfMatch() && current != nil && !p.hasMatch {
		return problem.New(problem.PreconditionRequired,
			"Say in If-Match which revision you have seen: the ETag of the item.")
	}
	return nil
}
