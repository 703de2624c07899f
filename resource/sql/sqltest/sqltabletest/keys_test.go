package sqltabletest

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// orderItem has a composite id of a text and a number.
type orderItem struct {
	ID      string `json:"id" readOnly:"true" id:"orderId,lineNo"`
	OrderID string `json:"orderId"`
	LineNo  int64  `json:"lineNo"`
	Product string `json:"product"`
	Qty     int64  `json:"qty" default:"1"`
}

// TestComposite writes and reads items with a composite id over REST.
func TestComposite(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		table := sqltable.New[orderItem](db, "order_items", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := table.Ops().Resource("order-items", &resource.Options[orderItem]{Query: table.Support(), Public: true})
		server := httptest.NewServer(rest.New(resource.NewCatalog(nil, r), nil))
		t.Cleanup(server.Close)
		for _, tt := range []struct {
			line, doc, want string
		}{
			{"POST /order-items", `{"orderId":"a,b","lineNo":2,"product":"pen"}`,
				`201 {"id":"a~1b,2","orderId":"a,b","lineNo":2,"product":"pen","qty":1}`},
			{"PUT /order-items/7,10", `{"product":"ink"}`,
				`201 {"id":"7,10","orderId":"7","lineNo":10,"product":"ink","qty":1}`},
			{"PUT /order-items/7,9", `{"product":"ink"}`,
				`201 {"id":"7,9","orderId":"7","lineNo":9,"product":"ink","qty":1}`},
			{"PUT /order-items/7,10", `{"lineNo":10,"product":"ink","qty":2}`,
				`200 {"id":"7,10","orderId":"7","lineNo":10,"product":"ink","qty":2}`},
			{"GET /order-items?limit=1&sort=-id", "",
				`200 {"items":[{"id":"a~1b,2","orderId":"a,b","lineNo":2,"product":"pen","qty":1}]`},
			{`GET /order-items?id.in=7\,9,7\,10&fields=qty`, "", `200 {"items":[{"qty":1},{"qty":2}]}`},
			{"POST /order-items", `{"orderId":"7","lineNo":9,"product":"pen"}`, `409`},
			{"DELETE /order-items/7,10", "", "204"},
			{"GET /order-items/7,10", "", "410"},
			{"PUT /order-items/7,10", `{"product":"ink"}`, "410"},
			{"GET /order-items/7,11", "", "404"},
		} {
			method, path, _ := strings.Cut(tt.line, " ")
			req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			status, body := exchange(t, req)
			if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: got %s, want %s", tt.line, got, tt.want)
			}
		}
	})
}

// TestCompositePlans looks at the plans of the statements that find items by a composite id.
func TestCompositePlans(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, records := enginetest.Record(t, e)
		table := sqltable.New[orderItem](db, "order_items", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		var items []resource.Item[orderItem]
		for i := range 5000 {
			v := orderItem{OrderID: fmt.Sprintf("o%04d", i/5), LineNo: int64(i % 5), Product: "pen"}
			items = append(items, resource.Item[orderItem]{ID: fmt.Sprintf("%s,%d", v.OrderID, v.LineNo), Value: v})
		}
		ops := table.Ops()
		if err := ops.InsertMany(t.Context(), items); err != nil {
			t.Fatal(err)
		}
		enginetest.MustExec(t, db, "ANALYZE")
		ids := []string{"o0003,1", "o0100,4", "o0999,0", "x,1", "o0001,01", "bad"}
		found := map[string]bool{}
		ran, _ := records.During(func() {
			for it, err := range ops.GetMany(t.Context(), ids) {
				if err != nil {
					t.Fatal(err)
				}
				found[it.ID] = true
			}
			if _, err := ops.Get(t.Context(), "o0003,1"); err != nil {
				t.Fatal(err)
			}
			q := query.Query{Limit: 10, Sort: []query.Order{{Field: "orderId"}, {Field: "lineNo"}},
				After: []any{"o0100", int64(3)}}
			for _, err := range ops.List(t.Context(), q) {
				if err != nil {
					t.Fatal(err)
				}
			}
		})
		if diff := cmp.Diff(map[string]bool{"o0003,1": true, "o0100,4": true, "o0999,0": true}, found); diff != "" {
			t.Errorf("GetMany (-want +got):\n%s", diff)
		}
		for _, s := range ran {
			plan := planOf(t, db, s)
			if strings.Contains(plan, "Seq Scan on order_items") || strings.Contains(plan, "SCAN order_items\n") ||
				strings.Contains(plan, "Sort") || strings.Contains(plan, "TEMP B-TREE") {
				t.Errorf("%s\nhas the plan\n%s", s, plan)
			}
		}
	})
}

