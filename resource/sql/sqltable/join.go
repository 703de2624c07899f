package sqltable

// Filters, sort keys and groups through relations to other tables of the same database. Package sqlquery
// writes the subqueries and joins; sort_key.go has the values of sort keys, and aggregate.go those of groups.

import (
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// joiner is a table as a [resource.Joiner] and a [sqlquery.Source].
type joiner struct{ t *untyped }

// Source implements [sqlquery.Source].
func (j joiner) Source() (string, *sqlquery.Translator, query.Filter) {
	return j.t.table, j.t.tr, j.t.living(query.Filter{})
}

// Joins implements [resource.Joiner]. An expression that names its table cannot be used with the alias
// of a subquery. Links without an index of their keys would all be read for each key.
func (j joiner) Joins(join *query.Join) bool {
	to, ok := join.Target.(joiner)
	return ok && to.t.db == j.t.db && j.t.tr.CanJoin(join) && !to.namesTable() &&
		(join.Key == "" || to.t.isIndexed(join.Key))
}

// namesTable reports whether the expression of a column may name its table.
func (j joiner) namesTable() bool {
	return slices.ContainsFunc(j.t.columns, func(c *column) bool {
		return strings.Contains(c.spec.Expr, ".")
	})
}
