package rest

// Content negotiation: the media type of the response, and the contract that a version.Negotiator
// has selected. A contract has its own entity tags, media types and URL parameter. Without a
// Negotiator the selection is nil and has no effect. Called by the handlers of all routes; calls
// package header.

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// Reserve returns an error if a name of the API version has another meaning in the catalog: member
// in a request body, parameter in a query. Either may be empty. A Negotiator calls it when it is
// created.
func (h *Handler) Reserve(member, parameter string) error {
	// Every list has these parameters, also one without filters.
	ofLists := query.IsReservedParameter(parameter) || query.IsAggregateParameter(parameter)
	if ofLists && parameter != "version" {
		return fmt.Errorf("rest: query parameter %s cannot select the version: it is a parameter of lists",
			parameter)
	}
	for _, rt := range h.routes {
		switch {
		case rt.command != nil:
			if hasField(rt.command.Input(), member) || hasField(rt.command.Output(), member) {
				return fmt.Errorf("rest: member %s cannot select the version: command %s has it", member,
					rt.name)
			}
		case rt.lookup != nil:
			if rt.lookup.Input().Field(parameter) != nil {
				return fmt.Errorf("rest: query parameter %s cannot select the version: lookup %s has it",
					parameter, rt.name)
			}
		case rt.resource != nil:
			if err := reserve(rt.resource, member, parameter); err != nil {
				return err
			}
		}
	}
	return nil
}

// Opaque reports whether r is a request for blobs. A Negotiator does not inspect their content
// because it is stored unchanged.
func (h *Handler) Opaque(r *http.Request) bool {
	// The request is not routed yet, so the path is split as in serve.
	x := call{h: h, r: r}
	first, _, _ := strings.Cut(x.path()[1:], "/")
	rt := find(h.table, first)
	return rt != nil && rt.blobs != nil
}

// VersionInPatch implements version.PatchVersioner with ResourceOptions.VersionInPatch, for the formats
// in which a patch can be an object with the member.
func (h *Handler) VersionInPatch(r *http.Request) bool {
	media, _ := httpbody.MediaType(r)
	if media == patch.JSONType || !slices.Contains(h.patchTypes, media) {
		return false
	}
	x := call{h: h, r: r}
	first, _, _ := strings.Cut(x.path()[1:], "/")
	rt := find(h.table, first)
	return rt != nil && rt.versionInPatch
}

// hasField reports whether t, which may be nil, has a field with this JSON name.
func hasField(t *schema.Type, name string) bool { return t != nil && t.Field(name) != nil }

// reserve returns an error if member or parameter has another meaning in r.
func reserve(r *resource.Resource, member, parameter string) error {
	// Only the bodies of POST and PUT select a version: a member of a merge patch is data.
	if r.Can(resource.OpCreate) || r.Can(resource.OpReplace) {
		if r.Type().Field(member) != nil || slices.Contains(r.Describe().Relations, member) {
			return fmt.Errorf("rest: member %s cannot select the version: items of %s have it", member,
				r.Name())
		}
	}
	if len(r.Describe().Query.Filter[parameter]) > 0 {
		return fmt.Errorf("rest: query parameter %s cannot select the version: %s filters by that field",
			parameter, r.Name())
	}
	return nil
}

// media returns the name of the request's representation in vendor media types.
func (c *call) media() string {
	if c.batched {
		return batchName
	}
	return c.route.media
}

// jsonOffer lists the media types of items.
var jsonOffer = []string{mediaJSON}

// acceptable negotiates the media type of an item before the request is executed. The error is 406
// (RFC 9110 section 15.5.7).
func (c *call) acceptable() error {
	lines := c.r.Header["Accept"]
	if len(lines) == 0 || len(lines) == 1 && (lines[0] == "*/*" || lines[0] == mediaJSON) {
		c.useContentType()
		return nil
	}
	_, err := c.negotiate(lines, jsonOffer)
	return err
}

// useContentType sets the media type of a JSON response to the vendor type if the request body has
// it. The client has sent no other preference.
func (c *call) useContentType() {
	if media := c.media(); c.sel.Content(media) {
		c.useVendorType(media)
	}
}

