package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// searched serves a store of drinks, of which Authorize hides those of the owner eve. All of them have the
// word tea, and drink 2 is the best match.
func searched(t *testing.T, authorize bool) (*memory.Store[drink], http.Handler) {
	t.Helper()
	store := memory.New(&memory.Options[drink]{SoftDelete: true})
	for _, d := range []drink{
		{ID: "1", Name: "Green tea", Owner: "ann"}, {ID: "2", Name: "Tea tea tea", Owner: "eve"},
		{ID: "3", Name: "Black tea, very strong", Owner: "ann"}, {ID: "4", Name: "Tea tea", Owner: "eve"},
	} {
		if _, err := store.Insert(t.Context(), d.ID, d); err != nil {
			t.Fatal(err)
		}
	}
	opts := &resource.Options[drink]{Public: !authorize, Restore: true,
		Query: query.Support{Search: []string{"name", "note"}, Group: []string{"owner"}}}
	if authorize {
		opts.Query.Group = nil // registration refuses groups with items that Authorize hides
		opts.Authorize = func(_ context.Context, _ resource.Op, before, _ *drink) error {
			if before != nil && before.Owner == "eve" {
				return resource.ErrNotFound
			}
			return nil
		}
	}
	return store, rest.New(resource.NewCatalog(nil, resource.New("drinks", store, opts)), nil)
}

// requestOf sends a request without content.
func requestOf(t *testing.T, h http.Handler, method, target string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, target, nil)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestRule159SearchRepresentations: CSV and NDJSON have the items of a search in its order, HEAD has the header
// of GET, and the entity tag changes with what is found.
func TestRule159SearchRepresentations(t *testing.T) {
	t.Parallel()
	store, h := searched(t, false)
	w := requestOf(t, h, "GET", "/drinks?q=tea&fields=id", "Accept", "text/csv")
	if diff := cmp.Diff("id\r\n2\r\n4\r\n1\r\n3\r\n", w.Body.String()); diff != "" {
		t.Errorf("CSV (-want +got):\n%s", diff)
	}
	w = requestOf(t, h, "GET", "/drinks?q=tea+-strong&fields=id&limit=2", "Accept", "application/x-ndjson")
	if diff := cmp.Diff("{\"id\":\"2\"}\n{\"id\":\"4\"}\n", w.Body.String()); diff != "" {
		t.Errorf("NDJSON (-want +got):\n%s", diff)
	}
	w = requestOf(t, h, "GET", "/drinks?q=green")
	head := requestOf(t, h, "HEAD", "/drinks?q=green")
	if diff := cmp.Diff(w.Header(), head.Header()); diff != "" || head.Body.Len() > 0 || head.Code != 200 {
		t.Errorf("HEAD: %d %s (-get +head):\n%s", head.Code, head.Body, diff)
	}
	tag := w.Header().Get("ETag")
	for _, tt := range []struct {
		target string
		want   int
	}{{"/drinks?q=green", 304}, {"/drinks?q=green&highlight=true", 200}, {"/drinks?q=black", 200}, {"/drinks", 200}} {
		if w := requestOf(t, h, "GET", tt.target, "If-None-Match", tag); w.Code != tt.want {
			t.Errorf("%s with the tag of q=green: %d, want %d", tt.target, w.Code, tt.want)
		}
	}
	if _, err := store.Insert(t.Context(), "5", drink{ID: "5", Name: "Green"}); err != nil {
		t.Fatal(err)
	}
	if w := requestOf(t, h, "GET", "/drinks?q=green", "If-None-Match", tag); w.Code != 200 {
		t.Errorf("after another match was stored: %d", w.Code)
	}
}

// TestRule159SearchUnderAuthorize: hidden items are neither found nor counted, and pages continue after them.
func TestRule159SearchUnderAuthorize(t *testing.T) {
	t.Parallel()
	_, h := searched(t, true)
	w := requestOf(t, h, "GET", "/drinks?q=tea&highlight=true&fields=id", "Prefer", "count=exact")
	const first = `{"text":"tea","match":true}`
	want := `{"items":[{"id":"1"},{"id":"3"}],"highlights":[{"name":[{"text":"Green "},` + first + `]},` +
		`{"name":[{"text":"Black "},` + first + `,{"text":", very strong"}]}]}`
	if diff := cmp.Diff(want, w.Body.String()); diff != "" {
		t.Errorf("a search (-want +got):\n%s", diff)
	}
	w = requestOf(t, h, "GET", "/drinks?q=tea&limit=1&fields=id")
	body, cursor, _ := strings.Cut(w.Body.String(), `"next":"`)
	cursor, _, _ = strings.Cut(cursor, `"`)
	w = requestOf(t, h, "GET", "/drinks?q=tea&limit=1&fields=id&after="+cursor)
	if diff := cmp.Diff(`{"items":[{"id":"1"}],{"items":[{"id":"3"}]}`, body+w.Body.String()); diff != "" {
		t.Errorf("two pages (-want +got):\n%s", diff)
	}
}

// TestRule159SearchOfDeleted: a deleted item is not found until it is restored, in lists and groups.
func TestRule159SearchOfDeleted(t *testing.T) {
	t.Parallel()
	_, h := searched(t, false)
	check := func(ids, groups string) {
		t.Helper()
		w := requestOf(t, h, "GET", "/drinks?q=tea+-strong")
		if diff := cmp.Diff(ids, strings.Join(foundIDs(w.Body.String()), " ")); diff != "" {
			t.Errorf("ids (-want +got):\n%s", diff)
		}
		w = requestOf(t, h, "GET", "/drinks?q=tea+-strong&group=owner&count")
		if diff := cmp.Diff(groups, w.Body.String()); diff != "" {
			t.Errorf("groups (-want +got):\n%s", diff)
		}
	}
	if w := requestOf(t, h, "DELETE", "/drinks/2"); w.Code != 204 {
		t.Fatalf("DELETE: %d %s", w.Code, w.Body)
	}
	check("4 1", `{"groups":[{"owner":"ann","count":1},{"owner":"eve","count":1}]}`)
	if w := requestOf(t, h, "POST", "/drinks/2/restore"); w.Code != 200 {
		t.Fatalf("restore: %d %s", w.Code, w.Body)
	}
	check("2 4 1", `{"groups":[{"owner":"ann","count":1},{"owner":"eve","count":2}]}`)
	if w := requestOf(t, h, "GET", "/drinks?q=tea&group=owner&highlight=true"); w.Code != 400 {
		t.Errorf("highlights of groups: %d %s", w.Code, w.Body)
	}
}
