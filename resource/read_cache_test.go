package resource_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

type cachedThing struct {
	ID    string `json:"id"`
	Count int    `json:"count"`
	Text  string `json:"text"`
}

// getBody returns the response to a GET request.
func getBody(h http.Handler, target string, fields ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", target, nil)
	for i := 0; i < len(fields); i += 2 {
		r.Header.Set(fields[i], fields[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestCache checks that responses are the same with and without a cache, before and after writes.
func TestCache(t *testing.T) {
	t.Parallel()
	store := memory.New[cachedThing](nil)
	for i := range 30 {
		id := fmt.Sprint("t", i)
		if _, err := store.Insert(t.Context(), id, cachedThing{id, i, "é\n"}); err != nil {
			t.Fatal(err)
		}
	}
	kept := cache.New(1 << 20)
	handler := func(kept *cache.Cache) http.Handler {
		r := resource.New("things", store, &resource.Options[cachedThing]{Query: query.Support{Sort: []string{"count"}}})
		return rest.New(resource.NewCatalog(&resource.CatalogOptions{Cache: kept}, r), nil)
	}
	cached, plain := handler(kept), handler(cache.New(0))
	targets := []string{"/things", "/things?limit=7&sort=-count", "/things/t3", "/things?fields=id,count", "/things/none"}
	random := rand.New(rand.NewPCG(1, 0))
	for range 50 {
		for _, target := range targets {
			want, got := getBody(plain, target), getBody(cached, target)
			if diff := cmp.Diff(want.Body.String(), got.Body.String()); diff != "" {
				t.Fatalf("%s (-want +got):\n%s", target, diff)
			}
			if diff := cmp.Diff(want.Header(), got.Header()); want.Code == http.StatusOK && diff != "" {
				t.Fatalf("header of %s (-want +got):\n%s", target, diff)
			}
			if tag := want.Header().Get("Etag"); tag != "" {
				if code := getBody(cached, target, "If-None-Match", tag).Code; code != http.StatusNotModified {
					t.Fatalf("%s with the current tag is %d", target, code)
				}
				if code := getBody(cached, target, "If-None-Match", `"other"`).Code; code != http.StatusOK {
					t.Fatalf("%s with another tag is %d", target, code)
				}
			}
		}
		id := fmt.Sprint("t", random.IntN(30))
		it, err := store.Get(t.Context(), id)
		if err == nil {
			it.Value.Text += "x"
			_, err = store.Replace(t.Context(), id, it.Rev, it.Value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if s := kept.Stats(); s.Hits < 8*s.Misses || s.Items < 30 || s.Bytes == 0 {
		t.Errorf("after 50 writes and 250 lists and items the cache has %+v", s)
	}
}

// TestCacheOfTransactions checks that a revision that is rolled back is not stored. The same revision is
// then issued again with another value.
func TestCacheOfTransactions(t *testing.T) {
	t.Parallel()
	store := &rollingBack{value: "first", rev: "1"}
	r := resource.New("things", store, nil)
	h := rest.New(resource.NewCatalog(nil, r), nil)
	db := memory.NewDB()
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		store.value, store.rev = "rolled back", "2"
		for _, target := range []string{"/things/a", "/things"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", target, nil).WithContext(ctx))
			if !strings.Contains(w.Body.String(), "rolled back") {
				t.Errorf("in the transaction %s is %s", target, w.Body)
			}
		}
		return errors.New("roll back")
	})
	if err == nil {
		t.Fatal("the transaction has no error")
	}
	store.value = "committed" // under the same revision
	for _, target := range []string{"/things/a", "/things", "/things/a"} {
		if body := getBody(h, target).Body.String(); !strings.Contains(body, "committed") {
			t.Errorf("after the transaction %s is %s", target, body)
		}
	}
}

// rollingBack has one item.
type rollingBack struct{ value, rev string }

func (s *rollingBack) item() resource.Item[cachedThing] {
	return resource.Item[cachedThing]{ID: "a", Rev: resource.Rev(s.rev), Value: cachedThing{ID: "a", Text: s.value}}
}

func (s *rollingBack) Get(context.Context, string) (resource.Item[cachedThing], error) {
	return s.item(), nil
}

func (s *rollingBack) GetRevision(context.Context, string) (resource.Revision, error) {
	return resource.Revision{ID: "a", Rev: resource.Rev(s.rev)}, nil
}

func (s *rollingBack) GetMany(context.Context, []string) iter.Seq2[resource.Item[cachedThing], error] {
	return func(yield func(resource.Item[cachedThing], error) bool) { yield(s.item(), nil) }
}

func (s *rollingBack) ListRevisions(context.Context, query.Query) iter.Seq2[resource.Revision, error] {
	return func(yield func(resource.Revision, error) bool) {
		yield(resource.Revision{ID: "a", Rev: resource.Rev(s.rev)}, nil)
	}
}

func (s *rollingBack) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[cachedThing], error] {
	return memory.List([]resource.Item[cachedThing]{s.item()}, q)
}

// TestCacheOfTwoCatalogs checks that equal names, ids and revisions of two collections, and the views of
// one collection, are distinguished.
func TestCacheOfTwoCatalogs(t *testing.T) {
	t.Parallel()
	kept := cache.New(1 << 20)
	type short struct {
		ID string `json:"id"`
	}
	var handlers []http.Handler
	for _, text := range []string{"one", "two"} {
		r := resource.New("things", &rollingBack{text, "1"}, nil)
		view := resource.View(r, func(v cachedThing) (short, error) { return short{v.ID}, nil },
			func(_ short, base cachedThing) (cachedThing, error) { return base, nil }, nil)
		for _, r := range []*resource.Resource{r, view} {
			c := resource.NewCatalog(&resource.CatalogOptions{Cache: kept}, r)
			handlers = append(handlers, rest.New(c, nil))
		}
	}
	want := []string{`{"id":"a","count":0,"text":"one"}`, `{"id":"a"}`, `{"id":"a","count":0,"text":"two"}`, `{"id":"a"}`}
	for range 2 {
		var got []string
		for _, h := range handlers {
			got = append(got, getBody(h, "/things/a").Body.String())
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("items (-want +got):\n%s", diff)
		}
	}
	if s := kept.Stats(); s.Items != 4 || s.Hits != 4 {
		t.Errorf("the cache has %+v, want 4 items and 4 hits", s)
	}
}

// TestCacheOfHiddenItems checks that policy is evaluated before the cache is used, and that NoCache keeps
// items out of it.
func TestCacheOfHiddenItems(t *testing.T) {
	t.Parallel()
	type caller struct{}
	hidden := func(ctx context.Context) bool { return ctx.Value(caller{}) == "stranger" }
	tests := []struct {
		name  string
		opts  resource.Options[cachedThing]
		items int
	}{
		{"Authorize", resource.Options[cachedThing]{
			Authorize: func(ctx context.Context, _ resource.Op, _, _ *cachedThing) error {
				if hidden(ctx) {
					return resource.ErrForbidden
				}
				return nil
			}}, 1},
		{"Scope", resource.Options[cachedThing]{
			Scope: func(ctx context.Context) (query.Filter, error) {
				if hidden(ctx) {
					return query.Or(), nil
				}
				return query.Filter{}, nil
			}}, 1},
		{"NoCache", resource.Options[cachedThing]{NoCache: true, Authorize: func(
			ctx context.Context, _ resource.Op, _, _ *cachedThing,
		) error {
			if hidden(ctx) {
				return resource.ErrForbidden
			}
			return nil
		}}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			store := memory.New[cachedThing](nil)
			if _, err := store.Insert(t.Context(), "a", cachedThing{ID: "a", Text: "secret"}); err != nil {
				t.Fatal(err)
			}
			kept := cache.New(1 << 20)
			r := resource.New("things", store, &tt.opts)
			h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Cache: kept}, r), nil)
			for range 2 {
				for _, target := range []string{"/things/a", "/things"} {
					if body := getBody(h, target).Body.String(); !strings.Contains(body, "secret") {
						t.Fatalf("%s is %s", target, body)
					}
					w := httptest.NewRecorder()
					ctx := context.WithValue(t.Context(), caller{}, "stranger")
					h.ServeHTTP(w, httptest.NewRequest("GET", target, nil).WithContext(ctx))
					if strings.Contains(w.Body.String(), "secret") {
						t.Errorf("a stranger gets %s: %s", target, w.Body)
					}
				}
			}
			if got := kept.Stats().Items; got != tt.items {
				t.Errorf("the cache has %d items, want %d", got, tt.items)
			}
		})
	}
}

