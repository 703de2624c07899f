package sqltable

// Revisions: how they are selected, compared and changed. write.go and tombstones.go use them in
// the WHERE clause of each write, which is the compare-and-swap.

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// revision is how the revisions of items are stored. The four forms are a text column, a counter,
// system columns of PostgreSQL, and a hash.
type revision struct {
	expr string // the expression in SELECT; empty if items have no revision
	// system means that expr is xmin and ctid, two columns of PostgreSQL.
	system bool
	// column is the column to write; empty if the database changes the revision itself.
	column string
	kind   sqlquery.Kind // of column: Text, or Integer for a counter
	// hashed means that expr is the whole content, and that the revision is its hash.
	hashed bool
}

// chooseRevision applies Options.Rev.
func (t *untyped) chooseRevision() error {
	switch name := t.opts.Rev; {
	case name == "" && t.opts.ReadOnly:
		return nil
	case name == XMin && t.dialect == sqltx.PostgreSQL:
		// Both, because two writes of one transaction have the same xmin. They are selected as they
		// are, because casts and a concatenation take the server half a microsecond per row.
		t.rev = revision{expr: "xmin, ctid", system: true}
	case name == XMin:
		return errors.New("Options.Rev is XMin, which only PostgreSQL has")
	case name == Content:
		return nil // computed when all columns are known; see content
	default:
		return t.chooseRevisionColumn(name)
	}
	return nil
}

// chooseRevisionColumn sets the revision to a column: one of its own, or that of a field. A
// nullable column is rejected, because a comparison with NULL is never true.
func (t *untyped) chooseRevisionColumn(name string) error {
	if name == "" {
		name = "rev"
	}
	t.rev = revision{expr: t.dialect.Quote(name), column: name}
	if t.opts.CountRev {
		t.rev.kind = sqlquery.Integer
	}
	c := t.columnNamed(name)
	if c == nil {
		return nil
	}
	if t.isKey(c) || !c.scalar() || c.spec.Kind != t.rev.kind || !c.spec.NotNull {
		return fmt.Errorf(
			"the column of the revision, %q, is that of the field %s, which must be %s and no pointer",
			name, c.field.GoName,
			map[bool]string{true: "an integer", false: "a string (or set CountRev)"}[t.opts.CountRev])
	}
	c.isRev = true
	return nil
}

// content returns an expression of all columns as one text. In PostgreSQL it includes the hash, so
// that one statement can compare it. SQLite has no hash function, so of computes the hash in Go and
// expected reads the content again.
func (t *untyped) content() revision {
	columns := t.columns
	if t.modified != nil && t.modified.field == nil {
		columns = append(columns[:len(columns):len(columns)], t.modified)
	}
	parts := make([]string, len(columns))
	for i, c := range columns {
		switch {
		// quote writes enough digits to distinguish all floating-point numbers.
		case t.dialect == sqltx.SQLite && c.scalar() &&
			(c.spec.Kind == sqlquery.Number || c.spec.Kind == sqlquery.Decimal):
			parts[i] = "quote(" + c.expr + ")"
		case t.dialect == sqltx.SQLite: // quote ends a text at NUL, but not a blob
			parts[i] = "quote(CAST(" + c.expr + " AS BLOB))"
		case c.scalar() && c.typ.Name == sqltype.TimestampTZ: // its text depends on the session
			parts[i] = "extract(epoch FROM " + c.expr + ")"
		case c.scalar() && (c.typ.Name == sqltype.Date || c.typ.Name == sqltype.Timestamp):
			parts[i] = "to_json(" + c.expr + ")::text"
		default:
			parts[i] = c.read
		}
	}
	if t.dialect == sqltx.SQLite {
		return revision{expr: "(" + strings.Join(parts, " || ',' || ") + ")", hashed: true}
	}
	row := "ROW(" + strings.Join(parts, ", ") + ")::text"
	return revision{expr: "left(encode(sha256(convert_to(" + row + ", 'UTF8')), 'hex'), 32)"}
}

// of returns the revision for a selected value. Half of the hash is enough: 128 bits.
func (r *revision) of(raw string) resource.Rev {
	if !r.hashed {
		return resource.Rev(raw)
	}
	sum := sha256.Sum256([]byte(raw))
	return resource.Rev(hex.EncodeToString(sum[:16]))
}

// systemRev returns the revision for the system columns of a row.
func systemRev(xmin int64, ctid string) resource.Rev {
	var space [64]byte
	return resource.Rev(appendSystemRev(space[:0], xmin, ctid))
}

func appendSystemRev(dst []byte, xmin int64, ctid string) []byte {
	return append(strconv.AppendInt(dst, xmin, 10), ctid...)
}

// parseXMin parses xmin from text.
func parseXMin(text string) (int64, error) { return strconv.ParseInt(text, 10, 64) }

