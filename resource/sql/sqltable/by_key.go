package sqltable

// Lists and counts for many keys. It calls the reading of rows in read.go.

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// listBy implements [resource.BatchLister]. The limit applies to each key and not to the statement.
func (t *Table[T]) listBy(ctx context.Context, field string, keys []string, q query.Query) items[T] {
	return t.itemsOf(t.rowsBy(ctx, field, keys, q))
}

// rowsBy returns the rows of keys.
func (t *untyped) rowsBy(ctx context.Context, field string, keys []string, q query.Query) rows {
	return func(yield func(*row, error) bool) {
		selectKeys := t.selectBy
		if q.Links != nil {
			selectKeys = t.selectLinked
		}
		for part := range slices.Chunk(keys, mostValues) {
			s, err := selectKeys(field, part, q)
			if err != nil {
				yield(nil, err)
				return
			}
			if s.text == "" {
				continue
			}
			var short map[string]int // how many rows are missing by key
			for r, err := range t.query(ctx, t.db.Reader(ctx), s.columns, s.text, s.args, s.keys...) {
				if err == nil && t.leavesOutRow(r, q) {
					if short == nil {
						short = map[string]int{}
					}
					short[t.keyOf(r, field, s)]++
					continue
				}
				if !yield(r, t.fault(err)) || err != nil {
					return
				}
			}
			for key, missing := range short {
				if q.Limit > 0 && !t.fillKey(ctx, field, key, q, missing, yield) {
					return
				}
			}
		}
	}
}

// keyOf returns the key to which the last scanned row of a selection belongs.
func (t *untyped) keyOf(r *row, field string, s selection) string {
	if s.texts != nil {
		return r.keys[len(r.keys)-1].get().(string)
	}
	return t.byField[field].field.Text(r.value)
}

// fillKey yields the rows of a key that follow those of its first page, of which some were left out.
func (t *untyped) fillKey(
	ctx context.Context, field, key string, q query.Query, missing int, yield func(*row, error) bool,
) (more bool) {
	selectKeys := t.selectBy
	if q.Links != nil {
		selectKeys = t.selectLinked
	}
	_, more = fillPage(missing, q.Limit, func(limit, skip int) (n, leftOut int, more bool) {
		q.Limit = limit
		s, err := selectKeys(field, []string{key}, q)
		if err != nil {
			yield(nil, err)
			return 0, 0, false
		}
		all := t.query(ctx, t.db.Reader(ctx), s.columns, s.text, s.args, s.keys...)
		return t.passOn(all, q, skip, yield)
	})
	return more
}

// selection is a statement with what it selects.
type selection struct {
	columns []*column
	keys    []rowKey
	text    string
	args    []any
	texts   []string // of the keys of links; nil for keys that are a field of the rows
}

// selectBy returns the statement for the first rows of each key of a field. Its text is empty if no row can
// have one of them.
func (t *untyped) selectBy(field string, keys []string, q query.Query) (s selection, err error) {
	values := t.parse(t.byField[field], keys)
	if len(values) == 0 {
		return s, nil
	}
	// The caller groups the items by the field, so its column is selected even if q.Fields lacks it.
	sort := append(slices.Clip(q.Sort), query.Order{Field: field})
	s.columns = t.selectedColumns(query.Query{Fields: q.Fields, Sort: sort})
	ofColumns := !slices.ContainsFunc(q.Sort, func(o query.Order) bool {
		return o.Joined != nil || o.Field == query.Rank
	})
	if q.Limit > 0 && ofColumns && t.isIndexed(field) {
		slices.SortFunc(values, query.Compare) // texts of keys may be the same value
		values = slices.CompactFunc(values, func(a, b any) bool { return query.Compare(a, b) == 0 })
		err = t.seekEach(&s, field, values, q)
		return s, err
	}
	limit := q.Limit
	q.Filter = t.living(query.And(query.Where(field, query.In, values), q.Filter))
	q.Limit = 0
	clauses, err := t.tr.Translate(q)
	if err != nil {
		return s, err
	}
	s.keys = t.rowKeys(q, clauses)
	if limit > 0 {
		s.text, s.args = t.firstOfEach(s.columns, s.keys, t.byField[field], clauses, limit)
		return s, nil
	}
	s.text, s.args = t.selecting(s.columns, s.keys...)+clauses.String(), clauses.Args
	return s, nil
}

