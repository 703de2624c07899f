package rest

// GET and HEAD of one item, with conditional requests. Called by route.go, and by lookup.go through
// sendCurrent. It calls Raw.GetPage and sends the entry through represent.go. A 304 is decided
// before the item is encoded if possible, because most conditional requests end there.

import (
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// getItem handles GET and HEAD of an item. Accept and Accept-Encoding are evaluated first, because
// they decide whether the response is an item or a stream. A request that fails without stored data
// fails before the read.
func (c *call) getItem(id string) error {
	stream, err := c.wantsStream()
	if err != nil {
		return err
	}
	if stream {
		return c.feedItem(id)
	}
	enc, err := c.encodings()
	if err != nil {
		return err
	}
	var p selection
	if c.r.URL.RawQuery != "" {
		if p, err = c.itemSelection(c.lenient(c.prefer())); err != nil {
			return err
		}
	}
	// The position precedes the read, so a client that subscribes from it misses no later change.
	c.setEventCursor()
	res := c.route.resource
	if p.fields == nil && p.links == nil {
		done, err := c.getRevision(id, &p, enc)
		if done || err != nil {
			return err
		}
	}
	page, err := res.Raw().GetPage(c.r.Context(), id)
	if err != nil {
		return err
	}
	defer page.Release()
	return c.sendCurrent(&page.Entries[0], &p, enc)
}

// getRevision answers a request without reading the item, if the collection returns the revision alone
// and the client has that revision, or the cache has its JSON.
func (c *call) getRevision(id string, p *selection, enc header.Encodings) (done bool, err error) {
	in := c.r.Header
	res := c.route.resource
	lines := in["If-None-Match"]
	switch {
	// If-Match may name the content of a view, which needs the item.
	case !res.Raw().HasRevisions(lines != nil), in["If-Match"] != nil:
		return false, nil
	// Other preconditions are evaluated with the item.
	case lines != nil && (len(lines) > 1 || !strings.HasPrefix(lines[0], `"`) ||
		in["If-Unmodified-Since"] != nil):
		return false, nil
	}
	rev, modified, err := res.Raw().GetRevision(c.r.Context(), id)
	if err != nil {
		return false, err
	}
	if lines != nil {
		if tag := c.matchingTag(lines, rev, enc); tag != nil {
			return true, c.sendUnchanged(tag)
		}
	}
	item := res.Raw().CachedJSON(c.r.Context(), id, rev)
	if item == nil {
		return false, nil
	}
	return true, c.sendCurrent(&resource.Entry{ID: id, Rev: rev, Modified: modified, JSON: item}, p, enc)
}

// sendCurrent sends an entry if the preconditions of the request allow it: 200, 304 or 412.
func (c *call) sendCurrent(e *resource.Entry, p *selection, enc header.Encodings) error {
	p.reads, p.resource = c.r, c.route.resource
	if p.links != nil {
		e.Modified = time.Time{} // a related item may have changed later
	}
	// Most conditional requests have If-None-Match alone, and most of them match. matchingTag
	// decides them without the parser and without encoding the item.
	in := c.r.Header
	if lines := in["If-None-Match"]; lines != nil {
		if p.fields == nil && p.links == nil && in["If-Match"] == nil && in["If-Unmodified-Since"] == nil {
			if tag := c.matchingTag(lines, e.Rev, enc); tag != nil {
				return c.sendUnchanged(tag)
			}
		}
	} else if !conditional(in) {
		return c.sendItem(http.StatusOK, e, p, enc, true)
	}
	// From here on the order of RFC 9110 section 13.2.2 applies: CheckRead evaluates If-Match and
	// If-Unmodified-Since (412), and then unchanged the other two (304).
	cond, err := parsePreconditions(c.r.Header)
	if err != nil {
		return err
	}
	// The entity tag depends on the content coding. It is known if the client does not accept gzip,
	// or if it sends the tag of the gzip variant in If-None-Match. Otherwise the size decides whether
	// the response is compressed, so the item is encoded first.
	if p.links == nil && (!enc.Gzip || cond.IfMatch.List == nil) {
		suffix := c.etagSuffix(p, nil)
		if err := c.checkRead(&cond, e, enc.Gzip, suffix); err != nil {
			return err
		}
		if c.unchanged(&cond, e, enc.Gzip, suffix, enc.Gzip) {
			return c.notModified(e, enc.Gzip, suffix)
		}
		if !enc.Gzip {
			return c.sendItem(http.StatusOK, e, p, enc, true)
		}
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if *buf, err = c.render(*buf, e, p); err != nil {
		return err
	}
	compressed, suffix := httpbody.ShouldGzip(enc, len(*buf)), c.etagSuffix(p, *buf)
	if err := c.checkRead(&cond, e, compressed, suffix); err != nil {
		return err
	}
	if c.unchanged(&cond, e, compressed, suffix, false) {
		return c.notModified(e, compressed, suffix)
	}
	return c.sendBody(http.StatusOK, e, p, enc, *buf, true)
}

// checkRead returns 412 if If-Match does not have the tag of the selected representation, or if
// If-Unmodified-Since does not hold. The response has that tag, so that the client can repeat the
// request.
func (c *call) checkRead(
	cond *resource.Preconditions, e *resource.Entry, compressed bool, suffix string,
) error {
	tag := ""
	if e.Rev != "" && cond.IfMatch.List != nil {
		tag = string(c.route.resource.Raw().AppendETag(nil, e.Rev, compressed, suffix))
	}
	err := c.route.resource.Raw().CheckRead(e, tag, cond)
	if err == nil || tag == "" {
		return err
	}
	d := *resource.Problem(err)
	d.Header = http.Header{"Etag": {tag}}
	return &d
}

// sendUnchanged sends 304 with an entity tag.
func (c *call) sendUnchanged(tag []string) error {
	h := c.w.Header()
	c.itemHeaders(h)
	h["Etag"] = tag
	return c.noContent(http.StatusNotModified)
}

// matchingTag is the fast path for If-None-Match of a whole item, without other preconditions. It
// returns the ETag value if the client has the current representation. It returns nil if not, or if the
// full evaluation has to decide.
func (c *call) matchingTag(lines []string, rev resource.Rev, enc header.Encodings) []string {
	if rev == "" {
		return nil
	}
	var scratch [96]byte
	tag := c.route.resource.Raw().AppendETag(scratch[:0], rev, enc.Gzip, c.contractTag)
	if len(lines) == 1 && lines[0] == string(tag) {
		// The value of the request needs no allocation.
		return lines
	}
	// Several tags, or weak ones: If-None-Match uses weak comparison (RFC 9110 section 13.1.2).
	value := string(tag)
	if match, ok := header.MatchTag(lines, value, true); !match || !ok {
		return nil
	}
	// "*" matches the selected representation, and with gzip that is not decided yet.
	if enc.Gzip && strings.Contains(lines[0], "*") {
		return nil
	}
	return []string{value}
}

// conditional reports whether the request has a precondition. Most requests have none and skip the
// parser.
func conditional(h http.Header) bool {
	return h["If-None-Match"] != nil || h["If-Match"] != nil ||
		h["If-Modified-Since"] != nil || h["If-Unmodified-Since"] != nil
}

// notModified sends 304 with the validator and the caching fields of the 200 response (RFC 9110
// section 15.4.5). Last-Modified is sent only if there is no entity tag.
func (c *call) notModified(e *resource.Entry, compressed bool, suffix string) error {
	h := c.w.Header()
	s := validators{r: c.route.resource, rev: e.Rev, compressed: compressed, suffix: suffix, length: -1}
	if e.Rev == "" {
		s.modified = e.Modified
	}
	s.set(h)
	c.itemHeaders(h)
	return c.noContent(http.StatusNotModified)
}

// unchanged reports whether the client has the selected representation of e. If-Modified-Since
// counts only without If-None-Match (RFC 9110 section 13.2.2). tagsOnly ignores "*" and the date,
// which a second call evaluates when the content coding is known.
func (c *call) unchanged(p *resource.Preconditions, e *resource.Entry, compressed bool,
	suffix string, tagsOnly bool) bool {
	if none := p.IfNoneMatch; none.Any || none.List != nil {
		if none.Any {
			return !tagsOnly
		}
		if e.Rev == "" {
			return false
		}
		var scratch [128]byte
		tag := c.route.resource.Raw().AppendETag(scratch[:0], e.Rev, compressed, suffix)
		return none.Weak(string(tag[1 : len(tag)-1]))
	}
	return !tagsOnly && unchangedSince(p, e.Modified)
}

// unchangedSince reports whether the item has not changed after If-Modified-Since. HTTP dates have
// no fraction of a second.
func unchangedSince(p *resource.Preconditions, modified time.Time) bool {
	return !p.IfModifiedSince.IsZero() && !modified.IsZero() &&
		!modified.Truncate(time.Second).After(p.IfModifiedSince)
}
