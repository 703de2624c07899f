package sqltable

// Unique fields: which columns are unique together, their indexes in DDL and Check, and the field of a
// violation. Called by sqltable.go, create.go, check.go and fault.go.

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// uniqueKey is a set of columns that no two rows have in common. The field has the tag unique. Its column
// is the last one, because the others, such as a tenant, are in more conditions of queries.
type uniqueKey struct {
	field   *schema.Field
	columns []*column
}

// addUnique collects the unique keys. The id has its own.
func (t *untyped) addUnique() error {
	for _, c := range t.columns {
		f := c.field
		switch {
		case f.Unique && c.scalar() && c.field != t.idField && !c.computed():
			t.unique = append(t.unique, uniqueKey{f, []*column{c}})
		case f.UniqueWith != nil && !c.computed():
			key := uniqueKey{field: f}
			for _, name := range f.UniqueWith {
				with := t.byField[name]
				if with == nil || with.computed() {
					return fmt.Errorf("field %s: the tag unique names %q, which has no column of its own",
						f.GoName, name)
				}
				key.columns = append(key.columns, with)
			}
			key.columns = append(key.columns, c)
			t.unique = append(t.unique, key)
		}
	}
	return nil
}

// conditions returns which rows the index of a key covers: those without a value that the JSON omits, of
// which any number may exist, and those that are not deleted.
func (t *untyped) conditions(key uniqueKey) (all []string) {
	for _, c := range key.columns {
		if c.partial() {
			all = append(all, c.expr+" <> "+t.zero(c))
		}
	}
	if t.deletedAt != nil && !t.opts.UniqueDeleted {
		all = append(all, t.deletedAt.expr+" IS NULL")
	}
	return all
}

// isInline reports whether UNIQUE in the definition of a column declares its key.
func (t *untyped) isInline(c *column) bool {
	return slices.ContainsFunc(t.unique, func(key uniqueKey) bool {
		return len(key.columns) == 1 && key.columns[0] == c && t.conditions(key) == nil
	})
}

// uniqueConstraints returns the constraints of keys of several columns, for CREATE TABLE.
func (t *untyped) uniqueConstraints() (lines []string) {
	for _, key := range t.unique {
		if len(key.columns) > 1 && t.conditions(key) == nil {
			lines = append(lines, "UNIQUE ("+key.list()+")")
		}
	}
	return lines
}

// uniqueIndexes returns the statements for keys that do not apply to all rows.
func (t *untyped) uniqueIndexes() (all []statement) {
	for _, key := range t.unique {
		if conditions := t.conditions(key); conditions != nil {
			text := "CREATE UNIQUE INDEX " + t.indexName(key.name(), "key") + " ON " + t.within(t.name) +
				" (" + key.list() + ") WHERE " + strings.Join(conditions, " AND ")
			all = append(all, statement{t.name, text})
		}
	}
	return all
}

// list returns the columns of a key for a statement, and name those for a name, as PostgreSQL forms it.
func (key uniqueKey) list() string {
	var exprs []string
	for _, c := range key.columns {
		exprs = append(exprs, c.expr)
	}
	return strings.Join(exprs, ", ")
}

func (key uniqueKey) name() string { return strings.Join(key.names(), "_") }

// names returns the names of the columns.
func (key uniqueKey) names() (names []string) {
	for _, c := range key.columns {
		names = append(names, c.spec.Name)
	}
	return names
}

// has reports whether columns are those of the key, in any order.
func (key uniqueKey) has(columns []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(key.names())), slices.Sorted(slices.Values(columns)))
}

// takenError returns the error of a violated unique index. It names the field with the tag, and not the
// fields together with which that is unique.
func (t *untyped) takenError(f sqltx.Fault) error {
	if _, named := t.opts.Constraints[f.Constraint]; !named {
		for _, key := range t.unique {
			if key.has(f.Columns) {
				return resource.Taken(key.field.Name)
			}
		}
	}
	return t.about(f, resource.Taken, "key")
}

// uniqueIndex is a unique index of a table as the database reports it. An expression in it is an empty
// column. predicate is empty if it covers all rows. For SQLite it is the whole statement.
type uniqueIndex struct {
	name      string
	columns   []string
	predicate string
}

