package sqltable

// AlterDDL, the starting point of a migration of an existing table. create.go writes new tables.

import (
	"context"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// AlterDDL returns the statements that add the columns which the table does not have, and what
// Options.Search needs, for a file of a migration tool. It executes none. The result is empty if nothing
// is missing, and all of [Table.DDL] if there is no table.
//
// A column that is NOT NULL gets the zero value as its DEFAULT, for the rows that exist and for an
// earlier release that does not know the column and still inserts rows. A type without a zero value in
// SQL has no DEFAULT: add one.
func (t *Table[T]) AlterDDL(ctx context.Context) (string, error) { return t.alterDDL(ctx) }

func (t *untyped) alterDDL(ctx context.Context) (string, error) {
	ctx = sqltx.WithoutSession(ctx)
	columns, err := t.inspect(ctx, t.name)
	if err != nil {
		return "", fmt.Errorf("sqltable: inspect %s: %w", t.name, err)
	}
	if len(columns) == 0 {
		return t.ddl(), nil
	}
	var b strings.Builder
	add := func(c *column) {
		if _, exists := columns[c.spec.Name]; exists || c.computed() || c.generated {
			return
		}
		fmt.Fprintf(&b, "ALTER TABLE %s ADD COLUMN %s %s", t.table, c.expr, t.ddlType(c))
		switch {
		case c.spec.NotNull && c.field == nil && c.spec.Name == t.rev.column:
			b.WriteString(" NOT NULL DEFAULT '0'") // an empty revision is none
		case c.spec.NotNull:
			b.WriteString(" NOT NULL" + t.zeroDefault(c))
		}
		b.WriteString(";\n")
	}
	for _, c := range t.columns {
		add(c)
	}
	if t.modified != nil && t.modified.field == nil {
		add(t.modified)
	}
	if t.deletedAt != nil && t.deletedAt.field == nil {
		add(t.deletedAt)
	}
	if t.rev.column != "" && t.columnNamed(t.rev.column) == nil {
		add(t.revisionColumn())
	}
	missing, err := t.missingSearch(ctx, columns)
	if err != nil {
		return "", fmt.Errorf("sqltable: inspect the search of %s: %w", t.name, err)
	}
	for _, text := range missing {
		b.WriteString(text + ";\n")
	}
	return b.String(), nil
}

// zeroDefault returns the DEFAULT clause with the value that the store writes for a zero field, or "" if
// it is not known.
func (t *untyped) zeroDefault(c *column) string {
	switch {
	case c.form == jsonForm && c.field != nil:
		kind := c.field.Type.GoType.Kind()
		literal := map[reflect.Kind]string{reflect.Slice: "[]", reflect.Map: "{}", reflect.Struct: "{}"}[kind]
		if literal == "" {
			literal = "null"
		}
		return " DEFAULT '" + literal + "'"
	case c.spec.Kind == sqlquery.Time && c.form == scalarForm && c.spec.Layout != "":
		return " DEFAULT '" + time.Time{}.Format(c.spec.Layout) + "'"
	case c.spec.Kind == sqlquery.Time && c.form == scalarForm && c.spec.Unit >= time.Microsecond:
		units := time.Time{}.Unix() * int64(time.Second/c.spec.Unit)
		return " DEFAULT " + strconv.FormatInt(units, 10)
	case t.dialect == sqltx.PostgreSQL:
		return zeroPostgres(c)
	case c.form == bytesForm:
		return " DEFAULT x''"
	case c.spec.Kind == sqlquery.Time && c.spec.Unit == 0:
		return " DEFAULT '" + time.Time{}.Format(sqlquery.TimeLayout) + "'"
	case c.spec.Kind == sqlquery.Duration:
		return " DEFAULT 'PT0S'"
	case c.sqlType(t.dialect) == "TEXT":
		return " DEFAULT ''"
	}
	return " DEFAULT 0"
}

// zeroPostgres is zeroDefault for the types of PostgreSQL. A date, a UUID, an enum and others have no
// zero value.
func zeroPostgres(c *column) string {
	if c.typ.Array {
		return " DEFAULT '{}'"
	}
	switch c.typ.Name {
	case sqltype.SmallInt, sqltype.Integer, sqltype.BigInt, sqltype.Numeric, sqltype.Real, sqltype.Double:
		return " DEFAULT 0"
	case sqltype.Boolean:
		return " DEFAULT false"
	case sqltype.Text, sqltype.VarChar, sqltype.Char, sqltype.CIText, sqltype.Bytes:
		return " DEFAULT ''"
	case sqltype.Interval:
		return " DEFAULT 'PT0S'"
	case sqltype.TimestampTZ:
		return " DEFAULT '0001-01-01 00:00:00+00'"
	case sqltype.Timestamp:
		return " DEFAULT '0001-01-01 00:00:00'"
	}
	return ""
}
