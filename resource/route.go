package resource

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

// route is what is served under the first segment of a path, or, for a command, under the first two. Its header values are
// made once and shared by all responses: nobody changes a value in place, and to append to one copies it.
type route struct {
	name     string
	resource *Resource
	lookup   *Lookup // nil for all else, like the next two
	command  *Command
	blobs    *Blobs
	jobs     *Resource // where those of the command are found

	// patternList and patternItem are for http.Request.Pattern: "/orders" and "/orders/{id}".
	patternList, patternItem string

	allowList, allowItem []string // Allow
	acceptPatch          []string // nil if items cannot be patched
	acceptPost           []string // nil if there is no POST
	posts                []string // its members: what the content of a POST can be
	varyItem, varyList   []string

	keyed      bool                  // keys mean something here
	guaranteed idempotency.Guarantee // what a key is worth, if so
	gives      string                // names the form of what a command gives

	eventCursor atomic.Pointer[eventCursor] // of the newest answer
}

func (r *Resource) addTo(*Catalog) *route {
	rt := &route{name: r.core.name, resource: r}
	list, item := []string{"GET", "HEAD"}, []string{"GET", "HEAD"}
	if r.Can(OpCreate) {
		list = append(list, "POST")
		rt.posts = []string{mediaJSON}
		if r.Batches() {
			rt.posts = append(rt.posts, mediaBatch)
		}
		rt.acceptPost = []string{strings.Join(rt.posts, ", ")}
	}
	if r.Can(OpReplace) {
		item = append(item, "PUT")
	}
	if r.Can(OpPatch) {
		item = append(item, "PATCH")
		rt.acceptPatch = []string{patch.MergeType + ", " + patch.JSONType}
	}
	if r.Can(OpDelete) {
		item = append(item, "DELETE")
	}
	rt.allowList = []string{strings.Join(append(list, "OPTIONS"), ", ")}
	rt.allowItem = []string{strings.Join(append(item, "OPTIONS"), ", ")}
	rt.varyItem = []string{"Accept, Accept-Encoding"}
	rt.varyList = rt.varyItem
	if r.Counts() {
		rt.varyList = []string{"Accept, Accept-Encoding, Prefer"}
	}
	return rt
}

// media is what its representations are called in the media types of a vendor.
func (rt *route) media() string {
	if rt.command != nil {
		return rt.command.media
	}
	return rt.resource.Media()
}

func declaresEq(ops []query.Op) bool { return slices.Contains(ops, query.Eq) }

// known reports whether a resource API has heard of the method: then it is answered with 405 where it is not served, and
// else with 501 (RFC 9110 section 9.1). Names are case-sensitive.
func known(method string) bool {
	switch method {
	case "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT", "QUERY":
		return true
	}
	return false
}

// serve finds the route on the escaped path, so that an encoded slash stays inside its segment, and calls what serves
// the method there.
func (x *call) serve() error {
	path := x.path()
	if len(path)+len(x.r.URL.RawQuery) > x.c.opts.Limits.URL {
		return problem.New(problem.URITooLong, "The request target is too long.")
	}
	if !known(x.r.Method) {
		return problem.New(problem.NotImplemented, "There is no such method.")
	}
	first, rest, deeper := strings.Cut(path[1:], "/")
	trimmed := strings.TrimSuffix(rest, "/")
	if x.route = find(find(x.c.commands, first), trimmed); x.route != nil {
		x.r.Pattern = x.route.patternList
		if trimmed != rest {
			return x.redirect(strings.TrimSuffix(path, "/"))
		}
		return x.serveCommand()
	}
	rt := find(x.c.table, first)
	if rt == nil {
		return problem.New(problem.NotFound, "Nothing is served here.")
	}
	x.route, x.r.Pattern = rt, rt.patternList
	switch {
	case !deeper:
		return x.serveList()
	case rest == "" || trimmed != rest && trimmed != "" && !strings.Contains(trimmed, "/"):
		return x.redirect(strings.TrimSuffix(path, "/"))
	case strings.Contains(rest, "/") || rt.lookup != nil:
		return problem.New(problem.NotFound, "Nothing is served here.")
	}
	x.r.Pattern = rt.patternItem
	id, err := unescapeID(rest)
	if err != nil {
		return err
	}
	if rt.blobs != nil {
		return x.serveBlob(id)
	}
	return x.serveItem(id)
}

