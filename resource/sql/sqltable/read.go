package sqltable

// Get, List, Count, GetMany and ListByKeys. sqlquery translates filters and positions; scan.go
// reads the rows.

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

type items[T any] = iter.Seq2[resource.Item[T], error]

// selecting returns the beginning of a SELECT.
func (t *Table[T]) selecting(columns []*column) string {
	return "SELECT " + strings.Join(t.selected(columns), ", ") + " FROM " + t.table
}

// where returns the WHERE clause of a filter. All its fields must have columns. The error of
// Translate is dropped for this reason.
func (t *Table[T]) where(w *args, f query.Filter) string {
	c, _ := t.tr.Translate(query.Query{Filter: f}, w.list...)
	w.list = c.Args
	return " WHERE " + c.Where
}

// at returns the filter for one id.
func (t *Table[T]) at(id any) query.Filter { return query.Where(t.id.field.Name, query.Eq, id) }

// get implements [resource.Collection]. An id that cannot be parsed cannot exist. It is rejected
// before the database sees it.
func (t *Table[T]) get(ctx context.Context, id string) (resource.Item[T], error) {
	return t.getFrom(ctx, t.db.Reader(ctx), id, "")
}

// getForUpdate implements [resource.Locker]. A transaction of SQLite is the only writer from its
// beginning, and needs no lock.
func (t *Table[T]) getForUpdate(ctx context.Context, id string) (resource.Item[T], error) {
	if !tx.ActiveFor(ctx, t.db) {
		return resource.Item[T]{}, errNoTransaction
	}
	lock := ""
	if t.dialect == sqltx.PostgreSQL {
		lock = " FOR UPDATE"
	}
	return t.getFrom(ctx, t.db.Writer(ctx), id, lock)
}

var errNoTransaction = errors.New("sqltable: GetForUpdate outside of a transaction")

// getFrom returns the item with an id. lock is the end of the statement.
func (t *Table[T]) getFrom(ctx context.Context, from conn, id, lock string) (resource.Item[T], error) {
	value, err := t.id.field.Parse(id)
	if err != nil {
		return resource.Item[T]{}, resource.ErrNotFound
	}
	w := &args{dialect: t.dialect}
	statement := t.selectWhole + t.where(w, t.at(value)) + lock
	it, found, err := t.single(t.rows(ctx, from, t.columns, statement, w.list))
	if err == nil && !found {
		err = t.absentError(ctx, from, value)
	}
	return it, err
}

// single reads a result of at most one row to its end. It must not stop at the first row: RETURNING
// sends rows before constraints are checked at the end of the statement.
func (t *Table[T]) single(answer items[T]) (it resource.Item[T], found bool, err error) {
	for next, err := range answer {
		if err != nil {
			return resource.Item[T]{}, false, t.fault(err)
		}
		it, found = next, true
	}
	return it, found, nil
}

// list implements [resource.Collection]. Each step continues after the rows of the step before it,
// see [sqlquery.Translator.Steps].
func (t *Table[T]) list(ctx context.Context, q query.Query) items[T] {
	return func(yield func(resource.Item[T], error) bool) {
		steps, err := t.tr.Steps(q)
		if err != nil {
			yield(resource.Item[T]{}, err)
			return
		}
		columns := t.selectedColumns(q)
		statement := t.selecting(columns)
		left := q.Limit
		for _, step := range steps {
			if q.Limit > 0 {
				// Earlier steps have returned some of the rows. The limit is the last argument that
				// Steps binds.
				step.Args[len(step.Args)-1] = int64(left) // the value of Clauses.Limit
			}
			for it, err := range t.rows(ctx, t.db.Reader(ctx), columns, statement+step.String(), step.Args) {
				// The sequence ends after an error, as package resource requires.
				if !yield(it, t.fault(err)) || err != nil {
					return
				}
				left--
			}
			if q.Limit > 0 && left <= 0 {
				return
			}
		}
	}
}

// selectedColumns returns the columns of the fields that the query selects or sorts by. Values of
// the sort keys are needed for the cursor of the next page. The other fields stay zero.
func (t *Table[T]) selectedColumns(q query.Query) []*column {
	if q.Fields == nil {
		return t.columns
	}
	return slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
		return c != t.id && !slices.Contains(q.Fields, c.field.Name) &&
			!slices.ContainsFunc(q.Sort, func(o query.Order) bool { return o.Field == c.field.Name })
	})
}

// count implements [resource.Counter]. q.Limit and q.After do not apply to a count.
func (t *Table[T]) count(ctx context.Context, q query.Query) (n int, err error) {
	c, err := t.tr.Translate(query.Query{Filter: q.Filter})
	if err != nil {
		return 0, err
	}
	_, err = t.queryRow(ctx, t.db.Reader(ctx), "SELECT count(*) FROM "+t.table+c.String(), c.Args, &n)
	return n, err
}

