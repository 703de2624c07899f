package resource

// Preconditions (RFC 9110 section 13) of reads and writes. Called by write.go, import_run.go,
// package blob and protocols. It calls precondition_etag.go.

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// Preconditions are the conditional fields of a request, RFC 9110 section 13.1. The zero value has
// none. They are evaluated in the order of section 13.2.2, after all other checks of the request.
type Preconditions struct {
	IfMatch, IfNoneMatch               header.Tags
	IfModifiedSince, IfUnmodifiedSince time.Time // zero if absent or not a date
}

// has reports whether a field with entity tags is present.
func has(t header.Tags) bool { return t.Any || t.List != nil }

// any reports whether there is a condition.
func (p *Preconditions) any() bool {
	return has(p.IfMatch) || has(p.IfNoneMatch) ||
		!p.IfModifiedSince.IsZero() || !p.IfUnmodifiedSince.IsZero()
}

// failedError reports a precondition that does not hold. It has the current item, so that a
// protocol can send the current revision.
type failedError struct {
	current Entry // zero if there is none
	field   string
}

func (e *failedError) Error() string { return "precondition " + e.field + " failed" }
func (e *failedError) Unwrap() error { return ErrStale }

// detail describes the failure to the client. If-Match can fail because there is no item, but the
// text must not distinguish that from another revision.
func (e *failedError) detail() string {
	switch e.field {
	case "If-None-Match":
		return "If-None-Match failed: the item exists and matches it."
	case "If-Unmodified-Since":
		return "If-Unmodified-Since failed: the item has been modified since that time."
	}
	return "If-Match failed: the item does not have one of these entity tags. Read it again."
}

// namesRevision reports whether If-Match lists tags.
func (p *Preconditions) namesRevision() bool { return has(p.IfMatch) && !p.IfMatch.Any }

// check evaluates the conditions of a write: all but If-Modified-Since. current is nil if there is
// no item.
func (p *Preconditions) check(t tagger, current *Entry) error {
	failed := func(field string) error {
		e := &failedError{field: field}
		if current != nil {
			e.current = t.concealed(current)
		}
		return e
	}
	switch {
	case has(p.IfMatch):
		if current == nil || !p.IfMatch.Any && !t.anyMatches(p.IfMatch, current, false) {
			return failed("If-Match")
		}
	case current != nil && t.modifiedAfter(current, p.IfUnmodifiedSince):
		return failed("If-Unmodified-Since")
	}
	if has(p.IfNoneMatch) && current != nil &&
		(p.IfNoneMatch.Any || t.anyMatches(p.IfNoneMatch, current, true)) {
		return failed("If-None-Match")
	}
	if t.requireIfMatch && current != nil && !has(p.IfMatch) {
		return problem.New(problem.PreconditionRequired,
			"If-Match with the current ETag of the item is required.")
	}
	return nil
}

// checkRead checks the conditions that a read can fail: If-Match and If-Unmodified-Since. tag is the
// entity tag of the selected representation.
func (p *Preconditions) checkRead(t tagger, e *Entry, tag string) error {
	switch {
	case has(p.IfMatch):
		if !p.IfMatch.Any && (tag == "" || !p.IfMatch.Strong(tag[1:len(tag)-1])) {
			return &failedError{field: "If-Match", current: *e}
		}
	case t.modifiedAfter(e, p.IfUnmodifiedSince):
		return &failedError{field: "If-Unmodified-Since", current: *e}
	}
	return nil
}

// CheckRead returns an error (412), an [*Error] with CurrentRev, if If-Match or If-Unmodified-Since
// does not hold for an item that r returned. tag is the strong entity tag of the representation that
// the protocol sends, in quotation marks: If-Match of a read compares with no other one. p must not
// be nil.
func (raw Raw) CheckRead(e *Entry, tag string, p *Preconditions) error {
	r := raw.r
	if err := p.checkRead(r.entityTags(), e, tag); err != nil {
		return r.wrap(OpGet, e.ID, err)
	}
	return nil
}

// Check returns an error if the conditions do not hold for a write of something with a single
// representation and the entity tag [Rev.ETag], such as a blob. It is 412, or 428 if
// requireIfMatch demands an If-Match that is absent. current is nil if there is no such thing. Wrap
// the error in an [*Error]: its CurrentRev is then the revision of current. Items have a tag for
// each representation, and their writes check the conditions themselves.
func (p *Preconditions) Check(current *Entry, requireIfMatch bool) error {
	return p.check(tagger{nil, requireIfMatch}, current)
}

// CheckRead is [Preconditions.Check] for a read of current, which must not be nil: it returns an
// error (412) if If-Match or If-Unmodified-Since does not hold.
func (p *Preconditions) CheckRead(current *Entry) error {
	return p.checkRead(tagger{}, current, current.Rev.ETag())
}

// Precheck returns an error that Put, Patch or Delete would return for the item as it is now,
// because the item does not exist, is hidden or does not meet p: a client that waits for 100
// (Continue) need not send the document. It does not check Authorize for op. The write checks
// everything again.
func (raw Raw) Precheck(ctx context.Context, op Op, id string, p *Preconditions) error {
	r := raw.r
	ctx = r.inCatalog(ctx)
	cur, err := r.current(ctx, id)
	switch {
	case err == nil:
		err = p.check(r.entityTags(), &cur)
	case op == OpReplace && r.core.ops.insert != nil && r.mayInsert(err):
		err = p.check(r.entityTags(), nil)
	case op == OpReplace:
		err = r.hiddenAsAbsent(err, p)
	}
	if err != nil {
		return r.wrap(OpGet, id, err)
	}
	return nil
}

// hiddenAsAbsent returns the error of a Put with conditions for an id that Put could create, if err reports
// that the item is hidden: If-Match fails for both.
func (r *Resource) hiddenAsAbsent(err error, p *Preconditions) error {
	if r.core.ops.insert != nil && (errors.Is(err, errHidden) || errors.Is(err, errHiddenGone)) {
		return cmp.Or(p.check(r.entityTags(), nil), err)
	}
	return err
}
