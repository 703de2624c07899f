package main

// The documentation pages, rendered once at start-up from a library and served as static documents.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"

	"github.com/stoa-go/stoa/version"
)

// docs serves Swagger UI for the OpenAPI documents of all contracts. Its assets are embedded in the
// program, and the Content-Security-Policy allows no other host.
type docs struct {
	page   http.Handler // at /docs
	assets http.Handler // below /docs/
}

// logoStyle is the style element that Swagger UI adds with its logo.
const logoStyle = `<style>.logo_small_svg__cls-2{fill:#fff}.logo_small_svg__cls-3{fill:#85ea2d}</style>`

// newDocs returns the handlers of Swagger UI. The page lists the document of every contract that is
// served.
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
		panic(err) // a struct of two strings always encodes
	}
	ui := v5emb.NewHandlerWithConfig(swgui.Config{
		Title: "The shop", SwaggerJSON: documentPath(defaultContract), BasePath: "/docs/", ShowTopBar: true,
		SettingsUI: map[string]string{
			"urls":               string(urls),
			`"urls.primaryName"`: fmt.Sprintf("%q", defaultContract),
			// the schemas are collapsed, because they are longer than the operations
			"defaultModelsExpandDepth": "0",
		},
	})
	html := rendered(ui, "/docs/")
	return docs{
		page: serveHTML(
			html,
			fmt.Sprintf("connect-src 'self'; img-src 'self' data:; script-src 'self' %s; style-src 'self' %s",
				hashesOf(html, "script"), hashesOf(append(html, logoStyle...), "style")),
		),
		assets: serveAssets(ui),
	}
}

// serveAssets serves only the files of Swagger UI that its page loads. The list is explicit, so
// that an update of the package cannot publish further files.
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
			serveNotFound(w, r)
		}
	})
}

// rendered returns the body of the response of h to GET. The page of Swagger UI is the same for
// every request, and its policy needs the hashes of its scripts in advance.
func rendered(h http.Handler, path string) []byte {
	r, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		panic(err) // the path is a constant
	}
	w := page{header: http.Header{}}
	h.ServeHTTP(&w, r)
	return w.Bytes()
}

// page is an [http.ResponseWriter] that buffers the response.
type page struct {
	bytes.Buffer
	header http.Header
}

func (p *page) Header() http.Header { return p.header }
func (p *page) WriteHeader(int)     {}
