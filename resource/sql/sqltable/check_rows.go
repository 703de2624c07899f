package sqltable

// Checks of the rows of a table, of its rights and of its defaults. check.go calls them.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// rightsPostgres selects whether a table is partitioned, whether the user may insert, update and delete, and
// the columns that it may not read.
const rightsPostgres = `
SELECT c.relkind = 'p', has_any_column_privilege(c.oid, 'INSERT'), has_any_column_privilege(c.oid, 'UPDATE'),
	has_table_privilege(c.oid, 'DELETE'), coalesce((SELECT json_agg(a.attname ORDER BY a.attnum)
		FROM pg_attribute a WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		AND NOT has_column_privilege(c.oid, a.attnum, 'SELECT')), '[]')::text
FROM pg_class c WHERE c.oid = to_regclass($1::text)`

// checkRights reports a column that the user may not read, and warns of operations that it may not execute.
// It also reports a partitioned table with XMin.
func (t *untyped) checkRights(ctx context.Context, i *inspection) error {
	if t.dialect == sqltx.SQLite {
		return nil
	}
	var partitioned, inserts, updates, deletes bool
	var text string
	found, err := t.queryRow(ctx, t.db.Writer(ctx), rightsPostgres, []any{t.table},
		&partitioned, &inserts, &updates, &deletes, &text)
	if err != nil || !found {
		return err
	}
	var hidden []string
	if err := json.Unmarshal([]byte(text), &hidden); err != nil {
		return err
	}
	hidden = slices.DeleteFunc(hidden, func(name string) bool { return !slices.Contains(i.used, name) })
	if i.hidden = len(hidden) > 0; i.hidden {
		i.add("the database user has no right to SELECT %s: grant it, or every read fails", firstOf(hidden))
	}
	if partitioned && t.rev.system {
		i.add("the table is partitioned, so every write with Options.Rev XMin fails: " +
			"set Rev to a column or to Content")
	}
	if t.opts.ReadOnly {
		return nil
	}
	for _, right := range []struct {
		name, refused   string
		granted, needed bool
	}{
		{"INSERT", "the creation of items", inserts, true},
		{"UPDATE", "the change of items", updates, true},
		{"UPDATE", "the deletion of items", updates, t.deletedAt != nil},
		{"DELETE", "the deletion of items", deletes, t.deletedAt == nil && !t.opts.NoDelete},
	} {
		if right.needed && !right.granted {
			i.warn("the database user has no right to %s, so %s is refused with 403",
				right.name, right.refused)
		}
	}
	return nil
}

// checkReadable warns of stored values that a field cannot have, and of rows without a usable id. It reads a
// sample, without texts, documents and bytes, which may be large. The rows of a table without a unique key
// must not repeat one: pages would lose rows.
func (t *untyped) checkReadable(ctx context.Context, i *inspection) error {
	if t.db.HasSession() || len(i.faults) > 0 { // the statement may fail
		return nil
	}
	columns := slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
		isText := c.scalar() && c.spec.Kind == sqlquery.Text
		return !c.inKey && c.form != arrayForm && (isText || !t.canBeUnreadable(c))
	})
	statement := t.selecting(columns) + t.firstRows()
	warned := map[*column]bool{}
	for r, err := range t.query(ctx, t.db.Reader(ctx), columns, statement, nil) {
		if err != nil {
			return err
		}
		bad := r.bad
		if t.hasEmptyKey(r) {
			bad = append(bad, t.key[0])
		}
		for _, c := range bad {
			if warned[c] {
				continue
			}
			warned[c] = true
			if c.inKey {
				i.warn("column %s has values that are no id, so lists leave out their rows", c.spec.Name)
				continue
			}
			i.warn("column %s has values that%s cannot have, as in the item %q: "+
				"clients see %s in their place", c.spec.Name, ofField(c), t.idField.Compose(r.value), seen(c))
		}
	}
	return t.checkRepeated(ctx, i)
}

// firstRows returns the end of a SELECT of the rows that checkReadable reads.
func (t *untyped) firstRows() string {
	c, _ := t.tr.Translate(query.Query{Filter: t.living(query.Filter{})}) // it has no fields
	return fmt.Sprint(c.String(), " LIMIT ", maxSampleRows)
}

// seen describes the placeholder of a column.
func seen(c *column) string {
	if c.field != nil && c.field.Nullable {
		return "null"
	}
	return "a placeholder"
}

