package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

type drink struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Note   *string `json:"note"`
	Owner  string  `json:"owner"`
	Secret string  `json:"secret" writeOnly:"true"`
	Q      int     `json:"q"`
}

// oldDrink is an older form with another name, shortDrink one without the note.
type oldDrink struct {
	ID    string  `json:"id"`
	Title string  `json:"title"`
	Note  *string `json:"note"`
}
type shortDrink struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// drinks serves the same collection in three forms. The header Owner is the scope.
func drinks(t *testing.T) http.Handler {
	t.Helper()
	store := memory.New[drink](nil)
	note := "tea from <Assam>"
	for _, d := range []drink{
		{ID: "1", Name: "Green tea", Owner: "ann", Q: 1}, {ID: "2", Name: "Black tea", Note: &note, Owner: "ann", Q: 2},
		{ID: "3", Name: "Tea, tea, tea!", Owner: "bob", Q: 1}, {ID: "4", Name: "Coffee", Owner: "ann"},
	} {
		if _, err := store.Insert(t.Context(), d.ID, d); err != nil {
			t.Fatal(err)
		}
	}
	type ownerKey struct{}
	opts := &resource.Options[drink]{
		Query: query.Support{Search: []string{"name", "note"}, Sort: []string{"name"},
			Filter: map[string][]query.Op{"q": {query.Eq}, "name": {query.Eq}}},
		Scope: func(ctx context.Context) (query.Filter, error) {
			if owner, _ := ctx.Value(ownerKey{}).(string); owner != "" {
				return query.Where("owner", query.Eq, owner), nil
			}
			return query.Filter{}, nil
		},
	}
	all := resource.New("drinks", store, opts)
	old := resource.View(all, func(d drink) (oldDrink, error) { return oldDrink{d.ID, d.Name, d.Note}, nil },
		func(v oldDrink, to drink) (drink, error) { to.Name, to.Note = v.Title, v.Note; return to, nil },
		&resource.ViewOptions{Fields: map[string]string{"title": "name"}})
	short := resource.View(all, func(d drink) (shortDrink, error) { return shortDrink{d.ID, d.Name}, nil },
		func(v shortDrink, to drink) (drink, error) { to.Name = v.Name; return to, nil }, nil)
	mux := http.NewServeMux()
	log := feed.New(feed.NewMemory(nil), nil)
	for path, r := range map[string]*resource.Resource{"": all, "/old": old, "/short": short} {
		catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: log}, r)
		mux.Handle(path+"/", http.StripPrefix(path, rest.New(catalog, nil)))
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), ownerKey{}, r.Header.Get("Owner"))))
	})
}

