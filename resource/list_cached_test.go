package resource_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// TestCachedPages compares pages from the cache with those of a resource without one, before and after
// writes, and with the JSON of their items.
func TestCachedPages(t *testing.T) {
	t.Parallel()
	store := memory.New[cachedThing](nil)
	for i := range 20 {
		id := fmt.Sprintf("t%02d", i)
		if _, err := store.Insert(t.Context(), id, cachedThing{id, i * 7 % 20, "é\n"}); err != nil {
			t.Fatal(err)
		}
	}
	things := func(kept *cache.Cache) *resource.Resource {
		r := resource.New("things", store, &resource.Options[cachedThing]{Query: query.Support{Sort: []string{"count"}}})
		resource.NewCatalog(&resource.CatalogOptions{Cache: kept}, r)
		return r
	}
	plain, cached := things(cache.New(0)), things(cache.New(1<<20))
	byCount := []query.Order{{Field: "count", Desc: true}}
	first := func(q query.Query) string {
		page, err := plain.List(t.Context(), q, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		defer page.Release()
		return page.Next
	}
	tests := []struct {
		name string
		q    query.Query
		at   resource.Position
	}{
		{"all", query.Query{Limit: 100}, resource.Position{}},
		{"first page", query.Query{Limit: 6}, resource.Position{}},
		{"by count", query.Query{Limit: 6, Sort: byCount}, resource.Position{}},
		{"second page by count", query.Query{Limit: 6, Sort: byCount},
			resource.Position{After: first(query.Query{Limit: 6, Sort: byCount})}},
		{"before the second page", query.Query{Limit: 3},
			resource.Position{Before: first(query.Query{Limit: 6})}},
		{"last page", query.Query{Limit: 6}, resource.Position{AtEnd: true}},
		{"one item", query.Query{Limit: 1}, resource.Position{}},
	}
	for range 20 { // lists do not look into an empty cache each time
		readPage(t, cached, tests[0].q, tests[0].at)
	}
	for round := range 3 {
		for _, tt := range tests {
			whole := false
			for range 4 {
				want := readPage(t, plain, tt.q, tt.at)
				got := readPage(t, cached, tt.q, tt.at)
				whole = got.whole
				got.whole = false
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(readList{})); diff != "" {
					t.Fatalf("round %d, %s (-want +got):\n%s", round, tt.name, diff)
				}
			}
			if whole != (tt.q.Limit > 1) {
				t.Errorf("round %d, %s: the page is from the cache: %t", round, tt.name, whole)
			}
		}
		it, err := store.Get(t.Context(), "t03") // an item of most pages
		if err == nil {
			it.Value.Text += "x"
			_, err = store.Replace(t.Context(), "t03", it.Rev, it.Value)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// readList is what a protocol sends of a page.
type readList struct {
	items, next, prev, digest string
	whole                     bool // Page.JSON is set, and equal to the items
}

// readPage reads a page by ListJSON.
func readPage(t *testing.T, r *resource.Resource, q query.Query, at resource.Position) (l readList) {
	t.Helper()
	page, err := r.Raw().ListJSON(t.Context(), q, at)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Release()
	var items []string
	for i := range page.Entries {
		b, err := r.Raw().AppendJSON(t.Context(), nil, &page.Entries[i])
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, string(b))
	}
	l = readList{items: strings.Join(items, ","), next: page.Next, prev: page.Prev}
	if page.JSON != nil {
		l.whole = true
		if diff := cmp.Diff(l.items, string(page.JSON)); diff != "" {
			t.Errorf("JSON of the page (-items +page):\n%s", diff)
		}
	}
	for range 2 { // Digest does not change the page
		digest, ok := page.Digest([]byte("suffix"))
		if !ok || l.digest != "" && l.digest != string(digest[:]) {
			t.Errorf("the digest is %x, %t", digest, ok)
		}
		l.digest = string(digest[:])
	}
	return l
}

// TestLargePage checks that lists of a page that is too large for the cache do not make its entry each
// time. It is not parallel because it measures allocations.
func TestLargePage(t *testing.T) {
	store := memory.New[cachedThing](nil)
	const items, size = 10, 8_000 // together more than the sixteenth that an entry may take
	for i := range items {
		id := fmt.Sprint("t", i)
		if _, err := store.Insert(t.Context(), id, cachedThing{ID: id, Text: strings.Repeat("x", size)}); err != nil {
			t.Fatal(err)
		}
	}
	r := resource.New("things", store, nil)
	resource.NewCatalog(&resource.CatalogOptions{Cache: cache.New(1 << 20)}, r)
	read := func() {
		page, err := r.Raw().ListJSON(t.Context(), query.Query{}, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		if page.JSON != nil {
			t.Error("the page is from the cache")
		}
		page.Release()
	}
	for range 20 { // lists do not look into an empty cache each time
		read()
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 10 {
		read()
	}
	runtime.ReadMemStats(&after)
	if got := (after.TotalAlloc - before.TotalAlloc) / 10; got > items*size/2 {
		t.Errorf("a list allocates %d bytes, want less than half of the page of %d", got, items*size)
	}
}

// TestPagesInTurn checks that each of many pages that are read in turn is found in the cache at some time.
// They are more than the marks of pages that were read recently.
func TestPagesInTurn(t *testing.T) {
	t.Parallel()
	const pages, rounds = 300, 2000
	store := memory.New[cachedThing](nil)
	for i := range pages + 1 {
		id := fmt.Sprintf("t%03d", i)
		if _, err := store.Insert(t.Context(), id, cachedThing{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	r := resource.New("things", store, nil)
	resource.NewCatalog(nil, r)
	after := []string{""}
	whole := func(limit int, cursor string) bool {
		page, err := r.Raw().ListJSON(t.Context(), query.Query{Limit: limit}, resource.Position{After: cursor})
		if err != nil {
			t.Fatal(err)
		}
		defer page.Release()
		if limit == pages {
			for i := range pages - 1 {
				after = append(after, page.Cursor(i))
			}
		}
		return page.JSON != nil
	}
	whole(pages, "")
	for range 20 { // lists do not look into an empty cache each time
		whole(pages+1, "")
	}
	found := 0
	for range rounds {
		found = 0
		for _, cursor := range after {
			if whole(2, cursor) {
				found++
			}
		}
		if found == len(after) {
			return
		}
	}
	t.Errorf("%d of %d pages are from the cache after %d rounds", found, len(after), rounds)
}

// TestPagesWithZeroBytes reads pages of which the ids and revisions, with a zero byte after each, are the
// same text.
func TestPagesWithZeroBytes(t *testing.T) {
	t.Parallel()
	item := func(id, rev string) resource.Item[cachedThing] {
		return resource.Item[cachedThing]{ID: id, Rev: resource.Rev(rev), Value: cachedThing{ID: id, Text: "of " + rev}}
	}
	pages := [][]resource.Item[cachedThing]{
		{item("a", "1"), item("b", "2"), item("c", "3")},
		{item("a", "1\x00b\x002"), item("c", "3")},
		{item("a", "1"), item("b", "2\x00c\x003")},
		{item("a\x001\x00b", "2"), item("c", "3")},
		{item("a", "1"), item("b\x002\x00c", "3")},
	}
	store := &fixedItems{items: pages[0]}
	r := resource.New("things", store, nil)
	resource.NewCatalog(nil, r)
	plain := resource.New("things", store, nil)
	resource.NewCatalog(&resource.CatalogOptions{Cache: cache.New(0)}, plain)
	for range 20 { // lists do not look into an empty cache each time
		readPage(t, r, query.Query{}, resource.Position{})
	}
	digests := map[string]int{}
	for range 3 {
		for i, items := range pages {
			store.items = items
			var got readList
			for range 20 {
				got = readPage(t, r, query.Query{}, resource.Position{})
			}
			want := readPage(t, plain, query.Query{}, resource.Position{})
			want.whole = true
			if diff := cmp.Diff(want, got, cmp.AllowUnexported(readList{})); diff != "" {
				t.Errorf("page %d (-want +got):\n%s", i, diff)
			}
			if other, ok := digests[got.digest]; ok && other != i {
				t.Errorf("pages %d and %d have one digest", other, i)
			}
			digests[got.digest] = i
		}
	}
}

// fixedItems has items with revisions that the test chooses.
type fixedItems struct{ items []resource.Item[cachedThing] }

func (s *fixedItems) Get(_ context.Context, id string) (resource.Item[cachedThing], error) {
	for _, it := range s.items {
		if it.ID == id {
			return it, nil
		}
	}
	return resource.Item[cachedThing]{}, resource.ErrNotFound
}

func (s *fixedItems) GetMany(ctx context.Context, ids []string) iter.Seq2[resource.Item[cachedThing], error] {
	return func(yield func(resource.Item[cachedThing], error) bool) {
		for _, id := range ids {
			if it, err := s.Get(ctx, id); err == nil && !yield(it, nil) {
				return
			}
		}
	}
}

func (s *fixedItems) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[cachedThing], error] {
	return memory.List(s.items, q)
}

func (s *fixedItems) ListRevisions(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
	return func(yield func(resource.Revision, error) bool) {
		for it, err := range s.List(ctx, q) {
			if !yield(resource.Revision{ID: it.ID, Rev: it.Rev}, err) {
				return
			}
		}
	}
}

// TestItemsOfUsedPages checks that the items of a page that is read often stay in the cache while others need
// its memory, so that a write of one item costs the next list a read of that item alone.
func TestItemsOfUsedPages(t *testing.T) {
	t.Parallel()
	store := memory.New[cachedThing](nil)
	insert := func(id string) {
		if _, err := store.Insert(t.Context(), id, cachedThing{ID: id, Text: "text"}); err != nil {
			t.Fatal(err)
		}
	}
	const size, others = 40, 4000
	for i := range size {
		insert(fmt.Sprintf("a%02d", i))
	}
	for i := range others {
		insert(fmt.Sprint("b", i))
	}
	lists, gets := 0, 0
	ops := resource.OpsOf(store)
	reads := ops.FastReads()
	ops.List = func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[cachedThing], error] {
		lists++
		return store.List(ctx, q)
	}
	ops.GetMany = func(ctx context.Context, ids []string) iter.Seq2[resource.Item[cachedThing], error] {
		gets += len(ids)
		return store.GetMany(ctx, ids)
	}
	kept := cache.New(200_000) // about a fourth of all items
	r := ops.WithFastReads(reads).Resource("things", nil)
	h := rest.New(resource.NewCatalog(&resource.CatalogOptions{Cache: kept}, r), nil)
	page := func() readList { return readPage(t, r, query.Query{Limit: size}, resource.Position{}) }
	for range 20 { // lists do not look into an empty cache each time
		page()
	}
	for i := range others {
		if !page().whole {
			t.Fatalf("a page that is read often is not from the cache after %d items", i)
		}
		getBody(h, fmt.Sprint("/things/b", i))
	}
	it, err := store.Get(t.Context(), "a07")
	if err == nil {
		_, err = store.Replace(t.Context(), "a07", it.Rev, cachedThing{ID: "a07", Text: "changed"})
	}
	if err != nil {
		t.Fatal(err)
	}
	lists, gets = 0, 0
	if got := page(); !strings.Contains(got.items, "changed") {
		t.Errorf("the page has %s", got.items)
	}
	if lists != 0 || gets != 1 {
		t.Errorf("the list after a write reads %d pages and %d items, want one item", lists, gets)
	}
}

// TestCacheStatsOfPages checks that a page counts as its items.
func TestCacheStatsOfPages(t *testing.T) {
	t.Parallel()
	store := &fixedItems{}
	for i := range 5 {
		id := fmt.Sprint("t", i)
		store.items = append(store.items, resource.Item[cachedThing]{ID: id, Rev: "1", Value: cachedThing{ID: id}})
	}
	kept := cache.New(1 << 20)
	r := resource.New("things", store, nil)
	resource.NewCatalog(&resource.CatalogOptions{Cache: kept}, r)
	type stats struct {
		hits, misses int64
		items        int
		whole        bool
	}
	var got []stats
	read := func() {
		page, err := r.Raw().ListJSON(t.Context(), query.Query{}, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		defer page.Release()
		s := kept.Stats()
		got = append(got, stats{s.Hits, s.Misses, s.Items, page.JSON != nil})
	}
	for range 20 {
		read()
	}
	// The first list finds none of the items, and 15 lists do not look. Two find the items, and two the page.
	want := []stats{{0, 5, 5, false}, {5, 5, 5, false}, {10, 5, 6, false}, {15, 5, 6, true}, {20, 5, 6, true}}
	if diff := cmp.Diff(want, got[15:], cmp.AllowUnexported(stats{})); diff != "" {
		t.Errorf("numbers after lists (-want +got):\n%s", diff)
	}
}

// TestOtherFormsOfHotPages requests a list until its page is in the cache, and then the same items in other
// forms and by a caller with another scope. The responses are those of a server without a cache.
func TestOtherFormsOfHotPages(t *testing.T) {
	t.Parallel()
	type caller struct{}
	type short struct {
		ID string `json:"id"`
	}
	store := memory.New[cachedThing](nil)
	for i := range 6 {
		id := fmt.Sprint("t", i)
		if _, err := store.Insert(t.Context(), id, cachedThing{id, i, fmt.Sprint("t", (i+1)%6)}); err != nil {
			t.Fatal(err)
		}
	}
	serve := func(kept *cache.Cache) (r *resource.Resource, things, shorts http.Handler) {
		r = resource.New("things", store, &resource.Options[cachedThing]{
			Relations: []resource.Relation[cachedThing]{{Name: "next", Target: "things", Field: "text"}},
			Scope: func(ctx context.Context) (query.Filter, error) {
				if ctx.Value(caller{}) == "few" {
					return query.Where("count", query.Lt, int64(3)), nil
				}
				return query.Filter{}, nil
			}})
		view := resource.View(r, func(v cachedThing) (short, error) { return short{v.ID}, nil },
			func(_ short, base cachedThing) (cachedThing, error) { return base, nil }, nil)
		opts := &resource.CatalogOptions{Cache: kept}
		return r, rest.New(resource.NewCatalog(opts, r), nil), rest.New(resource.NewCatalog(opts, view), nil)
	}
	_, plain, plainShorts := serve(cache.New(0))
	r, cached, shorts := serve(cache.New(1 << 20))
	get := func(h http.Handler, who, target, accept string) string {
		req := httptest.NewRequestWithContext(context.WithValue(t.Context(), caller{}, who), "GET", target, nil)
		req.Header.Set("Accept", accept)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, req)
		return fmt.Sprint(w.Code, " ", w.Header().Get("Content-Type"), " ", w.Header().Get("Etag"), "\n", w.Body)
	}
	isHot := func(who string) bool {
		ctx := context.WithValue(t.Context(), caller{}, who)
		page, err := r.Raw().ListJSON(ctx, query.Query{}, resource.Position{})
		if err != nil {
			t.Fatal(err)
		}
		defer page.Release()
		return page.JSON != nil
	}
	for _, who := range []string{"all", "few"} {
		for range 24 { // the first lists do not look into an empty cache
			isHot(who)
		}
	}
	tests := []struct {
		name, target, accept string
		h, plain             http.Handler
		has, lacks           string // of the response to the caller few
	}{
		{"the page", "/things", "application/json", cached, plain, `"id":"t2","count":2`, "t4"},
		{"fields", "/things?fields=id", "application/json", cached, plain, `{"id":"t2"}`, "count"},
		{"all fields", "/things?fields=text,count,id", "application/json", cached, plain, `"id":"t2"`, "t4"},
		{"expand", "/things?expand=next", "application/json", cached, plain, `"next":{"id":"t1"`, "t4"},
		{"sort", "/things?sort=-id", "application/json", cached, plain, `{"items":[{"id":"t2"`, "t4"},
		{"limit", "/things?limit=2", "application/json", cached, plain, `"id":"t1"`, `"id":"t2"`},
		{"NDJSON", "/things", "application/x-ndjson", cached, plain, "}\n{", "t4"},
		{"NDJSON of fields", "/things?fields=id", "application/x-ndjson", cached, plain, "{\"id\":\"t2\"}\n", "count"},
		{"CSV", "/things", "text/csv", cached, plain, "t2,2,t3", "t4"},
		{"view", "/things", "application/json", shorts, plainShorts, `{"id":"t2"}`, "count"},
	}
	for range 4 {
		for _, tt := range tests {
			for _, who := range []string{"all", "few"} {
				if !isHot(who) {
					t.Fatalf("%s: the page of the caller %s is not from the cache", tt.name, who)
				}
				got := get(tt.h, who, tt.target, tt.accept)
				if diff := cmp.Diff(get(tt.plain, who, tt.target, tt.accept), got); diff != "" {
					t.Errorf("%s for %s (-want +got):\n%s", tt.name, who, diff)
				}
				_, body, _ := strings.Cut(got, "\n") // without the entity tag, which may hold any letters
				if who == "few" && (!strings.Contains(body, tt.has) || strings.Contains(body, tt.lacks)) {
					t.Errorf("%s for few is %s, want %s and not %s", tt.name, got, tt.has, tt.lacks)
				}
				if hidden := strings.Contains(body, `"id":"t5"`) || strings.Contains(body, "t5,5"); who == "few" && hidden {
					t.Errorf("%s for few has t5", tt.name)
				}
			}
		}
	}
}
