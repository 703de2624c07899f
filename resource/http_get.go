package resource

import (
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/header"
)

// getItem answers GET and HEAD of an item.
func (x *call) getItem(id string) error {
	stream, err := x.wantsStream()
	if err != nil {
		return err
	}
	if stream {
		return x.feedItem(id)
	}
	enc, err := x.encodings()
	if err != nil {
		return err
	}
	var p selection
	if x.r.URL.RawQuery != "" {
		if p, err = x.itemSelection(x.lenient(x.prefer())); err != nil {
			return err
		}
	}
	x.setEventCursor()
	res := x.route.resource
	b := res.core.ops.newBuffer()
	defer b.release()
	e, err := res.find(x.r.Context(), id, b)
	if err != nil {
		return res.wrap(OpGet, id, err)
	}
	return x.sendCurrent(e, &p, enc)
}

// sendCurrent answers with an entry as the conditions of the request want it: 200, 304 or 412.
func (x *call) sendCurrent(e *Entry, p *selection, enc header.Encodings) error {
	if p.links != nil {
		e.Modified = time.Time{} // that of the item says nothing about its relations
	}
	if lines := x.r.Header["If-None-Match"]; lines != nil {
		if tag := x.shown(lines, e, p, enc); tag != nil {
			h := x.w.Header()
			x.cacheHeaders(h)
			h["Etag"] = tag
			return x.noContent(http.StatusNotModified)
		}
	} else if !conditional(x.r.Header) {
		return x.sendItem(http.StatusOK, e, p, enc, true)
	}
	cond, err := ParsePreconditions(x.r.Header)
	if err != nil {
		return err
	}
	if err := cond.checkRead(x.route.resource.core, e); err != nil {
		return err
	}
	// A client that takes no gzip, or that shows a tag of the gzip variant, has told which representation is selected.
	// Otherwise its size does, so it is written first.
	if p.links == nil {
		c := identity
		if enc.Gzip {
			c = gzipped
		}
		if which := x.etagSuffix(p, nil); cond.unchanged(x.route.resource.projection.variants[c], which, e, enc.Gzip) {
			return x.notModified(e, c, which)
		}
		if !enc.Gzip {
			return x.sendItem(http.StatusOK, e, p, enc, true)
		}
	}
	buf := getBuffer()
	defer putBuffer(buf)
	if *buf, err = x.render(*buf, e, p); err != nil {
		return err
	}
	c, which := choose(enc, len(*buf)), x.etagSuffix(p, *buf)
	if cond.unchanged(x.route.resource.projection.variants[c], which, e, false) {
		return x.notModified(e, c, which)
	}
	return x.sendBody(http.StatusOK, e, p, enc, *buf, true)
}

// shown answers the commonest question of all without parsing anything: is the whole item still the one of which I have
// the tag? It returns that tag as a header value if so, and nil if not, or if something else is asked as well.
func (x *call) shown(lines []string, e *Entry, p *selection, enc header.Encodings) []string {
	in := x.r.Header
	if e.Rev == "" || p.fields != nil || p.links != nil || in["If-Match"] != nil || in["If-Unmodified-Since"] != nil {
		return nil
	}
	c := identity
	if enc.Gzip {
		c = gzipped
	}
	var room [96]byte
	tag := appendTag(room[:0], e.Rev, x.route.resource.projection.variants[c], x.contractTag)
	if len(lines) == 1 && lines[0] == string(tag) {
		return lines // the client's own text of it
	}
	value := string(tag)
	if match, ok := header.MatchTag(lines, value, true); !match || !ok {
		return nil
	}
	if c == gzipped && strings.Contains(lines[0], "*") { // which means what is selected, and that is not known yet
		return nil
	}
	return []string{value}
}

// conditional reports whether any precondition is stated. Most requests have none, and then nothing is parsed.
func conditional(h http.Header) bool {
	return h["If-None-Match"] != nil || h["If-Match"] != nil ||
		h["If-Modified-Since"] != nil || h["If-Unmodified-Since"] != nil
}

// notModified answers 304 with what the 200 would have said of caching, and of the item only its validator (RFC 9110
// section 15.4.5).
func (x *call) notModified(e *Entry, c coding, which string) error {
	h := x.w.Header()
	s := validators{rev: e.Rev, variant: x.route.resource.projection.variants[c], which: which, length: -1}
	if e.Rev == "" {
		s.modified = e.Modified
	}
	s.set(h)
	x.cacheHeaders(h)
	return x.noContent(http.StatusNotModified)
}

// checkRead judges the conditions that a reader can fail: If-Match and If-Unmodified-Since.
func (p *Preconditions) checkRead(h tagger, e *Entry) error {
	failed := &failedError{current: *e}
	if p.hasMatch {
		if !p.match.Any && !h.anyMatches(p.match, e.Rev, false) {
			failed.field = "If-Match"
			return failed
		}
		return nil
	}
	if !p.unmodifiedSince.IsZero() && !e.Modified.IsZero() && e.Modified.Truncate(time.Second).After(p.unmodifiedSince) {
		failed.field = "If-Unmodified-Since"
		return failed
	}
	return nil
}

// unchanged reports whether the client has the selected representation of e: by If-None-Match, else, if there is none,
// by If-Modified-Since. tagsOnly leaves what names no tag, * and the date, to a second look.
func (p *Preconditions) unchanged(variant, which string, e *Entry, tagsOnly bool) bool {
	if p.hasNoneMatch {
		if p.noneMatch.Any {
			return !tagsOnly
		}
		if e.Rev == "" {
			return false
		}
		var room [128]byte
		tag := appendTag(room[:0], e.Rev, variant, which)
		return p.noneMatch.Weak(string(tag[1 : len(tag)-1]))
	}
	return !tagsOnly && p.unchangedSince(e.Modified)
}

// unchangedSince reports whether If-Modified-Since says that the client has what was last changed then.
func (p *Preconditions) unchangedSince(modified time.Time) bool {
	return !p.modifiedSince.IsZero() && !modified.IsZero() && !modified.Truncate(time.Second).After(p.modifiedSince)
}
