package sqlrelationtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest/relationtest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestSortSearch: the result of a search is sorted by a field of the related item and by rank, in pages.
func TestSortSearch(t *testing.T) {
	t.Run("memory", func(t *testing.T) {
		testSortSearch(t, resource.OpsOf(memory.New[relationtest.Company](nil)),
			resource.OpsOf(memory.New[relationtest.Customer](nil)))
	})
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect == sqltx.SQLite {
			err := enginetest.Exec(t.Context(), e.OpenSchema(t), "CREATE VIRTUAL TABLE probe USING fts5(words)")
			if err != nil && strings.Contains(err.Error(), "no such module") {
				t.Skip("the driver has no FTS5")
			}
		}
		db := e.Open(t, nil)
		testSortSearch(t, openTable[relationtest.Company](t, db, "companies", nil),
			openTable[relationtest.Customer](t, db, "customers", &sqltable.Options{
				NewID: func() string { return "" }, Search: []string{"name"}}))
	})
}

func testSortSearch(
	t *testing.T, companies resource.Ops[relationtest.Company], customers resource.Ops[relationtest.Customer],
) {
	t.Helper()
	var ids []string
	for n, name := range []string{"x", "y"} {
		ids = append(ids, fmt.Sprintf("00000000-0000-4000-8000-%012d", n))
		if _, err := companies.Insert(t.Context(), ids[n], relationtest.Company{ID: ids[n], Name: name}); err != nil {
			t.Fatal(err)
		}
	}
	for n, name := range []string{"tea tea", "tea", "tea and milk with sugar", "coffee", "tea tea", "tea"} {
		c := relationtest.Customer{ID: int64(n + 1), Name: &name}
		if n%3 > 0 {
			c.CompanyID = &ids[n%3-1]
		}
		if _, err := customers.Insert(t.Context(), fmt.Sprint(n+1), c); err != nil {
			t.Fatal(err)
		}
	}
	r := customers.Resource("customers", &resource.Options[relationtest.Customer]{Public: true,
		Query:     query.Support{Search: []string{"name"}, Sort: []string{"company.name"}},
		Relations: []resource.Relation[relationtest.Customer]{{Name: "company", Target: "companies", Field: "companyId"}}})
	r = resource.NewCatalog(nil, r, companies.Resource("companies", &resource.Options[relationtest.Company]{Public: true,
		Query: query.Support{Sort: []string{"name"}}})).Resource(r.Name())
	search, err := query.ParseSearch("tea")
	if err != nil {
		t.Fatal(err)
	}
	q := query.Query{Search: search, Limit: 2, Sort: []query.Order{{Field: "company.name", Desc: true},
		{Field: query.Rank, Desc: true}}}
	var got []string
	for at := (resource.Position{}); ; {
		p, err := r.List(t.Context(), q, at)
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Entries {
			got = append(got, p.Entries[i].ID)
		}
		at.After = p.Next
		p.Release()
		if at.After == "" {
			break
		}
	}
	if diff := cmp.Diff("6 3 5 2 1", strings.Join(got, " ")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