// canBeUnreadable reports whether the type of a scalar column has values that its field cannot have.
func (t *untyped) canBeUnreadable(c *column) bool {
	if !c.scalar() {
		return false
	}
	switch c.spec.Kind {
	case sqlquery.Number, sqlquery.Time:
		return true
	case sqlquery.Integer:
		return t.dialect == sqltx.SQLite ||
			c.field != nil && (c.field.Type.Bits < 64 || c.field.Type.Unsigned)
	}
	return t.dialect == sqltx.SQLite ||
		c.field != nil && !isPlainText(c.field) && c.spec.Kind == sqlquery.Text
}

// checkRepeated reports keys that repeat in a view or table without a unique index, in a sample.
func (t *untyped) checkRepeated(ctx context.Context, i *inspection) error {
	if !t.opts.ReadOnly || len(t.key) == 1 && i.columns[t.key[0].spec.Name].unique {
		return nil // checkKeys reports other tables
	}
	var exprs, names []string
	for n, expr := range t.keyExprs("") {
		names = append(names, fmt.Sprint("k", n))
		exprs = append(exprs, expr+" AS "+names[n])
	}
	list := strings.Join(names, ", ")
	statement := fmt.Sprintf("SELECT 1 FROM (SELECT %s FROM %s%s) AS s "+
		"GROUP BY %s HAVING count(*) > 1 LIMIT 1", strings.Join(exprs, ", "), t.table, t.firstRows(), list)
	var one int
	repeated, err := t.queryRow(ctx, t.db.Reader(ctx), statement, nil, &one)
	if repeated {
		i.add("several rows have the same %s, which holds the id: pages lose rows; "+
			"use columns that are unique", strings.Join((&uniqueKey{columns: t.key}).names(), ", "))
	}
	return err
}

// checkDefaults reports columns with a DEFAULT and a field that clients cannot set, because an INSERT has the
// zero value in place of the DEFAULT. Options.Before may set a text or a number; the year 1 is never
// intended.
func (t *untyped) checkDefaults(ctx context.Context, i *inspection) error {
	for _, c := range t.columns {
		f := i.columns[c.spec.Name]
		if c.computed() || t.opts.ReadOnly || !t.isWritten(c) || !c.field.ReadOnly || c.field.Set != "" ||
			c.field.StoreDefault || !f.filled || f.generated {
			continue
		}
		expr, err := t.defaultOf(ctx, c.spec.Name)
		if err != nil {
			return err
		}
		if isZeroDefault(expr) {
			continue
		}
		if c.scalar() && c.spec.Kind == sqlquery.Time && !c.field.Nullable && !c.storesNullForZero() {
			i.add("column %s has a DEFAULT, but new items have the year 1, "+
				"because%s is readOnly and no tag sets it: "+
				`tag it default:"db" or set:"created"`, c.spec.Name, ofField(c))
			continue
		}
		i.warn("column %s has a DEFAULT, but new items have the zero value "+
			"unless Options.Before sets%s, which is readOnly: "+
			`tag it default:"db"`, c.spec.Name, ofField(c))
	}
	return nil
}

// defaultOf returns the expression of the DEFAULT of a column, or "".
func (t *untyped) defaultOf(ctx context.Context, name string) (expr string, err error) {
	statement := `SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a
		ON a.attrelid = d.adrelid AND a.attnum = d.adnum
		WHERE a.attrelid = to_regclass($1::text) AND a.attname = $2::text`
	list := []any{t.table, name}
	if t.dialect == sqltx.SQLite {
		_, schema, table := inSchema("", t.name)
		statement = "SELECT dflt_value FROM pragma_table_xinfo(?1, ?2) " +
			"WHERE name = ?3 AND dflt_value IS NOT NULL"
		list = []any{table, schema, name}
	}
	_, err = t.queryRow(ctx, t.db.Writer(ctx), statement, list, &expr)
	return expr, err
}

// isZeroDefault reports whether an expression is the zero value, as AlterDDL writes it, or empty.
func isZeroDefault(expr string) bool {
	value, _, _ := strings.Cut(expr, "::") // the cast of PostgreSQL
	value = strings.Trim(value, "'()")
	return strings.HasPrefix(value, "0001-01-01") ||
		slices.Contains([]string{"", "0", "0.0", "false", "FALSE", "NULL", "{}", "[]"}, value)
}
