package playground

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// document is one page, made once: as it is and compressed, each with its entity tag.
type document struct {
	plain, zipped coded
	policy        string
}

// coded is a body in one content coding.
type coded struct {
	body []byte
	etag string
}

func newDocument(page, policy string) *document {
	sum := sha256.Sum256([]byte(policy + page))
	tag := base64.RawURLEncoding.EncodeToString(sum[:12])
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the error is for levels that there are not
	w.Write([]byte(page))                                 // a Buffer takes everything
	w.Close()
	return &document{
		plain:  coded{[]byte(page), `"` + tag + `"`},
		zipped: coded{b.Bytes(), `"` + tag + `.gzip"`},
		policy: policy,
	}
}

// ServeHTTP answers as Handler says.
func (d *document) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	h := w.Header()
	guard(h, d.policy)
	h.Add("Vary", "Accept-Encoding")
	c := d.plain
	if header.AcceptEncoding(r.Header["Accept-Encoding"]).Gzip {
		c = d.zipped
		h.Set("Content-Encoding", "gzip")
	}
	h.Set("ETag", c.etag)
	if lines := r.Header["If-None-Match"]; len(lines) > 0 {
		if match, ok := header.MatchTag(lines, c.etag, true); ok && match {
			h.Del("Content-Encoding")
			w.WriteHeader(http.StatusNotModified)
			return
		}
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(len(c.body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		w.Write(c.body) // an error means that the client has gone
	}
}

// readOnly answers methods that change something, and reports whether there is still something to answer.
func readOnly(w http.ResponseWriter, r *http.Request) bool {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return true
	}
	d := problem.New(problem.MethodNotAllowed, "This is a page; it is read.")
	d.Header = http.Header{"Allow": {"GET, HEAD"}}
	problem.Write(w, r, d)
	return false
}

// guard sets what keeps a page to itself: it is in no frame, tells nobody where it was, and is what it says it is.
func guard(h http.Header, policy string) {
	h.Set("Cache-Control", "no-cache")
	h.Set("Content-Security-Policy", policy)
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
}

// policy is a Content-Security-Policy (level 3) that admits what it says and nothing else.
func policy(admitted string) string {
	return "default-src 'none'; " + admitted + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// hash is the source expression for an element with this content (Content Security Policy, section 2.3.1).
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