// isIndexed reports whether an index begins with the column of a field, so that the rows of one value can
// be read without the others.
func (t *untyped) isIndexed(field string) bool {
	c := t.byField[field]
	return !t.opts.ReadOnly && (slices.Contains(t.opts.Index, field) || c == t.key[0] || c.field.Unique)
}

// selectLinked returns the statement for the first rows to which the links with each key lead. Its text is
// empty if no link can have one of them.
func (t *untyped) selectLinked(field string, keys []string, q query.Query) (s selection, err error) {
	values, texts := linkKeys(q.Links, field, keys)
	s.columns = t.selectedColumns(q)
	s.texts = texts
	err = t.seekEach(&s, field, values, q)
	return s, err
}

// linkKeys returns the keys that links can have as values, and their texts.
func linkKeys(l *query.Links, field string, keys []string) (values []any, texts []string) {
	c := l.Join.Target.(joiner).t.byField[field] // Joins has accepted it
	for _, key := range keys {
		if v, err := c.field.Parse(key); err == nil {
			values, texts = append(values, v), append(texts, key)
		}
	}
	return values, texts
}

// seekEach completes s with the statement that reads the first rows of each value by an index: as many as
// are returned, if the index has the order of the query.
func (t *untyped) seekEach(s *selection, field string, values []any, q query.Query) error {
	q.Filter = t.living(q.Filter)
	rows, c, err := t.tr.Each(q, field, t.keyColumn("key"), values)
	if err != nil || rows == "" {
		return err
	}
	sortKeys := t.rowKeys(q, c)
	s.args, s.keys = c.Args, sortKeys
	number := "" // the column with the index of the key
	if s.texts != nil {
		s.keys = append(slices.Clip(sortKeys), rowKey{expr: t.keyColumn("number"), texts: s.texts})
		number = ", " + t.keyColumn("number")
	}
	order := ""
	if c.OrderBy != "" {
		order = " ORDER BY " + c.OrderBy
	}
	if t.dialect == sqltx.SQLite {
		// SQLite has no LATERAL. The rows are found by their ids, and sorted together.
		id := t.keyList()
		first := "(SELECT " + id + " FROM " + t.table + c.String() + ")"
		s.text = "SELECT " + strings.Join(t.selected(s.columns, s.keys...), ", ") + " FROM " +
			t.keyRows(rows) + " CROSS JOIN " + t.table + " " + c.Join + " WHERE (" + id + ") IN " + first +
			order
		return nil
	}
	exprs, names := t.named(s.columns, sortKeys...)
	place := t.dialect.Quote("place")
	// The rows are numbered after LIMIT, so that they are not sorted as a whole.
	first := "(SELECT " + strings.Join(exprs, ", ") + " FROM " + t.table + c.String() + ") AS first_rows"
	s.text = "SELECT " + strings.Join(names, ", ") + number + " FROM " + t.keyRows(rows) +
		" CROSS JOIN LATERAL (SELECT *, row_number() OVER () AS " + place + " FROM " + first +
		") AS found ORDER BY " + place
	return nil
}

// keyRows returns rows with keys and their indexes as a table. keyColumn returns the name of a column.
func (t *untyped) keyRows(rows string) string {
	table, key, number := t.dialect.Quote("related keys"), t.dialect.Quote("related key"),
		t.dialect.Quote("related number")
	if t.dialect == sqltx.SQLite {
		return "(SELECT column1 AS " + key + ", column2 AS " + number + " FROM (VALUES " + rows + ")) AS " +
			table
	}
	return "(VALUES " + rows + ") AS " + table + "(" + key + ", " + number + ")"
}

func (t *untyped) keyColumn(name string) string {
	return t.dialect.Quote("related keys") + "." + t.dialect.Quote("related "+name)
}

// firstOfEach returns a statement that numbers the rows of each key and selects those up to limit.
// Rows of one place are those of all keys, so the result is interleaved; the order within each key
// is that of the query.
func (t *untyped) firstOfEach(
	columns []*column, keys []rowKey, by *column, c sqlquery.Clauses, limit int,
) (string, []any) {
	w := &args{t.dialect, c.Args}
	order := ""
	if c.OrderBy != "" {
		order = " ORDER BY " + c.OrderBy
	}
	exprs, names := t.named(columns, keys...)
	place := t.dialect.Quote("place")
	inner := "SELECT " + strings.Join(exprs, ", ") +
		", row_number() OVER (PARTITION BY " + t.sortKey(by.field.Name) + order + ") AS " + place +
		" FROM " + t.table + " " + c.Join + " WHERE " + c.Where
	return "SELECT " + strings.Join(names, ", ") + " FROM (" + inner + ") AS numbered WHERE " + place +
		" <= " + w.bind(int64(limit), "::bigint") + " ORDER BY " + place, w.list
}

