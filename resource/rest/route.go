package rest

// Routing from path and method to a handler. New builds the table of routes once; ServeHTTP calls
// serve for each request. serve calls the methods of call that implement each kind of route:
// item.go, item_write.go, list.go, lookup.go, command.go and blob.go.

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
)

// route is the static data of one path segment or, for a command, of two. Its header values are
// built once and shared by all responses. They must not be modified; append copies them because
// their capacity equals their length.
type route struct {
	name     string
	resource *resource.Resource // for a lookup: its target
	lookup   *resource.Lookup   // only one of lookup, command and blobs is not nil
	command  *command.Command
	blobs    *blob.Collection   // with a resource if the blobs are listed
	jobs     *resource.Resource // of a command: the resource that stores its jobs

	// patternList and patternItem are the values of http.Request.Pattern: "/orders" and
	// "/orders/{id}".
	patternList, patternItem string
	// patternRestore and allowRestore are those of /orders/{id}/restore; empty if it is not served.
	patternRestore string
	allowRestore   []string

	media, jobsMedia     string   // names in vendor media types
	cache                []string // Cache-Control
	etagOnPut            bool
	hideQuery            bool     // no URL in the response to QUERY has the query
	versionInPatch       bool     // a merge patch may have the member that names the contract
	ignoreGone           bool     // a repeated DELETE returns 204
	allowList, allowItem []string // Allow
	acceptPatch          []string // Accept-Patch; nil if items have no PATCH
	acceptPost           []string // Accept-Post; nil if there is no POST
	posts                []string // the media types in acceptPost
	varyItem, varyList   []string

	takesIDs              bool // PUT can create an item
	pageSize, maxPageSize int
	links                 map[string]*link

	eventCursor atomic.Pointer[eventCursor] // value of the latest response
}

// link is a relation of a resource and its target in the catalog.
type link struct {
	name   string
	target *resource.Resource
	many   bool
	join   *resource.Resource // that of Relation.Through, if links can be changed
	allow  []string           // Allow of the path of a link; nil if it has none
	page   *pagedRelation     // of a request: the parameters; nil without
}

// newRoute returns the route of a part, and nil for a kind of part that REST does not serve.
func (h *Handler) newRoute(p resource.Part) *route {
	var rt *route
	switch p := p.(type) {
	case *resource.Resource:
		rt = h.resourceRoute(p)
	case *resource.Lookup:
		rt = h.itemRoute(h.catalog.Target(p))
		// A lookup has the representation of an item at one path, without the methods that write.
		rt.name, rt.lookup, rt.allowList = p.Name(), p, []string{"GET, HEAD, QUERY, OPTIONS"}
	case *command.Command:
		rt = &route{name: p.Name(), command: p, media: CommandMedia(p), allowList: []string{"POST, OPTIONS"},
			posts: []string{mediaJSON}}
		if p.Into() != nil {
			rt.posts = []string{mediaNDJSON, mediaCSV}
		}
		rt.acceptPost = []string{strings.Join(rt.posts, ", ")}
	case *blob.Collection:
		rt = h.blobsRoute(p)
	default:
		return nil
	}
	// The media type and the coding depend on these fields. The fields that select a contract are
	// added by the Negotiator.
	if rt.varyItem == nil {
		rt.varyItem = []string{"Accept, Accept-Encoding"}
	}
	if rt.varyList == nil {
		rt.varyList = rt.varyItem
	}
	rt.patternList, rt.patternItem = "/"+rt.name, "/"+rt.name+"/{id}"
	return rt
}

// blobsRoute returns the route of a collection of blobs. If it is listed, its resource is that of the
// metadata, which has no items of its own: the path of an item is that of the content.
func (h *Handler) blobsRoute(b *blob.Collection) *route {
	rt := &route{name: b.Name()}
	list, item := []string{}, "GET, HEAD, OPTIONS"
	if items := b.Items(); items != nil {
		rt = h.itemRoute(items)
		list = append(list, "GET", "HEAD", "QUERY")
	}
	rt.blobs, rt.cache = b, []string{h.opts.Blobs(b).Cache}
	if !b.Options().ReadOnly {
		list, item = append(list, "POST"), "GET, HEAD, PUT, DELETE, OPTIONS"
	}
	rt.allowList, rt.allowItem = []string{strings.Join(append(list, "OPTIONS"), ", ")}, []string{item}
	return rt
}

