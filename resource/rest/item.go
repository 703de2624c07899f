package rest

import (
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
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
	page, err := res.GetPage(x.r.Context(), id)
	if err != nil {
		return err
	}
	defer page.Release()
	return x.sendCurrent(&page.Entries[0], &p, enc)
}

// sendCurrent answers with an entry as the conditions of the request want it: 200, 304 or 412.
func (x *call) sendCurrent(e *resource.Entry, p *selection, enc header.Encodings) error {
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
	cond, err := parsePreconditions(x.r.Header)
	if err != nil {
		return err
	}
	if err := x.route.resource.CheckRead(e, &cond); err != nil {
		return err
	}
	// A client that takes no gzip, or that shows a tag of the gzip variant, has told which representation is selected.
	// Otherwise its size does, so it is written first.
	if p.links == nil {
		if suffix := x.etagSuffix(p, nil); x.unchanged(&cond, e, enc.Gzip, suffix, enc.Gzip) {
			return x.notModified(e, enc.Gzip, suffix)
		}
		if !enc.Gzip {
			return x.sendItem(http.StatusOK, e, p, enc, true)
		}
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if *buf, err = x.render(*buf, e, p); err != nil {
		return err
	}
	compressed, suffix := httpbody.ShouldGzip(enc, len(*buf)), x.etagSuffix(p, *buf)
	if x.unchanged(&cond, e, compressed, suffix, false) {
		return x.notModified(e, compressed, suffix)
	}
	return x.sendBody(http.StatusOK, e, p, enc, *buf, true)
}

// shown answers the commonest question of all without parsing anything: is the whole item still the one of which I have
// the tag? It returns that tag as a header value if so, and nil if not, or if something else is asked as well.
func (x *call) shown(lines []string, e *resource.Entry, p *selection, enc header.Encodings) []string {
	in := x.r.Header
	if e.Rev == "" || p.fields != nil || p.links != nil || in["If-Match"] != nil || in["If-Unmodified-Since"] != nil {
		return nil
	}
	var room [96]byte
	tag := x.route.resource.AppendETag(room[:0], e.Rev, enc.Gzip, x.contractTag)
	if len(lines) == 1 && lines[0] == string(tag) {
		return lines // the client's own text of it
	}
	value := string(tag)
	if match, ok := header.MatchTag(lines, value, true); !match || !ok {
		return nil
	}
	if enc.Gzip && strings.Contains(lines[0], "*") { // which means what is selected, and that is not known yet
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
func (x *call) notModified(e *resource.Entry, compressed bool, suffix string) error {
	h := x.w.Header()
	s := validators{r: x.route.resource, rev: e.Rev, compressed: compressed, suffix: suffix, length: -1}
	if e.Rev == "" {
		s.modified = e.Modified
	}
	s.set(h)
	x.cacheHeaders(h)
	return x.noContent(http.StatusNotModified)
}

// unchanged reports whether the client has the selected representation of e: by If-None-Match, else, if there is none,
// by If-Modified-Since. tagsOnly leaves what names no tag, * and the date, to a second look.
func (x *call) unchanged(p *resource.Preconditions, e *resource.Entry, compressed bool, suffix string, tagsOnly bool) bool {
	if none := p.IfNoneMatch; none.Any || none.List != nil {
		if none.Any {
			return !tagsOnly
		}
		if e.Rev == "" {
			return false
		}
		var room [128]byte
		tag := x.route.resource.AppendETag(room[:0], e.Rev, compressed, suffix)
		return none.Weak(string(tag[1 : len(tag)-1]))
	}
	return !tagsOnly && unchangedSince(p, e.Modified)
}

// unchangedSince reports whether If-Modified-Since says that the client has what was last changed at modified.
func unchangedSince(p *resource.Preconditions, modified time.Time) bool {
	return !p.IfModifiedSince.IsZero() && !modified.IsZero() && !modified.Truncate(time.Second).After(p.IfModifiedSince)
}
