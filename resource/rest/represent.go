package rest

// Representations of items: fields, expanded relations, content coding, header fields. Called by
// all handlers that send an item or a list. The encoding is done by package schema, and the
// relations are read by Resource.Follow.

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// selection is the part of an item that the client selects with ?fields= and ?expand=. The zero
// value is the whole item without relations.
type selection struct {
	fields        *schema.Selection // nil: all
	links         []*link
	names         string // fields, sorted, for entity tags
	columns       string // fields, as in the request, for CSV
	whole         []byte // the item as recorded JSON, if this is a replay
	versionMember []byte // the last member: it repeats the one that selected the contract
	// reads and resource are set if the entries are those of a read that may use the cache. A pointer to
	// the call would move each call to the heap.
	reads    *http.Request
	resource *resource.Resource
}

// parseSelection reads the parameters fields and expand.
func (c *call) parseSelection(params url.Values) (selection, error) {
	var p selection
	res := c.route.resource
	if names := params.Get("fields"); names != "" {
		list := strings.Split(names, ",")
		sel, err := res.Type().Select(list)
		if err != nil {
			return p, badParameter("fields", "unknownField", err.Error()+c.relationIn(list))
		}
		// One selection has one entity tag, whatever the order and the repetitions in the URL.
		slices.Sort(list)
		p.fields, p.columns, p.names = sel, names, strings.Join(slices.Compact(list), ",")
	}
	if names, ok := params["expand"]; ok {
		// Both forms are accepted: expand=a,b and expand=a&expand=b.
		for _, text := range splitExpand(names) {
			name, page, paged := strings.Cut(text, "(")
			l := c.route.links[name]
			if l == nil {
				return p, badParameter("expand", "unknownRelation", unknownRelation(res, name))
			}
			if paged {
				var err error
				if l, err = c.pagedLink(l, page); err != nil {
					return p, err
				}
			}
			same := func(other *link) bool { return other.name == l.name }
			if at := slices.IndexFunc(p.links, same); at < 0 {
				p.links = append(p.links, l)
			} else if p.links[at].expression() != l.expression() {
				return p, badParameter("expand", "duplicateParameter", name+" must occur once")
			}
		}
		// Each relation costs at least one read of its target.
		if len(p.links) > c.h.limits.Expand {
			return p, badParameter("expand", "tooMany",
				"must have at most "+strconv.Itoa(c.h.limits.Expand)+" relations")
		}
	}
	return p, nil
}

// query returns the parameters of the selection in one spelling. Content-Location must name a URL
// at which GET returns the same body (RFC 9110 section 8.7).
func (p *selection) query() string {
	params := url.Values{}
	if p.names != "" {
		params.Set("fields", p.names)
	}
	for _, l := range p.links {
		params.Add("expand", l.expression())
	}
	if len(params) == 0 {
		return ""
	}
	return params.Encode()
}

// unknownRelation returns the detail for a name in expand that is not a relation of res.
func unknownRelation(res *resource.Resource, name string) string {
	detail := "there is no relation " + safe.Quote(name)
	if names := res.Describe().Relations; len(names) > 0 {
		detail += "; the relations are " + strings.Join(names, ", ")
	}
	if f := res.Type().Field(name); f != nil && !f.WriteOnly {
		detail += "; " + name + " is a field, so use fields=" + name
	}
	return detail
}

// relationIn returns a part of the detail for unknown fields: a hint if one of the names, or the first part
// of one with a dot, is a relation.
func (c *call) relationIn(fields []string) string {
	for _, name := range fields {
		name, _, _ = strings.Cut(name, ".")
		if c.route.links[name] != nil && c.route.resource.Type().Field(name) == nil {
			return "; " + name + " is a relation, so use expand=" + name
		}
	}
	return ""
}

// badParameter returns the 400 error about one query parameter.
func badParameter(name, code, detail string) error {
	d := problem.New(problem.InvalidParameter, "A parameter of the request is not valid.")
	d.Errors = []problem.Violation{{Parameter: name, Code: code, Detail: detail}}
	return d
}

// unknownParameter returns the detail for a parameter that is not one of known.
func unknownParameter(known ...string) string {
	switch len(known) {
	case 0:
		return "unknown parameter; this path has no parameters"
	case 1:
		return "unknown parameter; the only parameter is " + known[0]
	}
	return "unknown parameter; the parameters are " + strings.Join(known, ", ")
}

// itemSelection parses the query of an item, which has no parameters but fields and expand.
func (c *call) itemSelection(lenient bool) (selection, error) {
	if c.r.URL.RawQuery == "" {
		return selection{}, nil
	}
	params, err := c.params()
	if err != nil {
		return selection{}, err
	}
	if err := c.refuseLastEventID(params, lenient); err != nil {
		return selection{}, err
	}
	return c.itemParams(params, lenient)
}

