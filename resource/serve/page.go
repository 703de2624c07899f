package serve

// The HTML of the index. Called by serveIndex. It has no script; html/template is not used, because
// reflection over methods would keep the linker from removing unused code.

import (
	_ "embed"
	"html"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
)

//go:embed index.css
var indexStyle string

// icon is the shape of the icon, in a box of 16 by 16.
const icon = "M1 2h14v3H1zm1 4h2v7H2zm5 0h2v7H7zm5 0h2v7h-2zM1 14h14v1H1z"

// page builds an HTML document. add appends markup, and text appends escaped text.
type page struct{ strings.Builder }

func (p *page) add(markup ...string) {
	for _, m := range markup {
		p.WriteString(m)
	}
}

func (p *page) text(s string) { p.WriteString(html.EscapeString(s)) }

// link appends a link, or nothing if the URL is empty. class may be empty.
func (p *page) link(class, url, text string) {
	if url != "" {
		p.add(`<a class="`, class, `" href="`, html.EscapeString(url), `">`)
		p.text(text)
		p.add("</a>\n")
	}
}

// indexPage returns the index as a page for browsers.
func indexPage(o *overview) *httpbody.Page {
	var p page
	p.add(`<!doctype html><html lang="en"><head><meta charset="utf-8">`,
		`<meta name="viewport" content="width=device-width, initial-scale=1">`,
		`<meta name="color-scheme" content="light dark"><title>`)
	p.text(o.Title)
	p.add(`</title><link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' `,
		`viewBox='0 0 16 16'%3E%3Cpath fill='%23b4552d' d='`, icon, `'/%3E%3C/svg%3E"><style>`, indexStyle,
		`</style></head><body><header><h1><svg viewBox="0 0 16 16" aria-hidden="true"><path d="`, icon,
		`"/></svg>`)
	p.text(o.Title)
	p.add("</h1>\n")
	if o.Description != "" {
		p.add("<p>")
		p.text(o.Description)
		p.add("</p>")
	}
	p.add("<nav aria-label=\"Documentation\">\n")
	p.link("main", o.Links.Docs, "Documentation")
	p.link("", o.Links.GraphQL, "GraphQL")
	p.link("", o.Links.OpenAPI, "OpenAPI")
	p.link("", o.Links.YAML, "OpenAPI in YAML")
	p.add("</nav></header><main>\n")
	p.parts(o)
	p.versions(o)
	p.add("</main><footer>")
	p.link("", o.Links.Health, "Health")
	p.link("", o.Links.Ready, "Readiness")
	p.link("", o.Links.Schema, "GraphQL schema")
	p.link("", o.Links.APICatalog, "API catalog")
	p.link("", o.Links.LLMs, "llms.txt")
	p.add("</footer></body></html>\n")
	return httpbody.NewPage(p.String(), "img-src data:; style-src "+httpbody.InlineSource(indexStyle))
}

// parts appends the parts of the catalog with their operations, and a command to try.
func (p *page) parts(o *overview) {
	if len(o.Parts) == 0 {
		return
	}
	p.add("<h2>Resources")
	if o.Contract != "" {
		p.text(" of version " + o.Contract)
	}
	p.add(`</h2><ul class="parts">`, "\n")
	for _, part := range o.Parts {
		p.add("<li><div><h3>")
		p.text(part.Name)
		p.add("</h3><small>")
		p.text(part.Kind)
		p.add("</small>\n")
		if part.opens() {
			p.link("open", part.URL, "Open /"+part.Name)
		}
		p.add("</div><ul>")
		for _, op := range part.Operations {
			path := "<code>" + html.EscapeString(op.Path) + "</code>"
			if o.Links.Docs != "" {
				url := o.Links.Docs + "#" + op.Method + " " + op.Path
				path = `<a href="` + html.EscapeString(url) + `">` + path + "</a>"
			}
			p.add(`<li><span class="method `, op.Method, `">`, op.Method, "</span> ", path,
				` <span class="about">`, op.Summary, "</span></li>\n")
		}
		p.add("</ul></li>\n")
	}
	p.add("</ul>\n")
}

// versions appends the table of contracts.
func (p *page) versions(o *overview) {
	if len(o.Versions) == 0 {
		return
	}
	p.add("<h2>Versions</h2><div class=\"scroll\"><table><thead><tr><th>Version</th><th>Status</th>" +
		"<th>Deprecated</th><th>Available until</th><th>Documents</th></tr></thead><tbody>\n")
	for _, v := range o.Versions {
		p.add("<tr><td>", v.Name)
		if v.Default {
			p.add(" (default)")
		}
		p.add(`</td><td class="`, string(v.Status), `">`, string(v.Status), "</td><td>", day(v.Deprecated),
			"</td><td>", day(v.Sunset), "</td><td>")
		p.link("", v.Docs, "Documentation")
		p.link("", v.OpenAPI, "OpenAPI")
		p.link("", v.GraphQL, "GraphQL")
		p.add("</td></tr>\n")
	}
	p.add("</tbody></table></div>\n")
}

// day returns a date, or a dash for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return "–"
	}
	return t.Format(time.DateOnly)
}
