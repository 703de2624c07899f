package serve

// The index of the API, and the parts and links that the index, llms.txt and the API catalog have in
// common. Called by addRoutes.

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/version"
)

// overview is the content of the index, and the JSON form of it.
type overview struct {
	Title       string        `json:"title"`
	Description string        `json:"description,omitzero"`
	Contract    string        `json:"contract,omitzero"` // of Parts
	Links       overviewLinks `json:"links"`
	Parts       []partEntry   `json:"parts"`
	Versions    []versionItem `json:"versions,omitempty"`
}

// overviewLinks are the URLs of what is served. Parts that are left out have none.
type overviewLinks struct {
	Docs       string `json:"docs,omitzero"`
	OpenAPI    string `json:"openapi,omitzero"`
	YAML       string `json:"openapiYaml,omitzero"`
	GraphQL    string `json:"graphql,omitzero"`
	Schema     string `json:"graphqlSchema,omitzero"`
	Health     string `json:"health,omitzero"`
	Ready      string `json:"ready,omitzero"`
	APICatalog string `json:"apiCatalog,omitzero"`
	LLMs       string `json:"llms,omitzero"`
}

// partEntry is a part of the catalog and its operations.
type partEntry struct {
	Name string `json:"name"`
	Kind string `json:"kind"` // collection, files, lookup or command
	URL  string `json:"url,omitzero"`

	Operations []operation `json:"operations"`
}

// opens reports whether URL can be read with GET. Files that cannot be listed have GET of one only.
func (e *partEntry) opens() bool {
	return e.Operations[0].Method == http.MethodGet && e.Operations[0].Path == "/"+e.Name
}

// operation is a request that the API supports. Path is the template in the OpenAPI document.
type operation struct {
	Method  string `json:"method"`
	Path    string `json:"path"`
	Summary string `json:"summary"`
}

// versionItem is a contract of the negotiator.
type versionItem struct {
	Name       string         `json:"name"`
	Status     version.Status `json:"status"`
	Default    bool           `json:"default,omitzero"`
	Deprecated time.Time      `json:"deprecated,omitzero"`
	Sunset     time.Time      `json:"sunset,omitzero"`
	Docs       string         `json:"docs,omitzero"`
	OpenAPI    string         `json:"openapi,omitzero"`
	GraphQL    string         `json:"graphql,omitzero"`
}

// newOverview returns the overview for a request.
func (h *Handler) newOverview(r *http.Request) *overview {
	base := h.base(r)
	c := h.shown()
	out := &overview{Title: h.opts.Title, Description: h.opts.Description, Contract: c.name,
		Parts: []partEntry{}}
	link := func(path string) string {
		if h.routes[path] == nil {
			return ""
		}
		return base + path
	}
	out.Links = overviewLinks{
		Docs: link("/docs"), OpenAPI: link("/openapi.json"), YAML: link("/openapi.yaml"),
		Health: link("/health"), Ready: link("/ready"), APICatalog: link("/.well-known/api-catalog"),
		LLMs: link("/llms.txt"),
	}
	if c.graphql != nil {
		out.Links.GraphQL = h.urlIn(c, base, graphqlPath)
		out.Links.Schema = h.urlIn(c, base, graphqlPath+"/schema.graphql")
	}
	if c.rest != nil {
		for _, p := range resource.PartsOf[resource.Part](c.catalog) {
			if entry := newPartEntry(c.catalog, p); entry.Kind != "" {
				entry.URL = h.urlIn(c, base, "/"+entry.Name)
				out.Parts = append(out.Parts, entry)
			}
		}
	}
	h.addVersions(out, base)
	return out
}

// shown returns the contract of which the index shows the parts.
func (h *Handler) shown() *contractRoutes {
	if c := h.first(); c != nil {
		return c
	}
	return h.contracts[0]
}

// urlIn returns the URL of a path in a contract, in the way that needs no header fields: without the
// version if it is the default, and otherwise by path or by query. It is empty if there is no such way.
func (h *Handler) urlIn(c *contractRoutes, base, path string) string {
	if h.negotiator == nil || c.name == h.negotiator.Default() {
		return base + path
	}
	names := h.negotiator.Names(c.name)
	if len(names) == 0 {
		return ""
	}
	for _, s := range h.negotiator.Strategies() {
		if _, ok := s.(version.Path); ok {
			return base + "/v" + names[0] + path
		}
	}
	for _, s := range h.negotiator.Strategies() {
		if q, ok := s.(version.Query); ok {
			name := q.Name
			if name == "" {
				name = "version"
			}
			return base + path + "?" + name + "=" + names[0]
		}
	}
	return ""
}

