package compat_test

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/version/compat"
)

func TestSnapshotFile(t *testing.T) {
	t.Parallel()
	p := newPlan(t)
	p.source.Deprecated = time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	p.source.Sunset = time.Date(2027, 6, 1, 0, 0, 0, 0, time.UTC)
	s := p.snapshot()
	data := s.Encode()
	again, err := compat.Parse(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(data), string(again.Encode())); diff != "" {
		t.Errorf("the file changes when it is written again (-want +got):\n%s", diff)
	}
	if !again.Sunset.Equal(s.Sunset) || !again.Deprecated.Equal(s.Deprecated) {
		t.Errorf("dates %s and %s", again.Deprecated, again.Sunset)
	}
	if changes := compat.Compare(s, again); len(changes) > 0 {
		t.Errorf("changes %v, want none", changes)
	}
	for line := range bytes.Lines(data) {
		if len(line) > 400 {
			t.Errorf("a line of %d bytes cannot be reviewed: %s", len(line), line)
		}
	}
	for _, hidden := range []string{"description", "summary", "operationId", "examples"} {
		if bytes.Contains(data, []byte(`"`+hidden+`"`)) {
			t.Errorf("the file contains %s", hidden)
		}
	}
}

// TestMustLoad: an embedded folder is not at the root, so its files are not found there.
func TestMustLoad(t *testing.T) {
	t.Parallel()
	embedded := fstest.MapFS{"contracts/1.0.0.json": {Data: []byte(`{"contract":"1.0.0"}`)}}
	folder, err := fs.Sub(embedded, "contracts")
	if err != nil {
		t.Fatal(err)
	}
	if all := compat.MustLoad(folder); len(all) != 1 || all[0].Contract != "1.0.0" {
		t.Errorf("MustLoad returns %v", all)
	}
	defer func() {
		if text, _ := recover().(string); !strings.Contains(text, "fs.Sub") {
			t.Errorf("MustLoad of a folder without files panics with %q", text)
		}
	}()
	compat.MustLoad(embedded)
}

func TestLoad(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{
		"1.0.0.json":  {Data: []byte(`{"contract":"1.0.0"}`)},
		"1.10.0.json": {Data: []byte(`{"contract":"1.10.0"}`)},
		"1.9.0.json":  {Data: []byte(`{"contract":"1.9.0","preview":true}`)},
		"README.md":   {Data: []byte(`x`)},
	}
	all, err := compat.Load(files)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range all {
		got = append(got, s.Contract)
	}
	if diff := cmp.Diff([]string{"1.10.0", "1.9.0", "1.0.0"}, got); diff != "" {
		t.Errorf("contracts (-want +got):\n%s", diff)
	}
	for name, data := range map[string]string{
		"other name":     `{"contract":"1.0.1"}`,
		"no name":        `{}`,
		"unknown member": `{"contract":"1.0.0","x":1}`,
		"not JSON":       `{`,
		"OpenAPI":        `{"contract":"1.0.0","openapi":[]}`,
		"SDL":            `{"contract":"1.0.0","sdl":["type {"]}`,
		"leading zero":   `{"contract":"01.0.0"}`,
	} {
		if _, err := compat.Load(fstest.MapFS{"1.0.0.json": {Data: []byte(data)}}); err == nil ||
			!strings.Contains(err.Error(), "1.0.0.json") {
			t.Errorf("%s: error %v, want one with the name of the file", name, err)
		}
	}
}

func TestRecordFailures(t *testing.T) {
	t.Parallel()
	panics := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("no") })
	tests := []struct {
		name   string
		source compat.Source
		want   string
	}{
		{"name", compat.Source{Contract: "1"}, "MAJOR.MINOR.PATCH"},
		{"OpenAPI", compat.Source{Contract: "1.0.0", OpenAPI: []byte("x")}, "OpenAPI document of 1.0.0"},
		{"SDL", compat.Source{Contract: "1.0.0", SDL: "type"}, "GraphQL schema of 1.0.0"},
		{"panic", compat.Source{Contract: "1.0.0", Handler: panics, Probes: []compat.Probe{{Method: "GET", Path: "/a"}}},
			"GET /a: the handler panicked: no"},
		{"names", compat.Source{Contract: "1.0.0", Handler: http.NotFoundHandler(), Probes: []compat.Probe{
			{Method: "GET", Path: "/a"}, {Name: "GET /a", Method: "GET", Path: "/b"}}}, `two probes have the name "GET /a"`},
		{"URL", compat.Source{Contract: "1.0.0", Handler: panics, Probes: []compat.Probe{{Method: "GET", Path: ":"}}},
			"missing protocol scheme"},
	}
	for _, tt := range tests {
		if _, err := compat.Record(context.Background(), tt.source); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want one with %q", tt.name, err, tt.want)
		}
	}
}