// negotiate returns the index of the best of offers, the first of which is JSON. If Accept matches
// the vendor type of this contract, that type is an additional offer with the highest priority, and
// index 0 means JSON in that type.
func (c *call) negotiate(lines, offers []string) (index int, err error) {
	media := c.media()
	// The Negotiator has selected the contract already. wanted is empty if Accept does not name a
	// vendor type of it.
	wanted := c.sel.Range(media)
	if wanted == "" {
		i, ok := header.Accept(lines, offers)
		if !ok {
			return 0, c.notAcceptable(offers)
		}
		if i == 0 {
			c.useContentType()
		}
		return i, nil
	}
	// The first of the best offers wins, so a client that names the vendor type receives it.
	i, ok := header.Accept(lines, append([]string{wanted}, offers...))
	switch {
	case !ok:
		return 0, c.notAcceptable(offers)
	case i == 0:
		c.useVendorType(media)
		return 0, nil
	}
	return i - 1, nil
}

// useVendorType sets the vendor type as the media type of the response, if the contract has one.
// The body is the same as with application/json, but a different media type needs a different
// strong entity tag (RFC 9110 section 8.8.1).
func (c *call) useVendorType(media string) {
	name := c.sel.ContentType(media)
	// The client has not asked for a vendor type, or the contract has none.
	if name == mediaJSON {
		return
	}
	c.mediaType = []string{name}
	c.contractTag = c.sel.Name() + "+vnd"
	if strings.HasSuffix(name, "+json") {
		c.contractTag = c.sel.Name() + "+json"
	}
}

// etagSuffix returns the suffix that distinguishes representations of one revision in entity tags:
// contract, media type, and the selected fields and relations. The content coding is not part of
// it.
func (c *call) etagSuffix(p *selection, body []byte) string {
	which := p.etagSuffix(body)
	switch {
	case c.contractTag == "":
		return which
	case which == "":
		return c.contractTag
	}
	return c.contractTag + "." + which
}

// mediaTypes returns offers, preceded by the vendor type of this contract if there is one.
func (c *call) mediaTypes(offers []string) []string {
	if own := c.sel.MediaType(c.media()); own != "" {
		return append([]string{own}, offers...)
	}
	return offers
}

// acceptPost returns the Accept-Post value, or nil if there is no POST.
func (c *call) acceptPost() []string {
	// NDJSON and CSV have no vendor type.
	if c.route.acceptPost == nil || c.route.posts[0] != mediaJSON || c.sel.MediaType(c.media()) == "" {
		return c.route.acceptPost
	}
	return []string{strings.Join(c.mediaTypes(c.route.posts), ", ")}
}

// isVendorContent reports whether the request body has the vendor type. A patch has a standard
// type, which does not name a version.
func (c *call) isVendorContent(accepted []string) bool {
	return accepted[0] == mediaJSON && c.sel.Content(c.media())
}

// versionMember returns the member that selected the contract in the request body, as JSON for the
// response. It is nil if there was none. Call it after the body has been read.
func (c *call) versionMember() []byte {
	// The member is not stored, but the response repeats it with the minor version. A client that
	// sent 1 learns that it got 1.4.
	name, contract, ok := c.sel.Member()
	if !ok {
		return nil
	}
	b, err := jsontext.AppendQuote(nil, name)
	if err == nil {
		b, err = jsontext.AppendQuote(append(b, ':'), contract)
	}
	if err != nil {
		// A member of JSON is always valid UTF-8.
		return nil
	}
	return b
}

// href returns the URL of an item with params and the query parameter that selects the contract.
func (c *call) href(name, id, params string) string {
	// A comma, as in composite ids, need not be escaped in a path (RFC 3986 section 3.3).
	segment := strings.ReplaceAll(url.PathEscape(id), "%2C", ",")
	base, path, query := c.base(), c.path(), joinParams(params, c.sel.Query())
	// Most writes of an item have the path that they respond with.
	if first, rest, _ := strings.Cut(path[1:], "/"); base+query == "" && first == name && rest == segment {
		return path
	}
	return withParams(base+"/"+name+"/"+segment, query)
}

// withParams appends a query to a URL, if there is one.
func withParams(ref, params string) string {
	if params == "" {
		return ref
	}
	return ref + "?" + params
}

// joinParams joins two queries, of which either may be empty.
func joinParams(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "&" + b
}
