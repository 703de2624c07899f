package main

// The documentation pages, rendered once at start-up from a library and served as static documents.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strconv"
	"time"

	"github.com/swaggest/swgui"
	"github.com/swaggest/swgui/v5emb"

	"github.com/stoa-go/stoa/resource/header"
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
	html := rendered(ui, "/docs/", "")
	return docs{
		page: serveHTML(
			html,
			fmt.Sprintf("connect-src 'self'; img-src 'self' data:; script-src 'self' %s; style-src 'self' %s",
				hashesOf(html, "script"), hashesOf(append(html, logoStyle...), "style")),
		),
		assets: serveAssets(ui),
	}
}

// assetNames are the files of Swagger UI that its page loads. The list is explicit, so that an update
// of the package cannot publish further files.
var assetNames = []string{
	"swagger-ui.css", "swagger-ui-bundle.js", "swagger-ui-standalone-preset.js",
	"favicon-16x16.png", "favicon-32x32.png",
}

// serveAssets serves the assets with ranges and entity tags, with and without gzip.
func serveAssets(ui http.Handler) http.Handler {
	assets := map[string]*asset{}
	for _, name := range assetNames {
		at := "/docs/" + name
		assets[at] = &asset{name, rendered(ui, at, ""), rendered(ui, at, "gzip")}
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch a := assets[r.URL.Path]; {
		case a != nil:
			a.serve(w, r)
		case r.URL.Path == "/docs/":
			w.Header().Set("Location", "/docs")
			w.WriteHeader(http.StatusPermanentRedirect)
		default:
			serveNotFound(w, r)
		}
	})
}

// asset is a file in memory.
type asset struct {
	name           string
	plain, gzipped []byte
}

func (a *asset) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Vary", "Accept-Encoding")
	h.Set("Content-Type", mime.TypeByExtension(path.Ext(a.name)))
	content := a.plain
	if len(a.gzipped) < len(a.plain) && header.AcceptEncoding(r.Header["Accept-Encoding"]).Gzip {
		content = a.gzipped
		h.Set("Content-Encoding", "gzip")
		h.Set("Content-Length", strconv.Itoa(len(content)))
	}
	h.Set("ETag", etagOf(content))
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// rendered returns the body of the response of h to GET. The page and the files of Swagger UI are the
// same for every request, and the policy of the page needs the hashes of its scripts in advance.
func rendered(h http.Handler, path, encoding string) []byte {
	r, err := http.NewRequest(http.MethodGet, path, nil)
	if err != nil {
		panic(err) // the path is a constant
	}
	r.Header.Set("Accept-Encoding", encoding)
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
