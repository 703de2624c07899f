package playground

// A custom playground: static files from Options.FS instead of the page of this package.

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

// bundle serves the files of Options.FS.
type bundle struct {
	fsys   fs.FS
	policy string
}

// newBundle returns the handler for o.FS. It panics if there is no index.html.
func newBundle(o Options) *bundle {
	if _, err := fs.Stat(o.FS, "index.html"); err != nil {
		panic("playground: Options.FS has no index.html; pass the folder that contains it: " + err.Error())
	}
	b := &bundle{fsys: o.FS, policy: o.Policy}
	if b.policy == "" {
		b.policy = httpbody.PagePolicy("script-src 'self'; style-src 'self' 'unsafe-inline'; " +
			"img-src 'self' data:; font-src 'self' data:; " +
			"connect-src 'self'; worker-src 'self'; manifest-src 'self'")
	}
	return b
}

// Find returns the longest suffix of path that is the name of a regular file in fsys. For
// /v1/graphql/assets/app.js this is assets/app.js, unless graphql/assets/app.js exists. ok is false
// if there is no such file, or if it is index.html. Package graphql calls it to distinguish
// requests for the page from GraphQL requests.
func Find(fsys fs.FS, path string) (name string, ok bool) {
	for rest, more := strings.TrimPrefix(path, "/"), true; more; _, rest, more = strings.Cut(rest, "/") {
		if !fs.ValidPath(rest) || rest == "index.html" {
			continue
		}
		if info, err := fs.Stat(fsys, rest); err == nil && info.Mode().IsRegular() {
			return rest, true
		}
	}
	return "", false
}

// ServeHTTP implements [http.Handler] as documented for [Handler].
func (b *bundle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !httpbody.ReadOnly(w, r) {
		return
	}
	httpbody.SetPageHeader(w.Header(), b.policy)
	name, ok := Find(b.fsys, r.URL.Path)
	if !ok {
		// http.StripPrefix may have removed a prefix of the path, so the redirect is relative to
		// the last segment.
		if last := lastSegment(r); last != "" {
			w.Header().Set("Location", "./"+last+"/")
			w.WriteHeader(http.StatusTemporaryRedirect)
			return
		}
		name = "index.html"
	}
	body, err := fs.ReadFile(b.fsys, name)
	if err != nil {
		problem.Write(w, r, problem.New(problem.Internal, "This part of the page cannot be read."))
		return
	}
	serveFile(w, r, name, body)
}

// lastSegment returns the last segment of the request path in escaped form. It is empty for a path that
// ends in a slash.
func lastSegment(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// serveFile writes a file with an ETag. The content type follows from the extension of name.
func serveFile(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
}
