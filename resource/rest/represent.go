package rest

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
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// selection is which part of its items a client wants to see, and what beside them: ?fields= and ?expand=. The zero value is
// the whole and nothing else.
type selection struct {
	fields        *schema.Selection // nil: all
	links         []*link
	names         string // of the fields, for entity tags
	whole         []byte // the item as JSON in this shape, where somebody has made that already
	versionMember []byte // a member behind the others: what named the contract in the content, repeated
}

// parseSelection reads the parameters that say what to show.
func (x *call) parseSelection(params url.Values) (selection, error) {
	var p selection
	res := x.route.resource
	if names := params.Get("fields"); names != "" {
		list := strings.Split(names, ",")
		sel, err := res.Type().Select(list)
		if err != nil {
			return p, badParameter("fields", "unknownField", err.Error())
		}
		slices.Sort(list)
		p.fields, p.names = sel, strings.Join(slices.Compact(list), ",")
	}
	if names, ok := params["expand"]; ok {
		for _, name := range strings.Split(strings.Join(names, ","), ",") {
			l := x.route.links[name]
			if l == nil {
				return p, badParameter("expand", "unknownRelation", unknownRelation(res, name))
			}
			if !slices.Contains(p.links, l) {
				p.links = append(p.links, l)
			}
		}
		if len(p.links) > x.h.limits.Expand {
			return p, badParameter("expand", "tooMany", "too many relations at once")
		}
	}
	return p, nil
}

// query returns the parameters that ask for the same part again: Content-Location names a URL that
// has this very content (RFC 9110 section 8.7).
func (p *selection) query() string {
	params := url.Values{}
	if p.names != "" {
		params.Set("fields", p.names)
	}
	for _, l := range p.links {
		params.Add("expand", l.name)
	}
	if len(params) == 0 {
		return ""
	}
	return params.Encode()
}

func unknownRelation(res *resource.Resource, name string) string {
	detail := "there is no relation " + name
	if names := res.Describe().Relations; len(names) > 0 {
		detail += "; there is " + strings.Join(names, ", ")
	}
	return detail
}

func badParameter(name, code, detail string) error {
	d := problem.New(problem.InvalidParameter, "A parameter of the request is not valid.")
	d.Errors = []problem.Violation{{Parameter: name, Code: code, Detail: detail}}
	return d
}

// itemSelection is part for the path of an item, where no other parameters are understood.
func (x *call) itemSelection(lenient bool) (selection, error) {
	if x.r.URL.RawQuery == "" {
		return selection{}, nil
	}
	params, err := x.params()
	if err != nil {
		return selection{}, err
	}
	if err := x.refuseLastEventID(params, lenient); err != nil {
		return selection{}, err
	}
	return x.itemParams(params, lenient)
}

func (x *call) itemParams(params url.Values, lenient bool) (selection, error) {
	for name, values := range params {
		switch {
		case name != "fields" && name != "expand":
			if !lenient {
				return selection{}, badParameter(name, "unknownParameter", "there is no such parameter here")
			}
		case name == "fields" && (values[0] == "" || slices.ContainsFunc(values, func(v string) bool { return v != values[0] })):
			return selection{}, badParameter(name, "duplicateParameter", "one list of names is wanted")
		}
	}
	return x.parseSelection(params)
}

// params parses the query. What net/url would drop without a word is an error.
func (x *call) params() (url.Values, error) {
	params, err := url.ParseQuery(x.r.URL.RawQuery)
	if err != nil {
		return nil, problem.New(problem.BadRequest, "The query is not escaped correctly.")
	}
	return params, nil
}