// TestFastReadsOfDecorators checks that a decorator, a type that embeds a store, and functions of another
// store are not bypassed.
func TestFastReadsOfDecorators(t *testing.T) {
	t.Parallel()
	store := memory.New[cachedThing](nil)
	plain := resource.OpsOf(store)
	if f := plain.FastReads(); f.GetRevision == nil || f.ListRevisions == nil {
		t.Error("a store in memory has no fast reads")
	}
	decorated := plain
	decorated.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[cachedThing], error] {
		return store.List(ctx, q)
	}
	other := resource.OpsOf(memory.New[cachedThing](nil))
	mixed := plain
	mixed.Get, mixed.List = other.Get, other.List
	embedding := resource.OpsOf[cachedThing](filtering{store})
	for name, ops := range map[string]*resource.Ops[cachedThing]{
		"decorated": &decorated, "mixed": &mixed, "embedding": &embedding,
	} {
		if f := ops.FastReads(); f.GetRevision != nil || f.ListRevisions != nil || f.ListJSON != nil {
			t.Errorf("%s: the fast reads are those of the store", name)
		}
	}
	again := decorated.WithFastReads(plain.FastReads())
	if again.FastReads().GetRevision == nil {
		t.Error("fast reads of a decorator are ignored")
	}
}

// filtering shows no item.
type filtering struct{ *memory.Store[cachedThing] }

