package graphql_test

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestPage: browsers get the page where they ask for the handler, and programs never do.
func TestPage(t *testing.T) {
	t.Parallel()
	const browser = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	h := newTestHandler(t)
	for _, line := range []string{"GET /graphql", "HEAD /graphql/", ask("{__typename}"), "GET /v1/graphql"} {
		want(t, send(t, h, line, browser), 200, "Content-Type: text/html; charset=utf-8",
			"Content-Security-Policy: *",
			"Vary: Accept, Accept-Encoding")
	}
	want(t, send(t, h, "GET /graphql", browser, "Sec-Fetch-Site: cross-site"), 200) // a link from elsewhere
	wantBody(t, send(t, h, ask("{__typename}"), "Accept: */*"), 200, typenameIs)
	wantBody(t, send(t, h, ask("{__typename}"), "Accept: text/html;q=0.1, application/json"), 200, typenameIs)
	wantCode(t, send(t, h, "POST /graphql", jsonBody, "Accept: text/html", "", typenameBody), 406,
		"BAD_USER_INPUT")

	none := newTestHandler(t, func(s *setup) { s.opts.NoPage = true })
	wantBody(t, send(t, none, ask("{__typename}"), browser), 200, typenameIs)
	wantCode(t, send(t, none, "GET /graphql", browser), 400, "BAD_USER_INPUT")
	wantCode(t, send(t, none, "GET /graphql", "Accept: text/html"), 406, "BAD_USER_INPUT")

	own := newTestHandler(t, func(s *setup) {
		s.opts.Page = fstest.MapFS{"index.html": {Data: []byte("<!doctype html><title>mine</title>")},
			"app.js": {Data: []byte("1")}}
	})
	want(t, send(t, own, "GET /graphql", browser), 307, "Location: ./graphql/")
	res := send(t, own, "GET /graphql/", browser)
	if want(t, res, 200); !strings.Contains(res.body, "mine") {
		t.Errorf("the page is %s", res.body)
	}
	wantBody(t, send(t, own, "GET /graphql/app.js"), 200, "1")
	want(t, send(t, own, "GET /graphql/nothing.js"), 404)
	wantPanic(t, "index.html", func() { newTestHandler(t, func(s *setup) { s.opts.Page = fstest.MapFS{} }) })
}
