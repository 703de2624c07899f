package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// A stream has the events of the tenant of its caller only.
func TestStream(t *testing.T) {
	t.Parallel()
	h, err := newHandler(t.Context(), filepath.Join(t.TempDir(), "projects.db"))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	send := func(method, token, body, accept string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+"/projects", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", accept)
		resp, err := server.Client().Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	stream := send("GET", "bob-token", "", "text/event-stream")
	for _, p := range []struct{ token, name string }{
		{"ann-token", "Anvil"}, {"bob-token", "Bridge"}, {"ann-token", "Arch"}, {"bob-token", "Boat"},
	} {
		resp := send("POST", p.token, `{"name":"`+p.name+`"}`, "application/json")
		if content, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusCreated {
			t.Fatalf("%s: %d %s", p.name, resp.StatusCode, content)
		}
	}
	var got []string
	for lines := bufio.NewScanner(stream.Body); len(got) < 2 && lines.Scan(); {
		if _, name, ok := strings.Cut(lines.Text(), `"name":"`); ok {
			got = append(got, strings.TrimSuffix(name, `"}`))
		}
	}
	if diff := cmp.Diff([]string{"Bridge", "Boat"}, got); diff != "" {
		t.Errorf("names in events (-want +got):\n%s", diff)
	}
}
