package sqlsearchtest

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// writer is the related item of a post, by post.Kind.
type writer struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// catalogOf fills two collections and relates them. Posts 1, 4 and 7 are of ann.
func catalogOf(t *testing.T, posts resource.Ops[post], writers resource.Ops[writer]) *resource.Resource {
	t.Helper()
	for _, id := range []string{"ann", "bob"} {
		if _, err := writers.Insert(t.Context(), id, writer{ID: id, Name: id}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 9 {
		p := post{Title: "tea number " + strconv.Itoa(i), Kind: []string{"ann", "bob", "eve"}[i%3], Query: i}
		item, err := posts.Create(t.Context(), p)
		if err == nil && i == 6 {
			err = posts.Delete(t.Context(), item.ID, item.Rev)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	r := posts.Resource("posts", &resource.Options[post]{Public: true,
		Query: query.Support{Search: []string{"title", "note"}, Relations: []string{"writer"},
			Filter: map[string][]query.Op{"query": {query.Gte}}, Group: []string{"kind"},
			Aggregate: map[string][]query.Func{"query": {query.Sum}}},
		Relations: []resource.Relation[post]{{Name: "writer", Target: "writers", Field: "kind"}}})
	r = resource.NewCatalog(nil, r, writers.Resource("writers", &resource.Options[writer]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"name": {query.Eq}}}})).Resource(r.Name())
	return r
}

// TestCombinations compares searches with filters through relations, groups and soft deletion with those of
// memory. Each is one statement.
func TestCombinations(t *testing.T) {
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		opts := options()
		opts.SoftDelete = "deleted_at"
		writers := sqltable.New[writer](db, "writers", nil)
		if err := writers.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		sql := catalogOf(t, openPosts(t, db, opts).Ops(), writers.Ops())
		mem := catalogOf(t, resource.OpsOf(memory.New(&memory.Options[post]{SoftDelete: true})),
			resource.OpsOf(memory.New[writer](nil)))
		ann := query.Some("writer", query.Where("name", query.Eq, "ann"))
		for _, tt := range []struct {
			name, search string
			filter       query.Filter
			ids          string
		}{
			{"a relation", "tea", ann, "1 4"},
			{"no related item", "number", query.Not(query.Some("writer", query.Filter{})), "3 6 9"},
			{"a relation and a field", "tea -0", query.And(ann, query.Where("query", query.Gte, 1)), "4"},
			{"a deleted item", "6", query.Filter{}, ""},
		} {
			q := query.Query{Search: parse(t, tt.search), Filter: tt.filter}
			a := query.Aggregation{Search: q.Search, Filter: q.Filter, Group: []string{"kind"},
				Aggregates: []query.Aggregate{{Func: query.Count}, {Func: query.Sum, Field: "query"}}}
			var ids [2]string
			var groups [2][]query.Group
			var counts [2]int
			for i, r := range []*resource.Resource{sql, mem} {
				ran, _ := records.During(func() {
					page, err := r.List(t.Context(), q, resource.Position{})
					if err != nil {
						t.Fatalf("%s: %v", tt.name, err)
					}
					for j := range page.Entries {
						if j > 0 {
							ids[i] += " "
						}
						ids[i] += page.Entries[j].ID
					}
					grouped, err := r.Aggregate(t.Context(), a, "")
					groups[i] = grouped.Groups
					if err == nil {
						counts[i], err = r.CountFound(t.Context(), q)
					}
					if err != nil {
						t.Fatalf("%s: %v", tt.name, err)
					}
				})
				if want := 3 * (1 - i); len(ran) != want {
					t.Errorf("%s: %d statements, want %d: %v", tt.name, len(ran), want, ran)
				}
			}
			if diff := cmp.Diff([2]string{tt.ids, tt.ids}, ids); diff != "" {
				t.Errorf("%s: ids of SQL and memory (-want +got):\n%s", tt.name, diff)
			}
			if diff := cmp.Diff(groups[1], groups[0]); diff != "" || counts[0] != counts[1] {
				t.Errorf("%s: counts %d, groups (-memory +SQL):\n%s", tt.name, counts, diff)
			}
		}
	})
}
