// Package docspage serves a documentation page for OpenAPI documents.
//
//	mux.Handle("/openapi.json", openapi.New(catalog, nil))
//	mux.Handle("/docs", docspage.New([]docspage.Document{{URL: "openapi.json"}}, nil))
//
// The page lists all operations, and shows for each its parameters, bodies and responses, code in
// curl, Go and TypeScript, and a form that sends the request. It searches, compares versions, and
// can be used with the keyboard alone. The key ? lists the keys, and there the single keys can be
// switched off. It works with OpenAPI 3.0, 3.1 and 3.2.
//
// The page is one HTML document of 30 kB as sent. It requests the documents and nothing else. Its
// Content-Security-Policy allows only its own script and style, by hash, and connections to its own
// origin. Therefore it works offline, and text in a document cannot run as script. Package page links
// the script from the modules of this folder. A program that imports this package grows by 0.1 MB.
//
// # Other renderers
//
// The script is that of this package, without dependencies and without a build step, because none of
// the usual renderers works under its policy. Measured on 2026-11-25 in Chromium 156, with the
// standalone bundles of npm and the document of examples/quickstart. reports are violations of the
// policy script-src, style-src, font-src and connect-src 'self'. Without a policy, messages are those
// of the console at each visit, hosts those that the page requests, and axe counts the elements with
// violations.
//
//	                        version  license       gzip  reports  messages  hosts               axe
//	@scalar/api-reference   1.72.1   MIT        1255 kB        7         3  fonts.scalar.com     46
//	@stoplight/elements     9.0.25   Apache-2.0  665 kB        1         2  none                 30
//	redoc                    2.5.4   MIT         328 kB       10         1  cdn.redoc.ly         80
//	rapidoc                  9.3.8   MIT         218 kB       48         4  fonts.gstatic.com     4
//	this package                                  30 kB        0         0  none                  0
package docspage

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"

	"github.com/stoa-go/stoa/resource/httpbody/page"
)

//go:embed *.html *.css *.js
var files embed.FS

// Document is an OpenAPI document that the page shows.
type Document struct {
	// Name is the name in the list of documents, usually the version of the API. It must be unique.
	// If there is only one document, it may be empty.
	Name string `json:"name"`
	// URL is the URL of the document in JSON, relative to the page, such as "openapi/2.0.0.json". It
	// has the same origin as the page.
	URL string `json:"url"`
	// Full is the URL of a document that describes more, such as "openapi/2.0.0.json?profile=full". The
	// page has a link that shows it instead. Empty means that there is none.
	Full string `json:"full,omitzero"`
}

// Options configures [New]. The zero value is ready to use.
type Options struct {
	// Title is the title of the page until a document has been read. Default "API".
	Title string
}

// New returns a handler that responds to GET and HEAD with the page, for any path, and to other
// methods as [httpbody.ReadOnly] does. The page shows the first document unless its URL has another
// name in the parameter version. opts may be nil. New panics if there is no document, if two have the
// same name, or if a URL is empty or has a host. The handler is safe for concurrent use.
func New(documents []Document, opts *Options) http.Handler {
	if len(documents) == 0 {
		panic("docspage: no documents; pass at least one")
	}
	seen := map[string]bool{}
	for _, d := range documents {
		for _, address := range []string{d.URL, cmp.Or(d.Full, d.URL)} {
			if u, err := url.Parse(address); err != nil || address == "" || u.IsAbs() || u.Host != "" {
				panic(fmt.Sprintf("docspage: URL %q of document %q must be relative to the page", address,
					d.Name))
			}
		}
		if seen[d.Name] {
			panic(fmt.Sprintf("docspage: two documents have the name %q; each name must be unique", d.Name))
		}
		seen[d.Name] = true
	}
	title := "API"
	if opts != nil && opts.Title != "" {
		title = opts.Title
	}
	list, err := json.Marshal(documents)
	if err != nil {
		panic("docspage: " + err.Error()) // strings can always be encoded
	}
	return page.New(files, "{{title}}", html.EscapeString(title),
		"{{documents}}", html.EscapeString(string(list)))
}