// The columns of each unique index, in order. Indexes that are not valid or can be deferred do not count,
// as in inspectPostgres.
const (
	uniquePostgres = `
SELECT i.indexrelid::regclass::text, coalesce(a.attname, ''), coalesce(pg_get_expr(i.indpred, i.indrelid), '')
FROM pg_index i CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS n
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n] AND a.attnum > 0
WHERE i.indrelid = to_regclass($1::text) AND i.indisunique AND i.indisvalid AND i.indimmediate ORDER BY 1, n`
	uniqueSQLite = `
SELECT i.name, coalesce(n.name, ''), CASE WHEN i.partial THEN coalesce(s.sql, '') ELSE '' END
FROM pragma_index_list(?1, ?2) AS i JOIN pragma_index_info(i.name, ?2) AS n
LEFT JOIN SCHEMA.sqlite_schema AS s ON s.type = 'index' AND s.name = i.name
WHERE i."unique" ORDER BY i.name, n.seqno`
)

// inspectUnique returns the unique indexes of a table.
func (t *untyped) inspectUnique(ctx context.Context, name string) (all []uniqueIndex, err error) {
	quoted, err := quoteTable(t.dialect, name)
	if err != nil {
		return nil, err
	}
	statement, list := uniquePostgres, []any{quoted}
	if t.dialect == sqltx.SQLite {
		text, schema, table := inSchema(uniqueSQLite, name)
		statement, list = text, []any{table, schema}
	}
	rows, err := t.db.Writer(ctx).QueryContext(ctx, statement, list...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, column, predicate string
		if err := rows.Scan(&name, &column, &predicate); err != nil {
			return nil, err
		}
		if n := len(all); n == 0 || all[n-1].name != name {
			all = append(all, uniqueIndex{name: name, predicate: predicate})
		}
		last := &all[len(all)-1]
		last.columns = append(last.columns, column)
	}
	return all, rows.Err()
}

// checkUnique adds a fault for each key that no index declares. A key with values that the JSON omits is
// not checked: its index is partial, and the values differ from table to table.
func (t *untyped) checkUnique(ctx context.Context, i *inspection) error {
	indexes, err := t.inspectUnique(ctx, t.name)
	if err != nil {
		return err
	}
	for _, key := range t.unique {
		missing := func(name string) bool { _, ok := i.columns[name]; return !ok }
		if slices.ContainsFunc(key.columns, (*column).partial) || slices.ContainsFunc(key.names(), missing) {
			continue
		}
		whole, living := false, false
		for _, ix := range indexes {
			switch {
			case !key.has(ix.columns):
			case ix.predicate == "":
				whole = true
			case t.deletedAt != nil && isNullPredicate(ix.predicate, t.deletedAt.spec.Name):
				living = true
			}
		}
		i.uniqueFault(key, t.deletedAt, t.opts.UniqueDeleted, whole, living)
	}
	return nil
}

// isNullPredicate reports whether the predicate of an index is that a column is NULL. In SQLite it is the
// end of a statement.
func isNullPredicate(predicate, column string) bool {
	plain := func(s string) string {
		marks := strings.NewReplacer("(", "", ")", "", `"`, "", "`", "", "[", "", "]", "")
		return strings.ToLower(marks.Replace(s))
	}
	words := strings.Fields(plain(predicate))
	if i := slices.Index(words, "where"); i >= 0 {
		words = words[i+1:]
	}
	return strings.TrimSuffix(strings.Join(words, " "), ";") == plain(column)+" is null"
}

// uniqueFault adds the difference between a key and its indexes: whole is one that covers all rows, and
// living one without those that are deleted.
func (i *inspection) uniqueFault(key uniqueKey, deletedAt *column, deleted, whole, living bool) {
	columns := "column " + key.names()[0] + " is"
	if len(key.columns) > 1 {
		columns = "columns " + strings.Join(key.names(), ", ") + " are"
	}
	field := ofField(key.columns[len(key.columns)-1])
	switch {
	case deletedAt == nil && whole, deletedAt != nil && living && !deleted, whole && deleted:
	case deletedAt != nil && whole:
		i.add("%s unique among deleted rows, too, so a value of a deleted item is taken (409): "+
			"add WHERE %s IS NULL to the index, or set Options.UniqueDeleted", columns, deletedAt.spec.Name)
	case deletedAt != nil && living:
		i.add("%s unique among rows that are not deleted, but Options.UniqueDeleted is set", columns)
	default:
		i.add("%s not unique, but%s is tagged so", columns, field)
	}
}
