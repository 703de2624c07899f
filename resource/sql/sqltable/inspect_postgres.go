package sqltable

// Inspection of tables of PostgreSQL. check.go calls inspect, which also dispatches to
// inspect_sqlite.go. inspect_type.go compares the types.

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// inspectPostgres selects the columns of a table, and no rows if the table does not exist. Only
// indexes that ON CONFLICT accepts count as unique: on a single column and all rows, valid and not
// deferrable. The chain leads from a domain to its base type. That or its elements may be an enum.
// to_regclass returns NULL for a name that does not exist, instead of an error that would abort
// the transaction.
const inspectPostgres = `
SELECT a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull OR b.filled,
	a.atthasdef OR a.attidentity <> '' OR b.defaults,
	EXISTS (SELECT 1 FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisunique AND i.indnkeyatts = 1
		AND i.indkey[0] = a.attnum AND i.indpred IS NULL AND i.indisvalid AND i.indimmediate),
	a.attgenerated <> '' OR a.attidentity = 'a', b.typ, b.schema, b.name, b.visible, b.labels
FROM pg_attribute a CROSS JOIN LATERAL (
	WITH RECURSIVE chain (oid, mod, depth) AS (
		SELECT a.atttypid, a.atttypmod, 0
		UNION ALL
		SELECT t.typbasetype, t.typtypmod, c.depth + 1 FROM chain c JOIN pg_type t ON t.oid = c.oid
		WHERE t.typtype = 'd')
	SELECT format_type(c.oid, c.mod) AS typ, n.nspname AS schema, e.typname AS name,
		pg_type_is_visible(e.oid) AS visible,
		coalesce((SELECT json_agg(l.enumlabel ORDER BY l.enumsortorder) FROM pg_enum l
			WHERE l.enumtypid = e.oid), '[]')::text AS labels,
		EXISTS (SELECT 1 FROM chain d JOIN pg_type t ON t.oid = d.oid WHERE t.typnotnull) AS filled,
		EXISTS (SELECT 1 FROM chain d JOIN pg_type t ON t.oid = d.oid WHERE t.typdefault IS NOT NULL)
			AS defaults
	FROM chain c JOIN pg_type t ON t.oid = c.oid
	JOIN pg_type e ON e.oid = CASE WHEN t.typcategory = 'A' THEN t.typelem ELSE t.oid END
	JOIN pg_namespace n ON n.oid = e.typnamespace ORDER BY c.depth DESC LIMIT 1) b
WHERE a.attrelid = to_regclass($1::text) AND a.attnum > 0 AND NOT a.attisdropped`

// inspect returns the columns of a table. The map is empty if the table does not exist.
func (t *untyped) inspect(ctx context.Context, name string) (map[string]found, error) {
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
		var name, base, labels string
		var f found
		var e enumType
		err := rows.Scan(&name, &f.typ, &f.notNull, &f.filled, &f.unique, &f.generated,
			&base, &e.schema, &e.name, &e.visible, &labels)
		if err == nil {
			err = json.Unmarshal([]byte(labels), &e.labels)
		}
		if err != nil {
			return nil, err
		}
		f.setBase(base, e)
		f.identity = f.filled // a sequence does not repeat numbers; other defaults are not checked
		columns[name] = f
	}
	return columns, rows.Err()
}

// exists reports whether the table exists. It sees tables that were committed after the transaction
// began. to_regclass reads the catalog with a snapshot of its own.
func (t *untyped) exists(ctx context.Context, name string) (there bool, err error) {
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

// longest returns the maximum length of the column's values in characters.
func (c *column) longest() int {
	switch {
	case c.field == nil || c.isRev:
		return len(resource.NewRev())
	case c.typ.Name == sqltype.VarChar && c.typ.Size >= 0:
		return c.typ.Size
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
