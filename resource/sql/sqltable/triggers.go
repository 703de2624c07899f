package sqltable

// Triggers and rules of the table: which of them can turn a write into something else, and which can change
// a row after it was written. write.go and soft_delete.go call this file; check.go reports what it finds.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// verb is a kind of statement.
type verb uint8

const (
	inserts verb = iota
	updates
	deletes
	verbs
)

var verbNames = [verbs]string{"INSERT", "UPDATE", "DELETE"}

// trigger is a trigger or a rule of the table.
type trigger struct {
	name string
	// after is true if it runs after the row is written, and can change the row then. Others run before, or
	// in place of the statement.
	after bool
	// drops is true if a write may have no effect on the row: by RETURN NULL, RAISE(IGNORE) or INSTEAD.
	drops bool
	on    [verbs]bool
}

// triggers are those of the table.
type triggers []trigger

// any reports whether a statement runs a trigger for which is returns true.
func (all triggers) any(v verb, is func(trigger) bool) bool {
	return slices.ContainsFunc(all, func(g trigger) bool { return g.on[v] && is(g) })
}

func (g trigger) isAfter() bool  { return g.after }
func (g trigger) isBefore() bool { return !g.after }
func (g trigger) isDrop() bool   { return g.drops }

// triggersOf returns the triggers of the table. They are read by Check, and otherwise before the first write.
func (t *untyped) triggersOf(ctx context.Context) (triggers, error) {
	if known := t.triggers.Load(); known != nil {
		return *known, nil
	}
	return t.readTriggers(ctx)
}

// readTriggers reads the triggers and rules of the table and its partitions, without those of foreign keys
// and of searches.
func (t *untyped) readTriggers(ctx context.Context) (triggers, error) {
	statement, args := triggersPostgres, []any{t.table}
	if t.dialect == sqltx.SQLite {
		text, _, table := inSchema(triggersSQLite, t.name)
		statement, args = text, []any{table}
	}
	ctx = sqltx.WithoutSession(ctx)
	rows, err := t.db.Writer(ctx).QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, t.fault(err)
	}
	defer rows.Close()
	all, search := triggers{}, t.bare()+"_search_"
	for rows.Next() {
		var g trigger
		if t.dialect == sqltx.SQLite {
			var text string
			if err := rows.Scan(&g.name, &text); err != nil {
				return nil, err
			}
			g.parse(text)
		} else if err := rows.Scan(
			&g.name, &g.after, &g.drops, &g.on[inserts], &g.on[updates], &g.on[deletes]); err != nil {
			return nil, err
		}
		if !strings.HasPrefix(g.name, search) {
			all = append(all, g)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, t.fault(err)
	}
	t.triggers.Store(&all)
	return all, nil
}

// The bits of tgtype: 2 before, 4 insert, 8 delete, 16 update, 64 instead of. The languages PL/Perl,
// PL/Python and PL/Tcl return SKIP in place of NULL. A function in C cannot be examined, and one of
// PostgreSQL drops writes.
const (
	triggersPostgres = `
SELECT DISTINCT t.tgname, t.tgtype & 66 = 0, t.tgtype & 66 <> 0 AND CASE l.lanname WHEN 'c' THEN false
	WHEN 'internal' THEN p.prosrc = 'suppress_redundant_updates_trigger'
	WHEN 'plpgsql' THEN p.prosrc ~* 'return\s+null' ELSE p.prosrc ~* 'skip|null|undef' END,
	t.tgtype & 4 <> 0, t.tgtype & 16 <> 0, t.tgtype & 8 <> 0
FROM pg_trigger t JOIN pg_proc p ON p.oid = t.tgfoid JOIN pg_language l ON l.oid = p.prolang
WHERE NOT t.tgisinternal AND t.tgenabled <> 'D' AND (t.tgrelid = to_regclass($1::text)
	OR t.tgrelid IN (SELECT relid FROM pg_partition_tree(to_regclass($1::text))))
UNION ALL
SELECT rulename, NOT is_instead, is_instead, ev_type = '3', ev_type = '2', ev_type = '4'
FROM pg_rewrite WHERE ev_class = to_regclass($1::text) AND ev_type <> '1' AND ev_enabled <> 'D' ORDER BY 1`
	triggersSQLite = "SELECT name, sql FROM SCHEMA.sqlite_schema WHERE type = 'trigger' AND " +
		"tbl_name = ?1 COLLATE NOCASE ORDER BY name"
)

