package sqlrelationtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
)

// TestLinks reads tags with their orders from tables with deleted rows, and counts the statements. Without an
// index of the links by tag, they are read before the orders.
func TestLinks(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range []struct {
			name      string
			index     []string
			authorize bool
			complete  bool
			follow    int // statements of Follow, and of FollowPages with and without totals
			pages     int
			totals    int
		}{
			{"joined", []string{"tagId"}, false, false, 1, 1, 2},
			{"complete scope", []string{"tagId"}, true, true, 1, 1, 2},
			{"no index", nil, false, false, 2, 2, 2},
			{"policy of each link", []string{"tagId"}, true, false, 2, 2, 2},
		} {
			t.Run(tt.name, func(t *testing.T) {
				db, records := enginetest.Record(t, e)
				orders := openTable[relationtest.Order](t, db, "orders", &sqltable.Options{SoftDelete: "deleted_at"})
				tags := openTable[relationtest.Tag](t, db, "tags", nil)
				links := openTable[relationtest.OrderTag](t, db, "links", &sqltable.Options{SoftDelete: "deleted_at", Index: tt.index})
				var err error
				for i := range 6 {
					o := relationtest.Order{ID: fmt.Sprint("o", i), Total: i % 2, Status: "a"}
					_, inserted := orders.Insert(t.Context(), o.ID, o)
					err = errors.Join(err, inserted)
				}
				for _, id := range []string{"t1", "t2", "t3", "t4"} {
					_, inserted := tags.Insert(t.Context(), id, relationtest.Tag{ID: id})
					err = errors.Join(err, inserted)
					for i := range map[string]int{"t1": 6, "t2": 5, "t3": 1}[id] {
						l := relationtest.OrderTag{OrderID: fmt.Sprint("o", i), TagID: id}
						it, inserted := links.Insert(t.Context(), l.OrderID+","+l.TagID, l)
						err = errors.Join(err, inserted)
						if id == "t1" && i == 0 {
							err = errors.Join(err, links.Delete(t.Context(), it.ID, it.Rev))
						}
					}
				}
				deleted, got := orders.Get(t.Context(), "o1")
				if err = errors.Join(err, got, orders.Delete(t.Context(), "o1", deleted.Rev)); err != nil {
					t.Fatal(err)
				}
				opts := &resource.Options[relationtest.OrderTag]{AllowRecreate: true,
					Query: query.Support{Filter: map[string][]query.Op{"tagId": {query.Eq}}},
					Scope: func(context.Context) (query.Filter, error) {
						return query.Where("orderId", query.Ne, "o3"), nil
					}}
				if tt.authorize {
					opts.ScopeComplete = tt.complete
					opts.Authorize = func(context.Context, resource.Op, *relationtest.OrderTag, *relationtest.OrderTag) error {
						return nil
					}
				}
				r := tags.Resource("tags", &resource.Options[relationtest.Tag]{Public: true, Relations: []resource.Relation[relationtest.Tag]{
					{Name: "orders", Target: "orders", Through: "links", By: "tagId", To: "orderId"}}})
				catalog := resource.NewCatalog(nil, r, links.Resource("links", opts),
					orders.Resource("orders", &resource.Options[relationtest.Order]{Public: true,
						Query: query.Support{Sort: []string{"total"}}}))
				r = catalog.Resource(r.Name())
				isReported := strings.Contains(catalog.Report(), "relation: orders reads links first, and its pages at most 1000 of an item: "+
					map[bool]string{true: "Options.Authorize of links ", false: "the collection of orders does not join that of links by " +
						"tagId; tables need an index of it, one database and equal column types"}[tt.authorize])
				if isReported != (tt.pages == 2) {
					t.Errorf("the report is\n%s", catalog.Report())
				}
				page, err := r.List(t.Context(), query.Query{}, resource.Position{})
				if err != nil {
					t.Fatal(err)
				}
				defer page.Release()
				related := func(statements int, read func() (resource.Page, error)) (shown string) {
					t.Helper()
					ran, _ := records.During(func() {
						p, err := read()
						if err != nil {
							t.Fatal(err)
						}
						defer p.Release()
						for i := range page.Entries {
							for _, end := range p.Ends(i) {
								shown += p.Entries[end].ID + " "
							}
							shown += fmt.Sprintf("(%t %d) ", p.MoreOf(i), p.TotalOf(i))
						}
					})
					if len(ran) != statements {
						t.Errorf("%d statements, want %d: %v", len(ran), statements, ran)
					}
					return shown
				}
				pages := func(statements int, q resource.RelatedQuery) string {
					t.Helper()
					return related(statements, func() (resource.Page, error) {
						return r.FollowPages(t.Context(), "orders", page.Entries, q)
					})
				}
				byTotal := query.Query{Limit: 2, Sort: []query.Order{{Field: "total", Desc: true}}}
				got1 := []string{
					related(tt.follow, func() (resource.Page, error) {
						return r.Follow(t.Context(), "orders", page.Entries, []string{"id"})
					}),
					pages(tt.pages, resource.RelatedQuery{Query: query.Query{Limit: 2}}),
					pages(tt.totals, resource.RelatedQuery{Query: byTotal, Total: true}),
					pages(min(tt.pages, 2), resource.RelatedQuery{Total: true, NoItems: true}),
				}
				want := []string{"o2 o4 o5 (false 0) o0 o2 o4 (false 0) o0 (false 0) (false 0) ",
					"o2 o4 (true 0) o0 o2 (true 0) o0 (false 0) (false 0) ",
					"o5 o2 (true 3) o0 o2 (true 3) o0 (false 1) (false 0) ",
					"(false 3) (false 3) (false 1) (false 0) "}
				if diff := cmp.Diff(want, got1); diff != "" {
					t.Errorf("orders of tags (-want +got):\n%s", diff)
				}
			})
		}
	})
}