// itemParams checks the parameters of an item. Repeated values of fields must be equal, because two
// lists contradict each other. Values of expand are joined.
func (c *call) itemParams(params url.Values, lenient bool) (selection, error) {
	for name, values := range params {
		switch {
		case name != "fields" && name != "expand":
			if !lenient {
				return selection{}, badParameter(name, "unknownParameter",
					unknownParameter("fields", "expand"))
			}
		case name == "fields" &&
			(values[0] == "" || slices.ContainsFunc(values, func(v string) bool { return v != values[0] })):
			return selection{}, badParameter(name, "duplicateParameter",
				"must be one list of names, and not be empty")
		}
	}
	return c.parseSelection(params)
}

// params parses the query. It is stricter than URL.Query, which drops malformed pairs without an
// error.
func (c *call) params() (url.Values, error) {
	params, err := parsePairs(c.r.URL.RawQuery)
	if err != nil {
		return nil, problem.New(problem.BadRequest,
			"The query of the URL is not percent-encoded correctly.")
	}
	return params, nil
}

// append appends entry e as JSON. i is the index of e in its page, and rel has the related items of
// the page, one element for each of p.links.
func (p *selection) append(
	dst []byte, typ *schema.Type, e *resource.Entry, i int, rel []related,
) ([]byte, error) {
	var err error
	switch {
	case e.JSON != nil: // the selected members
		dst = append(dst, e.JSON...)
	case p.fields != nil:
		dst, err = p.fields.Append(dst, e.Value)
	// The record has the item as it was sent first, so it is not encoded again.
	case p.whole != nil:
		dst = append(dst, p.whole...)
	case p.reads != nil:
		dst, err = p.resource.Raw().AppendJSON(p.reads.Context(), dst, e)
	default:
		dst, err = typ.Append(dst, e.Value)
	}
	// Each related item becomes the last member of the object that dst ends with.
	for k := range rel {
		if err != nil {
			break
		}
		dst, err = rel[k].append(dst, i)
	}
	if p.versionMember != nil && err == nil {
		dst = append(append(reopenObject(dst), p.versionMember...), '}')
	}
	return dst, err
}

// related are the items that one relation links to from the entries of a page.
type related struct {
	link  *link
	page  resource.Page
	reads *http.Request // that of the selection
}

// append adds the related items of entry i as a member to the object at the end of dst.
func (rel *related) append(dst []byte, i int) ([]byte, error) {
	dst = append(reopenObject(dst), '"')
	dst = append(dst, rel.link.name...)
	dst, err := rel.appendValue(append(dst, '"', ':'), i)
	if dst = append(dst, '}'); rel.link.page != nil {
		dst = rel.appendPage(dst, i)
	}
	return dst, err
}

