package graphql

import (
	"net/http"

	"github.com/stoa-go/stoa/query/graphql/internal/playground"
	"github.com/stoa-go/stoa/resource/header"
)

// varyPage is what decides between the page and an answer. The page adds what it depends on itself.
var varyPage = []string{"Accept"}

// newPage returns the page that browsers get. It panics if Options.Page has none.
func newPage(o *Options) http.Handler {
	return playground.Handler(playground.Options{Title: o.Title, FS: o.Page, Policy: o.PagePolicy,
		GraphiQL: o.GraphiQL})
}

// ofPage reports whether a path below the door is that of a file of Options.Page.
func (h *Handler) ofPage(rest string) bool {
	if h.page == nil || h.opts.Page == nil {
		return false
	}
	_, ok := playground.Find(h.opts.Page, rest)
	return ok
}

// servePage answers with the page, or with another file of somebody's own.
func (x *exchange) servePage() {
	header.AddVary(x.w.Header(), varyPage)
	x.began = true // whoever serves it has its own answer to what goes wrong
	x.h.page.ServeHTTP(x.w, x.r)
}
