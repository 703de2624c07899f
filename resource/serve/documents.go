package serve

// The OpenAPI documents of all contracts, as JSON, as YAML and as a page. Called by addRoutes.

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/mount"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/openapi/docspage"
)

// mediaYAML is the media type of YAML (RFC 9512).
const mediaYAML = "application/yaml"

// addDocuments adds the routes of the OpenAPI documents.
func (h *Handler) addDocuments() {
	const part = "the OpenAPI document (Options.NoOpenAPI)"
	add := func(path string, c *contractRoutes) {
		of := func(r *http.Request) http.Handler { return h.document(c, r) }
		h.routes[path+".json"] = &route{part, true,
			http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { of(r).ServeHTTP(w, r) })}
		h.routes[path+".yaml"] = &route{part, true, &yamlDocument{json: of}}
	}
	for _, c := range h.contracts {
		if !c.opts.NoOpenAPI {
			add(c.path, c)
		}
	}
	if first := h.first(); h.negotiator != nil && first != nil {
		add("/openapi", first)
		h.routes["/openapi"] = &route{"the list of versions (Options.NoOpenAPI)", true, h.negotiator.List()}
	}
}

// first returns the contract of the documents and links that name none: the default, or else the
// newest. It is nil if that contract has no document.
func (h *Handler) first() *contractRoutes {
	best := h.contracts[0]
	for _, c := range h.contracts {
		if h.negotiator != nil && c.name == h.negotiator.Default() {
			best = c
		}
	}
	if best.opts.NoOpenAPI {
		return nil
	}
	return best
}

// addDocs adds the route of the documentation page, which shows the documents of all contracts, that
// of first before the others.
func (h *Handler) addDocs() {
	var list []docspage.Document
	for _, c := range h.contracts {
		if h.opts.NoDocs || c.opts.NoOpenAPI {
			continue
		}
		d := docspage.Document{Name: c.name, URL: strings.TrimPrefix(c.path, "/") + ".json"}
		if c == h.first() {
			list = slices.Insert(list, 0, d)
		} else {
			list = append(list, d)
		}
	}
	if len(list) > 0 {
		page := docspage.New(list, &docspage.Options{Title: h.opts.Title})
		h.routes["/docs"] = &route{"the documentation page (Options.NoDocs)", true, page}
	}
}

// documentKey identifies a document: its contract and the prefix at which the API is mounted.
type documentKey struct {
	c      *contractRoutes
	prefix string
}

// maxDocuments limits the documents that are kept. A handler has few prefixes, but a client can
// spell each of them with escapes.
const maxDocuments = 64

// document returns the OpenAPI document for a request. Its default server is the prefix of the
// request, so that it is correct wherever the handler is mounted.
func (h *Handler) document(c *contractRoutes, r *http.Request) *openapi.Document {
	key := documentKey{c, mount.Prefix(r)}
	h.mu.Lock()
	defer h.mu.Unlock()
	d := h.documents[key]
	if d == nil {
		d = h.newDocument(c, key.prefix)
		if len(h.documents) < maxDocuments {
			h.documents[key] = d
		}
	}
	return d
}

// newDocument makes the OpenAPI document of a contract.
func (h *Handler) newDocument(c *contractRoutes, prefix string) *openapi.Document {
	o := openapi.Options{}
	if c.opts.OpenAPI != nil {
		o = *c.opts.OpenAPI
	}
	if o.Title == "" {
		o.Title = c.opts.Title
	}
	if o.Description == "" {
		o.Description = c.opts.Description
	}
	if base := h.baseOf() + prefix; len(o.Servers) == 0 && base != "" {
		o.Servers = []string{base}
	}
	o.REST = c.opts.REST
	if h.negotiator != nil {
		o.Negotiator, o.Contract = h.negotiator, c.name
	}
	return openapi.New(c.catalog, &o)
}

// yamlDocument serves the document of a JSON handler, which json returns for a request, as YAML. It
// keeps the latest conversion.
type yamlDocument struct {
	json func(r *http.Request) http.Handler

	mu       sync.Mutex
	of       string // entity tag of the JSON
	document *httpbody.Document
}

// ServeHTTP requests the JSON from the other handler, with the same query. Responses other than 200
// are passed on.
func (y *yamlDocument) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !httpbody.ReadOnly(w, r) {
		return
	}
	ask := r.Clone(r.Context())
	ask.Method = http.MethodGet
	ask.Header = http.Header{"Accept": {"application/json"}, "Accept-Encoding": {"identity"}}
	answer := response{header: http.Header{}}
	y.json(r).ServeHTTP(&answer, ask)
	if answer.status != http.StatusOK {
		for name, lines := range answer.header {
			w.Header()[name] = lines
		}
		w.WriteHeader(answer.status)
		if r.Method != http.MethodHead {
			w.Write(answer.body.Bytes()) // an error means that the client has disconnected
		}
		return
	}
	w.Header().Set("Cache-Control", "no-cache")
	y.converted(&answer).Serve(w, r, mediaYAML)
}

// converted returns the YAML of a response.
func (y *yamlDocument) converted(answer *response) *httpbody.Document {
	y.mu.Lock()
	defer y.mu.Unlock()
	if tag := answer.header.Get("Etag"); y.document == nil || tag != y.of {
		y.of, y.document = tag, httpbody.NewDocument(yamlOf(answer.body.Bytes()))
	}
	return y.document
}

// response is an [http.ResponseWriter] that keeps the response.
type response struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (p *response) Header() http.Header { return p.header }

func (p *response) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

func (p *response) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	return p.body.Write(b)
}