// queryRow runs a query and scans the first row of its result, if there is one. It returns the
// connection before the caller runs another statement, which a transaction requires.
func (t *Table[T]) queryRow(
	ctx context.Context, conn conn, statement string, args []any, dest ...any,
) (found bool, err error) {
	answer, err := conn.QueryContext(ctx, statement, args...)
	if err != nil {
		return false, t.fault(err)
	}
	defer answer.Close()
	if found = answer.Next(); found {
		err = answer.Scan(dest...)
	}
	return found, t.fault(errors.Join(err, answer.Err()))
}

// mostValues is the maximum number of arguments of one statement. PostgreSQL allows 65,535 and
// SQLite 32,766. The difference leaves a margin for the arguments of filters.
const mostValues = 30_000

// getMany implements [resource.MultiGetter], in general with one statement. The order of the items
// is that of the database; the caller assigns them by id.
func (t *Table[T]) getMany(ctx context.Context, ids []string) items[T] {
	return func(yield func(resource.Item[T], error) bool) {
		for values := range slices.Chunk(t.parse(t.id, ids), mostValues) {
			w := &args{dialect: t.dialect}
			where := t.where(w, query.Where(t.id.field.Name, query.In, values))
			statement := t.selectWhole + t.unnumberedList(where, len(w.list))
			for it, err := range t.rows(ctx, t.db.Reader(ctx), t.columns, statement, w.list) {
				if !yield(it, t.fault(err)) || err != nil {
					return
				}
			}
		}
	}
}

// parse parses values of a field, and skips invalid ones. An invalid key equals no stored value, so
// nothing is missing from the result.
func (t *Table[T]) parse(c *column, texts []string) []any {
	var values []any
	for _, text := range texts {
		if v, err := c.field.Parse(text); err == nil {
			values = append(values, v)
		}
	}
	return values
}

// listBy implements [resource.BatchLister]. The limit applies to each key and not to the statement.
func (t *Table[T]) listBy(ctx context.Context, field string, keys []string, q query.Query) items[T] {
	return func(yield func(resource.Item[T], error) bool) {
		for values := range slices.Chunk(t.parse(t.byField[field], keys), mostValues) {
			grouped := q
			grouped.Filter = query.And(query.Where(field, query.In, values), q.Filter)
			grouped.Limit = 0
			clauses, err := t.tr.Translate(grouped)
			if err != nil {
				yield(resource.Item[T]{}, err)
				return
			}
			// The caller groups the items by the field, so its column is selected even if q.Fields
			// lacks it.
			sort := append(slices.Clip(q.Sort), query.Order{Field: field})
			columns := t.selectedColumns(query.Query{Fields: q.Fields, Sort: sort})
			statement := t.selecting(columns) + clauses.String()
			if q.Limit > 0 {
				statement, clauses.Args = t.firstOfEach(columns, t.byField[field], clauses, q.Limit)
			}
			for it, err := range t.rows(ctx, t.db.Reader(ctx), columns, statement, clauses.Args) {
				if !yield(it, t.fault(err)) || err != nil {
					return
				}
			}
		}
	}
}

// firstOfEach returns a statement that numbers the rows of each key and selects those up to limit.
// Rows of one place are those of all keys, so the result is interleaved; the order within each key
// is that of the query.
func (t *Table[T]) firstOfEach(columns []*column, by *column, c sqlquery.Clauses, limit int) (string, []any) {
	w := &args{t.dialect, c.Args}
	order := ""
	if c.OrderBy != "" {
		order = " ORDER BY " + c.OrderBy
	}
	exprs := t.selected(columns)
	names := make([]string, len(exprs))
	for i := range exprs {
		// Aliases that no column has, for 26 times 26 columns.
		names[i] = t.dialect.Quote("column " + string(rune('A'+i/26)) + string(rune('a'+i%26)))
		exprs[i] += " AS " + names[i]
	}
	// Rows are grouped by the sort key of the field: the collation of the column could treat two
	// values as equal. There is no error, because the field is known.
	key, _ := t.tr.Translate(query.Query{Sort: []query.Order{{Field: by.field.Name}}})
	group := strings.TrimSuffix(key.OrderBy, " NULLS FIRST")
	place := t.dialect.Quote("place")
	inner := "SELECT " + strings.Join(exprs, ", ") +
		", row_number() OVER (PARTITION BY " + group + order + ") AS " + place +
		" FROM " + t.table + " WHERE " + c.Where
	return "SELECT " + strings.Join(names, ", ") + " FROM (" + inner + ") AS numbered WHERE " + place +
		" <= " + w.bind(int64(limit), "::bigint") + " ORDER BY " + place, w.list
}