func TestRule159Search(t *testing.T) {
	t.Parallel()
	h := drinks(t)
	const marked = `"highlights":[{"name":[{"text":"Black","match":true},{"text":" "},{"text":"tea","match":true}],` +
		`"note":[{"text":"tea","match":true},{"text":" from \u003cAssam\u003e"}]}]`
	for _, tt := range []struct {
		name, target string
		header       []string
		status       int
		ids          string // of the items, in order
		contains     string
	}{
		{name: "by rank", target: "/drinks?q=tea", status: 200, ids: "3 2 1"},
		{name: "sorted", target: "/drinks?q=tea&sort=-name", status: 200, ids: "3 1 2"},
		{name: "phrase", target: "/drinks?q=%22green+tea%22", status: 200, ids: "1"},
		{name: "excluded", target: "/drinks?q=tea+-assam", status: 200, ids: "3 1"},
		{name: "prefix or word", target: "/drinks?q=coff*+OR+green", status: 200, ids: "4 1"},
		{name: "empty", target: "/drinks?q=", status: 200, ids: "1 2 3 4"},
		{name: "with a filter by the field q", target: "/drinks?q=tea&q.eq=1", status: 200, ids: "3 1"},
		{name: "in the scope", target: "/drinks?q=tea", header: []string{"Owner", "ann"}, status: 200, ids: "2 1"},
		{name: "total in the scope", target: "/drinks?q=tea&limit=1", status: 200, ids: "2", contains: `"total":2`,
			header: []string{"Owner", "ann", "Prefer", "count=exact"}},
		{name: "highlights", target: "/drinks?q=black+tea&highlight=true", status: 200, ids: "2", contains: marked},
		{name: "highlights of other fields", target: "/drinks?q=black+tea&highlight=true&fields=id", status: 200,
			ids: "2", contains: marked},
		{name: "highlights without a search", target: "/drinks?highlight=true", status: 400, contains: "add q"},
		{name: "highlights of an export", target: "/drinks?q=tea&highlight=true", status: 400,
			header: []string{"Accept", "text/csv"}, contains: "pages of JSON"},
		{name: "not true", target: "/drinks?q=tea&highlight=1", status: 400, contains: "true or false"},
		{name: "only excluded", target: "/drinks?q=-tea", status: 400, contains: `"parameter":"q"`},
		{name: "lines", target: "/drinks?q=green", header: []string{"Accept", "application/x-ndjson"}, status: 200,
			contains: `{"id":"1"`},
		{name: "a stream", target: "/drinks?q=tea", header: []string{"Accept", "text/event-stream"}, status: 400,
			contains: "not supported by a stream"},
		{name: "of a view", target: "/old/drinks?q=black&highlight=true", status: 200, ids: "2",
			contains: `"highlights":[{"title":[{"text":"Black","match":true}`},
		{name: "of a view without a searched field", target: "/short/drinks?q=assam", status: 400,
			contains: "unsupportedSearch"},
		{name: "of an item", target: "/drinks/1?q=tea", status: 400, contains: "unknownParameter"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequestWithContext(t.Context(), "GET", tt.target, nil)
			for i := 0; i < len(tt.header); i += 2 {
				r.Header.Set(tt.header[i], tt.header[i+1])
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != tt.status || !strings.Contains(w.Body.String(), tt.contains) {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			if tt.ids == "" {
				return
			}
			if diff := cmp.Diff(tt.ids, strings.Join(foundIDs(w.Body.String()), " ")); diff != "" {
				t.Errorf("ids (-want +got):\n%s", diff)
			}
		})
	}
}

// foundIDs returns the values of the members id in a text.
func foundIDs(body string) (ids []string) {
	for part := range strings.SplitSeq(body, `"id":"`) {
		if id, _, ok := strings.Cut(part, `"`); ok && !strings.HasPrefix(part, "{") {
			ids = append(ids, id)
		}
	}
	return ids
}

// TestRule159SearchPages follows the cursors of a search in both directions, by GET and by QUERY.
func TestRule159SearchPages(t *testing.T) {
	t.Parallel()
	h := drinks(t)
	for _, method := range []string{"GET", "QUERY"} {
		var got []string
		cursor, last := "", ""
		for range 5 {
			form := url.Values{"q": {"tea"}, "limit": {"1"}}
			if cursor != "" {
				form.Set("after", cursor)
			}
			r := httptest.NewRequestWithContext(t.Context(), "GET", "/drinks?"+form.Encode(), nil)
			if method == "QUERY" {
				r = httptest.NewRequestWithContext(t.Context(), method, "/drinks", strings.NewReader(form.Encode()))
				r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			}
			w := httptest.NewRecorder()
			h.ServeHTTP(w, r)
			if w.Code != http.StatusOK {
				t.Fatalf("%d %s", w.Code, w.Body)
			}
			got = append(got, foundIDs(w.Body.String())...)
			_, next, more := strings.Cut(w.Body.String(), `"next":"`)
			if cursor, _, _ = strings.Cut(next, `"`); !more {
				break
			}
			last = cursor
		}
		if diff := cmp.Diff([]string{"3", "2", "1"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", method, diff)
		}
		for target, want := range map[string]int{
			"/drinks?q=tea&limit=1&before=" + last: 200, "/drinks?q=tea&after=" + last: 200,
			"/drinks?q=coffee&after=" + last: 400, "/drinks?after=" + last: 400, "/drinks?q=tea&sort=name&after=" + last: 400,
		} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", target, nil))
			if w.Code != want {
				t.Errorf("%s: %d %s", target, w.Code, w.Body)
			}
		}
	}
}