// itemRoute returns a route with the settings that a resource and its lookups share: the
// representation of items.
func (h *Handler) itemRoute(r *resource.Resource) *route {
	settings, policy := h.opts.Resource(r), r.Describe()
	rt := &route{
		name:      r.Name(),
		resource:  r,
		media:     settings.Media,
		cache:     []string{settings.Cache},
		etagOnPut: settings.AlwaysETagOnPut,

		hideQuery:      settings.HideQuery,
		versionInPatch: settings.VersionInPatch,
		ignoreGone:     settings.RepeatedDelete == http.StatusNoContent,
		takesIDs:       policy.TakesIDs,
		pageSize:       policy.PageSize,
		maxPageSize:    policy.MaxPageSize,
		links:          map[string]*link{},
	}
	for _, name := range r.Describe().Relations {
		target, most := r.Related(name)
		rt.links[name] = &link{name: name, target: target, many: most > 0}
		if methods := linkMethods(h.catalog, r, name); methods != nil {
			rt.links[name].join, _ = r.LinkedBy(name)
			rt.links[name].allow = []string{strings.Join(methods, ", ")}
		}
	}
	return rt
}

// resourceRoute returns the route of a resource. Allow, Accept-Patch and Accept-Post list the
// capabilities of the collection.
func (h *Handler) resourceRoute(r *resource.Resource) *route {
	rt := h.itemRoute(r)
	list, item := []string{"GET", "HEAD", "QUERY"}, []string{"GET", "HEAD"}
	if r.Can(resource.OpCreate) {
		list = append(list, "POST")
		rt.posts = []string{mediaJSON}
		if r.Describe().Batches {
			rt.posts = append(rt.posts, mediaBatch)
		}
		rt.acceptPost = []string{strings.Join(rt.posts, ", ")}
	}
	if r.Can(resource.OpReplace) {
		item = append(item, "PUT")
	}
	if r.Can(resource.OpPatch) {
		item = append(item, "PATCH")
		rt.acceptPatch = []string{strings.Join(h.patchTypes, ", ")}
	}
	if r.Can(resource.OpDelete) {
		item = append(item, "DELETE")
	}
	if r.Can(resource.OpRestore) {
		rt.patternRestore, rt.allowRestore = "/"+rt.name+"/{id}"+restoreSuffix, []string{"POST, OPTIONS"}
	}
	rt.allowList = []string{strings.Join(append(list, "OPTIONS"), ", ")}
	rt.allowItem = []string{strings.Join(append(item, "OPTIONS"), ", ")}
	// Prefer: count=exact changes the body of a list.
	if r.Describe().Counts {
		rt.varyList = []string{"Accept, Accept-Encoding, Prefer"}
	}
	return rt
}

// isKnownMethod reports whether method is a standard one. A known method that the resource does not
// support is rejected with 405, an unknown one with 501 (RFC 9110 section 9.1). Method names are
// case-sensitive.
func isKnownMethod(method string) bool {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY":
		return true
	}
	return false
}

// serve finds the route of the request and calls its handler. It splits the escaped path, so that
// an encoded slash does not end a segment. Commands have precedence over items with the same path.
func (c *call) serve() error {
	path := c.path()
	// This is the first check, because all others search or copy the path or the query.
	if size := len(path) + len(c.r.URL.RawQuery); size > c.h.limits.URL {
		return problem.New(problem.URITooLong, fmt.Sprintf(
			"The path and the query have %d bytes; the limit is %d.", size, c.h.limits.URL))
	}
	// 501 precedes 404: it is about the method and holds for every path.
	if !isKnownMethod(c.r.Method) {
		return problem.New(problem.NotImplemented,
			"The method "+safe.Quote(c.r.Method)+" is not implemented.")
	}
	if c.r.Method == http.MethodPost {
		if err := c.checkOrigin(); err != nil {
			return err
		}
	}
	first, rest, deeper := strings.Cut(path[1:], "/")
	trimmed := strings.TrimSuffix(rest, "/")
	// If there are no commands in the area, find searches a nil map.
	if c.route = find(find(c.h.commands, first), trimmed); c.route != nil {
		c.r.Pattern = c.route.patternList
		if trimmed != rest {
			return c.redirect(strings.TrimSuffix(path, "/"))
		}
		return c.serveCommand()
	}
	rt := find(c.h.table, first)
	if rt == nil {
		return problem.New(problem.NotFound, "There is no resource at this path.")
	}
	// The route is set before any error, because fail needs it for Vary. Request.Pattern is for
	// middleware, which reads it after the response.
	c.route, c.r.Pattern = rt, rt.patternList
	switch {
	case !deeper:
		return c.serveList()
	case rest == "" || strings.Contains(rest, "/"):
		return c.serveBelow(path, rest)
	case rt.lookup != nil:
		return problem.New(problem.NotFound, "There is no resource at this path.")
	}
	c.r.Pattern = rt.patternItem
	id, err := unescapeID(rest)
	if err != nil {
		return err
	}
	if rt.blobs != nil {
		return c.serveBlob(id)
	}
	return c.serveItem(id)
}