// appendValue adds the related items of entry i as a JSON value.
func (rel *related) appendValue(dst []byte, i int) ([]byte, error) {
	ends := rel.page.Ends(i)
	if !rel.link.many {
		// null and not an absent member: there is no related item that the caller may see, and the
		// client did ask for the relation.
		if len(ends) == 0 {
			return append(dst, "null"...), nil
		}
		return rel.appendEntry(dst, ends[0])
	}
	dst = append(dst, '[')
	for k, end := range ends {
		if k > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = rel.appendEntry(dst, end); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

// appendEntry adds the entry with an index of the page.
func (rel *related) appendEntry(dst []byte, i int32) ([]byte, error) {
	e, target := &rel.page.Entries[i], rel.link.target
	if page := rel.link.page; page != nil && page.fields != nil {
		return page.fields.Append(dst, e.Value)
	}
	if rel.reads != nil && rel.link.page == nil {
		return target.Raw().AppendJSON(rel.reads.Context(), dst, e)
	}
	return target.Type().Append(dst, e.Value)
}

// reopenObject removes the closing brace of the object at the end of dst, so that the caller can
// add a member.
func reopenObject(dst []byte) []byte {
	dst = dst[:len(dst)-1] // the closing brace
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// follow reads the related items of entries, with one call for each relation if the target supports
// it. The caller must release the result.
func (p *selection) follow(c *call, entries []resource.Entry) ([]related, error) {
	var out []related
	for _, l := range p.links {
		// Follow applies the policy of the target, so an item that the caller may not see is
		// missing.
		var page resource.Page
		var err error
		if l.page != nil {
			page, err = c.followPage(l, entries)
		} else {
			page, err = c.route.resource.Follow(c.r.Context(), l.name, entries, nil)
		}
		if err != nil {
			release(out)
			return nil, err
		}
		out = append(out, related{l, page, p.reads})
	}
	return out, nil
}

// release returns the buffers of the related items to their pool. Their values must not be used
// afterward.
func release(rel []related) {
	for i := range rel {
		rel[i].page.Release()
	}
}

// etagSuffix identifies the selection in an entity tag. With relations it is a hash of the body,
// because a related item can change without a new revision of this one.
func (p *selection) etagSuffix(body []byte) string {
	switch {
	case p.links != nil:
		// 72 bits of the hash are enough: a tag is compared with tags of the same URL only.
		sum := sha256.Sum256(body)
		return base64.RawURLEncoding.EncodeToString(sum[:9])
	case p.fields != nil:
		return hashOf(p.names)
	}
	return ""
}

// notAcceptable returns the 406 error, which lists the available media types.
func (c *call) notAcceptable(offers []string) error {
	return acceptError(c.mediaTypes(offers))
}

// acceptError returns the 406 error for the available media types.
func acceptError(available []string) *problem.Details {
	d := problem.New(problem.NotAcceptable,
		"Accept must allow "+strings.Join(available, " or ")+".")
	d.Extensions = map[string]any{"available": available}
	return d
}

// encodings parses Accept-Encoding. It returns 406 if the client accepts neither gzip nor identity.
func (c *call) encodings() (header.Encodings, error) {
	lines, ok := c.r.Header["Accept-Encoding"]
	if !ok {
		// Without the field any coding is acceptable (RFC 9110 section 12.5.3). Identity is chosen,
		// because simple clients that cannot decompress omit the field.
		return header.Encodings{Identity: true}, nil
	}
	enc := header.AcceptEncoding(lines)
	if !enc.Identity && !enc.Gzip {
		return enc, problem.New(problem.NotAcceptable,
			"Accept-Encoding must allow gzip or identity.")
	}
	return enc, nil
}

// sendItem sends a representation of an entry. It ends a successful GET, POST, PUT or PATCH. tagged
// is false if the response must not have validators.
func (c *call) sendItem(status int, e *resource.Entry, p *selection, enc header.Encodings,
	tagged bool) error {
	buf := buffers.Get()
	defer buffers.Put(buf)
	var err error
	if *buf, err = c.render(*buf, e, p); err != nil {
		return err
	}
	return c.sendBody(status, e, p, enc, *buf, tagged)
}

// render appends the selected representation of an entry as JSON, with its related items.
func (c *call) render(dst []byte, e *resource.Entry, p *selection) ([]byte, error) {
	var rel []related
	if p.links != nil {
		var err error
		if rel, err = p.follow(c, []resource.Entry{*e}); err != nil {
			return dst, err
		}
		defer release(rel)
	}
	return p.append(dst, c.route.resource.Type(), e, 0, rel)
}

// sendBody sends an encoded entry, compressed if the client accepts gzip and the body is large
// enough.
func (c *call) sendBody(status int, e *resource.Entry, p *selection, enc header.Encodings,
	body []byte, tagged bool) error {
	// The related items have other dates, so the body has no single Last-Modified.
	if p.links != nil {
		dateless := *e
		dateless.Modified = time.Time{}
		e = &dateless
	}
	c.rec.AddItems(1)
	suffix := c.etagSuffix(p, body)
	if !httpbody.ShouldGzip(enc, len(body)) {
		return c.sendCoded(status, e, suffix, false, body, tagged)
	}
	zipped := buffers.Get()
	defer buffers.Put(zipped)
	// The response is written before the deferred Put, so the buffer is not reused too early.
	*zipped = httpbody.AppendGzip(*zipped, body)
	return c.sendCoded(status, e, suffix, true, *zipped, tagged)
}

// sendCoded sends a body in the content coding that was chosen. Identity and gzip have different
// tags, because a strong tag identifies the bytes (RFC 9110 section 8.8.3.3).
func (c *call) sendCoded(status int, e *resource.Entry, suffix string, compressed bool, body []byte,
	tagged bool) error {
	h := c.w.Header()
	s := validators{length: len(body)}
	if tagged {
		s.r, s.rev, s.compressed, s.suffix = c.route.resource, e.Rev, compressed, suffix
		s.modified = e.Modified
	}
	s.set(h)
	c.itemHeaders(h)
	h["Content-Type"] = c.mediaType
	if compressed {
		h["Content-Encoding"] = gzipValue
	}
	return c.respond(status, body)
}

// itemHeaders sets the header fields that all representations of an item and 304 share. Each field
// takes time in every response, so those that only OPTIONS and errors need are left out.
func (c *call) itemHeaders(h http.Header) {
	// Vary is first: if middleware has set nothing, there is nothing to merge.
	header.AddVary(h, c.route.varyItem)
	h["Cache-Control"] = c.route.cache
	if c.eventCursor != nil {
		h["Event-Cursor"] = c.eventCursor
	}
}

// hashOf returns a short name of a field selection for entity tags. 48 bits are enough for the
// selections that clients use.
func hashOf(names string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(names)) + ":" + names))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}
