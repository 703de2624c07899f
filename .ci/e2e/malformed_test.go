package main

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// serveStub serves a shop with a fault in one route.
func serveStub(t *testing.T, fault http.HandlerFunc) string {
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
	mux.HandleFunc("POST /", refuseAll)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// refuseAll is a server without a fault.
func refuseAll(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(http.StatusBadRequest)
	io.Copy(io.Discard, io.LimitReader(r.Body, 20<<20))
}

func TestMalformedFaults(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		fault http.HandlerFunc
		want  string // in one of the examples; "" for none
	}{
		{"none", refuseAll, ""},
		{"500", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(500) }, ": 500"},
		{"a panic", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		{"accepted as JSON", func(http.ResponseWriter, *http.Request) {}, "was accepted as JSON"},
		{"no problem document", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(400) }, "not a problem document"},
		{"cut off", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "10")
			w.WriteHeader(400)
		}, "incomplete"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			inputs := append(meanings(), encodings()...)
			base := serveStub(t, tt.fault)
			routes, err := findRoutes(base)
			if err != nil {
				t.Fatal(err)
			}
			routes = slices.DeleteFunc(routes, func(r writeRoute) bool { return r.path != "/v2/orders" })
			d := &damage{trial: newTestTrial(base)}
			if err := d.sendAll(t.Context(), routes, inputs, coverage{1, 1}); err != nil {
				t.Fatal(err)
			}
			all := strings.Join(d.Examples(), "\n")
			d.judge(len(inputs))
			if !strings.Contains(all, tt.want) || (d.failure() == nil) != (tt.want == "") {
				t.Errorf("%v, want %q in\n%s", d.failure(), tt.want, all)
			}
		})
	}
}

func TestCorpus(t *testing.T) {
	t.Parallel()
	cases := strings.Repeat(`{"name":"n_a.json","input":"[1,]"},`, 300) + `{"name":"y_b.json","input":"[]"}`
	inputs, err := corpus([]byte("["+cases+"]"), rand.New(rand.NewPCG(1, 0)), 200)
	if err != nil {
		t.Fatal(err)
	}
	if len(inputs) < 500 || !inputs[0].bad || inputs[300].bad {
		t.Errorf("%d inputs, of which the first is %+v and the last of the suite %+v", len(inputs), inputs[0], inputs[300])
	}
	if _, err := corpus([]byte("[]"), rand.New(rand.NewPCG(1, 0)), 200); err == nil {
		t.Error("an empty suite passes")
	}
}
