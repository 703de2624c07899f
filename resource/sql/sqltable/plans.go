package sqltable

// Plans of queries, for CheckWith: which declared filters and sort orders an index serves, and the index
// that mends those that none does. The engine explains the statements and runs none of them.

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// slowQueries explains each filter and sort order of s, and returns those that no index serves, grouped
// by the index that they need.
//
// Ne and notIn are not explained, because most rows match them, and neither is isNull of a list. A filter
// is served if an index finds its rows, which are then sorted. An order is served if the engine sorts at
// most the rows that are equal in the first key: an index of the opposite direction is sufficient.
func (t *untyped) slowQueries(ctx context.Context, s query.Support) ([]Difference, error) {
	p, err := t.newPlanner(ctx)
	if err != nil {
		return nil, err
	}
	for _, field := range s.Sort {
		for _, desc := range []bool{false, true} {
			if err := p.order(ctx, query.Order{Field: field, Desc: desc}); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range t.columns {
		for _, op := range s.Filter[c.field.Name] {
			if err := p.filter(ctx, c, op); err != nil {
				return nil, err
			}
		}
	}
	err = p.idFilters(ctx, s.Filter[t.idField.Name])
	return p.slow, err
}

// planner collects the slow queries of a table.
type planner struct {
	*untyped
	indexable bool                 // a view is not
	own       map[string]collation // by column, in PostgreSQL
	taken     map[string]bool      // names of relations
	existing  [][]string           // the keys of each index, as in indexOf
	slow      []Difference
}

func (t *untyped) newPlanner(ctx context.Context) (p *planner, err error) {
	p = &planner{untyped: t, taken: map[string]bool{}}
	kind := "SELECT relkind IN ('r', 'p', 'm') FROM pg_class WHERE oid = to_regclass($1::text)"
	name := t.table
	if t.dialect == sqltx.SQLite {
		kind, name = "SELECT type = 'table' FROM pragma_table_list(?1) LIMIT 1", t.bare()
	} else if p.own, err = t.collations(ctx, columnCollations, t.table); err != nil {
		return nil, err
	}
	if _, err := t.queryRow(ctx, t.db.Writer(ctx), kind, []any{name}, &p.indexable); err != nil {
		return nil, err
	}
	return p, p.readIndexes(ctx)
}

// The keys of each index in order, with a collation, and whether NULL is first in ascending order. The key of
// a table of SQLite may be no index. An expression, or another operator class than the default, is an empty
// column.
const (
	indexesPostgres = `
SELECT i.indexrelid::regclass::text, CASE WHEN o.opcdefault THEN coalesce(a.attname, '') ELSE '' END,
	coalesce(c.collname, ''), i.indoption[n] IN (1, 2), coalesce(pg_get_expr(i.indpred, i.indrelid), '')
FROM pg_index i JOIN pg_class r ON r.oid = i.indexrelid JOIN pg_am m ON m.oid = r.relam AND m.amname = 'btree'
CROSS JOIN LATERAL generate_series(0, i.indnkeyatts - 1) AS n JOIN pg_opclass o ON o.oid = i.indclass[n]
LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n] AND a.attnum > 0
LEFT JOIN pg_collation c ON c.oid = i.indcollation[n]
WHERE i.indrelid = to_regclass($1::text) AND i.indisvalid ORDER BY 1, n`
	indexesSQLite = `
SELECT i.name, coalesce(n.name, ''), n.coll, 0, CASE WHEN i.partial THEN coalesce(s.sql, '?') ELSE '' END
FROM pragma_index_list(?1, ?2) AS i JOIN pragma_index_xinfo(i.name, ?2) AS n
LEFT JOIN SCHEMA.sqlite_schema AS s ON s.type = 'index' AND s.name = i.name WHERE n.key
UNION ALL SELECT '', name, '', 0, '' FROM pragma_table_info(?1, ?2) WHERE pk = 1 AND upper(type) = 'INTEGER'
	AND (SELECT count(*) FROM pragma_table_info(?1, ?2) WHERE pk > 0) = 1
	AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?1, ?2) WHERE origin = 'pk')`
)

// readIndexes reads the indexes of the table. The engine may not use them for a small table, or for an empty
// one, and the plan is then that of a table without them.
func (p *planner) readIndexes(ctx context.Context) error {
	statement, list := indexesPostgres, []any{p.table}
	if p.dialect == sqltx.SQLite {
		text, schema, table := inSchema(indexesSQLite, p.name)
		statement, list = text, []any{table, schema}
	}
	rows, err := p.db.Writer(ctx).QueryContext(ctx, statement, list...)
	if err != nil {
		return err
	}
	defer rows.Close()
	last := ""
	for rows.Next() {
		var name, column, collated, predicate string
		var nullsFirst bool
		if err := rows.Scan(&name, &column, &collated, &nullsFirst, &predicate); err != nil {
			return err
		}
		if predicate != "" && (p.deletedAt == nil || !isNullPredicate(predicate, p.deletedAt.spec.Name)) {
			continue
		}
		if name != last || p.existing == nil {
			p.existing, last = append(p.existing, nil), name
		}
		ix := &p.existing[len(p.existing)-1]
		*ix = append(*ix, p.existingKey(column, collated, nullsFirst))
	}
	return rows.Err()
}

// existingKey returns a key of an index as indexOf writes it.
func (p *planner) existingKey(column, collated string, nullsFirst bool) string {
	c := p.columnNamed(column)
	if c == nil {
		return ""
	}
	key := c.expr
	switch {
	case p.dialect == sqltx.SQLite && c.scalar() && c.sqlType(p.dialect) == "TEXT":
		return key + " COLLATE " + collated
	case p.dialect == sqltx.SQLite:
		return key
	case collated != p.own[column].name:
		key += " COLLATE " + p.dialect.Quote(collated)
	}
	if nullsFirst && !c.spec.NotNull {
		key += " NULLS FIRST"
	}
	return key
}

// exists reports whether an index begins with the keys that those of ix need. The order of NULL matters only
// for a sort.
func (p *planner) exists(ix index, isSort bool) bool {
	plain := func(key string) string { return key }
	if !isSort {
		plain = func(key string) string { return strings.TrimSuffix(key, " NULLS FIRST") }
	}
	return len(ix.leading) > 0 && slices.ContainsFunc(p.existing, func(keys []string) bool {
		return len(keys) >= len(ix.leading) && slices.EqualFunc(keys[:len(ix.leading)], ix.leading,
			func(a, b string) bool { return plain(a) == plain(b) })
	})
}

// order explains the first page of a list in this order. If an index serves it, it serves the pages after
// it as well.
func (p *planner) order(ctx context.Context, o query.Order) error {
	c := p.byField[o.Field]
	if o.Field == p.idField.Name {
		c = p.key[0]
	}
	if c == nil || !c.scalar() {
		return nil
	}
	q := query.Query{Sort: append([]query.Order{o}, p.keyOrder(c)...), Limit: 100}
	if p.idField.Key != nil && o.Field == p.idField.Name { // a composite id has no column
		q.Sort = p.keyOrder(nil)
		for i := range q.Sort {
			q.Sort[i].Desc = o.Desc
		}
	}
	plan, err := p.explain(ctx, q)
	if err != nil || !sorts(plan) {
		return err
	}
	sign := map[bool]string{true: "-"}[o.Desc]
	for i := range q.Sort {
		q.Sort[i].Desc = false
	}
	collated, ix := cmp.Or(c.spec.Collation, "C"), index{}
	if keys := p.keys(q.Sort...); keys != "" {
		ix = p.indexOf(c, collated, keys)
	}
	if own, ok := p.own[c.spec.Name]; ok && own.name != collated && c.isText() {
		ix.hint = fmt.Sprintf("or sort in the collation of the column, by Options.Collation: %q", own.name)
	}
	return p.add(ctx, "sort="+sign+o.Field, plan, ix)
}

// idFilters explains lists of the items with one composite id and with several, which package resource
// translates to conditions on the fields of its key.
func (p *planner) idFilters(ctx context.Context, ops []query.Op) error {
	if p.idField.Key == nil {
		return nil
	}
	id := make([]any, len(p.key))
	for i, c := range p.key {
		id[i], _ = p.sample(c)
	}
	for _, op := range ops {
		f, shown := p.at(id), p.idField.Name
		switch op {
		case query.Ne, query.NotIn:
			continue
		case query.In:
			// SQLite reads the whole table for OR of conditions with COLLATE BINARY, and no index helps.
			if p.dialect == sqltx.SQLite {
				continue
			}
			f, shown = query.Or(f, f), shown+".in"
		}
		plan, err := p.explain(ctx, query.Query{Filter: f})
		if err == nil && scans(plan) {
			err = p.add(ctx, shown, plan, p.indexOf(p.key[0], "C", p.keys(p.keyOrder(nil)...)))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// filter explains a list with a condition on a column, in the order of the engine. Of the conditions on
// a list, it is only contains.
func (p *planner) filter(ctx context.Context, c *column, op query.Op) error {
	value, ok := p.sample(c)
	if !ok || !c.filterable() || !c.scalar() && op != query.Contains || op == query.Ne || op == query.NotIn ||
		op == query.IsNull && c.spec.NotNull {
		return nil
	}
	f := query.Where(c.field.Name, op, value)
	shown := c.field.Name + "." + string(op)
	switch op {
	case query.Eq:
		shown = c.field.Name
	case query.In:
		f.Value = []any{value}
	case query.IsNull:
		f.Value = true
	}
	plan, err := p.explain(ctx, query.Query{Filter: f})
	if err != nil || !scans(plan) {
		return err
	}
	return p.add(ctx, shown, plan, p.filterIndex(c, op))
}

// filterIndex returns the index for conditions on a column. The order of the id follows, so that it
// serves a list of equal values as well.
func (p *planner) filterIndex(c *column, op query.Op) index {
	if op == query.Contains {
		return p.containsIndex(c)
	}
	collated, key := "", c.expr // equality is in the collation of the column
	if own, ok := p.own[c.spec.Name]; ok && !c.computed() {
		collated = own.name
	}
	if p.dialect == sqltx.PostgreSQL && !c.spec.NotNull {
		key += " NULLS FIRST" // so that it serves the order as well
	}
	isRange := op != query.Eq && op != query.In && op != query.IsNull
	switch {
	case op == query.StartsWith && p.dialect == sqltx.PostgreSQL && c.hasOwnOrder():
		return index{} // for PostgreSQL the text of a date depends on the session
	case isRange && c.spec.Kind == sqlquery.Text && p.dialect == sqltx.PostgreSQL && c.isText():
		// by code point
		collated, key = "C", strings.Replace(key, c.expr, c.expr+` COLLATE "C"`, 1)
	case isRange && p.dialect == sqltx.PostgreSQL, op != query.IsNull && c.isTimeTZ():
		if key = p.keys(query.Order{Field: c.field.Name}); key == "" {
			return index{}
		}
	}
	if c.spec.Kind == sqlquery.Text && p.dialect == sqltx.SQLite {
		key += " COLLATE BINARY" // the column may be declared NOCASE
	}
	if rest := p.keyOrder(c); rest != nil {
		keys := p.keys(rest...)
		if keys == "" {
			return index{}
		}
		key += ", " + keys
	}
	return p.indexOf(c, collated, key)
}

// hasOwnOrder reports whether a column of strings in PostgreSQL is compared in the order of its type.
func (c *column) hasOwnOrder() bool {
	return c.spec.Kind == sqlquery.UUID || c.typ.Name == sqltype.Date || c.typ.Name == sqltype.Time
}

// isTimeTZ reports whether also equality compares the text of a column.
func (c *column) isTimeTZ() bool { return c.scalar() && c.typ.Name == sqltype.TimeTZ }

// index is an index that does not exist. text is the statement after its name; empty if none helps.
// leading are the first of its keys, which serve the query if another index has them.
type index struct {
	name, text, before, hint string
	leading                  []string
}

// indexOf returns an index of keys. Its name distinguishes the collation from that of the column.
func (p *planner) indexOf(c *column, collated, keys string) index {
	if !p.indexable {
		return index{}
	}
	// A collation that the columns have already need not be written.
	for _, other := range p.columns {
		if own, ok := p.own[other.spec.Name]; ok && !other.computed() {
			keys = strings.ReplaceAll(keys, other.expr+" COLLATE "+p.dialect.Quote(own.name), other.expr)
		}
	}
	name := c.spec.Name
	if c.computed() {
		name = snake(c.field.Name)
	}
	if own, ok := p.own[c.spec.Name]; ok && c.spec.Kind == sqlquery.Text && own.name != collated {
		name += "_" + strings.ToLower(collated)
	}
	leading := strings.Split(keys, ", ")
	if p.idField.Key == nil || c != p.key[0] {
		leading = leading[:1] // the engine then sorts at most equal rows
	}
	return index{name: p.bare() + "_" + name + "_idx", text: "(" + keys + ")" + p.partial(), leading: leading}
}

// partial returns the end of an index that has no deleted rows. It is the condition of all queries.
func (p *planner) partial() string {
	if p.deletedAt == nil {
		return ""
	}
	c, _ := p.tr.Translate(query.Query{Filter: p.living(query.Filter{})}) // has a column
	return " WHERE " + c.Where
}

// containsIndex returns an inverted index, which only PostgreSQL has: of the trigrams of a text, or of
// the elements of a list.
func (p *planner) containsIndex(c *column) index {
	if !p.indexable || p.dialect == sqltx.SQLite || c.computed() {
		return index{}
	}
	ix := index{name: p.bare() + "_" + c.spec.Name + "_idx"}
	switch {
	case c.form == arrayForm && c.typ.Name == sqltype.Text, c.form == jsonForm && c.typ.Name == sqltype.JSONB:
		ix.text = "USING gin (" + c.expr + ")"
	case !c.scalar() || c.spec.Kind != sqlquery.Text || c.hasOwnOrder() || !p.isImmutable(c):
		return index{}
	default:
		text, _, _ := strings.Cut(p.keys(query.Order{Field: c.field.Name}), " COLLATE ")
		ix.text, ix.before = "USING gin ("+text+" gin_trgm_ops)", "CREATE EXTENSION IF NOT EXISTS pg_trgm; "
		ix.name = p.bare() + "_" + c.spec.Name + "_trgm_idx"
	}
	ix.text += p.partial()
	return ix
}

// keys returns sort keys as those of an index, with parentheses around expressions. It is empty if
// PostgreSQL accepts no index of one.
func (p *planner) keys(sort ...query.Order) string {
	keys := make([]string, len(sort))
	for i, order := range sort {
		c := p.byField[order.Field]
		clauses, _ := p.tr.Translate(query.Query{Sort: sort[i : i+1]}) // the field has a column
		key, collation, collated := strings.Cut(clauses.OrderBy, " COLLATE ")
		if !p.isImmutable(c) {
			return ""
		}
		if collated {
			if key != c.expr {
				key = "(" + key + ")"
			}
			key += " COLLATE " + collation
		}
		keys[i] = key
	}
	return strings.Join(keys, ", ")
}

// isImmutable reports whether an index can have the sort key of a column. Labels of enums can be renamed,
// and the text of a timetz may depend on the session.
func (p *planner) isImmutable(c *column) bool {
	return p.dialect == sqltx.SQLite || c.typ.Known && !c.isTimeTZ()
}

// sample returns a value of the field, for a condition. The plan does not depend on it.
func (p *planner) sample(c *column) (any, bool) {
	if len(c.field.Enum) > 0 {
		return c.field.Enum[0], true
	}
	texts := map[string]string{
		"uuid": "01890a5d-ac96-774b-bcce-b302099a8057", "date": "2024-01-02",
		"date-time": "2024-01-02T03:04:05Z", "time": "10:00:00Z", "time-local": "10:00:00",
		"duration": "P1D", "ipv4": "192.0.2.1", "ipv6": "2001:db8::1",
	}
	if c.spec.Kind == sqlquery.UUID {
		return texts["uuid"], true
	}
	for _, text := range []string{texts[c.field.Format], "0", "true", texts["date-time"], "a"} {
		if v, err := c.field.Parse(text); err == nil && text != "" {
			return v, true
		}
	}
	return nil, false
}

// add records a query for the index that it needs.
func (p *planner) add(ctx context.Context, shown, plan string, ix index) error {
	if p.exists(ix, strings.HasPrefix(shown, "sort=")) {
		return nil
	}
	statement := ""
	if ix.text != "" {
		for i := range p.slow {
			if strings.HasSuffix(p.slow[i].Fix, " ON "+p.within(p.name)+" "+ix.text) {
				d := &p.slow[i]
				d.Queries = append(d.Queries, shown)
				return nil
			}
		}
		name, err := p.freeName(ctx, ix.name)
		if err != nil {
			return err
		}
		statement = ix.before + "CREATE INDEX " + name + " ON " + p.within(p.name) + " " + ix.text
	}
	const problem = "sorts or reads the whole table"
	p.slow = append(p.slow, Difference{
		Table: p.name, Problem: problem, Queries: []string{shown}, Fix: statement, Hint: ix.hint, Plan: plan})
	return nil
}

// freeName returns the quoted name of an index that does not exist.
func (p *planner) freeName(ctx context.Context, name string) (string, error) {
	exists := "SELECT EXISTS (SELECT FROM pg_class WHERE relname = $1::text AND relnamespace = " +
		"(SELECT relnamespace FROM pg_class WHERE oid = to_regclass($2::text)))"
	prefix := ""
	if p.dialect == sqltx.SQLite {
		exists = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1 AND ?2 <> '')"
		if i := strings.IndexByte(p.name, '.'); i >= 0 {
			prefix = p.dialect.Quote(p.name[:i]) + "."
			exists = strings.Replace(exists, "sqlite_schema", prefix+"sqlite_schema", 1)
		}
	}
	for n := 1; ; n++ {
		// PostgreSQL truncates names to 63 bytes.
		suffix := ""
		if n > 1 {
			suffix = fmt.Sprint("_", n)
		}
		candidate := name[:min(len(name), 63-len(suffix))] + suffix
		var taken bool
		_, err := p.queryRow(ctx, p.db.Writer(ctx), exists, []any{candidate, p.table}, &taken)
		if err != nil {
			return "", err
		}
		if !taken && !p.taken[candidate] {
			p.taken[candidate] = true
			return prefix + p.dialect.Quote(candidate), nil
		}
	}
}

// explain returns the plan of a query for a large table. PostgreSQL scans and sorts a small one even if
// an index could serve the query, so both are disabled: they remain if nothing else is possible.
func (t *untyped) explain(ctx context.Context, q query.Query) (plan string, err error) {
	q.Filter = t.living(q.Filter)
	clauses, err := t.tr.Translate(q)
	if err != nil {
		return "", err
	}
	statement := t.selectWhole + clauses.String()
	err = t.db.InTx(ctx, func(ctx context.Context) error {
		w, dests, statement := t.db.Writer(ctx), []any{new(string)}, statement // InTx may repeat it
		if t.dialect == sqltx.SQLite {
			dests = []any{new(any), new(any), new(any), new(string)}
			statement = "EXPLAIN QUERY PLAN " + statement
		} else {
			const disable = "SELECT set_config('enable_seqscan', 'off', true), " +
				"set_config('enable_sort', 'off', true)"
			if _, err := w.ExecContext(ctx, disable); err != nil {
				return err
			}
			statement = "EXPLAIN (COSTS OFF) " + statement
		}
		rows, err := w.QueryContext(ctx, statement, clauses.Args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		plan = ""
		for rows.Next() {
			if err := rows.Scan(dests...); err != nil {
				return err
			}
			plan += *dests[len(dests)-1].(*string) + "\n"
		}
		return rows.Err()
	})
	if err != nil {
		return "", fmt.Errorf("explain %s: %w", statement, err)
	}
	return strings.TrimSuffix(plan, "\n"), nil
}

// nodes returns the nodes of a plan, without their details in PostgreSQL.
func nodes(plan string) []string {
	var list []string
	for line := range strings.Lines(plan) {
		list = append(list, strings.TrimPrefix(strings.TrimSpace(line), "->  "))
	}
	return list
}

// sorts reports whether a plan sorts all rows.
func sorts(plan string) bool {
	return slices.ContainsFunc(nodes(plan), func(node string) bool {
		return node == "Sort" || node == "USE TEMP B-TREE FOR ORDER BY"
	})
}

// scans reports whether a plan reads a table from its beginning to its end. That is also so if
// PostgreSQL reads all of a partial index, and compares each of its rows.
func scans(plan string) bool {
	if strings.Contains(plan, " Filter: ") && !strings.Contains(plan, "Index Cond: ") {
		return true
	}
	return slices.ContainsFunc(nodes(plan), func(node string) bool {
		return strings.HasPrefix(node, "Seq Scan") || strings.HasPrefix(node, "Parallel Seq Scan") ||
			strings.HasPrefix(node, "SCAN ")
	})
}