// named returns the expressions in SELECT with their aliases, and the aliases.
func (t *untyped) named(columns []*column, keys ...rowKey) (exprs, names []string) {
	exprs = t.selected(columns, keys...)
	names = make([]string, len(exprs))
	for i := range exprs {
		// Aliases that no column has, for 26 times 26 columns.
		names[i] = t.dialect.Quote("column " + string(rune('A'+i/26)) + string(rune('a'+i%26)))
		exprs[i] += " AS " + names[i]
	}
	return exprs, names
}

// countBy implements [resource.BatchCounter], in general with one statement.
func (t *untyped) countBy(
	ctx context.Context, field string, keys []string, q query.Query,
) (map[string]int, error) {
	if q.Links != nil {
		return t.countLinked(ctx, field, keys, q)
	}
	c := t.byField[field]
	counts := make(map[string]int, len(keys))
	for values := range slices.Chunk(t.parse(c, keys), mostValues) {
		of := query.Query{Filter: t.living(query.And(query.Where(field, query.In, values), q.Filter))}
		clauses, err := t.tr.Translate(of)
		if err != nil {
			return nil, err
		}
		// The sort key distinguishes values that the collation of the column treats as equal, and a column
		// that is selected must be among the groups.
		groups := t.sortKey(field) + ", " + c.read
		statement := "SELECT " + c.read + ", count(*) FROM " + t.table + clauses.String() +
			" GROUP BY " + groups
		if err := t.countInto(ctx, counts, c, statement, clauses.Args); err != nil {
			return nil, t.fault(err)
		}
	}
	return counts, nil
}

// countLinked counts the rows to which the links with each key lead.
func (t *untyped) countLinked(
	ctx context.Context, field string, keys []string, q query.Query,
) (map[string]int, error) {
	counts := make(map[string]int, len(keys))
	of := query.Query{Filter: t.living(q.Filter), Links: q.Links}
	for part := range slices.Chunk(keys, mostValues) {
		values, texts := linkKeys(q.Links, field, part)
		rows, c, err := t.tr.Each(of, field, t.keyColumn("key"), values)
		if err != nil {
			return nil, err
		}
		if rows == "" {
			continue
		}
		statement := "SELECT " + t.keyColumn("number") + ", (SELECT count(*) FROM " + t.table + c.String() +
			") FROM " + t.keyRows(rows)
		if err := t.countNumbers(ctx, counts, texts, statement, c.Args); err != nil {
			return nil, t.fault(err)
		}
	}
	return counts, nil
}

// countNumbers runs a statement that returns indexes of texts with their counts, and stores these.
func (t *untyped) countNumbers(
	ctx context.Context, counts map[string]int, texts []string, statement string, args []any,
) error {
	answer, err := t.db.Reader(ctx).QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer answer.Close()
	for answer.Next() {
		var i, n int
		if err := answer.Scan(&i, &n); err != nil {
			return err
		}
		counts[texts[i]] = n
	}
	return answer.Err()
}

// countInto runs a statement that returns values of a column with their counts, and adds these to counts.
func (t *untyped) countInto(
	ctx context.Context, counts map[string]int, c *column, statement string, args []any,
) error {
	answer, err := t.db.Reader(ctx).QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer answer.Close()
	v := reflect.New(t.typ.GoType)
	var n int
	value := c.dest(v.Elem().FieldByIndex(c.field.Index), nil)
	for answer.Next() {
		if err := answer.Scan(value, &n); err != nil {
			return err
		}
		counts[c.field.Text(v.Interface())] += n
	}
	return answer.Err()
}

// sortKey returns the expression by which a field is sorted. Equal values of it are equal values of the
// field, whatever the collation of the column is.
func (t *untyped) sortKey(field string) string {
	clauses, _ := t.tr.Translate(query.Query{Sort: []query.Order{{Field: field}}}) // the field has a column
	return strings.TrimSuffix(clauses.OrderBy, " NULLS FIRST")
}
