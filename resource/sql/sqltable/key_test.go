package sqltable_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
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

func TestCompositeDDL(t *testing.T) {
	t.Parallel()
	table := sqltable.New[orderItem](offline(sqltx.PostgreSQL), "order_items", &sqltable.Options{
		Index: []string{"orderId", "product", "lineNo"}, References: map[string]string{"orderId": "orders"}})
	want := `CREATE TABLE "order_items" (
	"order_id" text COLLATE "C" NOT NULL REFERENCES "orders",
	"line_no" bigint NOT NULL,
	"product" text COLLATE "C" NOT NULL,
	"qty" bigint NOT NULL,
	"rev" text COLLATE "C" NOT NULL,
	PRIMARY KEY ("order_id", "line_no")
);
CREATE INDEX "order_items_product_idx" ON "order_items" ("product", "order_id", "line_no");
CREATE INDEX "order_items_line_no_idx" ON "order_items" ("line_no", "order_id");
CREATE TABLE "order_items_deleted" (
	"order_id" text COLLATE "C" NOT NULL,
	"line_no" bigint NOT NULL,
	"deleted_at" timestamptz NOT NULL,
	PRIMARY KEY ("order_id", "line_no")
);
`
	if diff := cmp.Diff(want, table.DDL()); diff != "" {
		t.Errorf("DDL (-want +got):\n%s", diff)
	}
}

// TestCompositeOperations lists what a table with a composite id supports.
func TestCompositeOperations(t *testing.T) {
	t.Parallel()
	table := sqltable.New[orderItem](offline(sqltx.SQLite), "order_items", nil)
	ops := table.Ops()
	if ops.Create != nil || ops.Insert == nil || ops.InsertMany == nil {
		t.Error("a table with a composite id has Insert and InsertMany, and no Create")
	}
	support := table.Support()
	want := []query.Op{query.Eq, query.Ne, query.In, query.NotIn}
	if diff := cmp.Diff(want, support.Filter["id"]); diff != "" {
		t.Errorf("operators of id (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"orderId", "lineNo", "product", "qty", "id"}, support.Sort); diff != "" {
		t.Errorf("sort keys (-want +got):\n%s", diff)
	}
}

// TestKeyColumns has the types of columns that an id may have.
func TestKeyColumns(t *testing.T) {
	t.Parallel()
	const respells = "and an id must have one spelling; use text"
	for _, tt := range []struct {
		name string
		make func()
		want string // in the panic; empty if there is none
	}{
		{"uuid and date", newKeyed[struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  string `json:"a" format:"uuid"`
			B  string `json:"b" format:"date"`
		}], ""},
		{"smallint and varchar", newKeyed[struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  int    `json:"a" sql:"smallint"`
			B  string `json:"b" sql:"varchar(8)"`
		}], ""},
		{"enum", newKeyed[struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  int    `json:"a"`
			B  string `json:"b" sql:"tier" enum:"free,pro"`
		}], ""},
		{"enum without labels", newKeyed[struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  int    `json:"a"`
			B  string `json:"b" sql:"tier"`
		}], `field "b" of the id has the type "tier": add the tag enum with its labels`},
		{"citext", newKeyed[struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  string `json:"a" sql:"citext"`
			B  int    `json:"b"`
		}], `field "a" of the id has the type citext, ` + respells},
		{"time", newKeyed[struct {
			ID string `json:"id" readOnly:"true" id:"a,b"`
			A  int    `json:"a"`
			B  string `json:"b" format:"time-local"`
		}], `field "b" of the id has the type time, ` + respells},
		{"inet alone", newKeyed[struct {
			ID string `json:"id" sql:"inet"`
		}], `id field "id" has the type inet, ` + respells},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				got := ""
				if p := recover(); p != nil {
					got = fmt.Sprint(p)
				}
				if !strings.Contains(got, tt.want) || (got == "") != (tt.want == "") {
					t.Errorf("New panicked with %q, want %q", got, tt.want)
				}
			}()
			tt.make()
		})
	}
}

func newKeyed[T any]() { sqltable.New[T](offline(sqltx.PostgreSQL), "keyed", nil) }
