package walk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/clients/openapi/walk"
	"github.com/stoa-go/stoa/query/graphql/internal/clients/shop"
)

// server is the shop, started once.
var server *shop.Shop

func TestMain(m *testing.M) {
	os.Exit(startAndRun(m))
}

func startAndRun(m *testing.M) int {
	var err error
	if server, err = shop.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code := m.Run()
	if err := server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// document returns the OpenAPI document of a contract of the shop.
func document(t *testing.T, contract string) []byte {
	t.Helper()
	doc, err := server.Document(t.Context(), contract)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func run(t *testing.T, opts *walk.Options) *walk.Report {
	t.Helper()
	report, err := walk.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestShop sends a few requests to each contract. .ci/clients/run openapi sends more.
func TestShop(t *testing.T) {
	for _, contract := range shop.Contracts() {
		t.Run(contract, func(t *testing.T) {
			report := run(t, &walk.Options{Document: document(t, contract), URL: server.URL, Requests: 300, Seed: 7})
			t.Log(report)
			for _, v := range report.Violations {
				t.Error(v)
			}
			if report.Requests != 300 || report.Mistakes < 50 || report.Mistakes > 200 {
				t.Errorf("%d requests with %d mistakes, want 300 with some", report.Requests, report.Mistakes)
			}
		})
	}
}

// TestWrongDocuments compares the shop with wrong documents. Each mistake must be found.
func TestWrongDocuments(t *testing.T) {
	t.Parallel() // after TestShop, whose items would be deleted here
	tests := []struct {
		name     string
		old, new string // in the document of 2.0.0
		fault    string
	}{
		{"a status that is not documented", `"201":`, `"200":`, "status 201 is not documented"},
		{"a field that is not documented", `"Location":{"$ref":"#/components/headers/Location"},`, ``, "the field Location is not documented"},
		{"a member that is not documented", `"createdAt":`, `"made":`, "/createdAt is not documented"},
		{"a media type that is not documented", `"application/problem+json":`, `"application/xml":`, "problem+json"},
		{"another form of a member", `"readOnly":true,"type":"string"`, `"pattern":"^noon$","type":"string"`,
			"doesn't match schema"},
		{"a member that the shop does not know", `"properties":{`, `"properties":{"colour":{"type":"string"},`,
			"is answered with 422"},
		{"another version", `"^v?(2|2\\.0|2\\.0\\.0)$"`, `"^v?99$"`, "a valid request is answered with 400"},
	}
	doc := plain(t, document(t, "2.0.0"))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wrong := strings.ReplaceAll(doc, tt.old, tt.new)
			if wrong == doc {
				t.Fatalf("the document has no %s", tt.old)
			}
			report := run(t, &walk.Options{Document: []byte(wrong), URL: server.URL, Requests: 300, Seed: 7})
			if all := strings.Join(report.Violations, "\n"); !strings.Contains(all, tt.fault) {
				t.Errorf("%q is not among the violations:\n%s", tt.fault, all)
			}
		})
	}
}

// plain writes a document without blanks and examples, which would object to what is changed about schemas.
func plain(t *testing.T, doc []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	withoutExamples(v)
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func withoutExamples(v any) {
	switch v := v.(type) {
	case []any:
		for _, v := range v {
			withoutExamples(v)
		}
	case map[string]any:
		delete(v, "example")
		delete(v, "examples")
		for _, v := range v {
			withoutExamples(v)
		}
	}
}

// TestMistakes is about a server that minds nothing.
func TestMistakes(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNoContent)
	}))
	t.Cleanup(s.Close)
	report := run(t, &walk.Options{Document: document(t, "1.0.0"), URL: s.URL, Requests: 200, Seed: 7})
	if all := strings.Join(report.Violations, "\n"); !strings.Contains(all, "a mistake is not refused") {
		t.Errorf("nothing was said of mistakes:\n%s", all)
	}
}

// TestSeed holds that the seed decides what is asked.
func TestSeed(t *testing.T) {
	t.Parallel()
	first, again, other := asked(t, 1), asked(t, 1), asked(t, 2)
	if diff := cmp.Diff(first, again); diff != "" {
		t.Errorf("one seed, two walks (-first +again):\n%s", diff)
	}
	if cmp.Equal(first, other) {
		t.Error("two seeds ask the same")
	}
}

// asked walks to a server that knows nothing, and returns what it was asked.
func asked(t *testing.T, seed uint64) []string {
	t.Helper()
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body bytes.Buffer
		body.ReadFrom(r.Body)
		got = append(got, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header, &body))
		w.WriteHeader(http.StatusNotFound)
	}))
	defer s.Close()
	run(t, &walk.Options{Document: document(t, "1.1.0"), URL: s.URL, Requests: 20, Seed: seed})
	return got
}

// TestPrism plays the proxy: paths begin at its root, and what it notes is a violation.
func TestPrism(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/v2") {
			t.Errorf("%s is not a path of the document", r.URL.Path)
		}
		w.Header().Set("Sl-Violations", `[{"message":"no"}]`)
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(s.Close)
	report := run(t, &walk.Options{Document: document(t, "2.0.0"), URL: s.URL, Prism: true, Requests: 20, Seed: 7})
	if all := strings.Join(report.Violations, "\n"); !strings.Contains(all, `the proxy: [{"message":"no"}]`) {
		t.Errorf("what the proxy noted is not among the violations:\n%s", all)
	}
	if report.Mistakes != 0 {
		t.Errorf("%d mistakes, want none", report.Mistakes)
	}
}
