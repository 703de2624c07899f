package main

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain is also the server of the tests of slow clients.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "server" {
		main()
		return
	}
	os.Exit(m.Run())
}

// stub is a shop with one route, and a fault in it.
func stub(t *testing.T, fault http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /openapi", func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, `{"versions":[{"openapi":"/2.json","default":true},{"openapi":""}]}`)
	})
	mux.HandleFunc("GET /2.json", func(w http.ResponseWriter, _ *http.Request) {
		one := `{"post":{"requestBody":{"content":{"application/json":{}}}}}`
		io.WriteString(w, `{"servers":[{"url":"/v2"}],"paths":{"/orders":`+one+`,"/orders/{id}":`+one+
			`,"/a":`+one+`,"/b":`+one+`,"/c":`+one+`,"/d":`+one+`,"/e":`+one+`,"/f":`+one+`,"/g":`+one+`}}`)
	})
	mux.HandleFunc("GET /health", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /v2/orders", fault)
	mux.HandleFunc("POST /", refuse)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// refuse is what a good server does with everything here.
func refuse(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusBadRequest)
	io.Copy(io.Discard, io.LimitReader(r.Body, 20<<20))
}

func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault http.HandlerFunc
		want  string // in one of the examples; "" for none
	}{
		{"none", refuse, ""},
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, ": 500"},
		{"a panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"taken for JSON", func(http.ResponseWriter, *http.Request) {}, "was taken for JSON"},
		{"no problem document", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, "no problem document"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(400)
		}, "cut off"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inputs := append(meanings(), encodings()...)
			d, err := assail(t.Context(), stub(t, tt.fault), inputs, 1)
			if err != nil {
				t.Fatal(err)
			}
			all := strings.Join(d.examples, "\n")
			if !strings.Contains(all, tt.want) || (d.verdict() == nil) != (tt.want == "") {
				t.Errorf("%v, want %q in\n%s", d.verdict(), tt.want, all)
			}
		})
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	suite := filepath.Join(t.TempDir(), "suite.json")
	cases := strings.Repeat(`{"name":"n_a.json","input":"[1,]"},`, 300) + `{"name":"y_b.json","input":"[]"}`
	if err := os.WriteFile(suite, []byte("["+cases+"]"), 0o600); err != nil {
		t.Fatal(err)
	}
	inputs, err := corpus(suite, rand.New(rand.NewPCG(1, 0)))
	if err != nil {
		t.Fatal(err)
	}
	if len(inputs) < 500 || !inputs[0].bad || inputs[300].bad {
		t.Errorf("%d inputs, of which the first is %+v and the last of the suite %+v", len(inputs), inputs[0], inputs[300])
	}
	if err := os.WriteFile(suite, []byte("[]"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := corpus(suite, rand.New(rand.NewPCG(1, 0))); err == nil {
		t.Error("an empty suite will do")
	}
}

// TestSiege holds against itself what slow does on the whole: a server without limits turns out nobody.
func TestSiege(t *testing.T) {
	t.Parallel()
	r, err := siege(t.Context(), attacks(5, 5), 500*time.Millisecond, "-bare")
	if err != nil {
		t.Fatal(err)
	}
	if r.verdict() == nil {
		t.Error("a server that closed nothing passes")
	}
	if err := r.controlVerdict(); err != nil {
		t.Error(err)
	}
	r.attacks[0].closed.Add(1)
	if r.controlVerdict() == nil {
		t.Error("a control that closed something passes")
	}
}
