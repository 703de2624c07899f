package sqltable

// ListJSON: rows as JSON without values of T. json_plan.go chooses the columns and their encoders,
// json_column.go encodes values of drivers.

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/jsonappend"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

type itemsJSON = iter.Seq2[resource.ItemJSON, error]

// listJSON implements [resource.JSONLister]. The statements are those of list.
func (t *untyped) listJSON(ctx context.Context, q query.Query) itemsJSON {
	return func(yield func(resource.ItemJSON, error) bool) {
		plan := t.planOf(q.Fields)
		err := t.inSteps(q, func(c sqlquery.Clauses, skip int) (n, leftOut int, more bool) {
			for it, err := range t.rowsJSON(ctx, plan, plan.selecting+c.String(), c.Args, q) {
				switch {
				case err == nil && skip > 0:
					skip--
				case err == nil && it.ID == "":
					leftOut++
				case !yield(it, t.fault(err)) || err != nil:
					return n, leftOut, false
				default:
					n++
				}
			}
			return n, leftOut, true
		})
		if err != nil {
			yield(resource.ItemJSON{}, err)
		}
	}
}

// listRevisions implements [resource.RevisionLister]. It selects the key and the revision.
func (t *untyped) listRevisions(ctx context.Context, q query.Query) iter.Seq2[resource.Revision, error] {
	return func(yield func(resource.Revision, error) bool) {
		q.Fields = []string{} // no members, except those of which leavesOut must know the values
		for _, o := range q.Sort {
			if c := t.byField[o.Field]; q.Limit > 0 && c != nil && !c.inKey && t.canBeUnreadable(c) {
				q.Fields = append(q.Fields, o.Field)
			}
		}
		for it, err := range t.listJSON(ctx, q) {
			if !yield(resource.Revision{ID: it.ID, Rev: it.Rev, Modified: it.Modified}, err) {
				return
			}
		}
	}
}

// rowsJSON is rows for encoded items of q. The JSON of an item is valid until the next one. The ID of a row
// that is left out is empty.
func (t *untyped) rowsJSON(
	ctx context.Context, plan *jsonPlan, statement string, args []any, q query.Query,
) itemsJSON {
	return func(yield func(resource.ItemJSON, error) bool) {
		if t.rowsRaw(ctx, plan, statement, args, q, yield) {
			return
		}
		answer, err := t.db.Reader(ctx).QueryContext(ctx, statement, args...)
		if err != nil {
			yield(resource.ItemJSON{}, err)
			return
		}
		defer answer.Close()
		r := plan.rows.Get().(*jsonRow)
		for answer.Next() {
			r.reset()
			if err = answer.Scan(r.dests...); err != nil {
				// A plain string is NULL.
				r.reset()
				if err = answer.Scan(r.lenient()...); err != nil {
					break
				}
			}
			if err = r.encode(); err != nil {
				break
			}
			it, err := t.itemJSON(r, q)
			if !yield(it, err) || err != nil {
				return
			}
		}
		// If the consumer stops, it may still use the last JSON, so the row is not pooled.
		plan.rows.Put(r)
		if err = errors.Join(err, answer.Err()); err != nil {
			yield(resource.ItemJSON{}, err)
		}
	}
}

// jsonRow is the destination of Scan for all rows of a result, one after the other. Then the cells
// append their members to buf in the order of the columns, which is that of the schema.
type jsonRow struct {
	plan     *jsonPlan
	buf      []byte
	rev      string
	xmin     int64 // with XMin, rev is the ctid
	modified time.Time
	keys     []string        // the texts of the columns of the id
	idAt     int             // where the member of a composite id belongs in buf
	member   []byte          // of a composite id
	scratch  any             // a *T for columns without an encoder
	dests    []any           // of the revision, the time and the cells
	cells    []*jsonCell     // of the columns
	raw      []rawDecoder    // of the columns of raw rows
	texts    strings.Builder // memory of ids and revisions

	bad       []*column // with values that their fields cannot have
	isLenient bool      // value of the cells is set, and text is not

	// err is the error of the first member that cannot be encoded, and errAt its field. It is
	// returned after the scan, as the value would be encoded after it.
	err   error
	errAt int
}

// reset prepares for the next row.
func (r *jsonRow) reset() {
	r.buf, r.err, r.errAt = r.buf[:0], nil, 0
	r.bad, r.isLenient = r.bad[:0], false
	if r.plan.composite {
		clear(r.keys)
	}
}

