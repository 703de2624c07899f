package sqltable_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestCheckEnums names the tags that a field of an enum needs, and a DEFAULT that is missing.
func TestCheckEnums(t *testing.T) {
	t.Parallel()
	type account struct {
		ID    string   `json:"id"`
		Tier  string   `json:"tier" sql:"tier" default:"db"`
		Level string   `json:"level" enum:"low" sql:"level"`
		Tiers []string `json:"tiers" sql:"tier[]"`
		Shown string   `json:"shown" readOnly:"true" sql:"tier,generated"`
	}
	const labels = `["free","pro"]`
	c := &catalog{columns: []catalogColumn{
		{name: "id", typ: "text", notNull: true, unique: true},
		{name: "tier", typ: "tier", notNull: true, enum: "tier", labels: labels},
		{name: "level", typ: "level", notNull: true, enum: "level", hidden: true, labels: `["low"]`},
		{name: "tiers", typ: "tier[]", notNull: true, enum: "tier", labels: labels},
		{name: "shown", typ: "tier", filled: true, generated: true, enum: "tier", labels: labels},
	}}
	table := sqltable.New[account](c.open(t), "accounts", &sqltable.Options{Rev: sqltable.XMin, Forget: true})
	err := table.Check(t.Context())
	want := "sqltable: the table accounts does not fit sqltable_test.account:" + `
	column tier is tier: tag the field Tier with enum:"free,pro"
	column tier has no default, but field Tier is tagged default:"db"
	column level is level: tag the field Level with sql:"public.level"
	column tiers is tier[]: tag the field Tiers with enum:"free,pro"`
	if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
		t.Errorf("Check (-want +got):\n%s", diff)
	}
}

// TestRefusedTypes panics for columns that cannot hold an id, and for fields that may be empty in a
// column without an empty value.
func TestRefusedTypes(t *testing.T) {
	t.Parallel()
	type enumID struct {
		ID string `json:"id" sql:"tier"`
	}
	type inetID struct {
		ID string `json:"id" sql:"inet"`
	}
	type enumKey struct {
		ID   string `json:"id" readOnly:"true" id:"tier,line"`
		Tier string `json:"tier" sql:"tier"`
		Line int    `json:"line"`
	}
	type emptyDate struct {
		ID   string `json:"id"`
		Born string `json:"born,omitzero" format:"date" sql:"date"`
	}
	type emptyEnum struct {
		ID   string `json:"id"`
		Tier string `json:"tier,omitempty" enum:"free,pro" sql:"tier"`
	}
	readOnly := &sqltable.Options{ReadOnly: true}
	tests := []struct {
		name string
		make func(db *sqltx.DB)
		want string
	}{
		{"an enum", func(db *sqltx.DB) { sqltable.New[enumID](db, "t", nil) }, `the id field "id" has the type "tier"`},
		{"an address", func(db *sqltx.DB) { sqltable.New[inetID](db, "t", nil) }, "has the type inet, and an id must have one spelling"},
		{"a part", func(db *sqltx.DB) { sqltable.New[enumKey](db, "t", readOnly) }, `field "tier" of the id has the type "tier"`},
		{"an address that is read", func(db *sqltx.DB) { sqltable.New[inetID](db, "t", readOnly) }, ""},
		{"a date", func(db *sqltx.DB) { sqltable.New[emptyDate](db, "t", nil) },
			`field Born: it may be empty, which no date is: tag it sql:"date,null" or default:"db"`},
		{"an empty enum", func(db *sqltx.DB) { sqltable.New[emptyEnum](db, "t", nil) }, `tag it sql:"tier,null"`},
	}
	for _, tt := range tests {
		func() {
			defer func() {
				p := recover()
				if text := fmt.Sprint(p); (p == nil) != (tt.want == "") || !strings.Contains(text, tt.want) {
					t.Errorf("%s: New panicked with %s, want %s", tt.name, text, tt.want)
				}
			}()
			tt.make(offline(sqltx.PostgreSQL))
		}()
	}
}

