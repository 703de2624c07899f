package rest_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// album is an item with a field of each kind that a filter can compare.
type album struct {
	ID      int64      `json:"id" readOnly:"true"`
	Owner   string     `json:"owner"`
	Private bool       `json:"private"`
	Pages   int        `json:"pages"`
	Weight  float64    `json:"weight"`
	Opened  *time.Time `json:"opened"`
	Price   string     `json:"price" format:"decimal"`
	Lent    string     `json:"lent,omitzero" format:"duration"`
	Tags    []string   `json:"tags"`
	Counts  []int64    `json:"counts"`
	Cover   cover      `json:"cover"`
}

type cover struct {
	Color string `json:"color"`
}

var someTime = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// filterMistakes are filters of a program that must not select anything, and what the log states.
var filterMistakes = []struct {
	name   string
	filter query.Filter
	want   string
	atRun  bool // is not found at the start
}{
	{"misspelled", query.Where("privat", query.Ne, true),
		`Scope names "privat", which is no field of album; did you mean "private"?`, false},
	{"Go name", query.Where("Private", query.Ne, true), `names "Private", which is no field of album; did you mean "private"?`, false},
	{"unlike any", query.Where("tenant", query.Eq, "a"), `Scope names "tenant", which is no field of album`, false},
	{"misspelled, Eq", query.Where("privat", query.Eq, true), `names "privat"`, false},
	{"misspelled, IsNull", query.Where("privat", query.IsNull, true), `names "privat"`, false},
	{"object", query.Where("cover", query.IsNull, true),
		`names "cover", which is neither a single value nor a list of them in album`, false},
	{"number for string", query.Where("owner", query.Ne, 5), `compares owner with an operand of type int64; use a string`, false},
	{"number for string, Eq", query.Where("owner", query.Eq, 5), `compares owner with an operand`, false},
	{"string for bool", query.Where("private", query.Ne, "true"), `operand of type string; use a bool`, false},
	{"string for integer", query.Where("pages", query.Ne, "5"), `operand of type string; use a number`, false},
	{"bool for number", query.Where("weight", query.Ne, true), `operand of type bool; use a number`, false},
	{"string for time", query.Where("opened", query.Ne, "2026-01-02T03:04:05Z"), `operand of type string; use a time.Time`, false},
	{"time for string", query.Where("owner", query.Ne, someTime), `operand of type time.Time; use a string`, false},
	{"bool for decimal", query.Where("price", query.Ne, true), `compares price with an operand that is of type bool`, false},
	{"no decimal", query.Where("price", query.Ne, "cheap"), `compares price with an operand that`, false},
	{"number for duration", query.Where("lent", query.Ne, 5), `compares lent with an operand that is of type int64`, false},
	{"in a list", query.Where("owner", query.NotIn, []any{"bob", 5}), `operand of type int64; use a string`, false},
	{"no list", query.Filter{Op: query.NotIn, Field: "owner", Value: "bob"}, `compares owner by query.NotIn with a string`, false},
	{"element", query.Not(query.Where("counts", query.Contains, "5")), `operand of type string; use a number`, false},
	{"list compared", query.Where("tags", query.Ne, "a"), `compares the list "tags" with ne; use query.Contains or query.IsNull`, false},
	{"part of a number", query.Not(query.Where("pages", query.Contains, "5")), `which applies to strings`, false},
	{"unknown operator", query.Filter{Op: "neq", Field: "owner", Value: "bob"},
		`the operator "neq", which does not exist; use query.Ne`, false},
	{"no operator", query.Filter{Field: "owner", Value: "bob"}, `the operator ""`, false},
	{"IsNull of a text", query.Not(query.Filter{Op: query.IsNull, Field: "opened", Value: "yes"}), `use true or false`, false},
	{"below Or", query.Or(query.Where("owner", query.Eq, "ann"), query.Not(query.Where("privat", query.Eq, true))), `names "privat"`, false},
	{"relation", query.Not(query.Some("owner", query.Filter{})), "Scope has query.Some", false},
	{"nil", query.Where("owner", query.Ne, nil), "compares with null: the operand of owner is nil", true},
	{"nil pointer", query.Where("owner", query.Ne, (*string)(nil)), "compares with null", true},
	{"nil for decimal", query.Where("price", query.Ne, nil), "compares with null", true},
	{"struct", query.Where("owner", query.Ne, cover{}), "compares with null", true},
	{"null in a list", query.Where("owner", query.NotIn, []any{nil}), "compares with null", true},
}

