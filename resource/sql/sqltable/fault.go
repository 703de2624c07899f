package sqltable

// Translation of database errors to those of package resource. Writes call fault and deleteError;
// sqltx classifies the error of the driver.

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// fault converts an error of the database to one of package resource. The result wraps the original
// error, for logs and for the retry of transactions. Errors that it does not classify are returned
// unchanged and become 500.
func (t *untyped) fault(err error) error {
	if err == nil {
		return nil
	}
	if mapped := t.mapped(err); mapped != nil {
		return mapped
	}
	f := t.dialect.Fault(err)
	var meaning error
	switch f.Kind {
	case sqltx.Unique:
		meaning = t.takenError(f)
		// Inserts use ON CONFLICT for the id, so this happens only for ids that the database
		// assigns.
		isKey := func(name string) bool { return t.isKey(t.columnNamed(name)) }
		if len(f.Columns) == len(t.key) && !slices.ContainsFunc(f.Columns, not(isKey)) {
			meaning = resource.ErrExists
		}
	case sqltx.ForeignKey:
		if t.dialect == sqltx.SQLite {
			return err // the caller finds the field; see danglingError
		}
		meaning = t.about(f, unknown, "fkey")
	case sqltx.NotNull:
		meaning = t.about(f,
			func(field string) error { return resource.Invalid(field, "required") }, "not_null")
	case sqltx.Check:
		meaning = t.about(f, func(field string) error { return resource.Invalid(field, "check") }, "check")
	case sqltx.Conflict, sqltx.Unavailable:
		meaning = resource.ErrUnavailable
	case sqltx.Denied:
		meaning = resource.ErrForbidden
		// The role may lack a right, which is no mistake of the client.
		if _, warned := t.warned.LoadOrStore(deniedText(err.Error()), true); !warned {
			slog.Warn("sqltable: the database denies a statement", "table", t.name, "error", err)
		}
	default:
		return err
	}
	return fmt.Errorf("%w: %w", meaning, err)
}

// deniedText is the text of an error of the kind Denied that was logged.
type deniedText string

// mappedError is an error with the meaning that sqltx.Options.Fault has given it.
type mappedError struct{ meaning, cause error }

func (e *mappedError) Error() string   { return e.meaning.Error() + ": " + e.cause.Error() }
func (e *mappedError) Unwrap() []error { return []error{e.meaning, e.cause} }

// mapped returns err with the meaning of sqltx.Options.Fault, or nil if it has none.
func (t *untyped) mapped(err error) error {
	if errors.As(err, new(*mappedError)) {
		return err
	}
	if meaning := t.db.MapFault(err); meaning != nil {
		return &mappedError{meaning, err}
	}
	return nil
}

// rejected returns an error of a write with its meaning if the database rejects a value for a reason that
// no column has, and other errors unchanged.
func (t *untyped) rejected(err error) error {
	if err == nil || errors.As(err, new(*mappedError)) {
		return err
	}
	switch f := t.dialect.Fault(err); f.Kind {
	case sqltx.Value:
		return fmt.Errorf("%w: %w", resource.Invalid("", "range"), err)
	case sqltx.Raised:
		d := problem.New(problem.Invalid, "The database rejects the content.")
		if t.opts.RaisedTexts && f.Message != "" {
			d.Detail = f.Message
		}
		d.Errors = []problem.Violation{{Code: "raised", Detail: d.Detail}}
		return fmt.Errorf("%w: %w", d, err)
	}
	return err
}

func not(f func(string) bool) func(string) bool { return func(s string) bool { return !f(s) } }

