package rest

// GET and HEAD of a collection: one page as JSON. Called by route.go. It calls Resource.List, and
// selection renders the entries. Accept selects the other representations of a list: NDJSON and CSV
// in export.go and the change feed in stream.go.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// The media types and parameters of a list.
var (
	listOffers     = []string{mediaJSON, mediaNDJSON, mediaCSV}
	listParameters = []string{"after", "before", "expand", "highlight"}
)

type listRequest struct {
	q         query.Query // in the names of the contract
	position  resource.Position
	selection selection
	highlight bool // of a search
}

// getList handles GET and HEAD of a collection. Accept decides between a page, the whole list and a
// stream.
func (c *call) getList() error {
	if c.hasAggregation() {
		return c.getGroups()
	}
	media, dialect, err := c.negotiateList()
	if err != nil {
		return err
	}
	if media == mediaStream {
		return c.feedList()
	}
	whole := media != mediaJSON
	enc, err := c.encodings()
	if err != nil {
		return err
	}
	prefer := c.prefer()
	a, err := c.parseList(c.lenient(prefer), whole)
	if err != nil {
		return err
	}
	// The cursor is read before the items: a client that subscribes from it misses no later change.
	c.setEventCursor()
	if whole {
		export := a // a copy, so that those of all other lists stay on the stack
		return c.onHeap(func(x *call) error { return x.export(&export, media, dialect, enc) })
	}
	res := c.route.resource
	list := res.Raw().ListJSON
	if len(a.selection.links) > 0 { // relations need the values
		list = res.List
		a.selection.reads, a.selection.resource = c.r, res
	}
	page, err := list(c.r.Context(), a.q, a.position)
	if err != nil {
		return cursorParameter(err, a.position)
	}
	defer page.Release()
	total := -1
	// The total is a second read, so it can differ from the page if another request writes in
	// between.
	if v, _ := prefer.Get("count"); v == "exact" && res.Describe().Counts {
		if total, err = res.CountFound(c.r.Context(), a.q); err != nil {
			return err
		}
		c.applied("count=exact")
	}
	return c.sendList(&a, &page, total, enc)
}

// cursorParameter adds the name of the parameter to an error about a cursor.
func cursorParameter(err error, at resource.Position) error {
	// Package resource does not know the names of query parameters.
	d := resource.Problem(err)
	if len(d.Errors) == 1 && d.Errors[0].Code == "invalidCursor" {
		d.Errors[0].Parameter = "after"
		if at.Before != "" {
			d.Errors[0].Parameter = "before"
		}
		return d
	}
	return err
}

// parseList parses the query of the URL. With whole, a list without a limit has all items instead
// of one page.
func (c *call) parseList(lenient, whole bool) (listRequest, error) {
	limit := c.route.pageSize
	if whole {
		limit = 0 // all of them
	}
	a := listRequest{q: query.Query{Limit: limit}}
	if c.r.URL.RawQuery == "" {
		return a, nil
	}
	params, err := c.params()
	if err != nil {
		return a, err
	}
	if err := c.refuseLastEventID(params, lenient); err != nil {
		return a, err
	}
	for _, name := range []string{"after", "before"} {
		if err := checkCursor(params, name); err != nil {
			return a, err
		}
	}
	a.position = resource.Position{After: params.Get("after"), Before: params.Get("before")}
	if a.position.After != "" && a.position.Before != "" {
		return a, badParameter("before", "duplicateParameter", "must not be combined with after")
	}
	// The cursor is decoded later, because it is bound to the parsed filter and sort order.
	if a.q, err = c.parseQuery(params, lenient); err != nil {
		return a, err
	}
	// query.Parse has set the default of a page.
	if !params.Has("limit") {
		a.q.Limit = limit
	}
	if err = a.parseHighlight(params, whole); err != nil {
		return a, err
	}
	a.selection, err = c.parseSelection(params)
	// A relation may need fields that the client has not selected.
	if len(a.selection.links) > 0 {
		a.q.Fields = nil
	}
	return a, err
}