// scopedAlbums serves two albums with a Scope, by REST and GraphQL. The log is in the buffer.
func scopedAlbums(t *testing.T, scope func(context.Context) (query.Filter, error)) (
	http.Handler, *graphql.Handler, *memory.Store[album], *bytes.Buffer) {
	t.Helper()
	store := memory.New[album](nil)
	for _, d := range []album{{Owner: "ann", Private: true, Price: "1.50"}, {Owner: "bob", Pages: 3, Price: "2"}} {
		if _, err := store.Create(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	f := feed.New(feed.NewMemory(nil), nil)
	t.Cleanup(func() { f.Close() })
	logger := slog.New(slog.NewTextHandler(&log, nil))
	albums := resource.New("albums", store, &resource.Options[album]{Scope: scope, Query: query.Support{
		Filter: map[string][]query.Op{"owner": {query.Eq}}}})
	c := resource.NewCatalog(&resource.CatalogOptions{Feed: f, Logger: logger}, albums,
		command.NewImport("albums/import", albums))
	return byCaller(rest.New(c, nil)), graphql.New(c, &graphql.Options{Logger: logger}), store, &log
}

// TestScopeMistakes: a filter of Scope that contradicts the schema is an internal error in every protocol,
// with its cause in the log, and neither shows nor changes an item.
func TestScopeMistakes(t *testing.T) {
	t.Parallel()
	requests := [][]string{
		{"GET /albums"}, {"HEAD /albums"}, {"GET /albums", "Prefer: count=exact"}, {"GET /albums?owner=ann&limit=1"},
		{"GET /albums", "Accept: application/x-ndjson"}, {"GET /albums", "Accept: text/event-stream"},
		{"GET /albums/1"}, {"GET /albums/1", "Accept: text/event-stream"}, {"GET /albums/9"},
		{"POST /albums", jsonBody, "", `{"owner":"eve","price":"1"}`},
		{"PUT /albums/1", jsonBody, "", `{"owner":"eve","price":"1"}`},
		{"PUT /albums/9", jsonBody, "", `{"owner":"eve","price":"1"}`},
		{"PATCH /albums/1", mergeBody, "", `{"owner":"eve"}`},
		{"DELETE /albums/1"},
		{"POST /albums", "Content-Type: application/vnd.stoa.batch+json", "",
			`{"operations":[{"op":"delete","id":"1"}]}`},
		{"POST /albums/import", linesBody, "", `{"id":1,"owner":"eve","price":"1"}`},
	}
	operations := []string{
		`{ albums { nodes { owner } } }`, `{ albums { totalCount } }`, `{ album(id: 1) { owner } }`,
		`mutation { patchAlbum(id: 1, input: {owner: "eve"}) { owner } }`,
		`mutation { deleteAlbum(id: 1) { id } }`,
		`mutation { createAlbum(input: {owner: "eve", price: "1"}) { owner } }`,
	}
	for _, tt := range filterMistakes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h, api, store, log := scopedAlbums(t, func(ctx context.Context) (query.Filter, error) {
				if ctx.Value(callerKey{}) == nil {
					return query.Filter{}, resource.ErrUnauthenticated
				}
				return tt.filter, nil
			})
			logged := func(line string) {
				t.Helper()
				text := strings.ReplaceAll(log.String(), `\"`, `"`)
				if !strings.Contains(text, tt.want) {
					t.Errorf("%s: log %q, want %q", line, text, tt.want)
				}
				log.Reset()
			}
			for _, r := range requests {
				line := strings.Join(r, " ")
				res := send(t, h, r[0], r[1:]...)
				if res.status != http.StatusInternalServerError || strings.Contains(res.body, "Scope") {
					t.Errorf("%s: %d %s", line, res.status, res.body)
				}
				logged(line)
			}
			ctx := context.WithValue(t.Context(), callerKey{}, "ann")
			for _, text := range operations {
				res := api.Execute(ctx, graphql.Request{Query: text})
				var failed *graphql.Error
				if !errors.As(res.Err(), &failed) || failed.Extensions["code"] != "INTERNAL_SERVER_ERROR" ||
					strings.Contains(string(res.Data), "ann") {
					t.Errorf("%s: %v %s", text, res.Err(), res.Data)
				}
				logged(text)
			}
			for _, err := range api.Subscribe(ctx, graphql.Request{Query: `subscription { albumChanged { id } }`}) {
				var failed *graphql.Error
				if !errors.As(err, &failed) || failed.Extensions["code"] != "INTERNAL_SERVER_ERROR" {
					t.Errorf("subscription: %v", err)
				}
				break
			}
			logged("subscription")
			for id, owner := range map[string]string{"1": "ann", "2": "bob"} {
				if got := stored[album](t, store, id).Owner; got != owner {
					t.Errorf("the owner of %s is %s", id, got)
				}
			}
			if _, err := store.Get(t.Context(), "3"); err == nil {
				t.Error("an album was created")
			}
		})
	}
}

