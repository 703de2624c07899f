package resource

// Entity tags of items: one for each revision, projection and content coding. Called by protocols
// and precondition.go. It calls package etag.

import (
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/etag"
)

const mediaJSON = "application/json"

// contentRev returns the revision of an item if its store keeps none, or if the projection hides
// fields: a hash of its JSON in this projection. It covers nothing that the client may not see,
// because a hash can be guessed.
func (p *projection) contentRev(v any) Rev {
	buf := texts.Get()
	defer texts.Put(buf)
	b, err := p.typ.Append(*buf, v)
	if err != nil {
		return ""
	}
	*buf = b
	return Rev(etag.ContentRev(b))
}

// ETag returns the entity tag of an item that r returned, of the whole item as JSON: that of
// [Raw.AppendETag] without compression and suffix. If the store keeps no revisions, or r is a
// [View] that hides fields, it is a hash of the content, and empty if the item cannot be encoded.
func (r *Resource) ETag(e *Entry) string {
	rev := e.Rev
	if rev == "" {
		rev = r.projection.contentRev(e.Value)
	}
	if rev == "" {
		return ""
	}
	var room [96]byte
	return string(r.Raw().AppendETag(room[:0], rev, false, ""))
}

// AppendETag appends the strong entity tag of a representation of revision rev: "<rev>.<variant>".
// The variant depends on the projection and on whether the content is compressed; suffix, if not
// empty, identifies what else the protocol selects of the item, in characters of an entity tag.
// If-Match accepts each variant and suffix of the current revision; through a [View] that hides fields,
// those of this view and of its views. rev must not be empty.
func (raw Raw) AppendETag(dst []byte, rev Rev, compressed bool, suffix string) []byte {
	return etag.Append(dst, string(rev), raw.r.projection.variants.Of(compressed), suffix)
}

// matches reports whether an opaque tag is that of the item in a projection that the resource is served
// in now. In a projection that hides fields, only tags count that are made of what it shows: those of the
// collection, and even a hash of what another view shows, could be guessed and would confirm the guess.
func (r *Resource) matches(opaque string, e *Entry) bool {
	variant := etag.Variant(opaque)
	for _, s := range r.core.projections {
		if !slices.Contains(s.variants[:], variant) || r.projection.hides && !s.isBelow(r.projection) {
			continue
		}
		rev := e.Rev
		if s.hides {
			rev = r.shownRev(s, e)
		}
		_, ok := etag.Cut(opaque, string(rev))
		return ok
	}
	return false
}

// shownRev returns the revision that conceal gives to an item of a projection that hides fields. It is
// empty if the projection cannot show the item, or the entry has none.
func (r *Resource) shownRev(p *projection, e *Entry) Rev {
	if p == r.projection && e.Value != nil {
		return p.contentRev(e.Value)
	}
	if e.stored == nil || !p.expresses(e.stored) {
		return ""
	}
	v, err := p.fromStored(e.stored)
	if err != nil {
		return ""
	}
	return p.contentRev(v)
}

// isBelow reports whether p is other, or a view of it.
func (p *projection) isBelow(other *projection) bool {
	return p == other || p.parent != nil && p.parent.isBelow(other)
}

// anyMatches reports whether one of the tags is that of the item; weak tags count only for a weak
// comparison.
func (r *Resource) anyMatches(tags header.Tags, e *Entry, weak bool) bool {
	for _, t := range tags.List {
		if (weak || !t.Weak) && r.matches(t.Opaque, e) {
			return true
		}
	}
	return false
}

// tagger compares entity tags with the current item. It is a struct, because an interface would move the
// Entry of each write to the heap.
type tagger struct {
	r              *Resource // nil for something with a single representation
	requireIfMatch bool
}

func (r *Resource) entityTags() tagger { return tagger{r, r.core.requireIfMatch} }

// anyMatches reports whether one of the tags names the revision; weak tags count only for a weak
// comparison.
func (t tagger) anyMatches(tags header.Tags, current *Entry, weak bool) bool {
	switch {
	case t.r != nil:
		return t.r.anyMatches(tags, current, weak)
	case weak:
		return tags.Weak(string(etag.AppendRev(nil, string(current.Rev))))
	}
	return tags.Strong(string(etag.AppendRev(nil, string(current.Rev))))
}

// modifiedAfter reports whether the item was modified after since. It is false if either is not known, and
// in a view that hides fields.
func (t tagger) modifiedAfter(e *Entry, since time.Time) bool {
	return !since.IsZero() && !e.Modified.IsZero() && (t.r == nil || !t.r.projection.hides) &&
		e.Modified.Truncate(time.Second).After(since)
}

// concealed returns what an error may reveal of the current item.
func (t tagger) concealed(current *Entry) Entry {
	e := *current
	if t.r != nil {
		t.r.projection.conceal(&e, false)
	}
	return e
}
