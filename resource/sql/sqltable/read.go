package sqltable

// Get, List, Count, GetMany and ListByKeys; aggregate.go has Aggregate. sqlquery translates filters and
// positions; scan.go reads the rows.

import (
	"context"
	"errors"
	"iter"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/asread"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/tx"
)

type items[T any] = iter.Seq2[resource.Item[T], error]

// selecting returns the beginning of a SELECT.
func (t *untyped) selecting(columns []*column, keys ...rowKey) string {
	return "SELECT " + strings.Join(t.selected(columns, keys...), ", ") + " FROM " + t.table
}

// where returns the WHERE clause of a filter, for rows that are not deleted. All its fields must have
// columns. The error of Translate is dropped for this reason.
func (t *untyped) where(w *args, f query.Filter) string {
	c, _ := t.tr.Translate(query.Query{Filter: t.living(f)}, w.list...)
	w.list = c.Args
	return " WHERE " + c.Where
}

// get implements [resource.Collection]. An id that cannot be parsed cannot exist. It is rejected
// before the database sees it.
func (t *Table[T]) get(ctx context.Context, id string) (resource.Item[T], error) {
	if write := asread.From(ctx); write.Wants(id) {
		k, err := t.getKept(ctx, id)
		if err != nil {
			return resource.Item[T]{}, err
		}
		it := t.item(k.row)
		write.Keep(t.untyped, string(it.Rev), k)
		return it, nil
	}
	return t.take(t.getFrom(ctx, t.db.Reader(ctx), t.columns, id, ""))
}

// fastReads returns the reads without values. A revision does not determine the item if the database
// computes a column of other rows or reads variables of the session, and it may not exist in a table that
// is read only. A revision that is a hash of the item needs the item.
func (t *untyped) fastReads() resource.FastReads {
	reads := resource.FastReads{ListJSON: t.listJSON, Joiner: joiner{t}}
	computed := slices.ContainsFunc(t.columns, func(c *column) bool { return c.spec.Expr != "" })
	if t.rev.expr != "" && !t.rev.hashed && !t.opts.ReadOnly && !computed && !t.db.HasSession() {
		reads.GetRevision, reads.ListRevisions = t.getRevision, t.listRevisions
	}
	return reads
}

// getRevision implements [resource.Revisioner]. It selects the key and the revision.
func (t *untyped) getRevision(ctx context.Context, id string) (resource.Revision, error) {
	r, err := t.getFrom(ctx, t.db.Reader(ctx), t.key, id, "")
	if err != nil {
		return resource.Revision{}, err
	}
	defer t.release(r)
	return t.revisionOf(r), nil
}

// getForUpdate implements [resource.Locker]. A transaction of SQLite is the only writer from its
// beginning, and needs no lock.
func (t *Table[T]) getForUpdate(ctx context.Context, id string) (resource.Item[T], error) {
	if !tx.ActiveFor(ctx, t.db) {
		return resource.Item[T]{}, errNoTransaction
	}
	return t.take(t.getFrom(ctx, t.db.Writer(ctx), t.columns, id, t.lock()))
}

var errNoTransaction = errors.New("sqltable: GetForUpdate outside of a transaction")

// getFrom returns the row of an id, of which it reads these columns. lock is the end of the statement.
func (t *untyped) getFrom(
	ctx context.Context, from conn, columns []*column, id, lock string,
) (*row, error) {
	begin := t.selectWhole
	if !slices.Equal(columns, t.columns) {
		begin = t.selecting(columns)
	}
	r := t.getRow(columns)
	if err := t.getInto(ctx, from, r, begin, id, lock); err != nil {
		t.release(r)
		return nil, err
	}
	return r, nil
}

// getInto is getFrom with a row of the caller and the beginning of the statement.
func (t *untyped) getInto(ctx context.Context, from conn, r *row, begin, id, lock string) error {
	value, err := t.idField.ParseKey(id)
	if err != nil {
		return resource.ErrNotFound
	}
	w := &args{dialect: t.dialect}
	statement := begin + t.where(w, t.at(value)) + lock
	for {
		found, err := t.queryInto(ctx, from, r, statement, w.list)
		if err == nil && !found {
			err = t.absentError(ctx, from, value)
		}
		// Each repetition needs another writer that has restored the item since the first statement.
		if !errors.Is(err, resource.ErrStale) {
			return err
		}
	}
}

// list implements [resource.Collection].
func (t *Table[T]) list(ctx context.Context, q query.Query) items[T] {
	return t.itemsOf(t.rowsOf(ctx, q))
}

