package openapi

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// rendering is the document as it is for one standing of its contract, and what its representations need. It does not
// change.
type rendering struct {
	of            standing
	plain, zipped []byte
	hash          string
}

// newRendering panics only if a printer of this package is wrong: everything that it is given has been checked before.
func newRendering(c *resource.Catalog, o *Options, now standing) *rendering {
	plain, err := json.Marshal(describe(c, o, &now), jsontext.WithIndent("  "))
	if err != nil {
		panic(fmt.Sprintf("openapi: %v", err))
	}
	plain = append(plain, '\n')
	var zipped bytes.Buffer
	// Compressed once and sent often, so it may take its time. There is such a level, and a buffer takes all.
	zw, _ := gzip.NewWriterLevel(&zipped, gzip.BestCompression)
	zw.Write(plain)
	zw.Close()
	sum := sha256.Sum256(plain)
	return &rendering{of: now, plain: plain, zipped: zipped.Bytes(),
		hash: base64.RawURLEncoding.EncodeToString(sum[:9])}
}

// The representations: plain JSON is what browsers and most tools ask for and can show; the other name is the right one.
const (
	mediaJSON    = "application/json"
	mediaOpenAPI = "application/vnd.oai.openapi+json;version=3.1"
)

// offers are what an Accept is compared with. Clients write the registered type with and without its parameter.
var offers = []string{mediaJSON, mediaOpenAPI, "application/vnd.oai.openapi+json"}

const allow = "GET, HEAD, OPTIONS"

// ServeHTTP answers with the document, whatever the path. It has an entity tag and asks caches to check it each time, so
// that a client sees the deprecation of its contract at once and transfers the document only when it has changed.
func (d *Document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		d.serve(w, r)
	case http.MethodOptions:
		h := w.Header()
		h.Set("Allow", allow)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		w.WriteHeader(http.StatusNoContent)
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodConnect, http.MethodTrace:
		p := problem.New(problem.MethodNotAllowed, "The document can only be read.")
		p.Header = http.Header{"Allow": {allow}}
		problem.Write(w, r, p)
	default: // RFC 9110 section 9.1
		problem.Write(w, r, problem.New(problem.NotImplemented, "There is no such method."))
	}
}

// serve finds out which representation is wanted.
func (d *Document) serve(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	// First of all, since the refusals below depend on these fields as well.
	h.Add("Vary", "Accept, Accept-Encoding")
	i, ok := header.Accept(r.Header["Accept"], offers)
	if !ok {
		p := problem.New(problem.NotAcceptable, "The document is served as "+mediaJSON+" or "+mediaOpenAPI+".")
		p.Extensions = map[string]any{"available": offers[:2]}
		problem.Write(w, r, p)
		return
	}
	enc := header.Encodings{Identity: true} // nothing is asked for: whoever does not name gzip may not know it
	if lines, ok := r.Header["Accept-Encoding"]; ok {
		enc = header.AcceptEncoding(lines)
	}
	if !enc.Gzip && !enc.Identity {
		problem.Write(w, r, problem.New(problem.NotAcceptable, "The document is sent as it is or with gzip."))
		return
	}
	media := mediaJSON
	if i > 0 {
		media = mediaOpenAPI
	}
	d.current().send(w, r, media, enc.Gzip)
}

// send answers with one representation. Each has a tag of its own (RFC 9110 section 8.8.3.3).
func (m *rendering) send(w http.ResponseWriter, r *http.Request, media string, zip bool) {
	body, variant := m.plain, ".j"
	if media == mediaOpenAPI {
		variant = ".o"
	}
	if zip {
		body, variant = m.zipped, variant+"z"
	}
	tag := `"` + m.hash + variant + `"`
	h := w.Header()
	h.Set("Etag", tag)
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Content-Type-Options", "nosniff")
	if lines := r.Header["If-None-Match"]; lines != nil {
		match, ok := header.MatchTag(lines, tag, true)
		if !ok {
			p := problem.New(problem.InvalidHeader, "If-None-Match is not a list of entity tags, nor *.")
			p.Errors = []problem.Violation{{Header: "If-None-Match", Code: "syntax"}}
			problem.Write(w, r, p)
			return
		}
		if match {
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Type", media)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	if zip {
		h.Set("Content-Encoding", "gzip")
	}
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		w.Write(body) // an error means that the client has gone
	}
}
