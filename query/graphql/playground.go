package graphql

import (
	"net/http"

	"github.com/stoa-go/stoa/query/graphql/internal/playground"
	"github.com/stoa-go/stoa/resource/header"
)

// varyPage is the Vary value for a response that may be the page. The page adds its own.
var varyPage = []string{"Accept"}

// newPage returns the handler of the page. It panics if Options.Page has no index.html.
func newPage(o *Options) http.Handler {
	return playground.Handler(playground.Options{Title: o.Title, FS: o.Page, Policy: o.PagePolicy})
}

// isPageFile reports whether the path is that of a file of Options.Page.
func (h *Handler) isPageFile(rest string) bool {
	if h.page == nil || h.opts.Page == nil {
		return false
	}
	_, ok := playground.Find(h.opts.Page, rest)
	return ok
}

// servePage responds with the page or one of its files.
func (x *exchange) servePage() {
	header.AddVary(x.w.Header(), varyPage)
	x.began = true // the page handles its own errors
	x.h.page.ServeHTTP(x.w, x.r)
}