// find looks a segment of an escaped path up. A segment that is not there has the zero value.
func find[V any](table map[string]V, segment string) V {
	v, ok := table[segment]
	if !ok && strings.Contains(segment, "%") {
		if plain, err := url.PathUnescape(segment); err == nil { // %6F is o: RFC 9110 section 4.2.3
			return table[plain]
		}
	}
	return v
}

// unescapeID decodes the segment once. Characters that no id should have are refused before a store sees them.
func unescapeID(segment string) (string, error) {
	id := segment
	if strings.Contains(segment, "%") {
		var err error
		if id, err = url.PathUnescape(segment); err != nil {
			return "", problem.New(problem.BadRequest, "The path is not escaped correctly.")
		}
		if !utf8.ValidString(id) || strings.ContainsFunc(id, unicode.IsControl) {
			return "", problem.New(problem.BadRequest, "The path has characters that no id has.")
		}
	}
	return id, nil
}

// redirect answers a path with a slash too many. 308 keeps method and content (RFC 9110 section 15.4.9).
func (x *call) redirect(path string) error {
	h := x.w.Header()
	h["Location"] = []string{withParams(x.base()+path, joinParams(x.r.URL.RawQuery, x.sel.Query()))}
	h["Content-Length"] = zeroLength
	h["Cache-Control"] = noStore
	h["X-Content-Type-Options"] = nosniff
	x.w.WriteHeader(http.StatusPermanentRedirect)
	return nil
}

// serveList serves the path of a collection, or of a lookup.
func (x *call) serveList() error {
	rt := x.route
	switch {
	case rt.lookup != nil:
		return x.serveLookup()
	case rt.blobs != nil:
		return x.serveBlobs()
	}
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		return x.getList()
	case http.MethodPost:
		if x.isBatch() {
			return x.batch()
		}
		if rt.resource.Can(OpCreate) {
			return x.post()
		}
	case http.MethodOptions:
		return x.options(rt.allowList)
	}
	return notAllowed(rt.allowList)
}

// serveItem serves the path of an item.
func (x *call) serveItem(id string) error {
	rt := x.route
	x.onItem = true
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		return x.getItem(id)
	case http.MethodPut:
		if rt.resource.Can(OpReplace) {
			return x.put(id)
		}
	case http.MethodPatch:
		if rt.resource.Can(OpPatch) {
			return x.patch(id)
		}
	case http.MethodDelete:
		if rt.resource.Can(OpDelete) {
			return x.delete(id)
		}
	case http.MethodOptions:
		return x.options(rt.allowItem)
	}
	return notAllowed(rt.allowItem)
}

func notAllowed(allow []string) error {
	d := problem.New(problem.MethodNotAllowed, "This is served with other methods; see Allow.")
	d.Header = http.Header{"Allow": allow}
	return d
}

// options says what can be done here, RFC 9110 section 9.3.7.
func (x *call) options(allow []string) error {
	h := x.w.Header()
	h["Allow"] = allow
	switch {
	case x.onItem && x.route.acceptPatch != nil:
		h["Accept-Patch"] = x.route.acceptPatch
	case !x.onItem && x.route.acceptPost != nil:
		h["Accept-Post"] = x.acceptPost()
	}
	h["X-Content-Type-Options"] = nosniff
	h["Cache-Control"] = noStore
	x.w.WriteHeader(http.StatusNoContent)
	return nil
}
