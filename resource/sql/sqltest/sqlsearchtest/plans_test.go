package sqlsearchtest

import (
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestPlans: a search, its count and its groups are one statement each, which reads few rows by the index
// of words. A filter and an order do not change this.
func TestPlans(t *testing.T) {
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		rows := enginetest.PlanRows(t)
		db, records := enginetest.Record(t, e)
		table := openPosts(t, db, options())
		// Post n has the words post and n, one of 100 colors, and one of 1,000 numbers as a word.
		insert := "INSERT INTO posts (id, title, note, kind, query, rank, rev) SELECT n, 'post ' || n || ' color' || " +
			"(n % 100), 'number' || (n % 1000) || ' of many', 'k' || (n % 10), n % 7, 0, 'r'" +
			enginetest.Numbers(e.Dialect, rows)
		began := time.Now()
		analyze := "ANALYZE"
		if e.Dialect == sqltx.PostgreSQL {
			analyze = "VACUUM ANALYZE posts" // also moves the pending words into the index
		}
		enginetest.MustExec(t, db, insert, analyze)
		t.Logf("%d rows in %v", rows, time.Since(began).Round(time.Millisecond))
		support := table.Support()
		support.Group = []string{"kind"}
		posts := table.Ops().Resource("posts", &resource.Options[post]{Public: true, ReadTimeout: -1, Query: support})
		posts = resource.NewCatalog(nil, posts).Resource(posts.Name())
		list := func(q query.Query) func() (int, error) {
			return func() (int, error) {
				page, err := posts.List(t.Context(), q, resource.Position{})
				defer page.Release()
				return len(page.Entries), err
			}
		}
		search := func(text string) query.Query { return query.Query{Search: parse(t, text)} }
		sorted, filtered := search("number7"), search("color7 number*")
		sorted.Sort = []query.Order{{Field: "id", Desc: true}}
		filtered.Filter = query.Where("kind", query.Eq, "k7")
		rare := search("7 number7")
		for _, tt := range []struct {
			name string
			run  func() (int, error)
			want int
			free bool // any plan is accepted
		}{
			{"a rare word", list(rare), 1, false},
			{"one of 1,000 rows", list(search("number7")), min(50, rows/1000), false},
			// In a large table, the index of the order finds the first page sooner.
			{"sorted by the id", list(sorted), min(50, rows/1000), rows > 20_000},
			{"one of 100 rows with a filter", list(filtered), 50, false},
			{"a phrase", list(search(`"post 77"`)), 1, false},
			{"a prefix", list(search("post77*")), 0, false},
			{"a count", func() (int, error) { return posts.CountFound(t.Context(), search("number7")) },
				rows / 1000, false},
			{"groups", func() (int, error) {
				page, err := posts.Aggregate(t.Context(), query.Aggregation{Group: []string{"kind"},
					Aggregates: []query.Aggregate{{Func: query.Count}}, Search: parse(t, "color7")}, "")
				return len(page.Groups), err
			}, 1, false},
			// The rank of each row is computed. For 1,000,000 rows, SQLite takes longer than the default of ReadTimeout.
			{"a word of all rows", list(search("post")), 50, true},
		} {
			var n int
			began := time.Now()
			ran, _ := records.During(func() {
				var err error
				if n, err = tt.run(); err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
			})
			took := time.Since(began)
			if len(ran) != 1 || n != tt.want {
				t.Fatalf("%s: %d with %d statements, want %d with 1", tt.name, n, len(ran), tt.want)
			}
			plan := enginetest.Explain(t, db, ran[0])
			t.Logf("%s: %v\n%s\n%s", tt.name, took.Round(10*time.Microsecond), ran[0].Text, plan)
			index, scan := "posts_search_vector_idx", "Seq Scan on posts"
			if e.Dialect == sqltx.SQLite {
				index, scan = "VIRTUAL TABLE INDEX", "SCAN posts\n"
			}
			if !tt.free && (!strings.Contains(plan, index) || strings.Contains(plan+"\n", scan)) {
				t.Errorf("%s: the plan does not use %s:\n%s", tt.name, index, plan)
			}
		}
	})
}