// TestTypedKeys sends ids that columns of other types than text and bigint cannot hold.
func TestTypedKeys(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := ownTypedKeys().open(t, e)
		r := table.Ops().Resource("sizes", &resource.Options[typedKey]{Query: table.Support(), Public: true})
		compounds := ownCompounds().open(t, e)
		c := compounds.Ops().Resource("compounds", &resource.Options[compound]{Query: compounds.Support(), Public: true})
		server := httptest.NewServer(rest.New(resource.NewCatalog(nil, r, c), nil))
		t.Cleanup(server.Close)
		const id = "01890a5d-ac96-774b-bcce-b302099a8057,2024-02-29,"
		for _, tt := range []struct{ line, doc, want string }{
			{"PUT /sizes/" + id + "m", `{"qty":1}`, `201 {"id":"` + id + `m"`},
			{"GET /sizes/" + id + "m", "", "200"},
			{"GET /sizes/" + id + "xl", "", "404"},
			{"DELETE /sizes/" + id + "s", "", "404"},
			{"GET /sizes/01890A5D-ac96-774b-bcce-b302099a8057,2024-02-29,m", "", "404"},
			{"PUT /sizes/01890A5D-ac96-774b-bcce-b302099a8057,2024-02-29,m", `{"qty":1}`, "4"},
			{"GET /sizes/01890a5d-ac96-774b-bcce-b302099a8057,2024-02-30,m", "", "404"},
			{"GET /sizes?id=" + id + "m&fields=qty", "", `200 {"items":[{"qty":1}]}`},
			{"GET /sizes?id.ne=" + id + "l&sort=-id&fields=size", "", `200 {"items":[{"size":"m"}]}`},
			{"DELETE /sizes/" + id + "m", "", "204"},
			{"GET /sizes/" + id + "m", "", "410"},
			{"PUT /compounds/a,32768", `{"product":"pen","qty":1,"note":null}`, "404"},
			{"PUT /compounds/a,-32768", `{"product":"pen","qty":1,"note":null}`, "201"},
			{"PUT /compounds/a%00,1", `{"product":"pen","qty":1,"note":null}`, "4"},
		} {
			method, path, _ := strings.Cut(tt.line, " ")
			req, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, strings.NewReader(tt.doc))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			status, body := exchange(t, req)
			if got := fmt.Sprint(status, " ", body); !strings.HasPrefix(got, tt.want) {
				t.Errorf("%s: got %s, want %s", tt.line, got, tt.want)
			}
		}
	})
}