// checkCursor rejects two cursors, because they contradict each other, and an empty one, which is likely a
// bug of the client: to read it as the first page would hide the bug and repeat the list.
func checkCursor(params url.Values, name string) error {
	v := params[name]
	if slices.ContainsFunc(v, func(cursor string) bool { return cursor != v[0] || cursor == "" }) {
		return badParameter(name, "duplicateParameter", "must be one cursor, and not be empty")
	}
	return nil
}

// parseQuery parses filters, sort order, limit and fields with package query.
func (c *call) parseQuery(params url.Values, lenient bool) (query.Query, error) {
	return query.Parse(params, c.parseOptions(lenient))
}

// parseOptions returns the options for the parameters of a list.
func (c *call) parseOptions(lenient bool) *query.ParseOptions {
	res := c.route.resource
	t := res.QueryTarget()
	return &query.ParseOptions{
		Support: t.Support, ID: res.Describe().ID, Ignore: listParameters, Lenient: lenient,
		DefaultLimit: c.route.pageSize, MaxLimit: c.route.maxPageSize, MaxTerms: c.h.limits.Terms,
		Value: t.Value, IsList: t.IsList, Relation: t.Relation,
	}
}

// sendList writes a page. The document is built before it is sent, because its entity tag is in the
// header.
func (c *call) sendList(a *listRequest, page *resource.Page, total int, enc header.Encodings) error {
	// All related items of the page are read together, before the first one is written.
	rel, err := a.selection.follow(c, page.Entries)
	if err != nil {
		return err
	}
	defer release(rel)
	buf := buffers.Get()
	defer buffers.Put(buf)
	b := append(*buf, `{"items":[`...)
	if b, err = a.appendItems(b, c.route.resource.Type(), page, rel); err != nil {
		return err
	}
	b = append(b, ']')
	if a.highlight {
		b = a.appendHighlights(b, c.route.resource, page.Entries)
	}
	if page.Next != "" {
		// A cursor is base64url, so it needs no escaping in JSON or in a URL.
		b = append(append(append(b, `,"next":"`...), page.Next...), '"')
	}
	if total >= 0 {
		b = strconv.AppendInt(append(b, `,"total":`...), int64(total), 10)
	}
	b = append(b, '}')
	*buf = b

	// The coding is part of the entity tag, so it is decided before the preconditions, and the
	// compression itself is saved for a 304.
	compressed := httpbody.ShouldGzip(enc, len(b))
	tag := c.listTag(page, rel, total, b, compressed)
	if err := c.checkListMatch(); err != nil {
		return err
	}
	unchanged, err := c.listUnchanged(tag)
	if err != nil {
		return err
	}
	h := c.w.Header()
	c.listHeaders(h)
	// A 304 has Link, too, because prev and last are not part of the entity tag.
	if links := c.pageLinks(page); links != "" {
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
	c.rec.AddItems(len(page.Entries))
	return c.respond(http.StatusOK, b)
}

// appendItems appends the entries of a page, separated by commas.
func (a *listRequest) appendItems(
	dst []byte, typ *schema.Type, page *resource.Page, rel []related,
) (_ []byte, err error) {
	if page.JSON != nil {
		return append(dst, page.JSON...), nil
	}
	for i := range page.Entries {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = a.selection.append(dst, typ, &page.Entries[i], i, rel); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// checkListMatch evaluates If-Match. It compares strongly (RFC 9110 section 13.1.1), and the tag of a
// list is weak, so only "*" holds. If-Unmodified-Since is ignored, because a list has no date
// (section 13.1.4).
func (c *call) checkListMatch() error {
	lines, ok := c.r.Header["If-Match"]
	if !ok {
		return nil
	}
	p, err := parsePreconditions(http.Header{"If-Match": lines})
	if err != nil || p.IfMatch.Any {
		return err
	}
	return problem.New(problem.PreconditionFailed, "If-Match failed: a list has no strong entity tag.")
}

// listUnchanged reports whether the client has the page with this tag. If-Modified-Since is ignored,
// because a list has no date.
func (c *call) listUnchanged(tag string) (bool, error) {
	lines := c.r.Header["If-None-Match"]
	if lines == nil {
		return false, nil
	}
	match, ok := header.MatchTag(lines, tag, true)
	if !ok {
		// The parser returns the error with the name of the field.
		_, err := parsePreconditions(http.Header{"If-None-Match": lines})
		return false, err
	}
	return match, nil
}

// listHeaders sets the header fields that all representations of a list share.
func (c *call) listHeaders(h http.Header) {
	h["Cache-Control"] = c.route.cache
	header.AddVary(h, c.route.varyList)
	c.setEquivalent(h)
	if c.eventCursor != nil {
		h["Event-Cursor"] = c.eventCursor
	}
}

// listTag returns a weak entity tag. It is a hash of the revisions on the page, which are shorter
// than the body. If revisions are not known, because of related items, a store without revisions or a
// view that hides fields, it is a hash of the body. The tag is useful for 304 only.
func (c *call) listTag(page *resource.Page, rel []related, total int, body []byte, compressed bool) string {
	buf := buffers.Get()
	defer buffers.Put(buf)
	b := *buf
	// The URL of a QUERY does not identify the list, so the query is part of the tag.
	if q := c.r.URL.RawQuery; q != "" {
		b = append(append(b, q...), 0)
	}
	params := len(b)
	b = binary.LittleEndian.AppendUint64(b, uint64(total))
	b = append(b, page.Next...)
	*buf = b
	var digest [sha256.Size]byte
	hashed := false
	if len(rel) == 0 {
		digest, hashed = page.Digest(b)
	}
	if !hashed {
		sum := sha256.New()
		sum.Write(b[:params])
		sum.Write(body)
		sum.Sum(digest[:0])
	}
	text := base64.RawURLEncoding.EncodeToString(digest[:12])
	var scratch [96]byte
	return string(
		c.route.resource.Raw().AppendETag(append(scratch[:0], "W/"...), resource.Rev(text), compressed,
			c.contractTag),
	)
}

// maxLink is the size in bytes to which Link is limited. Proxies reject responses with larger
// headers, often beyond 4 KiB in all.
const maxLink = 2048

// pageLinks returns the Link value with the neighbors of a page (RFC 8288), or "" if it would be too
// large. Each link is the URL of the request with another cursor, so a long filter counts four times.
// The member next of the body has the cursor in any case.
func (c *call) pageLinks(page *resource.Page) string {
	path := c.base() + c.path()
	// The parameter of the contract has been removed from RawQuery by the Negotiator.
	rest := joinParams(withoutCursor(c.r.URL.RawQuery), c.sel.Query())
	if len(path)+len(rest) > maxLink || c.r.Method == methodQuery && c.route.hideQuery {
		return "" // a QUERY may be long
	}
	href := func(cursor string) string {
		if rest == "" || cursor == "" {
			return withParams(path, rest+cursor)
		}
		return path + "?" + rest + "&" + cursor
	}
	links := make([]header.Link, 0, 4)
	if page.Next != "" {
		links = append(links, header.Link{Href: href("after=" + page.Next), Rel: "next"})
	}
	if page.Prev != "" {
		links = append(links, header.Link{Href: href("before=" + page.Prev), Rel: "prev"})
	}
	neighbors := len(links)
	// first has no cursor, so it stays valid whatever happens to the items.
	links = append(links, header.Link{Href: href(""), Rel: "first"})
	if page.Last != "" {
		links = append(links, header.Link{Href: href("before=" + page.Last), Rel: "last"})
	}
	var scratch [768]byte
	field := header.AppendLink(scratch[:0], links...)
	// first and last are left out before the neighbors, and prev before next.
	for keep := neighbors; len(field) > maxLink && keep >= 0; keep-- {
		field = header.AppendLink(field[:0], links[:keep]...)
	}
	return string(field)
}

// withoutCursor removes after and before from a query, however they are escaped. It does not change
// the spelling of the other parameters.
func withoutCursor(raw string) string {
	kept := make([]string, 0, 8) // on the stack
	for pair := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if strings.ContainsAny(name, "%+") {
			name, _ = url.QueryUnescape(name)
		}
		if pair != "" && name != "after" && name != "before" {
			kept = append(kept, pair)
		}
	}
	return strings.Join(kept, "&")
}