// lenient returns the destinations of a Scan that accepts NULL for plain strings.
func (r *jsonRow) lenient() []any {
	r.isLenient = true
	dests := slices.Clone(r.dests)
	for i, c := range r.cells {
		if c.isDirect() {
			dests[len(dests)-len(r.cells)+i] = &c.value
		}
	}
	return dests
}

// itemJSON returns the last scanned row, or the zero item if it is left out.
func (t *untyped) itemJSON(r *jsonRow, q query.Query) (resource.ItemJSON, error) {
	it, err := r.item(&t.rev)
	isUsual := len(r.bad) == 0 && it.ID != "" && utf8.ValidString(it.ID)
	if err == nil && !isUsual && t.leavesOut(it.ID, r.bad, q) {
		return resource.ItemJSON{}, nil
	}
	return it, err
}

// encode appends the members of the scanned columns.
func (r *jsonRow) encode() (err error) {
	buf := r.buf
	for _, c := range r.cells {
		if buf, err = c.appendScanned(c.begin(buf)); err != nil {
			return err
		}
	}
	r.buf = buf
	return nil
}

// fail records the error of the field at a position in the schema.
func (r *jsonRow) fail(at int, err error) {
	if r.err == nil || at < r.errAt {
		r.err, r.errAt = err, at
	}
}

// item returns the last scanned row.
func (r *jsonRow) item(rev *revision) (resource.ItemJSON, error) {
	p := r.plan
	it := resource.ItemJSON{ID: r.keys[0], Modified: r.modified}
	if p.lastID >= 0 {
		r.idAt = len(r.buf) + p.lastID
	}
	r.buf = append(r.buf, p.last...)
	if p.composite {
		it.ID = schema.JoinKey(r.keys)
		r.insertID(it.ID)
	}
	if p.err != nil {
		r.fail(p.errAt, p.err)
	}
	if r.err != nil {
		return resource.ItemJSON{}, r.err
	}
	switch {
	case rev.system:
		var space [64]byte
		it.Rev = resource.Rev(r.text(appendSystemRev(space[:0], r.xmin, r.rev)))
	case rev.expr != "":
		it.Rev = rev.of(r.rev)
	}
	if len(r.buf) == 0 {
		r.buf = append(r.buf, '{')
	}
	r.buf[0] = '{' // in place of the comma of the first member
	r.buf = append(r.buf, '}')
	it.JSON = r.buf
	return it, nil
}

// insertID inserts the member of a composite id, for which all columns of the key must be known.
func (r *jsonRow) insertID(id string) {
	f := r.plan.idField
	if !r.plan.hasID {
		return
	}
	var err error
	if r.plan.plainID {
		r.member, err = jsonappend.String(append(r.member[:0], r.plan.idLabel...), id)
	}
	if err != nil || !r.plan.plainID {
		r.plan.setID(r.scratch, id)
		if r.member, err = r.plan.typ.AppendMember(r.member[:0], f, r.scratch); err != nil {
			r.fail(slices.Index(r.plan.typ.Fields, f), err)
			return
		}
	}
	r.buf = slices.Insert(r.buf, r.idAt, r.member...)
}

// timeScanner is a [sql.Scanner] that sets a time. NULL is the zero time.
type timeScanner struct {
	column *column
	to     *time.Time
	bad    *[]*column // gets the column if it has another value
}

// Scan sets the time.
func (s timeScanner) Scan(src any) (err error) {
	*s.to = time.Time{}
	if src == nil {
		return nil
	}
	at, err := s.column.timeOf(src)
	if err != nil {
		*s.bad = append(*s.bad, s.column)
		return nil
	}
	*s.to = at.UTC()
	return nil
}

// xminScanner is a [sql.Scanner] for xmin, which drivers return as an int64 or as text. Scan of
// database/sql would use reflection.
type xminScanner struct{ to *int64 }

// Scan sets the number.
func (s xminScanner) Scan(src any) error {
	switch src := src.(type) {
	case int64:
		*s.to = src
		return nil
	case string, []byte:
		n, err := parseXMin(textOf(src))
		*s.to = n
		return err
	}
	return errOf("transaction id", src)
}

// wants reports whether a list with these fields has the member of a field.
func wants(fields []string, f *schema.Field) bool {
	return !f.WriteOnly && (fields == nil || slices.Contains(fields, f.Name))
}

// label returns the text before the value of a member: a comma, the name and a colon.
func label(name string) []byte {
	text, _ := jsonappend.String([]byte{','}, name) // package schema accepts only valid names
	return append(text, ':')
}
