package graphql_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// FuzzServe sends whatever may come: as the content of a POST, as the document of one, and in a URL. Every answer is well
// formed and of a status that the handler has.
func FuzzServe(f *testing.F) {
	h := newTestHandler(f, func(s *setup) { s.opts.Batch, s.opts.Persisted = 2, 2000 })
	f.Fuzz(func(t *testing.T, content, accept, encoding string) {
		quoted, _ := jsontext.AppendQuote(nil, content) // invalid UTF-8 is replaced
		for _, target := range []string{"/graphql", "/graphql?query=" + url.QueryEscape(content),
			"/graphql?" + url.QueryEscape(content)} {
			get := httptest.NewRequest("GET", target, nil)
			get.Header["Accept"], get.Header["Accept-Encoding"] = []string{accept}, []string{encoding}
			checkAnswer(t, h, get)
		}
		for _, body := range []string{content, fmt.Sprintf(`{"query":%s}`, quoted)} {
			post := httptest.NewRequest("POST", "/graphql", strings.NewReader(body))
			post.Header["Content-Type"], post.Header["Accept"] = []string{"application/json"},
				[]string{accept}
			checkAnswer(t, h, post)
		}
	})
}

func checkAnswer(t *testing.T, h http.Handler, r *http.Request) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	switch w.Code {
	case 200, 400, 403, 405, 406, 413, 414:
	default:
		t.Fatalf("%s %s: status %d: %s", r.Method, r.URL, w.Code, w.Body)
	}
	media := w.Header().Get("Content-Type")
	if strings.HasPrefix(media, "text/html") || w.Header().Get("Content-Encoding") != "" {
		return
	}
	body := w.Body.Bytes()
	if media == "text/event-stream" {
		checkStream(t, r, w.Body.String())
		return
	}
	if !jsontext.Value(body).IsValid() {
		t.Errorf("%s %s: %s", r.Method, r.URL, body)
	}
	if !strings.Contains(media, "json") || len(body) == 0 || w.Code != 200 &&
		strings.HasPrefix(w.Body.String(), `{"data"`) {
		t.Errorf("%s %s: %d %s: %s", r.Method, r.URL, w.Code, media, body)
	}
}

// checkStream checks that a stream has one result, in JSON, and its end.
func checkStream(t *testing.T, r *http.Request, body string) {
	t.Helper()
	all := eventsOf(t, body)
	if len(all) != 2 || all[1] != "complete " {
		t.Fatalf("%s %s: %q", r.Method, r.URL, all)
	}
	if result, ok := strings.CutPrefix(all[0], "next "); !ok || !jsontext.Value(result).IsValid() {
		t.Errorf("%s %s: %s", r.Method, r.URL, result)
	}
}