// addVersions adds the contracts of the negotiator, newest first.
func (h *Handler) addVersions(out *overview, base string) {
	if h.negotiator == nil {
		return
	}
	for _, c := range h.negotiator.Contracts() {
		item := versionItem{Name: c.Name, Status: h.negotiator.Status(c.Name),
			Default:    c.Name == h.negotiator.Default(),
			Deprecated: c.Deprecated.UTC(), Sunset: c.Sunset.UTC()}
		i := slices.IndexFunc(h.contracts, func(own *contractRoutes) bool { return own.name == c.Name })
		if i >= 0 && item.Status != version.Retired {
			own := h.contracts[i]
			if h.routes[own.path+".json"] != nil {
				item.OpenAPI = base + own.path + ".json"
			}
			if h.routes["/docs"] != nil && !own.opts.NoOpenAPI {
				item.Docs = base + "/docs?version=" + c.Name
			}
			if own.graphql != nil {
				item.GraphQL = h.urlIn(own, base, graphqlPath)
			}
		}
		out.Versions = append(out.Versions, item)
	}
}

// newPartEntry returns the entry of a part. Its Kind is empty for a kind of part that REST does not
// serve.
func newPartEntry(c *resource.Catalog, p resource.Part) partEntry {
	e := partEntry{Name: p.Part().Name}
	path := "/" + e.Name
	add := func(can bool, method, path, summary string) {
		if can {
			e.Operations = append(e.Operations, operation{method, path, summary})
		}
	}
	switch p := p.(type) {
	case *resource.Resource:
		e.Kind = "collection"
		add(true, "GET", path, "List")
		add(p.Can(resource.OpCreate), "POST", path, "Create")
		add(true, "GET", path+"/{id}", "Read")
		add(p.Can(resource.OpReplace), "PUT", path+"/{id}", "Replace")
		add(p.Can(resource.OpPatch), "PATCH", path+"/{id}", "Change")
		add(p.Can(resource.OpDelete), "DELETE", path+"/{id}", "Delete")
		add(p.Can(resource.OpRestore), "POST", path+"/{id}/restore", "Restore")
		for _, relation := range p.Describe().Relations {
			if join, _ := p.LinkedBy(relation); join != nil {
				target := path + "/{id}/" + relation + "/{target}"
				add(join.Describe().TakesIDs, "PUT", target, "Link")
				add(join.Can(resource.OpDelete), "DELETE", target, "Unlink")
			}
		}
	case *resource.Lookup:
		e.Kind = "lookup"
		add(true, "GET", path, "Look up")
	case *command.Command:
		e.Kind = "command"
		add(true, "POST", path, "Carry out")
	case *blob.Collection:
		e.Kind = "files"
		writes := !p.Options().ReadOnly
		add(p.Items() != nil, "GET", path, "List")
		add(writes, "POST", path, "Upload")
		add(true, "GET", path+"/{id}", "Download")
		add(writes, "PUT", path+"/{id}", "Replace")
		add(writes, "DELETE", path+"/{id}", "Delete")
	}
	return e
}

// indexOffers are the media types of the index. JSON is first, so clients that accept everything get
// it; browsers name HTML.
var indexOffers = []string{"application/json", "text/html"}

// varyAccept is the Vary value of the index.
var varyAccept = []string{"Accept"}

// serveIndex responds with the index, in HTML or JSON.
func (h *Handler) serveIndex(w http.ResponseWriter, r *http.Request) {
	header.AddVary(w.Header(), varyAccept)
	i, ok := header.Accept(r.Header["Accept"], indexOffers)
	if !ok && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		d := problem.New(problem.NotAcceptable,
			"The index is served as "+strings.Join(indexOffers, " or ")+".")
		d.Extensions = map[string]any{"available": indexOffers}
		problem.Write(w, r, d)
		return
	}
	o := h.newOverview(r)
	for _, l := range [][2]string{
		{o.Links.OpenAPI, "service-desc"}, {o.Links.Docs, "service-doc"},
		{o.Links.APICatalog, "api-catalog"}, {o.Links.Ready, "status"},
	} {
		if l[0] != "" {
			w.Header().Add("Link", "<"+l[0]+`>; rel="`+l[1]+`"`)
		}
	}
	if i == 1 {
		indexPage(o).ServeHTTP(w, r)
		return
	}
	text, err := json.Marshal(o, jsontext.WithIndent("  "))
	if err != nil {
		panic("serve: " + err.Error()) // the types of the overview can always be encoded
	}
	serveStatic(w, r, "application/json", append(text, '\n'))
}
