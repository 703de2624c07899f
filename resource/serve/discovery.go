package serve

// Documents for programs that look for the API: the API catalog (RFC 9727) and llms.txt.

import (
	"net/http"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// mediaLinkset is the media type of the API catalog (RFC 9264, with the profile of RFC 9727).
const mediaLinkset = `application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"`

// linkset is a set of links in JSON (RFC 9264 section 4.2).
type linkset struct {
	Linkset []linkContext `json:"linkset"`
}

// linkContext is a resource and its links, by relation.
type linkContext struct {
	Anchor      string       `json:"anchor"`
	Items       []linkTarget `json:"item,omitempty"`
	ServiceDesc []linkTarget `json:"service-desc,omitempty"` // for programs (RFC 8631)
	ServiceDoc  []linkTarget `json:"service-doc,omitempty"`  // for people
	Status      []linkTarget `json:"status,omitempty"`
}

// linkTarget is the target of a link.
type linkTarget struct {
	Href  string `json:"href"`
	Type  string `json:"type,omitzero"`
	Title string `json:"title,omitzero"`
}

// serveAPICatalog responds with the API catalog: the API, each version of it, and GraphQL, with
// their documents. URLs are relative to the catalog unless rest.Options.Base is absolute, because
// the server does not know its own origin.
func (h *Handler) serveAPICatalog(w http.ResponseWriter, r *http.Request) {
	base, o := h.base(r), h.newOverview(r)
	at := base + "/.well-known/api-catalog"
	// A response to HEAD must have this link (RFC 9727 section 2).
	w.Header().Add("Link", "<"+at+`>; rel="api-catalog"`)
	list := linkset{[]linkContext{{Anchor: at}}}
	add := func(c linkContext, title string) {
		list.Linkset[0].Items = append(list.Linkset[0].Items, linkTarget{Href: c.Anchor, Title: title})
		list.Linkset = append(list.Linkset, c)
	}
	api := linkContext{Anchor: base + "/"}
	if o.Links.OpenAPI != "" {
		api.ServiceDesc = []linkTarget{{Href: o.Links.OpenAPI, Type: "application/json", Title: o.Contract},
			{Href: o.Links.YAML, Type: "application/yaml", Title: o.Contract}}
	}
	for _, v := range o.Versions {
		if v.OpenAPI != "" && v.Name != o.Contract {
			api.ServiceDesc = append(api.ServiceDesc,
				linkTarget{Href: v.OpenAPI, Type: "application/json", Title: v.Name})
		}
	}
	if o.Links.Docs != "" {
		api.ServiceDoc = append(api.ServiceDoc, linkTarget{Href: o.Links.Docs, Type: "text/html"})
	}
	if h.routes["/"] != nil {
		api.ServiceDoc = append(api.ServiceDoc, linkTarget{Href: base + "/", Type: "text/html"})
	}
	if o.Links.Ready != "" {
		api.Status = []linkTarget{{Href: o.Links.Ready, Type: "application/json"}}
	}
	add(api, o.Title)
	if o.Links.GraphQL != "" {
		add(linkContext{Anchor: o.Links.GraphQL,
			ServiceDesc: []linkTarget{{Href: o.Links.Schema, Type: "application/graphql"}},
			ServiceDoc:  []linkTarget{{Href: o.Links.GraphQL, Type: "text/html"}},
		}, o.Title+", GraphQL")
	}
	text, err := json.Marshal(&list, jsontext.WithIndent("  "))
	if err != nil {
		panic("serve: " + err.Error()) // the types of the catalog can always be encoded
	}
	serveStatic(w, r, mediaLinkset, append(text, '\n'))
}

// serveLLMs responds with a summary of the API in Markdown, in the format of llmstxt.org.
func (h *Handler) serveLLMs(w http.ResponseWriter, r *http.Request) {
	o := h.newOverview(r)
	var b strings.Builder
	b.WriteString("# " + oneLine(o.Title) + "\n\n")
	if o.Description != "" {
		b.WriteString("> " + oneLine(o.Description) + "\n\n")
	}
	if o.Contract != "" {
		b.WriteString("The paths below are those of version " + o.Contract + ".\n")
	}
	b.WriteString("Errors are application/problem+json (RFC 9457). PUT, PATCH and DELETE accept If-Match " +
		"with the ETag of a GET.\n")
	section := func(title string, lines ...string) {
		b.WriteString("\n## " + title + "\n\n")
		for _, line := range lines {
			b.WriteString("- " + line + "\n")
		}
	}
	link := func(title, url, about string) string { return "[" + title + "](" + url + "): " + about }
	if o.Links.OpenAPI != "" {
		section("Documents",
			link("OpenAPI", o.Links.OpenAPI, "all operations, parameters and schemas, as JSON"),
			link("OpenAPI in YAML", o.Links.YAML, "the same document"))
	}
	for _, p := range o.Parts {
		var lines []string
		for _, op := range p.Operations {
			lines = append(lines, "`"+op.Method+" "+op.Path+"`: "+strings.ToLower(op.Summary))
		}
		if p.URL != "" && p.opens() {
			lines[0] = link("GET "+p.Operations[0].Path, p.URL, strings.ToLower(p.Operations[0].Summary))
		}
		section(p.Name, lines...)
	}
	if o.Links.GraphQL != "" {
		section("GraphQL", link("Endpoint", o.Links.GraphQL, "POST of a query, as JSON"),
			link("Schema", o.Links.Schema, "in the schema definition language"))
	}
	if len(o.Versions) > 0 {
		var lines []string
		for _, v := range o.Versions {
			line := v.Name + ": " + string(v.Status)
			if v.OpenAPI != "" {
				line = link(v.Name, v.OpenAPI, string(v.Status))
			}
			lines = append(lines, line)
		}
		section("Versions", lines...)
	}
	serveStatic(w, r, "text/plain; charset=utf-8", []byte(b.String()))
}

// oneLine replaces all white space by single spaces.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
