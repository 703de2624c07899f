package playground

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"io/fs"
	"net/http"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/problem"
)

// bundle serves a page that its user has built.
type bundle struct {
	fsys   fs.FS
	policy string
}

func newBundle(o Options) *bundle {
	if _, err := fs.Stat(o.FS, "index.html"); err != nil {
		panic("page: the FS given for the page has no index.html: " + err.Error())
	}
	b := &bundle{fsys: o.FS, policy: o.Policy}
	if b.policy == "" {
		b.policy = policy("script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
			"font-src 'self' data:; " +
			"connect-src 'self'; worker-src 'self'; manifest-src 'self'")
	}
	return b
}

// Find returns the name of the file of a bundle that a path ends in: of /v1/graphql/assets/app.js that is assets/app.js,
// unless graphql/assets/app.js is there. It is how the door tells that a GET below it is for the page. Folders, index.html
// itself and whatever is not there are none.
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

// ServeHTTP answers as Handler says.
func (b *bundle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !readOnly(w, r) {
		return
	}
	guard(w.Header(), b.policy)
	name, ok := Find(b.fsys, r.URL.Path)
	if !ok {
		// The path may have lost its beginning to StripPrefix, so the redirection says only how it ends.
		if last := asked(r); last != "" {
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

// asked is the last segment of the path that was asked for, escaped; it is empty for one that ends in a slash.
func asked(r *http.Request) string {
	path, _, _ := strings.Cut(r.RequestURI, "?")
	return path[strings.LastIndexByte(path, '/')+1:]
}

// serveFile answers with a file, of which the name says the type.
func serveFile(w http.ResponseWriter, r *http.Request, name string, body []byte) {
	sum := sha256.Sum256(body)
	w.Header().Set("ETag", `"`+base64.RawURLEncoding.EncodeToString(sum[:12])+`"`)
	http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(body))
}
