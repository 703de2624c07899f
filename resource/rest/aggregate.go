package rest

// GET and HEAD of a collection with parameters of aggregates: one page of groups as JSON. Called by
// getList. It calls Resource.Aggregate.

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
)

var groupOffers = []string{mediaJSON}

// hasAggregation reports whether the URL requests groups in place of items. Parameters that are not
// encoded correctly are reported by the caller.
func (c *call) hasAggregation() bool {
	s := &c.route.resource.Describe().Query
	if c.r.URL.RawQuery == "" || !s.CanAggregate() {
		return false
	}
	params, err := parsePairs(c.r.URL.RawQuery)
	return err == nil && query.HasAggregation(params, *s)
}

// ofItems are the parameters of lists that groups do not have.
var ofItems = []string{"before", "fields", "expand", "highlight", lastEventParameter}

// getGroups sends a page of groups: {"groups": [...], "next": "..."}.
func (c *call) getGroups() error {
	if _, err := c.negotiate(c.r.Header["Accept"], groupOffers); err != nil {
		return err
	}
	enc, err := c.encodings()
	if err != nil {
		return err
	}
	params, err := c.params()
	if err != nil {
		return err
	}
	if err := refuseParameters(params, ofItems, "groups", "which have no items"); err != nil {
		return err
	}
	res := c.route.resource
	opts := c.parseOptions(c.lenient(c.prefer()))
	opts.Ignore = []string{"after"}
	a, err := query.ParseAggregation(params, opts)
	if err != nil {
		return err
	}
	if err := checkCursor(params, "after"); err != nil {
		return err
	}
	position := resource.Position{After: params.Get("after")}
	page, err := res.Aggregate(c.r.Context(), a, position.After)
	if err != nil {
		return cursorParameter(err, position)
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	b := append(*buf, `{"groups":[`...)
	for i, g := range page.Groups {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = res.Raw().AppendGroup(b, a, g); err != nil {
			return err
		}
	}
	b = append(b, ']')
	if page.Next != "" {
		b = append(append(append(b, `,"next":"`...), page.Next...), '"')
	}
	*buf = append(b, '}')
	return c.sendGroups(*buf, page, enc)
}

// sendGroups sends the document b of a page. Its tag is a hash of the document, because groups have no
// revision.
func (c *call) sendGroups(b []byte, page resource.GroupPage, enc header.Encodings) error {
	compressed := httpbody.ShouldGzip(enc, len(b))
	sum := sha256.Sum256(b)
	text := base64.RawURLEncoding.EncodeToString(sum[:12])
	raw := c.route.resource.Raw()
	tag := string(raw.AppendETag([]byte("W/"), resource.Rev(text), compressed, c.contractTag))
	if err := c.checkListMatch(); err != nil {
		return err
	}
	unchanged, err := c.listUnchanged(tag)
	if err != nil {
		return err
	}
	h := c.w.Header()
	c.listHeaders(h)
	if links := c.pageLinks(&resource.Page{Next: page.Next}); links != "" {
		h["Link"] = []string{links}
	}
	h["Etag"] = []string{tag}
	if unchanged {
		return c.noContent(http.StatusNotModified)
	}
	h["Content-Type"] = c.mediaType
	if compressed {
		zipped := buffers.Get()
		defer buffers.Put(zipped)
		*zipped = httpbody.AppendGzip(*zipped, b)
		b = *zipped
		h["Content-Encoding"] = gzipValue
	}
	h["Content-Length"] = []string{strconv.Itoa(len(b))}
	c.rec.AddItems(len(page.Groups))
	return c.respond(http.StatusOK, b)
}