// serveBelow serves a path with a trailing slash, or below that of an item. rest is what follows the
// first slash.
func (c *call) serveBelow(path, rest string) error {
	rt, trimmed := c.route, strings.TrimSuffix(rest, "/")
	switch {
	case rest == "" || trimmed != rest && trimmed != "" && !strings.Contains(trimmed, "/"):
		return c.redirect(strings.TrimSuffix(path, "/"))
	case rt.isRestore(trimmed):
		c.r.Pattern = rt.patternRestore
		if trimmed != rest {
			return c.redirect(strings.TrimSuffix(path, "/"))
		}
		segment, _, _ := strings.Cut(rest, "/")
		return c.serveRestore(segment)
	case rt.lookup != nil:
		return problem.New(problem.NotFound, "There is no resource at this path.")
	}
	// An item has no path below it except links. An id with a slash is sent as %2F.
	return c.serveLink(rest)
}

// find returns the value of an escaped path segment in table, or the zero value.
func find[V any](table map[string]V, segment string) V {
	v, ok := table[segment]
	if !ok && len(table) > 0 && strings.Contains(segment, "%") {
		// %6F is equivalent to o (RFC 9110 section 4.2.3). Most segments match without this.
		if plain, err := url.PathUnescape(segment); err == nil {
			return table[plain]
		}
	}
	return v
}

// unescapeID decodes a path segment once. It rejects invalid UTF-8 and control characters, so that
// no store has to handle them.
func unescapeID(segment string) (string, error) {
	id := segment
	if strings.Contains(segment, "%") {
		var err error
		if id, err = url.PathUnescape(segment); err != nil {
			return "", problem.New(problem.BadRequest, "The path is not percent-encoded correctly.")
		}
		// A segment without % needs no check: EscapedPath has only ASCII without control
		// characters.
		if !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
			return "", problem.New(problem.BadRequest, "The path must be UTF-8 without control characters.")
		}
	}
	return id, nil
}

// redirect removes a trailing slash. 308 keeps the method and the body (RFC 9110 section 15.4.9).
func (c *call) redirect(path string) error {
	h := c.w.Header()
	// The Negotiator has removed the parameter that selects the contract, so it is added again.
	h["Location"] = []string{withParams(c.base()+path, joinParams(c.r.URL.RawQuery, c.sel.Query()))}
	h["Content-Length"] = zeroLength
	h["Cache-Control"] = noStore
	c.w.WriteHeader(http.StatusPermanentRedirect)
	return nil
}

// serveList serves the path of a collection, a lookup or a collection of blobs. A known method that
// the collection does not support is 405.
func (c *call) serveList() error {
	rt := c.route
	switch {
	case rt.lookup != nil:
		return c.serveLookup()
	case rt.blobs != nil:
		return c.serveBlobs()
	}
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
		return c.getList()
	case methodQuery:
		return c.onHeap((*call).queryList)
	case http.MethodPost:
		// A batch is recognized by its media type, and only where batches are supported. Elsewhere
		// the type is 415.
		if c.isBatch() {
			return c.onHeap((*call).batch)
		}
		if rt.resource.Can(resource.OpCreate) {
			return c.post()
		}
	case http.MethodOptions:
		return c.options(rt.allowList)
	}
	return notAllowed(rt.allowList)
}

// serveItem serves the path of an item. The route has the capabilities, so 405 needs no read of the
// item.
func (c *call) serveItem(id string) error {
	rt := c.route
	c.onItem = true
	switch c.r.Method {
	case http.MethodGet, http.MethodHead:
		return c.getItem(id)
	case http.MethodPut:
		if rt.resource.Can(resource.OpReplace) {
			return c.put(id)
		}
	case http.MethodPatch:
		if rt.resource.Can(resource.OpPatch) {
			return c.patch(id)
		}
	case http.MethodDelete:
		if rt.resource.Can(resource.OpDelete) {
			return c.delete(id)
		}
	case http.MethodOptions:
		return c.options(rt.allowItem)
	}
	return notAllowed(rt.allowItem)
}

// notAllowed returns the 405 error with the Allow header, which RFC 9110 section 15.5.6 requires.
func notAllowed(allow []string) error {
	d := problem.New(problem.MethodNotAllowed, "This path supports only "+strings.Join(allow, ", ")+".")
	d.Header = http.Header{"Allow": allow}
	return d
}

// options responds to OPTIONS with the supported methods and media types (RFC 9110 section 9.3.7).
func (c *call) options(allow []string) error {
	h := c.w.Header()
	h["Allow"] = allow
	if !c.onItem && c.route.resource != nil && !c.restores {
		h["Accept-Query"] = acceptQuery
	}
	switch {
	case c.restores: // the request has no body
	case c.onItem && c.route.acceptPatch != nil:
		h["Accept-Patch"] = c.route.acceptPatch
	// The vendor type in Accept-Post depends on the contract, so it is not part of the static
	// route.
	case !c.onItem && c.route.acceptPost != nil:
		h["Accept-Post"] = c.acceptPost()
	}
	h["Cache-Control"] = noStore
	c.w.WriteHeader(http.StatusNoContent)
	return nil
}
