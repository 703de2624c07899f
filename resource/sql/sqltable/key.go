package sqltable

// The columns of the id: one, or those of a composite id, which has no column of its own. All
// statements that name an item use these functions.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// chooseIDs finds the columns of the id, and determines which party assigns the ids of new items.
// ClientIDs leaves identity false and newID nil, which Ops translates to missing operations.
func (t *untyped) chooseIDs() error {
	name := cmp.Or(t.opts.ID, "id")
	t.idField = t.typ.Field(name)
	if t.idField == nil {
		return fmt.Errorf("there is no id field %q; Options.ID names another", name)
	}
	fields := t.idField.Key
	if fields == nil {
		fields = append(fields, t.idField)
	}
	for _, f := range fields {
		c := t.byField[f.Name]
		what := fmt.Sprintf("id field %q", f.Name)
		if t.idField.Key != nil {
			what = fmt.Sprintf("field %q of the id", f.Name)
		}
		if err := t.checkKeyColumn(c, what); err != nil {
			return err
		}
		c.inKey = true
		t.key = append(t.key, c)
	}
	switch {
	case t.idField.Key != nil && t.opts.NewID != nil:
		return fmt.Errorf("Options.NewID is set, but the id is computed from other fields")
	case t.opts.ClientIDs || t.idField.Key != nil:
	case t.opts.NewID != nil:
		t.newID = t.opts.NewID
	case t.key[0].spec.Kind == sqlquery.Integer:
		t.identity = true
	default:
		t.newID = newUUID
	}
	return nil
}

// checkKeyColumn returns an error if a column cannot hold an id or a part of one. what is its field.
func (t *untyped) checkKeyColumn(c *column, what string) error {
	switch {
	case c == nil:
		return fmt.Errorf("the %s has no column", what)
	case c.field.Nullable || !c.scalar() || c.spec.Kind != sqlquery.Text &&
		c.spec.Kind != sqlquery.Integer && c.spec.Kind != sqlquery.UUID:
		return fmt.Errorf("the %s must be a string or an integer, and no pointer", what)
	case c.computed() && !t.opts.ReadOnly:
		return fmt.Errorf("the column of the %s has an Expr, which cannot be written", what)
	case t.opts.ReadOnly && t.idField.Key == nil: // compared as text
	case !c.typ.Known && c.field.Enum == nil:
		return fmt.Errorf("the %s has the type %s: add the tag enum with its labels, because PostgreSQL "+
			"rejects a query for another one", what, c.typ.SQL)
	case slices.Contains(respelled, c.typ.Name):
		return fmt.Errorf("the %s has the type %s, and an id must have one spelling; use text",
			what, c.typ.SQL)
	}
	return nil
}

// respelled are types of text in which PostgreSQL stores a value in another spelling than that of the
// client, or finds it by another one. The path of an item would then not be its id.
var respelled = []string{sqltype.CIText, sqltype.Inet, sqltype.CIDR, sqltype.Time, sqltype.TimeTZ}

// isKey reports whether a column is part of the id.
func (t *untyped) isKey(c *column) bool { return slices.Contains(t.key, c) }

// keyExprs returns the columns of the id in SQL, each with a prefix, as an alias of the table.
func (t *untyped) keyExprs(prefix string) []string {
	exprs := make([]string, len(t.key))
	for i, c := range t.key {
		exprs[i] = prefix + c.expr
	}
	return exprs
}

// keyList is keyExprs as a list, for ON CONFLICT and RETURNING.
func (t *untyped) keyList() string { return strings.Join(t.keyExprs(""), ", ") }

// keyOrder returns the sort keys that follow a column, so that the order is total.
func (t *untyped) keyOrder(after *column) (order []query.Order) {
	for _, c := range t.key {
		if c != after {
			order = append(order, query.Order{Field: c.field.Name})
		}
	}
	return order
}

