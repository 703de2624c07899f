package sqltabletest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// person and order belong together, both ways.
type person struct {
	ID    string `json:"id" maxLength:"64"`
	Email string `json:"email" unique:"true"`
	Name  string `json:"name"`
}

type order struct {
	ID       int64   `json:"id" readOnly:"true"`
	Customer string  `json:"customerId"`
	Total    int64   `json:"total"`
	Note     *string `json:"note"`
	Lines    []line  `json:"lines"`
}

// shop is both served together, and what writes down their statements.
type shop struct {
	catalog *resource.Catalog
	url     string
	client  *http.Client
	people  resource.Ops[person]
	orders  resource.Ops[order]
	records *enginetest.Recorder
}

// openShop has 50 people with 3 orders each.
func openShop(t *testing.T, e *enginetest.Engine, options sqltable.Options) *shop {
	t.Helper()
	db, records := enginetest.Record(t, e)
	people := sqltable.New[person](db, "people", &options)
	options.Index, options.References = []string{"customerId"}, map[string]string{"customerId": "people"}
	orders := sqltable.New[order](db, "orders", &options)
	if err := errors.Join(people.CreateTable(t.Context()), orders.CreateTable(t.Context())); err != nil {
		t.Fatal(err)
	}
	s := &shop{people: people.Ops(), orders: orders.Ops(), records: records}
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		for i := range 50 {
			id := fmt.Sprintf("p%02d", i)
			if _, err := s.people.Insert(ctx, id, person{ID: id, Email: id + "@example.com", Name: "Person"}); err != nil {
				return err
			}
			for n := range 3 {
				if _, err := s.orders.Create(ctx, order{Customer: id, Total: int64(n)}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	s.catalog = resource.NewCatalog(nil,
		s.people.Resource("people", &resource.Options[person]{Query: people.Support(), Public: true,
			Relations: []resource.Relation[person]{{Name: "orders", Target: "orders", By: "customerId", Limit: 2}}}),
		s.orders.Resource("orders", &resource.Options[order]{Query: orders.Support(), Public: true,
			Relations: []resource.Relation[order]{{Name: "customer", Target: "people", Field: "customerId"}}}))
	server := httptest.NewServer(rest.New(s.catalog, nil))
	t.Cleanup(server.Close)
	s.url, s.client = server.URL, server.Client()
	return s
}

// TestStatements counts what each request costs the database.
func TestStatements(t *testing.T) {
	tests := []struct {
		method, path, body string
		status             int
		want               string // the verbs, in SQLite and PostgreSQL alike unless there is another
		postgres           string
		none               string // does not occur in any of them
	}{
		{method: "GET", path: "/orders/1", status: 200, want: "SELECT"},
		{method: "GET", path: "/orders/1000", status: 404, want: "SELECT SELECT SELECT"},
		// The first list asks for the revisions, of which the cache has no items yet. The next ones do not ask.
		{method: "GET", path: "/orders?limit=50", status: 200, want: "SELECT SELECT"},
		{method: "GET", path: "/orders?limit=50", status: 200, want: "SELECT"},
		{method: "GET", path: "/orders?limit=50&total.gte=1&sort=-total", status: 200, want: "SELECT"},
		{method: "GET", path: "/orders?limit=50&expand=customer", status: 200, want: "SELECT SELECT"},
		{method: "GET", path: "/people?limit=50&expand=orders", status: 200, want: "SELECT SELECT"},
		{method: "GET", path: "/people/p07?expand=orders", status: 200, want: "SELECT SELECT"},
		{method: "GET", path: "/people?limit=50&expand=orders(limit=1;sort=-total;total.gte=1)", status: 200, want: "SELECT SELECT"},
		{method: "GET", path: "/people?limit=50&expand=orders(limit=1;count=exact)", status: 200, want: "SELECT SELECT SELECT"},
		{method: "GET", path: "/people/p07?expand=orders(limit=1;count=exact)", status: 200, want: "SELECT SELECT SELECT"},
		{method: "GET", path: "/people?limit=50&expand=orders(fields=total)", status: 200, want: "SELECT SELECT", none: "note|lines"},
		{method: "GET", path: "/orders?fields=id,total", status: 200, want: "SELECT", none: "note|lines|customer_id"},
		{method: "GET", path: "/people?fields=id&sort=email", status: 200, want: "SELECT", none: "name"},
		{method: "POST", path: "/orders", body: `{"customerId":"p01","total":1,"lines":[]}`, status: 201, want: "INSERT"},
		{method: "PUT", path: "/people/new", body: `{"email":"new@example.com","name":"New"}`, status: 201,
			want: "SELECT SELECT SELECT INSERT"},
		{method: "PUT", path: "/people/p03", body: `{"email":"p03@example.com","name":"Other"}`, status: 200, want: "SELECT UPDATE"},
		{method: "PATCH", path: "/people/p04", body: `{"name":"Other"}`, status: 200, want: "SELECT UPDATE"},
		{method: "PATCH", path: "/people/p04", body: `{"name":"Other"}`, status: 200, want: "SELECT"},
		{method: "DELETE", path: "/orders/9", status: 204, want: "SELECT BEGIN DELETE INSERT COMMIT", postgres: "SELECT WITH"},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := openShop(t, e, sqltable.Options{})
		for _, tt := range tests {
			ran, _ := s.records.During(func() {
				if status, _, body := s.do(t, tt.method, tt.path, tt.body); status != tt.status {
					t.Errorf("%s %s: %d %s", tt.method, tt.path, status, body)
				}
			})
			want := tt.want
			if tt.postgres != "" && e.Dialect == sqltx.PostgreSQL {
				want = tt.postgres
			}
			if got := enginetest.Verbs(ran); got != want {
				t.Errorf("%s %s runs %s, want %s:\n%s", tt.method, tt.path, got, want, enginetest.Texts(ran))
			}
			if tt.none != "" && regexp.MustCompile(tt.none).MatchString(enginetest.Texts(ran)) {
				t.Errorf("%s %s asks for more than is needed:\n%s", tt.method, tt.path, enginetest.Texts(ran))
			}
		}
	})
}

// TestStatementsStayPrepared repeats requests, after which nothing is parsed any more in SQLite. PostgreSQL's driver
// does not let database/sql prepare anything: it keeps statements itself.
func TestStatementsStayPrepared(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		s := openShop(t, e, sqltable.Options{})
		request := func() {
			s.do(t, "GET", "/orders/1", "")
			s.do(t, "GET", "/orders?total=1&limit=5", "")
			s.do(t, "PATCH", "/people/p04", `{"name":"`+string(resource.NewRev())+`"}`)
		}
		for range 3 {
			request()
		}
		ran, made := s.records.During(func() { request() })
		if len(ran) != 4 || len(made) != 0 {
			t.Errorf("%d statements are run and %d prepared, want 4 and none:\n%s", len(ran), len(made), strings.Join(made, "\n"))
		}
	})
}

