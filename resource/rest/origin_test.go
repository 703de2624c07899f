package rest_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

type guest struct {
	ID    string `json:"id"`
	Email string `json:"email"`
}

// postSite has every kind of path that accepts POST, below /api of a server.
type postSite struct {
	http.Handler
	calls int // of the command
}

func newPostSite(t testing.TB, opts *rest.Options) *postSite {
	t.Helper()
	s := &postSite{}
	store := memory.New[guest](&memory.Options[guest]{SoftDelete: true, DB: memory.NewDB()})
	for _, id := range []string{"1", "2"} {
		if _, err := store.Insert(t.Context(), id, guest{ID: id, Email: id}); err != nil {
			t.Fatal(err)
		}
	}
	guests := resource.New("guests", store, &resource.Options[guest]{Public: true, Restore: true})
	count := func(context.Context, nothing) (nothing, error) {
		s.calls++
		return nothing{}, nil
	}
	h := catalogWith(t, opts, guests, blob.New("files", folder(t), &blob.Options{Public: true}),
		command.New("guests/count", count, &command.Options[nothing]{Public: true}), importOf(guests))
	mux := http.NewServeMux()
	mux.Handle("/api/", http.StripPrefix("/api", h))
	s.Handler = mux
	want(t, send(t, s, "DELETE /api/guests/2"), http.StatusNoContent)
	return s
}

// state is what a write would change.
func (s *postSite) state(t testing.TB) []string {
	t.Helper()
	return []string{send(t, s, "GET /api/guests").body, send(t, s, "GET /api/files").body, strings.Repeat("call ", s.calls)}
}

// origins are the header fields by which a browser, or another client, names the page of a request.
var origins = []struct {
	name    string
	fields  []string
	allowed bool
}{
	{"another site", []string{"Sec-Fetch-Site: cross-site", "Origin: https://evil.example"}, false},
	{"another site without Origin", []string{"Sec-Fetch-Site: cross-site"}, false},
	{"another host of the site", []string{"Sec-Fetch-Site: same-site", "Origin: https://blog.example.com"}, false},
	{"a browser without Sec-Fetch-Site", []string{"Origin: https://evil.example"}, false},
	{"a sandboxed page", []string{"Origin: null"}, false},
	{"the name of the host in the origin", []string{"Origin: https://example.com.evil.example"}, false},
	{"another port", []string{"Origin: http://example.com:81"}, false},
	{"a cookie and credentials", []string{"Sec-Fetch-Site: cross-site", "Cookie: a=b", "Authorization: Basic YTpi"}, false},
	{"the same origin", []string{"Sec-Fetch-Site: same-origin", "Origin: https://example.com"}, true},
	{"the same origin, by its host", []string{"Origin: http://example.com"}, true},
	{"the same origin, and a proxy that replaces Host",
		[]string{"Sec-Fetch-Site: same-origin", "Origin: https://shop.example", "Host: 10.0.0.1:8080"}, true},
	{"the user", []string{"Sec-Fetch-Site: none"}, true},
	{"an origin of the options", []string{"Sec-Fetch-Site: cross-site", "Origin: https://app.example"}, true},
	{"an origin of the options without Sec-Fetch-Site", []string{"Origin: https://app.example"}, true},
	{"no browser", nil, true},
}

// simplePosts are the requests that a browser sends without a preflight: POST of these types, or of none.
// The status is that of an allowed request.
var simplePosts = []struct {
	line, media, body string
	status            int
}{
	{"POST /api/files", formBody, form("a=x"), 201},
	{"POST /api/files", "Content-Type: text/plain", "x", 201},
	{"POST /api/files", "Content-Type: TEXT/Plain ; charset=utf-8", "x", 201},
	{"POST /api/files", "Content-Type: application/x-www-form-urlencoded", "a=b", 201},
	{"POST /api/files", "", "x", 201},
	{"POST /api/files/", "Content-Type: text/plain", "x", 308},
	{"POST /api/guests/2/restore", "", "", 200},
	{"POST /api/guests/2/restore", "Content-Type: text/plain", "", 200},
	{"POST /api/guests/count", "", "", 200},
	{"POST /api/guests/count", "Content-Type: text/plain", "{}", 415},
	{"POST /api/guests/import", "Content-Type: text/plain", `{"id":"3","email":"3"}`, 415},
	{"POST /api/guests", "Content-Type: text/plain", `{"id":"3","email":"3"}`, 415},
	{"POST /api/nothing", "", "", 404},
}

func TestRule161SimpleRequestsOfOtherOrigins(t *testing.T) {
	t.Parallel()
	opts := &rest.Options{Origins: []string{"https://APP.example"}}
	for _, tt := range simplePosts {
		for _, origin := range origins {
			t.Run(tt.line+" "+tt.media+" of "+origin.name, func(t *testing.T) {
				t.Parallel()
				s := newPostSite(t, opts)
				before := s.state(t)
				fields := origin.fields
				if tt.media != "" {
					fields = append([]string{tt.media}, fields...)
				}
				r := request(t, tt.line, append(fields, "", tt.body)...)
				if host := r.Header.Get("Host"); host != "" {
					r.Host = host
				}
				res := sent(s, r)
				if origin.allowed {
					want(t, res, tt.status)
					return
				}
				wantProblem(t, res, problem.Forbidden)
				if diff := cmp.Diff(before, s.state(t)); diff != "" {
					t.Errorf("state (-before +after):\n%s", diff)
				}
			})
		}
	}
}

// TestRule161Preflighted: a browser sends these requests of another origin only after a preflight, which
// a middleware answers. Without one it does not send them.
func TestRule161Preflighted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		line, media, body string
		status            int
	}{
		{"POST /api/guests", jsonBody, `{"id":"3","email":"3"}`, 201},
		{"POST /api/guests", batchBody, operations(`{"op":"delete","id":"1"}`), 200},
		{"POST /api/guests/import", "Content-Type: application/x-ndjson", `{"id":"3","email":"3"}`, 200},
		{"POST /api/files", "Content-Type: image/png", "x", 201},
		{"PUT /api/files/a", "Content-Type: text/plain", "x", 201},
		{"PATCH /api/guests/1", jsonBody, `{"email":"x"}`, 200},
		{"DELETE /api/guests/1", "X: x", "", 204},
		{"GET /api/guests", "X: x", "", 200},
		{"OPTIONS /api/guests", "Access-Control-Request-Method: POST", "", 204},
	} {
		res := send(t, newPostSite(t, nil), tt.line, tt.media, "Sec-Fetch-Site: cross-site",
			"Origin: https://evil.example", "", tt.body)
		want(t, res, tt.status, "Access-Control-Allow-Origin:")
	}
}

func TestOptionsOrigins(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{"", "null", "*", "app.example", "https://app.example/", "https://", "https://a.b/c",
		"https://u@a.b", "https://a.b?c", "https://a b"} {
		wantPanic(t, fmt.Sprintf("rest: Options.Origins: %q is not an origin; use a form such as https://app.example.com", origin),
			func() { catalogWith(t, &rest.Options{Origins: []string{origin}}) })
	}
}