// at returns the filter for one id, with a value for each column.
func (t *untyped) at(id []any) query.Filter {
	all := make([]query.Filter, len(id))
	for i, c := range t.key {
		all[i] = query.Where(c.field.Name, query.Eq, id[i])
	}
	return query.And(all...)
}

// bindKey binds the values of an id.
func (t *untyped) bindKey(w *args, id []any) []string {
	places := make([]string, len(id))
	for i, c := range t.key {
		places[i] = w.bind(t.tr.Arg(c.field.Name, id[i]), c.cast)
	}
	return places
}

// takesKey reports whether PostgreSQL accepts the values of an id as arguments. Otherwise a statement
// with them would be an error, which aborts a transaction.
func (t *untyped) takesKey(id []any) bool {
	for i, c := range t.key {
		if t.dialect == sqltx.PostgreSQL && c.faultOfKey(t.dialect, id[i]) != "" {
			return false
		}
	}
	return true
}

// inexact returns the error of the first field of an id that the database would reject or return
// changed, and nil if there is none. The item would then be at another path than the one that the
// client requested.
func (t *untyped) inexact(id []any) error {
	for i, c := range t.key {
		code := c.faultOfKey(t.dialect, id[i])
		s, ok := id[i].(string)
		if ok && (s == "" || c.spec.Kind == sqlquery.UUID && s != strings.ToLower(s)) {
			code = "format"
		}
		if code != "" {
			return resource.Invalid(c.field.Name, code)
		}
	}
	return nil
}

// faultOfKey returns the code of a violation if the column cannot store a part of an id.
func (c *column) faultOfKey(d sqltx.Dialect, value any) string {
	if s, ok := value.(string); ok {
		return c.faultOfText(d, s)
	}
	return c.faultOfNumber(d, value)
}

// manyWhere returns the condition that a row has one of the ids. Those of a composite id are rows of
// VALUES: both engines then search the index for each, and the statement does not grow a condition.
func (t *untyped) manyWhere(w *args, ids [][]any) string {
	if len(t.key) == 1 {
		values := make([]any, len(ids))
		for i, id := range ids {
			values[i] = id[0]
		}
		where := t.where(w, query.Where(t.key[0].field.Name, query.In, values))
		return t.unnumberedList(where, len(w.list))
	}
	rows := make([]string, len(ids))
	for i, id := range ids {
		places := t.bindKey(w, id)
		for j := range places {
			places[j] = t.unnumbered(places[j])
		}
		rows[i] = "(" + strings.Join(places, ", ") + ")"
	}
	where := " WHERE "
	if t.deletedAt != nil {
		where = t.where(w, query.Filter{}) + " AND " // it has no arguments
	}
	return where + "(" + t.keyList() + ") IN (VALUES " + strings.Join(rows, ", ") + ")"
}

// parseIDs parses ids, and skips invalid ones. No item can have such an id.
func (t *untyped) parseIDs(ids []string) [][]any {
	var all [][]any
	for _, id := range ids {
		if key, err := t.idField.ParseKey(id); err == nil && (len(key) == 1 || t.takesKey(key)) {
			all = append(all, key)
		}
	}
	return all
}

// checkKey checks that the columns of a composite id have a unique index, without which ON CONFLICT
// is an error.
func (t *untyped) checkKey(ctx context.Context, i *inspection, table string) error {
	key := uniqueKey{columns: t.key}
	missing := func(name string) bool { _, ok := i.columns[name]; return !ok }
	if slices.ContainsFunc(key.names(), missing) {
		return nil // differences reports it
	}
	indexes, err := t.inspectUnique(ctx, table)
	if err != nil {
		return err
	}
	for _, ix := range indexes {
		if ix.predicate == "" && key.has(ix.columns) {
			return nil
		}
	}
	i.add("columns %s are not unique, though they hold the id: make them the primary key",
		strings.Join(key.names(), ", "))
	return nil
}