// parseSystemRev is the inverse of systemRev. ok is false for a revision that no row has had.
func parseSystemRev(rev resource.Rev) (xmin int64, ctid string, ok bool) {
	number, place, _ := strings.Cut(string(rev), "(")
	block, offset, _ := strings.Cut(strings.TrimSuffix(place, ")"), ",")
	x, errX := strconv.ParseUint(number, 10, 32)
	b, errB := strconv.ParseUint(block, 10, 32)
	o, errO := strconv.ParseUint(offset, 10, 16)
	if errX != nil || errB != nil || errO != nil {
		return 0, "", false
	}
	ctid = fmt.Sprintf("(%d,%d)", b, o)
	return int64(x), ctid, systemRev(int64(x), ctid) == rev
}

// firstRev returns the value of the column in a new item. It does not repeat a revision of a deleted
// item with the same id. For a counter this is the time: a counter that begins at 1 would repeat. A
// counter that is too small for the time begins at 0.
func (t *untyped) firstRev(ctx context.Context) (any, error) {
	if t.rev.kind != sqlquery.Integer {
		return string(resource.NewRev()), nil
	}
	size, err := t.counterSize(ctx)
	if err != nil || size < 8 {
		return int64(0), err
	}
	return time.Now().UnixMicro(), nil
}

// counterSize returns the size of the counter in bytes. It reads the type of the column once.
func (t *untyped) counterSize(ctx context.Context) (int, error) {
	if t.dialect == sqltx.SQLite {
		return 8, nil // whatever the type of the column is
	}
	if size := t.counterBytes.Load(); size != 0 {
		return int(size), nil
	}
	size := 8 // the statement of the caller fails if there is no column
	const statement = "SELECT attlen FROM pg_attribute " +
		"WHERE attrelid = to_regclass($1::text) AND attname = $2::text"
	found, err := t.queryRow(ctx, t.db.Writer(ctx), statement, []any{t.table, t.rev.column}, &size)
	if found && err == nil {
		t.counterBytes.Store(int32(size))
	}
	return size, err
}

// checkCounter warns of a counter that repeats revisions, because it is too small to begin with the time.
func (t *untyped) checkCounter(i *inspection) {
	f := i.columns[t.rev.column]
	small := f.base.Name == sqltype.Integer || f.base.Name == sqltype.SmallInt
	if t.opts.CountRev && small && !t.identity && !t.opts.NoDelete && (t.opts.Forget || t.opts.Recreate) {
		i.warn("column %s is %s, so revisions start at 0: an id that is inserted again repeats them, and an "+
			"entity tag of the deleted item matches the new one; make the column bigint", t.rev.column, f.typ)
	}
}

// cast returns the type of the column as the suffix of a placeholder.
func (r *revision) cast() string {
	if r.kind == sqlquery.Integer {
		return "::bigint"
	}
	return "::text"
}

// set returns the assignment for an UPDATE. The counter is incremented by the database. The
// condition on the old value makes it exact. It is not less than the time: a database that was set back to
// a backup would otherwise repeat the revisions of writes that were lost. A counter of PostgreSQL with less
// than eight bytes cannot store the time.
func (r *revision) set(w *args) string {
	if r.kind != sqlquery.Integer {
		return r.expr + " = " + w.bind(string(resource.NewRev()), "::text")
	}
	next, now := r.expr+" + 1", w.bind(time.Now().UnixMicro(), "::bigint")
	if w.dialect == sqltx.SQLite {
		return r.expr + " = max(" + next + ", " + now + ")"
	}
	return r.expr + " = CASE pg_column_size(" + r.expr + ") WHEN 8 THEN greatest(" + next + ", " + now +
		") ELSE " + next + " END"
}

// unchanged returns the condition that an item has the expected revision and matches the filters
// also. ok is false if no item can have the revision. A revision is a value from the client's
// entity tag, so it may be anything.
func (t *untyped) unchanged(
	w *args, id []any, expect resource.Rev, also ...query.Filter,
) (condition string, ok bool) {
	f := query.And(append(also, t.at(id))...)
	switch {
	case t.rev.system:
		xmin, ctid, ok := parseSystemRev(expect)
		if !ok {
			return "", false
		}
		// PostgreSQL finds the row by its place, which a concurrent write changes. It then examines
		// the new version of the row by the other conditions; its xmin is that of the other write.
		condition = " AND ctid = " + w.bind(ctid, "::text::tid") +
			" AND xmin = " + w.bind(strconv.FormatInt(xmin, 10), "::text::xid")
	case t.rev.column == "":
		if !utf8.ValidString(string(expect)) || strings.ContainsRune(string(expect), 0) {
			return "", false // not valid in PostgreSQL
		}
		condition = " AND " + t.rev.expr + " = " + w.bind(string(expect), "::text")
	case t.rev.kind == sqlquery.Integer:
		// Another spelling of the number, such as 01, was never sent to a client.
		n, err := strconv.ParseInt(string(expect), 10, 64)
		if err != nil || strconv.FormatInt(n, 10) != string(expect) {
			return "", false
		}
		f = query.And(f, query.Where(revField, query.Eq, n))
	default:
		f = query.And(f, query.Where(revField, query.Eq, string(expect)))
	}
	return t.where(w, f) + condition, true
}