// TestScopeMistakesAtStart: New calls Scope once and refuses a filter that contradicts the schema.
func TestScopeMistakesAtStart(t *testing.T) {
	t.Parallel()
	for _, tt := range filterMistakes {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			calls := 0
			defer func() {
				got, _ := recover().(string)
				want := "resource: albums: Options.Scope "
				if tt.atRun {
					want, tt.want = "", ""
				}
				if tt.atRun != (got == "") || !strings.HasPrefix(got, want) || !strings.Contains(got, tt.want) {
					t.Errorf("panic %q, want %s %s", got, want, tt.want)
				}
				if calls != 1 {
					t.Errorf("Scope was called %d times", calls)
				}
			}()
			resource.New("albums", memory.New[album](nil), &resource.Options[album]{
				Scope: func(context.Context) (query.Filter, error) { calls++; return tt.filter, nil }})
		})
	}
}

// TestScopeAtStartIgnored: errors and panics of Scope without a caller, and one that does not return, do
// not prevent the start.
func TestScopeAtStartIgnored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		scope func(context.Context) (query.Filter, error)
	}{
		{"error", func(context.Context) (query.Filter, error) {
			return query.Where("privat", query.Ne, true), resource.ErrUnauthenticated
		}},
		{"panic", func(ctx context.Context) (query.Filter, error) { panic(ctx) }},
		{"no caller", func(ctx context.Context) (query.Filter, error) {
			return query.Where("owner", query.Eq, ctx.Value(callerKey{})), nil
		}},
		{"waits for its context", func(ctx context.Context) (query.Filter, error) {
			<-ctx.Done()
			return query.Where("privat", query.Ne, true), nil
		}},
		{"waits", func(ctx context.Context) (query.Filter, error) {
			time.Sleep(time.Minute)
			return query.Filter{}, nil
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				resource.New("albums", memory.New[album](nil), &resource.Options[album]{Scope: tt.scope})
				if waited := time.Since(start); waited > time.Second {
					t.Errorf("New took %v", waited)
				}
				time.Sleep(time.Minute) // until Scope returns
			})
		})
	}
}

// TestScopeFilters: filters that are valid for the schema select what they did before.
func TestScopeFilters(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		filter query.Filter
		want   []string
	}{
		{query.Filter{}, []string{"ann", "bob"}},
		{query.And(), []string{"ann", "bob"}},
		{query.Or(), nil},
		{query.Where("private", query.Ne, true), []string{"bob"}},
		{query.Where("owner", query.In, []string{"ann", "eve"}), []string{"ann"}},
		{query.Where("owner", query.NotIn, []string{}), []string{"ann", "bob"}},
		{query.Where("owner", query.StartsWith, "b"), []string{"bob"}},
		{query.Where("pages", query.Gt, 2.5), []string{"bob"}},
		{query.Where("weight", query.Lt, 1), []string{"ann", "bob"}},
		{query.Where("opened", query.IsNull, true), []string{"ann", "bob"}},
		{query.Where("opened", query.Ne, someTime), []string{"ann", "bob"}},
		{query.Where("price", query.Eq, "1.5"), []string{"ann"}},
		{query.Where("price", query.In, []any{2, 1.5}), []string{"ann", "bob"}},
		{query.Where("lent", query.Ne, "PT1H"), []string{"ann", "bob"}},
		{query.Not(query.Where("tags", query.Contains, "a")), []string{"ann", "bob"}},
		{query.Filter{Op: query.Eq, Field: "pages", Value: 3}, []string{"bob"}},
	} {
		t.Run(fmt.Sprint(tt.filter), func(t *testing.T) {
			t.Parallel()
			h, _, _, log := scopedAlbums(t, func(context.Context) (query.Filter, error) { return tt.filter, nil })
			var got []string
			for _, d := range value[page[album]](t, send(t, h, "GET /albums")).Items {
				got = append(got, d.Owner)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s\n%s", diff, log)
			}
		})
	}
}