// rowsOf returns the rows of a list.
func (t *untyped) rowsOf(ctx context.Context, q query.Query) rows {
	return func(yield func(*row, error) bool) {
		columns := t.selectedColumns(q)
		err := t.inSteps(q, func(c sqlquery.Clauses, skip int) (n, leftOut int, more bool) {
			keys := t.rowKeys(q, c)
			statement := t.selecting(columns, keys...) + c.String()
			all := t.query(ctx, t.db.Reader(ctx), columns, statement, c.Args, keys...)
			return t.passOn(all, q, skip, yield)
		})
		if err != nil {
			yield(nil, err)
		}
	}
}

// passOn yields rows of q except the first skip and those that are left out. Its results are those of
// fillPage. The sequence ends after an error, as package resource requires.
func (t *untyped) passOn(
	all rows, q query.Query, skip int, yield func(*row, error) bool,
) (n, leftOut int, more bool) {
	for r, err := range all {
		switch {
		case err == nil && skip > 0:
			skip--
		case err == nil && t.leavesOutRow(r, q):
			leftOut++
		case !yield(r, t.fault(err)) || err != nil:
			return n, leftOut, false
		default:
			n++
		}
	}
	return n, leftOut, true
}

// leavesOutRow is leavesOut for the last scanned row.
func (t *untyped) leavesOutRow(r *row, q query.Query) bool {
	if len(r.bad) == 0 && !t.hasEmptyKey(r) {
		return false
	}
	return t.leavesOut(t.idField.Compose(r.value), r.bad, q)
}

// hasEmptyKey reports whether a column of the key has the empty text.
func (t *untyped) hasEmptyKey(r *row) bool {
	for _, c := range t.key {
		if v := r.elem.FieldByIndex(c.field.Index); v.Kind() == reflect.String && v.Len() == 0 {
			return true
		}
	}
	return false
}

// inSteps calls read with the clauses of each statement of a list, until the limit
// of q is reached or more is false. Each step continues after the rows of the step before it, see
// [sqlquery.Translator.Steps]. The other arguments and results of read are those of fillPage.
func (t *untyped) inSteps(
	q query.Query, read func(c sqlquery.Clauses, skip int) (n, leftOut int, more bool),
) error {
	q.Filter = t.living(q.Filter)
	steps, err := t.tr.Steps(q)
	if err != nil {
		return err
	}
	left := q.Limit
	for _, step := range steps {
		var more bool
		left, more = fillPage(left, 0, func(limit, skip int) (n, leftOut int, more bool) {
			if q.Limit > 0 {
				// Earlier steps have returned some of the rows. The limit is the last argument that
				// Steps binds.
				step.Args[len(step.Args)-1] = int64(limit) // the value of Clauses.Limit
			}
			return read(step, skip)
		})
		if !more || q.Limit > 0 && left <= 0 {
			return nil
		}
	}
	return nil
}

// selectedColumns returns the columns of the fields that the query selects or sorts by. Values of
// the sort keys are needed for the cursor of the next page. The other fields stay zero.
func (t *untyped) selectedColumns(q query.Query) []*column {
	if q.Fields == nil {
		return t.columns
	}
	return slices.DeleteFunc(slices.Clone(t.columns), func(c *column) bool {
		return !t.isKey(c) && !slices.Contains(q.Fields, c.field.Name) &&
			!slices.ContainsFunc(q.Sort, func(o query.Order) bool { return o.Field == c.field.Name })
	})
}

// count implements [resource.Counter]. q.Limit and q.After do not apply to a count.
func (t *untyped) count(ctx context.Context, q query.Query) (n int, err error) {
	text, c, err := t.clauses(query.Query{Filter: q.Filter, Search: q.Search}, false)
	if err != nil {
		return 0, err
	}
	_, err = t.queryRow(ctx, t.db.Reader(ctx), "SELECT count(*)"+text, c.Args, &n)
	return n, err
}

// queryRow runs a query and scans the first row of its result, if there is one. It returns the
// connection before the caller runs another statement, which a transaction requires.
func (t *untyped) queryRow(
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
	return t.itemsOf(t.rowsWithIDs(ctx, ids))
}

// rowsWithIDs returns the rows of ids.
func (t *untyped) rowsWithIDs(ctx context.Context, ids []string) rows {
	return func(yield func(*row, error) bool) {
		for part := range slices.Chunk(t.parseIDs(ids), mostValues/len(t.key)) {
			w := &args{dialect: t.dialect}
			statement := t.selectWhole + t.manyWhere(w, part)
			all := t.query(ctx, t.db.Reader(ctx), t.columns, statement, w.list)
			if _, _, more := t.passOn(all, query.Query{}, 0, yield); !more {
				return
			}
		}
	}
}

// parse parses values of a field, and skips invalid ones. An invalid key equals no stored value, so
// nothing is missing from the result.
func (t *untyped) parse(c *column, texts []string) []any {
	var values []any
	for _, text := range texts {
		if v, err := c.field.Parse(text); err == nil {
			values = append(values, v)
		}
	}
	return values
}