// TestProbesDoNotWrite checks that the items of a collection are the same after all probes.
func TestProbesDoNotWrite(t *testing.T) {
	t.Parallel()
	p := newPlan(t)
	list := []compat.Probe{{Name: "first", Method: "GET", Path: "/orders/1"}, {Name: "third", Method: "GET", Path: "/orders/3"}}
	p.probes = list
	s := p.snapshot()
	if len(s.Responses) < 20 {
		t.Errorf("only %d responses", len(s.Responses))
	}
	seen := map[int]int{}
	for _, r := range s.Responses {
		seen[r.Status]++
		if r.Request == "first" && r.Status != 200 || r.Request == "third" && r.Status != 404 {
			t.Errorf("%s: %d", r.Request, r.Status)
		}
		if r.Status == 201 || r.Status >= 500 {
			t.Errorf("%s: %d", r.Request, r.Status)
		}
	}
	for _, status := range []int{200, 204, 304, 400, 404, 405, 406, 412, 415, 422} {
		if seen[status] == 0 {
			t.Errorf("no response is %d: %v", status, seen)
		}
	}
}

// TestProbesOfBlobs checks that blobs of any JSON are not written.
func TestProbesOfBlobs(t *testing.T) {
	t.Parallel()
	p := newPlan(t)
	store, err := files.New(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	p.serve(ordersBeside[Order](t, nil, []resource.Part{
		blob.New("files", store, &blob.Options{MediaTypes: []string{"application/json"}, Public: true})}))
	for _, r := range p.snapshot().Responses {
		if strings.Contains(r.Request, "/files") && (r.Status == 200 || r.Status == 201 || r.Status == 204) &&
			!strings.HasPrefix(r.Request, "GET") && !strings.HasPrefix(r.Request, "OPTIONS") {
			t.Errorf("%s: %d", r.Request, r.Status)
		}
	}
}

// TestProbesOfUnions checks that text is sent only if each branch of the schema is an object.
func TestProbesOfUnions(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, schema string
		want         int
	}{
		{"object", `{"type":"object"}`, 2},
		{"objects", `{"oneOf":[{"$ref":"#/components/schemas/A"},{"type":"object"}]}`, 2},
		{"object or text", `{"oneOf":[{"$ref":"#/components/schemas/A"},{"type":"string"}]}`, 0},
		{"object or null", `{"type":["object","null"]}`, 0},
		{"any", `{}`, 0},
		{"recursive", `{"$ref":"#/components/schemas/Loop"}`, 0},
	}
	for _, tt := range tests {
		got := 0
		for _, p := range compat.Probes([]byte(`{"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":` +
			tt.schema + `}}}}}},"components":{"schemas":{"A":{"type":"object"},"Loop":{"anyOf":[{"$ref":"#/components/schemas/Loop"}]}}}}`)) {
			if p.Header.Get("Content-Type") == "application/json" {
				got++
			}
		}
		if got != tt.want {
			t.Errorf("%s: %d requests with JSON, want %d", tt.name, got, tt.want)
		}
	}
}

// TestItemsAtRoot reads the id of the first item at /, the list before /{id}.
func TestItemsAtRoot(t *testing.T) {
	t.Parallel()
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Path == "/" {
			io.WriteString(w, `[{"id":"x"}]`)
		} else if r.URL.Path != "/x" {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	s, err := compat.Record(t.Context(), compat.Source{Contract: "1.0.0", Handler: h,
		Probes: []compat.Probe{{Method: "GET", Path: "/{id}"}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Responses) != 1 || s.Responses[0].Status != http.StatusOK {
		t.Errorf("responses %v, want one with 200", s.Responses)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"contract":"1.0.0","sunset":"2027-01-01T00:00:00Z","sdl":["type Query { a(b: [Int!] = [1]): String @d }"]}`))
	f.Add([]byte(`{"contract":"1.2.3","openapi":{"paths":{"/a/{b}":{"get":{"responses":{"200":{"$ref":"#/x"}}}}}}}`))
	f.Add([]byte(`{"contract":"1.0.0","openapi":{"paths":{"/a":{"post":{"requestBody":{"content":{"a/b":{"schema":
		{"anyOf":[{"type":["string","null"]},{"$ref":"#"}],"minimum":1e999}}}}}}}}}`))
	f.Add([]byte(`{"contract":"1.0.0","responses":[{"request":"GET /","status":200,"header":{"Allow":"GET"},"order":["a"]}]}`))
	f.Add([]byte(`{"contract":"0.0.0","openapi":{"paths":{"{0}":{}}}}`)) // a path without a slash
	f.Add([]byte(`{"contract":"0.0.0","openapi":{"paths":{"x-{0}":{}}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := compat.Parse(data)
		if err != nil {
			return
		}
		encoded := s.Encode()
		again, err := compat.Parse(encoded)
		if err != nil {
			t.Fatalf("%v\n%s", err, encoded)
		}
		if got := again.Encode(); !bytes.Equal(encoded, got) {
			t.Errorf("the file changes (-want +got):\n%s", cmp.Diff(string(encoded), string(got)))
		}
		if changes := compat.Compare(s, again); len(changes) > 0 {
			t.Errorf("a snapshot differs from itself: %v", changes)
		}
		if probes := compat.Probes(s.OpenAPI); len(probes) > 100_000 {
			t.Errorf("%d probes", len(probes))
		}
	})
}
