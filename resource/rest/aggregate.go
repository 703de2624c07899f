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
func (x *call) hasAggregation() bool {
	s := &x.route.resource.Describe().Query
	if x.r.URL.RawQuery == "" || !s.CanAggregate() {
		return false
	}
	params, err := parsePairs(x.r.URL.RawQuery)
	return err == nil && query.HasAggregation(params, *s)
}

// ofItems are the parameters of lists that groups do not have.
var ofItems = []string{"before", "fields", "expand", "highlight", lastEventParameter}

// getGroups sends a page of groups: {"groups": [...], "next": "..."}.
func (x *call) getGroups() error {
	if _, err := x.negotiate(x.r.Header["Accept"], groupOffers); err != nil {
		return err
	}
	enc, err := x.encodings()
	if err != nil {
		return err
	}
	params, err := x.params()
	if err != nil {
		return err
	}
	if err := refuseParameters(params, ofItems, "groups", "which have no items"); err != nil {
		return err
	}
	res := x.route.resource
	opts := x.parseOptions(x.lenient(x.prefer()))
	opts.Ignore = []string{"after"}
	a, err := query.ParseAggregation(params, opts)
	if err != nil {
		return err
	}
	if err := checkCursor(params, "after"); err != nil {
		return err
	}
	position := resource.Position{After: params.Get("after")}
	page, err := res.Aggregate(x.r.Context(), a, position.After)
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
		if b, err = res.AppendGroup(b, a, g); err != nil {
			return err
		}
	}
	b = append(b, ']')
	if page.Next != "" {
		b = append(append(append(b, `,"next":"`...), page.Next...), '"')
	}
	*buf = append(b, '}')
	return x.sendGroups(*buf, page, enc)
}

// sendGroups sends the document b of a page. Its tag is a hash of the document, because groups have no
// revision.
func (x *call) sendGroups(b []byte, page resource.GroupPage, enc header.Encodings) error {
	compressed := httpbody.ShouldGzip(enc, len(b))
	sum := sha256.Sum256(b)
	text := base64.RawURLEncoding.EncodeToString(sum[:12])
	tag := string(x.route.resource.AppendETag([]byte("W/"), resource.Rev(text), compressed, x.contractTag))
	if err := x.checkListMatch(); err != nil {
		return err
	}
	unchanged, err := x.listUnchanged(tag)
	if err != nil {
		return err
	}
	h := x.w.Header()
	x.listHeaders(h)
	if links := x.pageLinks(&resource.Page{Next: page.Next}); links != "" {
		h["Link"] = []string{links}
	}
	h["Etag"] = []string{tag}
	if unchanged {
		return x.noContent(http.StatusNotModified)
	}
	h["Content-Type"] = x.mediaType
	if compressed {
		zipped := buffers.Get()
		defer buffers.Put(zipped)
		*zipped = httpbody.AppendGzip(*zipped, b)
		b = *zipped
		h["Content-Encoding"] = gzipValue
	}
	h["Content-Length"] = []string{strconv.Itoa(len(b))}
	x.rec.AddItems(len(page.Groups))
	return x.respond(http.StatusOK, b)
}