// TestLinkPlans: the first items of each of 50 keys are found by an index of the links, and no other rows are
// read.
func TestLinkPlans(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		const parents, each = 50, 20
		rows := enginetest.PlanRows(t)
		db, records := enginetest.Record(t, e)
		orders := openTable[relationtest.Order](t, db, "orders", &sqltable.Options{Forget: true})
		tags := openTable[relationtest.Tag](t, db, "tags", &sqltable.Options{Forget: true})
		links := openTable[relationtest.OrderTag](t, db, "links", &sqltable.Options{Forget: true, Index: []string{"tagId"}})
		numbers := enginetest.Numbers(e.Dialect, rows)
		enginetest.MustExec(t, db,
			"INSERT INTO orders (id, customer_id, status, total, rev) SELECT 'o' || n, 1, 'a', n % 1000, 'r'"+numbers,
			"INSERT INTO tags (id, label, owner_id, rev) SELECT 't' || n, 'a', '', 'r'"+
				enginetest.Numbers(e.Dialect, max(parents, rows/each)),
			fmt.Sprintf("INSERT INTO links (order_id, tag_id, rev) SELECT 'o' || n, 't' || (n %% %d + 1), 'r'", rows/each)+numbers,
			"ANALYZE")
		r := tags.Resource("tags", &resource.Options[relationtest.Tag]{Public: true, Relations: []resource.Relation[relationtest.Tag]{
			{Name: "orders", Target: "orders", Through: "links", By: "tagId", To: "orderId"}}})
		catalog := resource.NewCatalog(nil, r, orders.Resource("orders", &resource.Options[relationtest.Order]{Public: true,
			Query: query.Support{Sort: []string{"total"}}}), links.Resource("links", &resource.Options[relationtest.OrderTag]{Public: true,
			AllowRecreate: true, Query: query.Support{Filter: map[string][]query.Op{"tagId": {query.Eq}}}}))
		from := make([]resource.Entry, parents)
		for i := range from {
			from[i].ID = fmt.Sprint("t", i+1)
		}
		r = catalog.Resource("tags")
		for _, tt := range []struct {
			name string
			from []resource.Entry
			q    resource.RelatedQuery
		}{
			{"by id", from, resource.RelatedQuery{}},
			{"by total", from, resource.RelatedQuery{Query: query.Query{Sort: []query.Order{{Field: "total", Desc: true}}}}},
			{"totals", from, resource.RelatedQuery{Total: true, NoItems: true}},
			{"of one", from[:1], resource.RelatedQuery{}},
			{"total of one", from[:1], resource.RelatedQuery{Total: true, NoItems: true}},
		} {
			tt.q.Query.Limit = 6
			began := time.Now()
			ran, _ := records.During(func() {
				p, err := r.FollowPages(t.Context(), "orders", tt.from, tt.q)
				if err != nil {
					t.Fatalf("%s: %v", tt.name, err)
				}
				defer p.Release()
				for i := range tt.from {
					if n := len(p.Ends(i)); n != 6 && !tt.q.NoItems || tt.q.NoItems && p.TotalOf(i) != each {
						t.Errorf("%s: tag %d has %d items and the total %d", tt.name, i, n, p.TotalOf(i))
					}
				}
			})
			took := time.Since(began)
			if len(ran) != 1 {
				t.Fatalf("%s: %d statements, want 1", tt.name, len(ran))
			}
			plan := enginetest.Explain(t, db, ran[0])
			t.Logf("%s: %v\n%s\n%s", tt.name, took.Round(10*time.Microsecond), ran[0].Text, plan)
			for _, scan := range []string{"Seq Scan on links", "Seq Scan on orders", "SCAN links", "SCAN orders"} {
				if strings.Contains(plan, scan) {
					t.Errorf("%s: the plan has %q", tt.name, scan)
				}
			}
			if !strings.Contains(plan, "links_tag_id_idx") {
				t.Errorf("%s: the plan does not use the index of the links", tt.name)
			}
		}
	})
}
