package sqltable

// Inspection of tables of PostgreSQL. check.go calls inspect and mismatch, which also dispatch to
// inspect_sqlite.go.

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// inspectPostgres selects the columns of a table, and no rows if the table does not exist. Only
// indexes that ON CONFLICT accepts count as unique: on a single column and all rows, valid and not
// deferrable. to_regclass returns NULL for a name that does not exist, instead of an error that
// would abort the transaction.
const inspectPostgres = `
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.atthasdef OR a.attidentity <> '',
	EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indnkeyatts = 1
		AND i.indkey[0] = a.attnum AND i.indpred IS NULL AND i.indisvalid AND i.indimmediate),
	a.attgenerated <> '' OR a.attidentity = 'a'
FROM pg_attribute a WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped`

// inspect returns the columns of a table. The map is empty if the table does not exist.
func (t *Table[T]) inspect(ctx context.Context, name string) (map[string]found, error) {
	if t.dialect == sqltx.SQLite {
		return t.inspectSQLite(ctx, name)
	}
	quoted, err := quoteTable(t.dialect, name)
	if err != nil {
		return nil, err
	}
	rows, err := t.db.Writer(ctx).QueryContext(ctx, inspectPostgres, quoted)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns := map[string]found{}
	for rows.Next() {
		var name string
		var f found
		if err := rows.Scan(&name, &f.typ, &f.notNull, &f.filled, &f.unique, &f.generated); err != nil {
			return nil, err
		}
		f.identity = f.filled // a sequence does not repeat numbers; other defaults are not checked
		columns[name] = f
	}
	return columns, rows.Err()
}

// exists reports whether the table exists. It sees tables that were committed after the transaction
// began. to_regclass reads the catalog with a snapshot of its own.
func (t *Table[T]) exists(ctx context.Context, name string) (there bool, err error) {
	if t.dialect == sqltx.SQLite {
		columns, err := t.inspectSQLite(ctx, name)
		return len(columns) > 0, err
	}
	quoted, err := quoteTable(t.dialect, name)
	if err == nil {
		_, err = t.queryRow(ctx,
			t.db.Writer(ctx), "SELECT to_regclass($1::text) IS NOT NULL", []any{quoted}, &there)
	}
	return there, err
}

// postgresMismatch is mismatch for PostgreSQL. It accepts the types that store every value
// unchanged and can be compared with the arguments of package sqlquery.
func (c *column) postgresMismatch(typ string) string {
	name, size, _ := strings.Cut(typ, "(")
	want := []string{c.sqlType(sqltx.PostgreSQL)}
	switch {
	case c.form == jsonForm:
		want = append(want, "json")
	// format_type returns the full name, with the precision in the middle: timestamp(6) with time
	// zone. Less precision would round times.
	case want[0] == "timestamptz":
		want = []string{"timestamp with time zone"}
		name = typ
		if strings.HasPrefix(typ, "timestamp(6) with") {
			return ""
		}
	case want[0] == "text":
		return c.textMismatch(name, size)
	case c.form == scalarForm && c.spec.Kind == sqlquery.Integer:
		bits := map[string]int{"smallint": 16, "integer": 32, "bigint": 64}[name]
		if bits == 0 || c.field != nil && !fits(c.field, bits) {
			return "bigint"
		}
		return ""
	}
	if slices.Contains(want, name) {
		return ""
	}
	return strings.Join(want, " or ")
}

// textMismatch compares the length of a varchar with the maximum length of the field. citext is
// accepted: arguments are cast to text, so PostgreSQL compares both sides as text.
func (c *column) textMismatch(name, size string) string {
	switch name {
	case "text", "citext":
		return ""
	case "character varying":
		most, err := strconv.Atoi(strings.TrimSuffix(size, ")"))
		if err != nil || c.longest() <= most {
			return ""
		}
		return "text, or the tag maxLength:\"" + strconv.Itoa(most) + "\""
	}
	return "text"
}

// longest returns the maximum length of the column's values in characters.
func (c *column) longest() int {
	switch {
	case c.field == nil || c.isRev:
		return len(resource.NewRev())
	case c.field.MaxLength != nil:
		return *c.field.MaxLength
	case len(c.field.Enum) > 0:
		longest := 0
		for _, value := range c.field.Enum {
			longest = max(longest, utf8.RuneCountInString(fmt.Sprint(value)))
		}
		return longest
	case c.field.Format == "uuid":
		return 36 // RFC 9562 section 4
	}
	return math.MaxInt
}

// bounded reports whether the tags minimum and maximum limit a field to a signed integer of this
// size. A minimum such as -32768 fits, because it is the negative limit.
func bounded(f *schema.Field, bits int) bool {
	lo, okLo := new(big.Int).SetString(f.Minimum, 10)
	hi, okHi := new(big.Int).SetString(f.Maximum, 10)
	most := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	if f.Type.Unsigned && f.Minimum == "" {
		lo, okLo = new(big.Int), true
	}
	return okLo && okHi && hi.Cmp(most) < 0 && lo.CmpAbs(most) <= 0
}