// about returns an error for each field that the fault concerns, or one without a field if none is
// known. Options.Constraints has precedence over what the database reports, because a CHECK
// constraint may concern several columns.
func (t *untyped) about(f sqltx.Fault, fieldError func(field string) error, suffix string) error {
	if field, ok := t.opts.Constraints[f.Constraint]; ok {
		return fieldError(field)
	}
	var errs []error
	for _, name := range f.Columns {
		if c := t.columnNamed(name); c != nil {
			errs = append(errs, fieldError(c.field.Name))
		}
	}
	if checks := t.checks.Load(); checks != nil && f.Kind == sqltx.Check {
		for _, c := range (*checks)[f.Constraint] {
			errs = append(errs, fieldError(c.field.Name))
		}
	}
	if c := t.columnNamed(t.conventional(f.Constraint, suffix)); errs == nil && c != nil {
		errs = append(errs, fieldError(c.field.Name))
	}
	if errs == nil && f.Kind == sqltx.Check && t.dialect == sqltx.SQLite {
		for _, c := range t.columnsIn(f.Constraint) {
			errs = append(errs, fieldError(c.field.Name))
		}
	}
	switch len(errs) {
	case 0:
		if _, warned := t.warned.LoadOrStore(f.Constraint, true); f.Kind == sqltx.Check && !warned {
			slog.Warn("sqltable: a violated CHECK constraint has no known fields; "+
				"name one in Options.Constraints", "table", t.name, "constraint", f.Constraint)
		}
		return fieldError("")
	case 1:
		return errs[0]
	}
	return errors.Join(errs...)
}

// sqlWords matches the literals, functions and names of an expression of SQLite. A name has a group.
var sqlWords = regexp.MustCompile(
	`'(?:[^']|'')*'|"([^"]*)"|\x60([^\x60]*)\x60|\[([^\]]*)\]|[\pL_][\pL\d_$]*\s*\(|([\pL_][\pL\d_$]*)`)

// sqlName matches what may be the name of a constraint.
var sqlName = regexp.MustCompile(`^[\pL_][\pL\d_$]*$`)

// columnsIn returns the columns with fields of clients that an expression names, in the order of the schema.
// SQLite reports the expression of a CHECK constraint without a name.
func (t *untyped) columnsIn(expr string) (columns []*column) {
	if sqlName.MatchString(expr) {
		return nil
	}
	var names []string
	for _, m := range sqlWords.FindAllStringSubmatch(expr, -1) {
		names = append(names, strings.ToLower(m[1]+m[2]+m[3]+m[4]))
	}
	for _, c := range t.columns {
		if !c.computed() && !c.field.ReadOnly && slices.Contains(names, strings.ToLower(c.spec.Name)) {
			columns = append(columns, c)
		}
	}
	return columns
}

