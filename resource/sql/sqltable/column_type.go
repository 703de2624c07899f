package sqltable

// The SQL types of columns: those of the tag sql and of Options.Columns, and the defaults. column.go
// calls setType, reading and casting; create.go and check.go call sqlType.

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// defaultTypes has the types of columns without Column.Type in PostgreSQL.
var defaultTypes = map[sqlquery.Kind]string{
	sqlquery.Text: sqltype.Text, sqlquery.Integer: sqltype.BigInt, sqlquery.Number: sqltype.Double,
	sqlquery.Bool: sqltype.Boolean, sqlquery.Time: sqltype.TimestampTZ, sqlquery.UUID: sqltype.UUID,
	sqlquery.Decimal: sqltype.Numeric, sqlquery.Duration: sqltype.Interval,
}

// setType sets typ, and the form of lists. Package sqlquery checks the types of scalars and elements,
// and its panic names the field.
func (c *column) setType(d sqltx.Dialect) (err error) {
	c.typ = sqltype.Of(defaultTypes[c.spec.Kind])
	switch {
	case c.form == bytesForm:
		c.typ = sqltype.Of(sqltype.Bytes)
	case c.form == jsonForm:
		c.typ = sqltype.Of(sqltype.JSONB)
	case c.spec.Layout != "":
		c.typ = sqltype.Of(sqltype.Text)
	case c.spec.Unit != 0:
		c.typ = sqltype.Of(sqltype.BigInt)
	}
	if c.spec.Type != "" {
		if c.typ, err = sqltype.Parse(c.spec.Type); err != nil {
			return fmt.Errorf("the tag sql: %w", err)
		}
	}
	if d == sqltx.SQLite && c.typ.Name == sqltype.Real && !c.typ.Array {
		c.typ = sqltype.Of(sqltype.Double) // REAL of SQLite has 64 bits
	}
	isJSON := c.typ.Name == sqltype.JSON || c.typ.Name == sqltype.JSONB
	isRounded := c.scalar() && c.spec.Kind == sqlquery.Decimal && (c.typ.Size < 0 || c.typ.Size > 15)
	switch {
	case c.form == bytesForm && c.typ.Name != sqltype.Bytes:
		return fmt.Errorf("%s does not store bytes; use bytea", c.typ.SQL)
	case c.form == jsonForm && c.typ.Array && c.spec.List:
		c.setArray(d)
	case c.form == jsonForm && (!isJSON || c.typ.Array):
		return fmt.Errorf("%s does not store objects and lists; use jsonb, or an array for a list", c.typ.SQL)
	case isRounded && d == sqltx.SQLite:
		return errors.New(`SQLite stores decimals of at most 15 digits: add the tag precision:"15,2" or less`)
	case c.scalar() && (isJSON || c.typ.Name == sqltype.Bytes || c.typ.Array):
		return fmt.Errorf("%s does not store a scalar", c.typ.SQL)
	}
	return nil
}

// isText reports whether the column has a collation, and the order of its texts.
func (c *column) isText() bool {
	return (c.typ.Name == sqltype.Text || c.typ.Name == sqltype.VarChar) && !c.typ.Array
}

// setArray makes the column an array of PostgreSQL, and its elements columns of their own. SQLite
// stores JSON.
func (c *column) setArray(d sqltx.Dialect) {
	if d == sqltx.SQLite {
		return
	}
	c.form = arrayForm
	elem := c.spec
	elem.List, elem.NotNull, elem.Type = false, !c.field.Type.ElemNullable, c.typ.Elem().SQL
	c.elem = &column{field: c.field, spec: elem, typ: c.typ.Elem()}
	c.elem.noEmpty = c.elem.hasNoEmpty(d)
}

// decimalType returns the type of a decimal, with the digits of the tag precision.
func decimalType(f *schema.Field) string {
	if f.Precision == 0 {
		return sqltype.Numeric
	}
	return fmt.Sprintf("numeric(%d,%d)", f.Precision, f.Scale)
}

// sqlType returns the type of the column in a new table. The types of SQLite are those that STRICT
// allows.
func (c *column) sqlType(d sqltx.Dialect) string {
	switch {
	case d == sqltx.PostgreSQL:
		return c.typ.SQL
	case c.form == bytesForm:
		return "BLOB"
	case c.form == jsonForm || c.spec.Layout != "":
		return "TEXT"
	case c.spec.Unit != 0:
		return "INTEGER"
	}
	switch c.spec.Kind {
	case sqlquery.Integer, sqlquery.Bool:
		return "INTEGER"
	case sqlquery.Number, sqlquery.Decimal:
		return "REAL"
	}
	return "TEXT"
}

// casting returns the cast of arguments in PostgreSQL. Drivers encode some types in different ways,
// so those are converted from text. The length of a varchar is not in it, because a cast truncates.
func (c *column) casting() string {
	switch name := c.typ.Name; {
	case c.form == arrayForm && name == sqltype.Numeric:
		return "::text::numeric[]"
	case c.form == arrayForm && name == sqltype.VarChar || c.form == arrayForm && name == sqltype.Char:
		return "::text::text[]"
	case c.form == arrayForm:
		return "::text::" + c.typ.SQL
	case name == sqltype.VarChar || name == sqltype.Char || name == sqltype.CIText:
		return "::text"
	case name == sqltype.SmallInt || name == sqltype.Integer:
		return "::bigint"
	case name == sqltype.Numeric:
		return "::text::numeric"
	case slices.Contains([]string{sqltype.Text, sqltype.BigInt, sqltype.Double, sqltype.Real, sqltype.Boolean,
		sqltype.TimestampTZ, sqltype.UUID, sqltype.Bytes, sqltype.JSON, sqltype.JSONB}, name):
		return "::" + c.typ.SQL
	}
	return "::text::" + c.typ.SQL
}

// reading returns the expression in SELECT in PostgreSQL. Drivers return arrays in different ways,
// and the text of an interval depends on the session.
func (c *column) reading() string {
	switch {
	case c.form == arrayForm:
		return "to_json(" + c.expr + ")::text"
	case c.typ.Name == sqltype.Interval:
		parts := make([]string, 0, 6)
		for _, part := range []string{"year", "month", "day", "hour", "minute", "microseconds"} {
			parts = append(parts, "extract("+part+" FROM "+c.expr+")")
		}
		return "(" + strings.Join(parts, " || ' ' || ") + ")"
	}
	return c.expr
}

// revisionColumn returns the column of the revision for DDL and Check, if it is not that of a field.
func (t *untyped) revisionColumn() *column {
	c := &column{
		expr: t.rev.expr, spec: sqlquery.Column{Name: t.rev.column, Kind: t.rev.kind, NotNull: true}}
	c.typ = sqltype.Of(defaultTypes[t.rev.kind])
	return c
}
