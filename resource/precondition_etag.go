package resource

// Entity tags of items: one for each revision, projection and content coding. Called by protocols
// and precondition.go. It calls package etag.

import (
	"slices"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/etag"
)

const mediaJSON = "application/json"

// contentRev returns the revision of an item if its store keeps none: a hash of its JSON in this
// projection. It covers nothing that the client may not see, because a hash can be guessed.
func (s *projection) contentRev(v any) Rev {
	b, err := s.typ.Append(nil, v)
	if err != nil {
		return ""
	}
	return Rev(etag.ContentRev(b))
}

// ETag returns the entity tag of an item that r returned, of the whole item as JSON: that of
// [Resource.AppendETag] without compression and suffix. If the store keeps no revisions it is a
// hash of the content, and empty if the item cannot be encoded.
func (r *Resource) ETag(e *Entry) string {
	rev := e.Rev
	if rev == "" {
		rev = r.projection.contentRev(e.Value)
	}
	if rev == "" {
		return ""
	}
	var room [96]byte
	return string(r.AppendETag(room[:0], rev, false, ""))
}

// AppendETag appends the strong entity tag of a representation of revision rev: "<rev>.<variant>".
// The variant depends on the projection and on whether the content is compressed; suffix, if not
// empty, identifies what else the protocol selects of the item, in characters of an entity tag.
// If-Match accepts each variant and suffix of the current revision. rev must not be empty.
func (r *Resource) AppendETag(dst []byte, rev Rev, compressed bool, suffix string) []byte {
	return etag.Append(dst, string(rev), r.projection.variants.Of(compressed), suffix)
}

// matches reports whether an opaque tag names revision rev in any variant that the resource is
// served in now.
func (h *core) matches(opaque string, rev Rev) bool {
	variant, ok := etag.Cut(opaque, string(rev))
	return ok && slices.ContainsFunc(h.projections, func(s *projection) bool {
		return slices.Contains(s.variants[:], variant)
	})
}

func (h *core) wantsIfMatch() bool { return h.requireIfMatch }

// anyMatches reports whether one of the tags names revision rev; weak tags count only for a weak
// comparison.
func (h *core) anyMatches(tags header.Tags, rev Rev, weak bool) bool {
	for _, t := range tags.List {
		if (weak || !t.Weak) && h.matches(t.Opaque, rev) {
			return true
		}
	}
	return false
}
