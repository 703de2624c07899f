package graphql

import (
	"net/http"

	"github.com/stoa-go/stoa/query/graphql/internal/page"
)

// servePage answers with the page, or with another file of somebody's own.
func (x *exchange) servePage(path string) {
	setVary(x.w.Header(), varyAnswer)
	r := *x.r
	u := *x.r.URL
	u.Path, u.RawPath = path, ""
	r.URL = &u
	x.began = true // whoever serves it has its own answer to what goes wrong
	x.h.page.ServeHTTP(x.w, &r)
}

// newPage returns the page that browsers get.
func newPage(o *Options) http.Handler {
	return page.Handler(page.Options{Title: o.Title, FS: o.Page, GraphiQL: o.GraphiQL})
}