// readChecks reads the columns of the CHECK constraints, because an error has only the name of one.
func (t *untyped) readChecks(ctx context.Context) error {
	statement, args := checksPostgres, []any{t.table}
	if t.dialect == sqltx.SQLite {
		text, _, table := inSchema(checksSQLite, t.name)
		statement, args = text, []any{table}
	}
	rows, err := t.db.Writer(ctx).QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	checks := map[string][]*column{}
	for rows.Next() {
		var name, text string // of a column, or the CREATE TABLE
		if err := rows.Scan(&name, &text); err != nil {
			return err
		}
		if t.dialect == sqltx.SQLite {
			for name, expr := range namedChecks(text) {
				checks[name] = t.columnsIn(expr)
			}
		} else if c := t.columnNamed(text); c != nil && !c.field.ReadOnly {
			checks[name] = append(checks[name], c)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	t.checks.Store(&checks)
	return nil
}

const (
	checksPostgres = `
SELECT c.conname, a.attname FROM pg_constraint c
CROSS JOIN LATERAL unnest(c.conkey) WITH ORDINALITY AS k (n, i)
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.n
WHERE c.conrelid = to_regclass($1::text) AND c.contype = 'c' ORDER BY c.conname, k.i`
	checksSQLite = "SELECT name, sql FROM SCHEMA.sqlite_schema WHERE type = 'table' " +
		"AND name = ?1 COLLATE NOCASE"
)

// conventional returns the column in a default constraint name of PostgreSQL, such as status for
// orders_status_check. PostgreSQL truncates names to 63 bytes, so long names are not recognized and
// need Options.Constraints.
func (t *untyped) conventional(constraint, suffix string) string {
	name, ok := strings.CutPrefix(constraint, t.bare()+"_")
	if !ok {
		return ""
	}
	name, _ = strings.CutSuffix(name, "_"+suffix)
	return name
}

// deleteError is fault for a deletion: a foreign key violation means that other items refer to this
// one.
func (t *untyped) deleteError(err error) error {
	if mapped := t.mapped(err); err == nil || mapped != nil {
		return mapped
	}
	if t.dialect.Fault(err).Kind == sqltx.ForeignKey {
		return fmt.Errorf("%w: %w", problem.New(problem.Conflict, "Other items refer to this one."), err)
	}
	return t.rejected(t.fault(err))
}

// written and deletions are the CommitClassifiers of inserts and updates, and of deletions.
type written untyped

// CommitError implements [sqltx.CommitClassifier]. SQLite does not report the constraint.
func (w *written) CommitError(err error) error {
	t := (*untyped)(w)
	f := t.dialect.Fault(err)
	switch {
	case f.Table != "" && f.Table != t.bare():
		return nil
	case f.Kind == sqltx.ForeignKey && t.dialect == sqltx.SQLite:
		return fmt.Errorf("%w: %w", unknown(""), err)
	}
	if meaning := t.rejected(t.fault(err)); meaning != err {
		return meaning
	}
	return nil
}

type deletions untyped

// CommitError implements [sqltx.CommitClassifier]. A row of another table, or of this one by its key, refers
// to the deleted row.
func (d *deletions) CommitError(err error) error {
	t := (*untyped)(d)
	f := t.dialect.Fault(err)
	refers := func(name string) bool {
		c := t.columnNamed(name)
		return c == nil || f.Table == t.bare() && !t.isKey(c)
	}
	if f.Kind != sqltx.ForeignKey || slices.ContainsFunc(f.Columns, refers) {
		return (*written)(d).CommitError(err)
	}
	return t.deleteError(err)
}

// unknown is the error for a reference to an item that does not exist. fielderr has the text for
// its code.
func unknown(field string) error { return resource.Invalid(field, "unknown") }

// danglingError returns the error of the field of v that refers to a missing item. SQLite does not
// report which one it is. It looks for the parent of each foreign key after the failure. Another
// writer may have inserted the missing parent since; the error then names no field.
func (t *untyped) danglingError(ctx context.Context, v any) error {
	keys, err := t.foreignKeys(ctx)
	if err != nil {
		return err
	}
	for _, key := range keys {
		c := t.columnNamed(key.column)
		if c == nil {
			continue
		}
		arg, err := t.argument(c, v)
		if err != nil || arg == nil {
			continue
		}
		var one int
		d := t.dialect
		// The parent may be any column that is unique, so the table's translator cannot be used.
		statement := "SELECT 1 FROM " + d.Quote(key.parent) +
			" WHERE " + d.Quote(key.to) + " = " + d.Placeholder(1)
		switch found, err := t.queryRow(ctx, t.db.Writer(ctx), statement, []any{arg}, &one); {
		case err != nil:
			return err
		case !found:
			return unknown(c.field.Name)
		}
	}
	return unknown("")
}

// foreignKey is a column that refers to a column of another table.
type foreignKey struct{ column, parent, to string }

// foreignKeys reads the foreign keys of a table of SQLite. A key without a column refers to the
// primary key. Keys of several columns have one row for each column, and each column is examined on
// its own.
func (t *untyped) foreignKeys(ctx context.Context) ([]foreignKey, error) {
	rows, err := t.db.Writer(ctx).QueryContext(ctx, "SELECT k.`from`, k.`table`, coalesce(k.`to`, "+
		"(SELECT p.name FROM pragma_table_info(k.`table`) AS p WHERE p.pk = 1)) "+
		"FROM pragma_foreign_key_list(?1) AS k",
		t.bare())
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var keys []foreignKey
	for rows.Next() {
		var k foreignKey
		if err := rows.Scan(&k.column, &k.parent, &k.to); err != nil {
			return nil, err
		}
		keys = append(keys, k)
	}
	return keys, rows.Err()
}

// bare returns the name of the table without the schema.
func (t *untyped) bare() string { return t.name[strings.LastIndexByte(t.name, '.')+1:] }