// TestUniqueOmitted leaves out the values that the JSON omits, in the type of the column. Types without an
// empty value have NULL.
func TestUniqueOmitted(t *testing.T) {
	t.Parallel()
	type omitted struct {
		ID   string    `json:"id"`
		At   time.Time `json:"at,omitzero" unique:"true"`
		Born string    `json:"born,omitzero" format:"date" sql:"date,null" unique:"true"`
	}
	ddl := sqltable.New[omitted](offline(sqltx.PostgreSQL), "t", &sqltable.Options{Rev: sqltable.XMin, Forget: true}).DDL()
	want := `CREATE TABLE "t" (
	"id" text COLLATE "C" NOT NULL PRIMARY KEY,
	"at" timestamptz NOT NULL,
	"born" date UNIQUE
);
CREATE UNIQUE INDEX "t_at_key" ON "t" ("at") WHERE "at" <> '0001-01-01 00:00:00+00';
`
	if diff := cmp.Diff(want, ddl); diff != "" {
		t.Errorf("DDL (-want +got):\n%s", diff)
	}
}

// TestCheckMissingColumn names the columns that a field or an option may mean instead of one that is missing.
func TestCheckMissingColumn(t *testing.T) {
	t.Parallel()
	type person struct {
		ID   string `json:"id"`
		Name string `json:"name"`
		Born string `json:"born" db:"Birthday"`
	}
	columns := []catalogColumn{
		{name: "id", typ: "text", notNull: true, unique: true},
		{name: "full_name", typ: "text", notNull: true, filled: true},
		{name: "birthday", typ: "text"},
	}
	many := append([]catalogColumn{{name: "id", typ: "text", notNull: true, unique: true}, {name: "z_name", typ: "text"}},
		make([]catalogColumn, 6)...)
	for n := range many[2:] {
		many[n+2] = catalogColumn{name: fmt.Sprint("c", n), typ: "text"}
	}
	const two = "; no field uses full_name, birthday: tag the field with one of them, such as "
	tests := []struct {
		name    string
		columns []catalogColumn
		opts    sqltable.Options
		want    []string
	}{
		{"fields", columns, sqltable.Options{Rev: sqltable.XMin, Forget: true}, []string{
			"there is no column name for field Name" + two + `db:"full_name"`,
			"there is no column Birthday for field Born; no field uses birthday, full_name: " +
				`tag the field with one of them, such as db:"birthday"`}},
		{"more than five", many, sqltable.Options{Rev: sqltable.XMin, Forget: true}, []string{
			"there is no column name for field Name; no field uses z_name, c0, c1, c2, c3 and 2 more: " +
				`tag the field with one of them, such as db:"z_name"`,
			"there is no column Birthday for field Born; no field uses c0, c1, c2, c3, c4 and 2 more: " +
				`tag the field with one of them, such as db:"c0"`}},
		{"no other column", columns[:1], sqltable.Options{Forget: true}, []string{
			"there is no column name for field Name", "there is no column Birthday for field Born",
			"there is no column rev for the store"}},
		{"options", append(columns[:1:1], catalogColumn{name: "name", typ: "text", notNull: true},
			catalogColumn{name: "Birthday", typ: "text", notNull: true}, catalogColumn{name: "gone", typ: "timestamptz"}),
			sqltable.Options{Modified: "changed", SoftDelete: "deleted_at"}, []string{
				"there is no column changed for the store; no field uses gone: set Options.Modified",
				"there is no column deleted_at for the store; no field uses gone: set Options.SoftDelete",
				"there is no column rev for the store; no field uses gone: set Options.Rev to one of them, to XMin or to Content"}},
	}
	for _, tt := range tests {
		c := &catalog{columns: tt.columns}
		err := sqltable.New[person](c.open(t), "people", &tt.opts).Check(t.Context())
		got := strings.Split(fmt.Sprint(err), "\n\t")[1:]
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: Check (-want +got):\n%s", tt.name, diff)
		}
	}
}