func (filtering) List(context.Context, query.Query) iter.Seq2[resource.Item[cachedThing], error] {
	return func(func(resource.Item[cachedThing], error) bool) {}
}

// TestCacheOfEncodedLists checks when the lists of a collection that encodes items use the cache.
func TestCacheOfEncodedLists(t *testing.T) {
	t.Parallel()
	store := memory.New[cachedThing](nil)
	for i := range 8 {
		id := fmt.Sprint("t", i)
		if _, err := store.Insert(t.Context(), id, cachedThing{id, i, "text"}); err != nil {
			t.Fatal(err)
		}
	}
	var calls []string
	ops := resource.OpsOf(store)
	getMany := ops.GetMany
	ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[cachedThing], error] {
		calls = append(calls, fmt.Sprint("GetMany of ", len(ids)))
		return getMany(ctx, ids)
	}
	change := func() {} // after the revisions were listed
	ops = ops.WithFastReads(resource.FastReads{
		ListJSON: func(ctx context.Context, q query.Query) iter.Seq2[resource.ItemJSON, error] {
			calls = append(calls, "ListJSON")
			return func(yield func(resource.ItemJSON, error) bool) {
				for it := range store.List(ctx, q) {
					text := fmt.Sprintf(`{"id":%q,"count":%d,"text":%q}`, it.ID, it.Value.Count, it.Value.Text)
					if !yield(resource.ItemJSON{ID: it.ID, Rev: it.Rev, JSON: []byte(text)}, nil) {
						return
					}
				}
			}
		},
		ListRevisions: func(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
			calls = append(calls, "ListRevisions")
			return func(yield func(resource.Revision, error) bool) {
				for it, err := range store.ListRevisions(ctx, q) {
					if !yield(it, err) {
						return
					}
				}
				change()
			}
		},
	})
	r := ops.Resource("things", nil)
	h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Cache: cache.New(1 << 20)}, r), nil)
	plain := rest.New(resource.NewCatalog(&resource.CatalogOptions{Cache: cache.New(0)},
		resource.New("things", store, nil)), nil)
	write := func(ids ...string) {
		for _, id := range ids {
			it, err := store.Get(t.Context(), id)
			if err == nil {
				it.Value.Count++
				_, err = store.Replace(t.Context(), id, it.Rev, it.Value)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	list := func(want ...string) {
		t.Helper()
		calls = nil
		got := getBody(h, "/things").Body.String()
		if diff := cmp.Diff(getBody(plain, "/things").Body.String(), got); diff != "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, calls); diff != "" {
			t.Errorf("calls (-want +got):\n%s", diff)
		}
	}
	list("ListRevisions", "ListJSON") // fills the cache
	for range 15 {
		list("ListJSON")
	}
	list("ListRevisions")
	list("ListRevisions")
	write("t3")
	list("ListRevisions", "GetMany of 1")
	list("ListRevisions")
	change = func() { change = func() {}; write("t4") }
	write("t4")
	list("ListRevisions", "GetMany of 1", "ListJSON") // t4 has changed in between
	write("t1", "t2", "t5", "t6", "t7")
	list("ListRevisions", "ListJSON") // too many are missing
	list("ListJSON")
}

// TestCacheOfItemsWithoutJSON checks that an item that cannot be encoded fails its own page only.
func TestCacheOfItemsWithoutJSON(t *testing.T) {
	t.Parallel()
	type number struct {
		ID string  `json:"id"`
		N  float64 `json:"n"`
	}
	store := memory.New[number](nil)
	for id, n := range map[string]float64{"a": 1, "b": 2, "c": math.NaN()} {
		if _, err := store.Insert(t.Context(), id, number{id, n}); err != nil {
			t.Fatal(err)
		}
	}
	h := rest.New(resource.NewCatalog(nil, resource.New("numbers", store, nil)), nil)
	for range 3 {
		for target, want := range map[string]int{"/numbers?limit=2": http.StatusOK, "/numbers": http.StatusInternalServerError} {
			if got := getBody(h, target).Code; got != want {
				t.Errorf("%s is %d, want %d", target, got, want)
			}
		}
	}
}

var cacheReads = flag.Int("cachereads", 20_000, "requests of TestCacheIsNeverStale")

// TestCacheIsNeverStale reads items and lists while 16 writers change them. Each item has a number that
// no reader may see decrease, and its text repeats the number. A tenth of the requests are writes.
func TestCacheIsNeverStale(t *testing.T) {
	t.Parallel()
	reads := *cacheReads
	store := memory.New[cachedThing](nil)
	const items = 40
	var least [items]atomic.Int64 // what has been acknowledged
	for i := range items {
		id := fmt.Sprintf("t%02d", i)
		if _, err := store.Insert(t.Context(), id, cachedThing{id, 0, "0"}); err != nil {
			t.Fatal(err)
		}
	}
	kept := cache.New(1 << 20)
	r := resource.New("things", store, nil)
	h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Cache: kept}, r), nil)
	check := func(n int, before int64, body string) {
		var count int
		var text string
		if _, err := fmt.Sscanf(body, `{"id":"`+fmt.Sprintf("t%02d", n)+`","count":%d,"text":"%s`, &count, &text); err != nil {
			t.Errorf("item %d is %s: %v", n, body, err)
		}
		if text = strings.TrimSuffix(text, `"}`); text != fmt.Sprint(count) || int64(count) < before {
			t.Errorf("item %d has the number %d and the text %s after the write of %d", n, count, text, before)
		}
	}
	var all sync.WaitGroup
	for writer := range 16 {
		random := rand.New(rand.NewPCG(7, uint64(writer)))
		all.Go(func() {
			for i := range reads / 16 {
				n := random.IntN(items)
				id, before := fmt.Sprintf("t%02d", n), least[n].Load()
				switch {
				case i%10 == 0:
					it, err := store.Get(t.Context(), id)
					if err != nil {
						t.Error(err)
						return
					}
					next := it.Value.Count + 1
					if _, err := store.Replace(t.Context(), id, it.Rev, cachedThing{id, next, fmt.Sprint(next)}); err == nil {
						for old := least[n].Load(); old < int64(next) && !least[n].CompareAndSwap(old, int64(next)); old = least[n].Load() {
						}
					} else if !errors.Is(err, resource.ErrStale) {
						t.Error(err)
					}
				case i%10 == 1:
					body := getBody(h, "/things").Body.String()
					list := strings.Split(strings.TrimSuffix(strings.TrimPrefix(body, `{"items":[`), "]}"), "},")
					if len(list) != items {
						t.Errorf("a list has %d items: %s", len(list), body)
						return
					}
					check(n, before, strings.TrimSuffix(list[n], "}")+"}")
				default:
					check(n, before, getBody(h, "/things/"+id).Body.String())
				}
				if t.Failed() {
					return
				}
			}
		})
	}
	all.Wait()
	s := kept.Stats()
	t.Logf("%d requests of 16 clients, a tenth of them writes: %d hits, %d misses, %d bytes", reads, s.Hits, s.Misses, s.Bytes)
	if s.Hits < s.Misses {
		t.Errorf("the cache has %+v: fewer hits than misses", s)
	}
}