// TestCompositeCheckPlans explains the order and the filters by a composite id.
func TestCompositeCheckPlans(t *testing.T) {
	support := query.Support{Sort: []string{"id"}, Filter: map[string][]query.Op{"id": {query.Eq, query.Ne, query.In}}}
	const index = "CREATE INDEX `order_items_order_id_idx` ON `order_items` (`order_id` COLLATE BINARY, `line_no`)"
	want := map[sqltx.Dialect][]string{
		sqltx.SQLite: {"sort=id, sort=-id, id sorts or reads the whole table: " + index},
		sqltx.PostgreSQL: {`sort=id, sort=-id sorts or reads the whole table: CREATE INDEX "order_items_order_id_c_idx" ` +
			`ON "order_items" ("order_id" COLLATE "C", "line_no"), ` +
			`or sort in the collation of the column, by Options.Collation: "default"`},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		order := map[sqltx.Dialect]string{sqltx.SQLite: "TEXT COLLATE NOCASE"}[e.Dialect]
		if order == "" {
			order = "text"
		}
		enginetest.MustExec(t, db, "CREATE TABLE order_items (order_id "+order+" NOT NULL, line_no bigint NOT NULL, "+
			"product text NOT NULL, qty bigint NOT NULL, rev text NOT NULL, PRIMARY KEY (order_id, line_no))")
		table := sqltable.New[orderItem](db, "order_items", &sqltable.Options{Forget: true})
		check := func() (fixes, found []string) {
			err := table.CheckWith(t.Context(), &sqltable.CheckOptions{Support: support,
				Warn: func(d sqltable.Difference) {
					found, fixes = append(found, d.String()), append(fixes, d.Fix)
				}})
			if err != nil {
				t.Fatal(err)
			}
			return fixes, found
		}
		fixes, found := check()
		if diff := cmp.Diff(want[e.Dialect], found); diff != "" {
			t.Errorf("differences (-want +got):\n%s", diff)
		}
		enginetest.MustExec(t, db, fixes...)
		if _, found := check(); found != nil {
			t.Errorf("after the fixes it reports %s", found)
		}
	})
}

// planOf returns the plan of a statement, with the costs as they are.
func planOf(t *testing.T, db *sqltx.DB, s enginetest.Statement) string {
	t.Helper()
	command := "EXPLAIN "
	if db.Dialect() == sqltx.SQLite {
		command = "EXPLAIN QUERY PLAN "
	}
	rows, err := db.Reader(t.Context()).QueryContext(t.Context(), command+s.Text, s.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		columns, _ := rows.Columns()
		dest := make([]any, len(columns))
		for i := range dest {
			dest[i] = new(any)
		}
		if err := rows.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprint(*dest[len(dest)-1].(*any)))
	}
	return strings.Join(lines, "\n") + "\n"
}

// TestCompositeCheck gives tables to Check that lack something for a composite id.
func TestCompositeCheck(t *testing.T) {
	const columns = "order_id text NOT NULL, line_no bigint NOT NULL, product text NOT NULL, qty bigint NOT NULL, " +
		"rev text NOT NULL"
	for _, tt := range []struct {
		name, table, index, want string
	}{
		{"primary key", ", PRIMARY KEY (line_no, order_id)", "", ""},
		{"unique index", "", "CREATE UNIQUE INDEX i ON order_items (order_id, line_no)", ""},
		{"no index", "", "", "columns order_id, line_no are not unique"},
		{"more columns", ", UNIQUE (order_id, line_no, qty)", "", "columns order_id, line_no are not unique"},
		{"fewer columns", ", UNIQUE (order_id)", "", "columns order_id, line_no are not unique"},
		{"partial index", "", "CREATE UNIQUE INDEX i ON order_items (order_id, line_no) WHERE qty > 1",
			"columns order_id, line_no are not unique"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
				db := e.OpenSchema(t)
				enginetest.MustExec(t, db, "CREATE TABLE order_items ("+columns+tt.table+")")
				if tt.index != "" {
					enginetest.MustExec(t, db, tt.index)
				}
				err := sqltable.New[orderItem](db, "order_items", &sqltable.Options{Forget: true}).Check(t.Context())
				if got := fmt.Sprint(err); tt.want == "" && err != nil || !strings.Contains(got, tt.want) {
					t.Errorf("Check returned %v, want %q", err, tt.want)
				}
			})
		})
	}
}

// exchange sends a request, and returns the status and the body.
func exchange(t *testing.T, req *http.Request) (status int, body string) {
	t.Helper()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text)
}
