package sqltable

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

type items[T any] = iter.Seq2[resource.Item[T], error]

// selecting returns the beginning of a SELECT.
func (t *Table[T]) selecting(columns []*column) string {
	return "SELECT " + strings.Join(t.selected(columns), ", ") + " FROM " + t.table
}

// where returns the WHERE clause of a filter. All its fields must have columns.
func (t *Table[T]) where(w *args, f query.Filter) string {
	c, _ := t.tr.Translate(query.Query{Filter: f}, w.list...)
	w.list = c.Args
	return " WHERE " + c.Where
}

// at returns the filter for one id.
func (t *Table[T]) at(id any) query.Filter { return query.Where(t.id.field.Name, query.Eq, id) }

// get implements [resource.Collection].
func (t *Table[T]) get(ctx context.Context, id string) (resource.Item[T], error) {
	value, err := t.id.field.Parse(id)
	if err != nil {
		return resource.Item[T]{}, resource.ErrNotFound
	}
	w := &args{dialect: t.dialect}
	statement := t.selectWhole + t.where(w, t.at(value))
	it, found, err := t.single(t.rows(ctx, t.db.Reader(ctx), t.columns, statement, w.list))
	if err == nil && !found {
		err = t.absentError(ctx, t.db.Reader(ctx), value)
	}
	return it, err
}

// single reads a result of at most one row to its end.
func (t *Table[T]) single(answer items[T]) (it resource.Item[T], found bool, err error) {
	for next, err := range answer {
		if err != nil {
			return resource.Item[T]{}, false, t.fault(err)
		}
		it, found = next, true
	}
	return it, found, nil
}

// list implements [resource.Collection].
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
				step.Args[len(step.Args)-1] = int64(left) // the value of Clauses.Limit
			}
			for it, err := range t.rows(ctx, t.db.Reader(ctx), columns, statement+step.String(), step.Args) {
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

// selectedColumns returns the columns of the fields that the query selects or sorts by.
func (t *Table[T]) selectedColumns(q query.Query) []*column {
	if q.Fields == nil {
		return t.columns
	}
	return slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
		return c != t.id && !slices.Contains(q.Fields, c.field.Name) &&
			!slices.ContainsFunc(q.Sort, func(o query.Order) bool { return o.Field == c.field.Name })
	})
}

// count implements [resource.Counter].
func (t *Table[T]) count(ctx context.Context, q query.Query) (n int, err error) {
	c, err := t.tr.Translate(query.Query{Filter: q.Filter})
	if err != nil {
		return 0, err
	}
	_, err = t.queryRow(ctx, t.db.Reader(ctx), "SELECT count(*) FROM "+t.table+c.String(), c.Args, &n)
	return n, err
}

// queryRow runs a query and scans the first row of its result, if there is one.
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
// SQLite 32,766.
const mostValues = 30_000

// getMany implements [resource.MultiGetter], in general with one statement.
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

// parse parses values of a field, and skips invalid ones.
func (t *Table[T]) parse(c *column, texts []string) []any {
	var values []any
	for _, text := range texts {
		if v, err := c.field.Parse(text); err == nil {
			values = append(values, v)
		}
	}
	return values
}

// listBy implements [resource.BatchLister].
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
func (t *Table[T]) firstOfEach(columns []*column, by *column, c sqlquery.Clauses, limit int) (string, []any) {
	w := &args{t.dialect, c.Args}
	order := ""
	if c.OrderBy != "" {
		order = " ORDER BY " + c.OrderBy
	}
	exprs := t.selected(columns)
	names := make([]string, len(exprs))
	for i := range exprs {
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
