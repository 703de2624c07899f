package graphql_test

import (
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/resource"
)

// TestHostileDocuments posts documents that were made to kill a server, over TCP, once as they are and once in words that
// this schema knows. Whatever each is answered, the server answers the next one. How long they took is logged, and judged
// by the benchmark of package validate.
func TestHostileDocuments(t *testing.T) {
	t.Parallel()
	h := newTestHandler(t, func(s *setup) {
		s.orders.Relations = append(s.orders.Relations,
			resource.Relation[order]{Name: "self", Target: "orders", Field: "id"})
	})
	server := httptest.NewServer(h)
	defer server.Close()
	server.Client().Transport.(*http.Transport).ExpectContinueTimeout = time.Hour
	known := strings.NewReplacer("dog{", "dog:order(id:1){", "Dog", "Order", "name", "status", "count(",
		"users(",
		"required:1 ", "", "ints:[", "first:[", "text:", "after:", "stones(any:", "users(filter:", "color",
		"nodes{id}")
	docs := graphqltest.Hostile()
	for _, name := range slices.Sorted(maps.Keys(docs)) {
		for _, text := range []string{docs[name], known.Replace(docs[name])} {
			began := time.Now()
			status := post(t, server, text)
			t.Logf("%-26s %7d bytes  %d  %v", name, len(text), status,
				time.Since(began).Round(time.Microsecond))
			wanted := http.StatusBadRequest
			switch {
			case len(body(t, text)) > 1<<20:
				wanted = http.StatusRequestEntityTooLarge
			case name == "same composite field" && text != docs[name]: // which is large, and nothing else
				wanted = http.StatusOK
			}
			if status != wanted {
				t.Errorf("%s: status %d, want %d", name, status, wanted)
			}
			if status := post(t, server, "{__typename}"); status != http.StatusOK {
				t.Fatalf("after %s the server answers with %d", name, status)
			}
		}
	}
}

// post sends a document and returns the status of the answer, which must be one of GraphQL.
func post(t *testing.T, server *httptest.Server, document string) int {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "POST", server.URL+"/graphql",
		strings.NewReader(body(t, document)))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/graphql-response+json")
	// what is refused unread breaks no connection on which it is being sent
	r.Header.Set("Expect", "100-continue")
	res, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	said, err := io.ReadAll(res.Body)
	if err != nil || !jsontext.Value(said).IsValid() || len(said) > 1<<20 {
		t.Errorf("%v: %d bytes of %q", err, len(said), said[:min(len(said), 100)])
	}
	return res.StatusCode
}

// body is a request for a document.
func body(t *testing.T, document string) string {
	t.Helper()
	b, err := json.Marshal(map[string]string{"query": document})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
