package rest_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
)

// Rule 75: HEAD has the header fields of GET for all responses. The test uses a real server,
// because net/http handles both methods itself.

func TestRule075HeadLikeGet(t *testing.T) {
	t.Parallel()
	srv := listen(t, api(t, withLookup, withTroubles))
	setUp := dialHTTP(t, srv, false)
	want(t, setUp("POST /orders", jsonBody, "", `{"customerId":"u"}`), http.StatusCreated)
	want(t, setUp("POST /orders", jsonBody, "", big), http.StatusCreated)
	want(t, setUp("POST /orders", jsonBody, "", `{"customerId":"u"}`), http.StatusCreated)
	want(t, setUp("DELETE /orders/3"), http.StatusNoContent)
	for _, id := range []string{"401", "403", "500", "503", "panic"} {
		want(t, setUp("PUT /users/"+id, jsonBody, "", `{"name":"n"}`), http.StatusCreated)
	}
	item := setUp("GET /orders/1")
	tag, list := item.header.Get("Etag"), setUp("GET /orders").header.Get("Etag")
	zipped := setUp("GET /orders/2", "Accept-Encoding: gzip").header.Get("Etag")
	since := "If-Modified-Since: " + item.header.Get("Last-Modified")
	lines := "Accept: application/x-ndjson"
	gz := "Accept-Encoding: gzip"

	tests := []struct {
		name   string
		target string
		fields []string
		status int
	}{
		{"item", "/orders/1", nil, 200},
		{"large item", "/orders/2", nil, 200},
		{"large item, gzip", "/orders/2", []string{gz}, 200},
		{"part", "/orders/2?fields=note", nil, 200},
		{"expanded", "/orders/1?expand=customer", nil, 200},
		{"list", "/orders", nil, 200},
		{"list, gzip", "/orders", []string{gz}, 200},
		{"list, counted", "/orders?limit=1", []string{"Prefer: count=exact"}, 200},
		{"empty list", "/orders?customerId=nobody", nil, 200},
		{"lines", "/orders", []string{lines}, 200},
		{"lines, gzip", "/orders", []string{lines, gz}, 200},
		{"lookup", "/biggest?customerId=u", nil, 200},
		{"same item", "/orders/1", []string{"If-None-Match: " + tag}, 304},
		{"same item, by date", "/orders/1", []string{since}, 304},
		{"same item, gzip", "/orders/2", []string{gz, "If-None-Match: " + zipped}, 304},
		{"same list", "/orders", []string{"If-None-Match: " + list}, 304},
		{"slash", "/orders/", nil, 308},
		{"bad parameter", "/orders?limit=x", nil, 400},
		{"bad id", "/users/%00", nil, 400},
		{"bad field", "/orders/1", []string{"If-None-Match: x"}, 400},
		{"not known", "/users/401", nil, 401},
		{"hidden", "/users/403", nil, 404},
		{"never there", "/orders/99", nil, 404},
		{"nothing", "/nothing", nil, 404},
		{"not acceptable", "/orders/1", []string{"Accept: text/html"}, 406},
		{"no coding", "/orders", []string{"Accept-Encoding: *;q=0"}, 406},
		{"deleted", "/orders/3", nil, 410},
		{"other revision", "/orders/1", []string{`If-Match: "x"`}, 412},
		{"too long", "/users/" + strings.Repeat("a", 9000), nil, 414},
		{"broken store", "/users/500", nil, 500},
		{"panic", "/users/panic", nil, 500},
		{"busy store", "/users/503", nil, 503},
	}
	for _, two := range []bool{false, true} {
		p := dialHTTP(t, srv, two)
		for _, tt := range tests {
			get := p("GET "+tt.target, tt.fields...)
			head := p("HEAD "+tt.target, tt.fields...)
			want(t, get, tt.status)
			want(t, head, tt.status)
			if head.body != "" {
				t.Errorf("%s: HEAD has content: %q", tt.name, head.body)
			}
			for _, h := range []http.Header{get.header, head.header} {
				h.Del("Date")
			}
			// its length is unknown before the body, so the field may be absent
			if strings.HasPrefix(tt.name, "lines") {
				get.header.Del("Content-Length")
			}
			if diff := cmp.Diff(get.header, head.header); diff != "" {
				t.Errorf("%s, HTTP/2 %t (-GET +HEAD):\n%s", tt.name, two, diff)
			}
		}
	}
}

// withTroubles adds users that cause errors.
func withTroubles(s *setup) {
	s.orders.AuthorizeGone = func(context.Context, string) error { return nil }
	s.users.Authorize = func(_ context.Context, op resource.Op, before, _ *user) error {
		if op != resource.OpGet || before == nil {
			return nil
		}
		switch before.ID {
		case "401":
			return resource.ErrUnauthenticated
		case "403":
			return resource.ErrForbidden
		case "500":
			return errors.New("secret cause")
		case "503":
			return resource.ErrUnavailable
		case "panic":
			panic("secret cause")
		}
		return nil
	}
}