// append appends an entry, the one at index i of its page, as JSON with what p says. rel are the related items of the
// page, one for each of p.links.
func (p *selection) append(
	dst []byte,
	typ *schema.Type,
	e *resource.Entry,
	i int,
	rel []related,
) ([]byte, error) {
	var err error
	switch {
	case p.fields != nil:
		dst, err = p.fields.Append(dst, e.Value)
	case p.whole != nil:
		dst = append(dst, p.whole...)
	default:
		dst, err = typ.Append(dst, e.Value)
	}
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

// related is where one link leads to from the entries of a page.
type related struct {
	link *link
	page resource.Page
}

// append adds the related items of the entry at index i as a member to the object that dst ends with.
func (rel *related) append(dst []byte, i int) ([]byte, error) {
	dst = append(reopenObject(dst), '"')
	dst = append(dst, rel.link.name...)
	dst = append(dst, '"', ':')
	typ, ends := rel.link.target.Type(), rel.page.Ends(i)
	if !rel.link.many {
		if len(ends) == 0 {
			return append(dst, "null}"...), nil
		}
		dst, err := typ.Append(dst, rel.page.Entries[ends[0]].Value)
		return append(dst, '}'), err
	}
	dst = append(dst, '[')
	for k, end := range ends {
		if k > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = typ.Append(dst, rel.page.Entries[end].Value); err != nil {
			return dst, err
		}
	}
	return append(dst, ']', '}'), nil
}

// reopen makes room for one more member in the object that dst ends with.
func reopenObject(dst []byte) []byte {
	dst = dst[:len(dst)-1] // the closing brace
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return dst
}

// follow resolves the links of a page, each with one call where the target can. What it returns is to be released.
func (p *selection) follow(x *call, entries []resource.Entry) ([]related, error) {
	var out []related
	for _, l := range p.links {
		page, err := x.h.catalog.Follow(x.r.Context(), x.route.resource, l.name, entries, nil)
		if err != nil {
			release(out)
			return nil, err
		}
		out = append(out, related{l, page})
	}
	return out, nil
}

func release(rel []related) {
	for i := range rel {
		rel[i].page.Release()
	}
}

// etagSuffix names the part in an entity tag. Related items have revisions of their own, so there the content says it.
func (p *selection) etagSuffix(body []byte) string {
	switch {
	case p.links != nil:
		sum := sha256.Sum256(body)
		return base64.RawURLEncoding.EncodeToString(sum[:9])
	case p.fields != nil:
		return hashOf(p.names)
	}
	return ""
}

func (x *call) notAcceptable(offers []string) error {
	offers = x.mediaTypes(offers)
	d := problem.New(problem.NotAcceptable, "This is served as "+strings.Join(offers, " or ")+".")
	d.Extensions = map[string]any{"available": offers}
	return d
}

// encodings returns what the client takes. It also refuses a client that takes nothing we have.
func (x *call) encodings() (header.Encodings, error) {
	lines, ok := x.r.Header["Accept-Encoding"]
	if !ok {
		return header.Encodings{Identity: true}, nil
	}
	enc := header.AcceptEncoding(lines)
	if !enc.Identity && !enc.Gzip {
		return enc, problem.New(
			problem.NotAcceptable,
			"Content is sent as it is or with gzip, and this request takes neither.",
		)
	}
	return enc, nil
}

// sendItem answers with a representation of an entry: the end of a successful GET, POST, PUT and PATCH. tagged is false
// where a validator must not be sent.
func (x *call) sendItem(
	status int,
	e *resource.Entry,
	p *selection,
	enc header.Encodings,
	tagged bool,
) error {
	buf := buffers.Get()
	defer buffers.Put(buf)
	var err error
	if *buf, err = x.render(*buf, e, p); err != nil {
		return err
	}
	return x.sendBody(status, e, p, enc, *buf, tagged)
}

func (x *call) render(dst []byte, e *resource.Entry, p *selection) ([]byte, error) {
	var rel []related
	if p.links != nil {
		var err error
		if rel, err = p.follow(x, []resource.Entry{*e}); err != nil {
			return dst, err
		}
		defer release(rel)
	}
	return p.append(dst, x.route.resource.Type(), e, 0, rel)
}

func (x *call) sendBody(
	status int,
	e *resource.Entry,
	p *selection,
	enc header.Encodings,
	body []byte,
	tagged bool,
) error {
	if p.links != nil { // what is related was modified at times of its own, so there is no one date
		dateless := *e
		dateless.Modified = time.Time{}
		e = &dateless
	}
	suffix := x.etagSuffix(p, body)
	if !httpbody.ShouldGzip(enc, len(body)) {
		return x.sendCoded(status, e, suffix, false, body, tagged)
	}
	zipped := buffers.Get()
	defer buffers.Put(zipped)
	*zipped = httpbody.AppendGzip(*zipped, body)
	return x.sendCoded(status, e, suffix, true, *zipped, tagged)
}

func (x *call) sendCoded(
	status int,
	e *resource.Entry,
	suffix string,
	compressed bool,
	body []byte,
	tagged bool,
) error {
	h := x.w.Header()
	s := validators{length: len(body)}
	if tagged {
		s.r, s.rev, s.compressed, s.suffix = x.route.resource, e.Rev, compressed, suffix
		s.modified = e.Modified
	}
	s.set(h)
	x.itemHeaders(h)
	h["Content-Type"] = x.mediaType
	if compressed {
		h["Content-Encoding"] = gzipValue
	}
	return x.respond(status, body)
}

// itemHeaders sets what all representations of an item share.
func (x *call) itemHeaders(h http.Header) {
	x.cacheHeaders(h)
	h["Accept-Ranges"] = noRanges
	if x.route.acceptPatch != nil {
		h["Accept-Patch"] = x.route.acceptPatch
	}
}

// cacheHeaders sets what a cache has to know of an item.
func (x *call) cacheHeaders(h http.Header) {
	header.AddVary(h, x.route.varyItem) // first: where nobody has set anything there is nothing to merge with
	h["Cache-Control"] = x.route.cache
	if x.eventCursor != nil {
		h["Event-Cursor"] = x.eventCursor
	}
}

// hashOf names a selection of fields in an entity tag: 48 bits are enough to tell apart those that clients use.
func hashOf(names string) string {
	sum := sha256.Sum256([]byte(strconv.Itoa(len(names)) + ":" + names))
	return base64.RawURLEncoding.EncodeToString(sum[:6])
}
