package sqltable_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
)

// TestAlterDDLOfTypes adds a column of each type that has a zero value, to a table without a revision.
// Generated columns are not added.
func TestAlterDDLOfTypes(t *testing.T) {
	t.Parallel()
	type wide struct {
		ID      string    `json:"id"`
		Small   int16     `json:"small" sql:"smallint"`
		Real    float32   `json:"real"`
		Price   string    `json:"price" format:"decimal" precision:"12,2"`
		Short   string    `json:"short" maxLength:"9" sql:"varchar(9)"`
		Span    string    `json:"span" format:"duration"`
		Tags    []string  `json:"tags" sql:"text[]"`
		Prices  []string  `json:"prices" format:"decimal"`
		Local   time.Time `json:"local" sql:"timestamp"`
		Year    time.Time `json:"year"`
		Second  time.Time `json:"second"`
		Tier    string    `json:"tier" enum:"free,pro" sql:"tier"`
		Total   string    `json:"total" format:"decimal" readOnly:"true" sql:"numeric,generated"`
		Omitted string    `json:"omitted,omitzero" format:"duration"`
	}
	table := sqltable.New[wide]((&catalog{columns: []catalogColumn{{name: "id", typ: "text"}}}).open(t), "wides",
		&sqltable.Options{Columns: map[string]sqlquery.Column{"year": {Kind: sqlquery.Time, NotNull: true, Layout: "2006"},
			"second": {Kind: sqlquery.Time, NotNull: true, Unit: time.Second}}})
	got, err := table.AlterDDL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := `ALTER TABLE "wides" ADD COLUMN "small" smallint NOT NULL DEFAULT 0;
ALTER TABLE "wides" ADD COLUMN "real" real NOT NULL DEFAULT 0;
ALTER TABLE "wides" ADD COLUMN "price" numeric(12,2) NOT NULL DEFAULT 0;
ALTER TABLE "wides" ADD COLUMN "short" varchar(9) COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE "wides" ADD COLUMN "span" interval NOT NULL DEFAULT 'PT0S';
ALTER TABLE "wides" ADD COLUMN "tags" text[] NOT NULL DEFAULT '{}';
ALTER TABLE "wides" ADD COLUMN "prices" jsonb NOT NULL DEFAULT '[]';
ALTER TABLE "wides" ADD COLUMN "local" timestamp NOT NULL DEFAULT '0001-01-01 00:00:00';
ALTER TABLE "wides" ADD COLUMN "year" text COLLATE "C" NOT NULL DEFAULT '0001';
ALTER TABLE "wides" ADD COLUMN "second" bigint NOT NULL DEFAULT -62135596800;
ALTER TABLE "wides" ADD COLUMN "tier" "tier" NOT NULL;
ALTER TABLE "wides" ADD COLUMN "omitted" interval;
ALTER TABLE "wides" ADD COLUMN "rev" text COLLATE "C" NOT NULL DEFAULT '0';
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("AlterDDL (-want +got):\n%s", diff)
	}
}
