package resource_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestReport: the start-up report.
func TestReport(t *testing.T) {
	t.Parallel()
	allow := func(context.Context, resource.Op, *thing, *thing) error { return nil }
	scope := func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	knows := func(context.Context, string) error { return nil }
	store := memory.New[thing](nil)
	forgetful := resource.OpsOf(newThings())
	c := resource.NewCatalog(nil,
		resource.New("open", store, nil),
		resource.New("public", store, &resource.Options[thing]{Public: true}),
		resource.New("asked", store, &resource.Options[thing]{Authorize: allow}),
		resource.New("scoped", store, &resource.Options[thing]{Authorize: allow, Scope: scope, AuthorizeGone: knows}),
		forgetful.Resource("forgetful", &resource.Options[thing]{Public: true}),
		resource.New[thing]("readonly", readOnly[thing]{}, &resource.Options[thing]{Public: true}),
		resource.NewLookup("best", "open", func(context.Context, struct{}) (string, error) { return "", nil }))
	const want = `/open  GET, HEAD, QUERY, POST, OPTIONS
/open/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS
    store: Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Revisioner RevisionLister Searcher Joiner Transactor Locker
    batches: POST of application/vnd.stoa.batch+json
    weak: no Authorize and no Scope: every caller may read and write; set Public if intended
/public  GET, HEAD, QUERY, POST, OPTIONS
/public/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS
    store: Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Revisioner RevisionLister Searcher Joiner Transactor Locker
    batches: POST of application/vnd.stoa.batch+json
/asked  GET, HEAD, QUERY, POST, OPTIONS
/asked/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS
    store: Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Revisioner RevisionLister Searcher Joiner Transactor Locker
    batches: POST of application/vnd.stoa.batch+json
    hooks: in the transaction of the write, serializable
    weak: Authorize without a complete Scope: lists read past hidden items, fail after 10,000 of them, and have no totals; hide items by Scope and set ScopeComplete
    weak: Authorize without Scope: any caller can keep a stream open, without seeing hidden items
    weak: no AuthorizeGone: a deleted item is 404 and not 410 for every caller
/scoped  GET, HEAD, QUERY, POST, OPTIONS
/scoped/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS
    store: Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Revisioner RevisionLister Searcher Joiner Transactor Locker
    batches: POST of application/vnd.stoa.batch+json
    hooks: in the transaction of the write, serializable
    weak: Authorize without a complete Scope: lists read past hidden items, fail after 10,000 of them, and have no totals; hide items by Scope and set ScopeComplete
/forgetful  GET, HEAD, QUERY, POST, OPTIONS
/forgetful/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS
    store: Creator Inserter Replacer Deleter
    weak: deletions are recorded by this process only: after a restart or in another process a repeated DELETE is 404 and not 410; see resource.Ops.WithTombstones
/readonly  GET, HEAD, QUERY, OPTIONS
/readonly/{id}  GET, HEAD, OPTIONS
    store: read only
/best  a lookup of /open
keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored
`
	if diff := cmp.Diff(want, c.Report()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

// TestReportOfSearch: the searched fields are listed, with the filters that share a name with a parameter.
func TestReportOfSearch(t *testing.T) {
	t.Parallel()
	type note struct {
		ID        string `json:"id"`
		Text      string `json:"text"`
		Q         int    `json:"q"`
		Highlight bool   `json:"highlight"`
	}
	type short struct {
		ID string `json:"id"`
	}
	eq := []query.Op{query.Eq}
	notes := resource.New("notes", memory.New[note](nil), &resource.Options[note]{Public: true,
		Query: query.Support{Search: []string{"text"}, Filter: map[string][]query.Op{"q": eq, "highlight": eq}}})
	view := resource.View(notes, func(n note) (short, error) { return short{n.ID}, nil },
		func(_ short, n note) (note, error) { return n, nil }, nil)
	for _, tt := range []struct {
		name string
		r    *resource.Resource
		want string
	}{
		{"searched", notes, "    search: text\n" +
			"    filters: highlight is a parameter of searches; the field is compared with highlight.eq\n" +
			"    filters: q is a parameter of searches; the field is compared with q.eq\n"},
		{"view", view, "    view: short, without filters by highlight q, without the search"},
	} {
		report := resource.NewCatalog(nil, tt.r).Report()
		if !strings.Contains(report, tt.want) {
			t.Errorf("%s: report\n%s\nhas no\n%s", tt.name, report, tt.want)
		}
	}
}

// TestReportOfViews: a view is listed with the queries that it does not support.
func TestReportOfViews(t *testing.T) {
	t.Parallel()
	hub := resource.New("books", memory.New[book](nil), &resource.Options[book]{Query: bookSupport(), Public: true})
	older := resource.View(hub, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"}})
	same := resource.View(hub, func(b book) (book, error) { return b, nil },
		func(v, _ book) (book, error) { return v, nil }, nil)
	const store = "/books  GET, HEAD, QUERY, POST, OPTIONS\n/books/{id}  GET, HEAD, PUT, PATCH, DELETE, OPTIONS\n" +
		"    store: Creator Inserter Replacer Deleter Tombstoner Counter Aggregator MultiGetter MultiInserter BatchLister BatchCounter Revisioner RevisionLister Searcher Joiner Transactor Locker\n" +
		"    batches: POST of application/vnd.stoa.batch+json\n"
	const noKeys = "keys: no CatalogOptions.Idempotency: Idempotency-Key is ignored\n"
	for _, tt := range []struct {
		name, want string
		r          *resource.Resource
	}{
		{"hub", "", hub},
		{"older", "    view: bookV1, without filters by authorId note owner, without sorting by authorId owner note\n", older},
		{"same", "    view: book2\n", same},
	} {
		if diff := cmp.Diff(store+tt.want+noKeys, resource.NewCatalog(nil, tt.r).Report()); diff != "" {
			t.Errorf("report of %s (-want +got):\n%s", tt.name, diff)
		}
	}
}