// parse reads a CREATE TRIGGER of SQLite. Its time is BEFORE unless it is named.
func (g *trigger) parse(text string) {
	body := false
	var last string
	for _, m := range sqlTokens.FindAllStringSubmatch(text, -1) {
		word := strings.ToUpper(m[1])
		switch {
		case word == "":
			continue
		case body && word == "IGNORE" && last == "RAISE":
			g.drops = true
		case body:
		case word == "BEGIN":
			body = true
		case word == "AFTER":
			g.after = true
		case word == "INSTEAD":
			g.drops = true
		case slices.Contains(verbNames[:], word):
			g.on[slices.Index(verbNames[:], word)] = true
		}
		last = word
	}
}

// locks reports whether a statement must lock the row first: if a trigger may drop it, or an UPDATE before
// it wrote nothing. A miss of such a statement is rolled back with its side effects.
func (t *untyped) locks(ctx context.Context, v verb) (bool, error) {
	all, err := t.triggersOf(ctx)
	return v == updates && t.lockNext.Load() || all.any(v, trigger.isDrop), err
}

// missed is called after an UPDATE that wrote nothing. If a trigger may be the reason, the next one locks the
// row: side effects of the trigger may have changed its revision, as another writer does.
func (t *untyped) missed() {
	if all := t.triggers.Load(); all != nil && all.any(updates, trigger.isBefore) {
		t.lockNext.Store(true)
	}
}

var errMissed = errors.New("sqltable: the statement had no effect")

// apply calls write, which locks the row first, and reports whether it wrote. If it did not, no other writer
// is the reason: its transaction is rolled back with the side effects of triggers.
func (t *untyped) apply(
	ctx context.Context, v verb, write func(ctx context.Context) (wrote bool, err error),
) error {
	err := t.db.Nested(ctx, func(ctx context.Context) error {
		wrote, err := write(ctx)
		if err == nil && !wrote || t.isInstead(err) {
			err = errMissed
		}
		return err
	})
	switch {
	case errors.Is(err, errMissed):
		return t.notApplied(ctx, v)
	case err == nil && v == updates:
		t.lockNext.Store(false)
	}
	return err
}

// notApplied returns the error of a statement that wrote nothing although the row has the expected
// revision, and logs the triggers and rules that may be the reason. Later statements lock the row first.
// Clients do not learn the names.
func (t *untyped) notApplied(ctx context.Context, v verb) error {
	all, err := t.triggersOf(ctx)
	if !all.any(v, trigger.isBefore) { // created since they were read
		all, err = t.readTriggers(ctx)
	}
	all = slices.Clone(all)
	var names []string
	for i, g := range all {
		if g.on[v] && !g.after {
			all[i].drops = true
			names = append(names, g.name)
		}
	}
	if err == nil {
		t.triggers.Store(&all)
	}
	slog.ErrorContext(ctx, "sqltable: a statement wrote nothing; check the triggers and rules of the table",
		"table", t.name, "statement", verbNames[v], "triggers", names, "error", err)
	d := problem.New(problem.Conflict, "The database did not apply the write.")
	d.Errors = []problem.Violation{{Code: "notApplied", Detail: "the database did not apply the write"}}
	return fmt.Errorf("sqltable: %s of %s had no effect: %w", verbNames[v], t.name, d)
}

// isInstead reports whether err is that of PostgreSQL for RETURNING of a statement that a rule replaces. A
// stale plan, which is a conflict, has the same SQLSTATE.
func (t *untyped) isInstead(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && state.SQLState() == "0A000" &&
		t.dialect.Fault(err).Kind != sqltx.Conflict
}

// checkTriggers warns of triggers and rules that may drop a write.
func (t *untyped) checkTriggers(ctx context.Context, i *inspection) error {
	all, err := t.readTriggers(ctx)
	for _, g := range all {
		for v, name := range verbNames {
			if g.on[v] && g.drops {
				i.warn("the trigger or rule %s may drop writes: %s then fails with the code notApplied",
					g.name, name)
			}
		}
	}
	return err
}
