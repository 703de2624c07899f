package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"

	"github.com/stoa-go/stoa/version"
)

// docs is Swagger UI, which shows the documents of all contracts. It is in the program, so it needs no other host, and the
// browser is told to ask none.
type docs struct {
	page   http.Handler // at /docs
	assets http.Handler // below
}

// logoStyle is what the logo of Swagger UI brings along when it is drawn.
const logoStyle = `<style>.logo_small_svg__cls-2{fill:#fff}.logo_small_svg__cls-3{fill:#85ea2d}</style>`

func newDocs(n *version.Negotiator) docs {
	type document struct {
		URL  string `json:"url"`
		Name string `json:"name"`
	}
	var documents []document
	for _, c := range n.Contracts() {
		if c.OpenAPI != "" {
			documents = append(documents, document{c.OpenAPI, c.Name})
		}
	}
	urls, err := json.Marshal(documents)
	if err != nil {
		panic(err) // of two strings
	}
	ui := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "The shop", SwaggerJSON: documentPath(defaultContract), BasePath: "/docs/", ShowTopBar: true,
		SettingsUI: map[string]string{
			"urls":                     string(urls),
			`"urls.primaryName"`:       fmt.Sprintf("%q", defaultContract),
			"defaultModelsExpandDepth": "0",
		},
	})
	html := rendered(ui, "/docs/")
	return docs{
		page: serveHTML(html, fmt.Sprintf("connect-src 'self'; img-src 'self' data:; script-src 'self' %s; style-src 'self' %s",
			hashesOf(html, "script"), hashesOf(append(html, logoStyle...), "style"))),
		assets: serveAssets(ui),
	}
}

// serveAssets serves what the page of Swagger UI loads, and nothing else of what comes with it.
func serveAssets(ui http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/docs/":
			w.Header().Set("Location", "/docs")
			w.WriteHeader(http.StatusPermanentRedirect)
		case "/docs/swagger-ui.css", "/docs/swagger-ui-bundle.js", "/docs/swagger-ui-standalone-preset.js",
			"/docs/favicon-16x16.png", "/docs/favicon-32x32.png":
			w.Header().Set("Cache-Control", "no-cache")
			w.Header().Set("X-Content-Type-Options", "nosniff")
			ui.ServeHTTP(w, r)
		default:
			serveNothing(w, r)
		}
	})
}

// rendered returns what a handler answers to GET. The page of Swagger UI is the same for everybody, and the hashes of what
// it runs have to be known before it is served.
func rendered(h http.Handler, path string) []byte {
	r, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		panic(err) // the path is written in this file
	}
	w := page{header: http.Header{}}
	h.ServeHTTP(&w, r)
	return w.Bytes()
}

// page is a response that is kept.
type page struct {
	bytes.Buffer
	header http.Header
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(int)     {}