// TestDeepPages looks at how each statement of a page deep in a list is answered: all begin within the index.
func TestDeepPages(t *testing.T) {
	type place struct {
		ID         int64   `json:"id" readOnly:"true"`
		Population *int64  `json:"population"`
		Name       *string `json:"name"`
	}
	sorts := []struct {
		sort  string
		index string // what serves it
		pg    string
	}{
		{"population", "population, id", "population NULLS FIRST, id"},
		{"-population", "population DESC, id", "population DESC NULLS LAST, id"},
		{"-population,name", "population DESC, name, id", `population DESC NULLS LAST, name NULLS FIRST, id`},
		{"name", "name, id", `name NULLS FIRST, id`},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range sorts {
			t.Run(tt.sort, func(t *testing.T) {
				db, records := enginetest.Record(t, e)
				table := sqltable.New[place](db, "places", nil)
				if err := table.CreateTable(t.Context()); err != nil {
					t.Fatal(err)
				}
				index := tt.index
				if e.Dialect == sqltx.PostgreSQL {
					index = tt.pg
				}
				enginetest.MustExec(t, db, "CREATE INDEX serving ON places ("+index+")",
					"WITH RECURSIVE s (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 500) "+
						"INSERT INTO places (population, name, rev) SELECT CASE WHEN i % 5 > 0 THEN i / 100 END, "+
						"CASE WHEN i % 7 > 0 THEN 'Town ' || i / 10 END, 'r' FROM s")
				r := table.Ops().Resource("places", &resource.Options[place]{Query: table.Support(), Public: true})
				checkPages(t, db, records, r, tt.sort)
			})
		}
	})
}

// checkPages walks through a list and explains what each page is asked by.
func checkPages(t *testing.T, db *sqltx.DB, records *enginetest.Recorder, r *resource.Resource, sort string) {
	t.Helper()
	q, err := query.Parse(map[string][]string{"sort": {sort}, "limit": {"40"}}, &query.ParseOptions{Support: r.Describe().Query})
	if err != nil {
		t.Fatal(err)
	}
	var all []enginetest.Statement
	seen := 0
	for at := (resource.Position{}); ; {
		var next string
		ran, _ := records.During(func() {
			page, err := r.List(t.Context(), q, at)
			if err != nil {
				t.Fatal(err)
			}
			defer page.Release()
			seen, next = seen+len(page.Entries), page.Next
		})
		all = append(all, ran...)
		if next == "" {
			break
		}
		at.After = next
	}
	if seen != 500 || len(all) < 500/40 {
		t.Errorf("%d items were seen by %d statements", seen, len(all))
	}
	for i, statement := range all {
		plan := explain(t, db, statement)
		for _, bad := range []string{"Sort", "TEMP B-TREE", "Seq Scan", "Filter:", "MULTI-INDEX"} {
			if strings.Contains(plan, bad) {
				t.Errorf("%s\nis answered by %s", statement, plan)
			}
		}
		if !strings.Contains(plan, "serving") || i > 0 && !strings.Contains(plan, "SEARCH") && !strings.Contains(plan, "Index Cond") {
			t.Errorf("%s\nis answered by %s", statement, plan)
		}
	}
}

// explain returns the plan of a statement for a large table: sequential scans of the small one are
// disabled.
func explain(t *testing.T, db *sqltx.DB, statement enginetest.Statement) string {
	t.Helper()
	var lines []string
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		prefix := "EXPLAIN QUERY PLAN "
		if db.Dialect() == sqltx.PostgreSQL {
			prefix = "EXPLAIN (COSTS off) "
			if _, err := db.Writer(ctx).ExecContext(ctx, "SET LOCAL enable_seqscan = off; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off"); err != nil {
				return err
			}
		}
		rows, err := db.Writer(ctx).QueryContext(ctx, prefix+statement.Text, statement.Args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var line string
			var ignored int
			dest := []any{&line}
			if db.Dialect() == sqltx.SQLite {
				dest = []any{&ignored, &ignored, &ignored, &line}
			}
			if err := rows.Scan(dest...); err != nil {
				return err
			}
			lines = append(lines, line)
		}
		return rows.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
