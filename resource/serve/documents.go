package serve

// The OpenAPI documents of all contracts, as JSON, as YAML and as a page. Called by addRoutes.

import (
	"cmp"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/openapi/docspage"
	"github.com/stoa-go/stoa/resource/rest"
)

// addDocuments adds the routes of the OpenAPI documents.
func (h *Handler) addDocuments() {
	const part = "the OpenAPI document (Options.NoOpenAPI)"
	add := func(path string, d *openapi.Document) {
		h.routes[path+".json"] = &route{part, true, d}
		h.routes[path+".yaml"] = &route{part, true, d}
	}
	first := h.first()
	for _, c := range h.contracts {
		if c.opts.NoOpenAPI {
			continue
		}
		d := h.newDocument(c)
		add(c.path, d)
		if c == first {
			add("/openapi", d)
		}
	}
	if h.negotiator != nil && first != nil {
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

// newDocument makes the OpenAPI document of a contract.
func (h *Handler) newDocument(c *contractRoutes) *openapi.Document {
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
	r := *cmp.Or(c.opts.REST, &rest.Options{})
	r.Challenge = c.opts.Challenge
	o.REST = &r
	if h.negotiator != nil {
		o.Negotiator, o.Contract = h.negotiator, c.name
	}
	return openapi.New(c.catalog, &o)
}

// addDocs adds the route of the documentation page, which shows the documents of all contracts, that
// of first before the others.
func (h *Handler) addDocs() {
	var list []docspage.Document
	for _, c := range h.contracts {
		if h.opts.NoDocs || c.opts.NoOpenAPI {
			continue
		}
		url := strings.TrimPrefix(c.path, "/") + ".json"
		d := docspage.Document{Name: c.name, URL: url, Full: url + "?profile=full"}
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
