package sqltable

// Reading of rows: newRow prepares the arguments of Scan, query streams rows, and the setters
// convert values of drivers. Drivers differ in the Go types that they return for a column.

import (
	"context"
	"database/sql"
	"encoding"
	"errors"
	"fmt"
	"iter"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
)

// row is the destination of Scan for all rows of a result, one after the other. A value is copied
// before the next row is scanned. The memory that its pointers, lists and maps refer to is
// allocated for each row. The order of dests is that of selected.
type row struct {
	value    any           // a pointer to the value
	elem     reflect.Value // the value
	pooled   bool
	rev      string
	xmin     int64 // with XMin, rev is the ctid; an int64 is the type that drivers return
	modified time.Time
	dests    []any
	keys     []keyValue
	columns  []*column
	bad      []*column // columns of the last scanned row with values that their fields cannot have
}

// newRow returns a row for these columns and keys, in the order of selected.
func (t *untyped) newRow(columns []*column, keys ...rowKey) *row {
	value := reflect.New(t.typ.GoType)
	r := &row{value: value.Interface(), elem: value.Elem(), columns: columns}
	switch {
	case t.rev.system:
		r.dests = append(r.dests, xminScanner{&r.xmin}, &r.rev)
	case t.rev.expr != "":
		r.dests = append(r.dests, &r.rev)
	}
	if t.modified != nil {
		r.dests = append(r.dests, timeScanner{t.modified, &r.modified, &r.bad})
	}
	for _, c := range columns {
		r.dests = append(r.dests, c.dest(r.elem.FieldByIndex(c.field.Index), &r.bad))
	}
	for _, k := range keys {
		v := k.newValue()
		if v, ok := v.(*groupValue); ok {
			v.scan.bad = &r.bad
		}
		r.keys, r.dests = append(r.keys, v), append(r.dests, v)
	}
	return r
}

// scan scans a row of a result. A value that a field cannot have becomes its placeholder. Plain strings are
// scanned without a Scanner, which is faster, and again with one if that fails because of NULL.
func (r *row) scan(answer *sql.Rows) error {
	r.bad = r.bad[:0]
	err := answer.Scan(r.dests...)
	plain := r.dests[len(r.dests)-len(r.keys)-len(r.columns):][:len(r.columns)]
	if err != nil {
		r.bad = r.bad[:0]
		r.elem.SetZero()
		dests := slices.Clone(r.dests)
		again := dests[len(dests)-len(r.keys)-len(r.columns):]
		for i, c := range r.columns {
			if _, ok := plain[i].(*string); ok {
				s := c.scanner(r.elem.FieldByIndex(c.field.Index))
				s.bad, again[i] = &r.bad, s
			}
		}
		return answer.Scan(dests...)
	}
	for i, dest := range plain {
		if text, ok := dest.(*string); ok && !utf8.ValidString(*text) {
			r.columns[i].setPlaceholder(reflect.ValueOf(text).Elem(), *text, nil)
			r.bad = append(r.bad, r.columns[i])
		}
	}
	return nil
}

// selected returns the expressions for SELECT. newRow must have the same order.
func (t *untyped) selected(columns []*column, keys ...rowKey) []string {
	return t.selectedFrom(t.table+".", columns, keys...)
}

// selectedFrom is selected with a prefix of system columns, which need one in a statement with JOIN. It is
// empty for RETURNING, because the table may have an alias.
func (t *untyped) selectedFrom(prefix string, columns []*column, keys ...rowKey) []string {
	var list []string
	switch {
	case t.rev.system:
		list = append(list, prefix+"xmin", prefix+"ctid")
	case t.rev.expr != "":
		list = append(list, t.rev.expr)
	}
	if t.modified != nil {
		list = append(list, t.modified.expr)
	}
	for _, c := range columns {
		list = append(list, c.read)
	}
	for _, k := range keys {
		list = append(list, k.expr)
	}
	return list
}

// revisionOf returns the id, the revision and the time of the last scanned row.
func (t *untyped) revisionOf(r *row) resource.Revision {
	result := resource.Revision{ID: t.idField.Compose(r.value), Modified: r.modified}
	switch {
	case t.rev.system:
		result.Rev = systemRev(r.xmin, r.rev)
	case t.rev.expr != "":
		result.Rev = t.rev.of(r.rev)
	}
	return result
}

// item returns the last scanned row.
func (t *Table[T]) item(r *row) resource.Item[T] {
	is := t.revisionOf(r)
	return resource.Item[T]{ID: is.ID, Rev: is.Rev, Modified: is.Modified, Value: *r.value.(*T),
		Keys: r.keysOf()}
}

// itemsOf returns the items of rows.
func (t *Table[T]) itemsOf(rows rows) items[T] {
	return func(yield func(resource.Item[T], error) bool) {
		for r, err := range rows {
			var it resource.Item[T]
			if err == nil {
				it = t.item(r)
			}
			if !yield(it, err) {
				return
			}
		}
	}
}

// take returns the item of a row that it releases. A nil row is none.
func (t *Table[T]) take(r *row, err error) (it resource.Item[T], _ error) {
	if r != nil {
		it = t.item(r)
		t.release(r)
	}
	return it, err
}

// rows are the rows of a result. A row is valid until the next one.
type rows = iter.Seq2[*row, error]

// query runs a statement that returns items with sort keys, and streams their rows.
func (t *untyped) query(
	ctx context.Context, c conn, columns []*column, statement string, args []any, keys ...rowKey,
) rows {
	return func(yield func(*row, error) bool) {
		answer, err := c.QueryContext(ctx, statement, args...)
		if err != nil {
			yield(nil, err)
			return
		}
		defer answer.Close()
		r := t.getRow(columns, keys...)
		defer t.release(r)
		for answer.Next() {
			if err = r.scan(answer); err != nil {
				break
			}
			if !yield(r, nil) {
				return
			}
			r.elem.SetZero() // so that it does not affect the next row
		}
		if err = errors.Join(err, answer.Err()); err != nil {
			yield(nil, err)
		}
	}
}

// queryItem runs a statement that returns at most one item. The caller releases the row, which is nil if
// there is none. The result is read to its end, because an INSERT can return a row and fail afterwards:
// RETURNING sends rows before constraints are checked.
func (t *untyped) queryItem(
	ctx context.Context, c conn, columns []*column, statement string, args []any,
) (*row, error) {
	r := t.getRow(columns)
	found, err := t.queryInto(ctx, c, r, statement, args)
	if err != nil || !found {
		t.release(r)
		return nil, err
	}
	return r, nil
}

// queryInto is queryItem with a row of the caller.
func (t *untyped) queryInto(
	ctx context.Context, c conn, r *row, statement string, args []any,
) (found bool, err error) {
	answer, err := c.QueryContext(ctx, statement, args...)
	if err != nil {
		return false, t.fault(err)
	}
	defer answer.Close()
	for err == nil && answer.Next() {
		err = r.scan(answer)
		found = true
	}
	if len(r.bad) > 0 {
		t.warnUnreadable(t.idField.Compose(r.value), r.bad)
	}
	return found, t.fault(errors.Join(err, answer.Err()))
}

// getRow returns a row for the columns. Only rows of all columns are pooled. A row holds reflection
// values for each column, which cost more than the scan itself.
func (t *untyped) getRow(columns []*column, keys ...rowKey) *row {
	if len(keys) > 0 || !slices.Equal(columns, t.columns) {
		return t.newRow(columns, keys...)
	}
	return t.rowPool.Get().(*row)
}

// release returns a row to the pool.
func (t *untyped) release(r *row) {
	if r.pooled {
		r.elem.SetZero()
		r.bad = r.bad[:0]
		t.rowPool.Put(r)
	}
}

// dest returns the argument of Scan for a field. bad is that of fieldScanner.
func (c *column) dest(field reflect.Value, bad *[]*column) any {
	if p, ok := field.Addr().Interface().(*string); ok && c.refusesNull() {
		return p // the fast path of database/sql
	}
	s := c.scanner(field)
	s.bad = bad
	return s
}

// refusesNull reports whether a field of type string cannot have NULL. In fields of other types it is the
// zero value.
func (c *column) refusesNull() bool { return c.spec.NotNull && c.scalar() && !c.converted() }

// fieldScanner is a [sql.Scanner] that sets a field. It accepts every type that a driver returns
// for the column.
type fieldScanner struct {
	column *column
	field  reflect.Value
	set    func(v reflect.Value, src any) error
	// bad gets the column if the field cannot have the value, and the field its placeholder. If nil, Scan
	// returns an error.
	bad *[]*column
}

func (c *column) scanner(field reflect.Value) *fieldScanner {
	return &fieldScanner{column: c, field: field, set: c.setter(field.Type())}
}

// Scan sets the field. NULL becomes nil, or the zero value of a field that cannot be nil.
func (c *fieldScanner) Scan(src any) error {
	err := c.scan(src)
	if err == nil || c.bad == nil {
		return err
	}
	c.column.setPlaceholder(c.field, src, c.set)
	*c.bad = append(*c.bad, c.column)
	return nil
}

func (c *fieldScanner) scan(src any) error {
	if src == nil {
		c.field.SetZero()
		if c.bad != nil && (c.column.inKey || c.column.refusesNull() && c.field.Type() == typeOfString) {
			return errNull
		}
		return nil
	}
	v := c.field
	// For JSON the decoder handles pointers itself.
	if c.column.form != jsonForm {
		for v.Kind() == reflect.Pointer {
			v.Set(reflect.New(v.Type().Elem()))
			v = v.Elem()
		}
	}
	if err := c.set(v, src); err != nil {
		return c.column.scanError(err)
	}
	return nil
}

var typeOfString = reflect.TypeFor[string]()

// scanError adds the column to an error of a value.
func (c *column) scanError(err error) error {
	return fmt.Errorf("sqltable: column %s: %w", c.expr, err)
}

// setter returns a function that sets a field. It depends on the type of the field only, because a
// column of SQLite can contain values of any type. It is chosen once per row and column, and not
// per value.
func (c *column) setter(t reflect.Type) func(v reflect.Value, src any) error {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case c.form == jsonForm:
		return setJSON
	case c.form == bytesForm:
		return setBytes
	case c.form == arrayForm:
		return c.elem.arraySetter(t)
	case t == reflect.TypeFor[time.Time]():
		return c.setTime
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return func(v reflect.Value, src any) error {
			text := c.textOf(src)
			if !utf8.ValidString(text) {
				return errText
			}
			return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(text))
		}
	}
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value, src any) error {
			text := c.textOf(src)
			if v.SetString(text); !utf8.ValidString(text) {
				return errText
			}
			return nil
		}
	case reflect.Bool:
		return setBool
	case reflect.Float32, reflect.Float64:
		return c.setNumber
	}
	return setInteger
}

// errText reports bytes that are not UTF-8.
var errText = errors.New("a text is not UTF-8")

// textOf returns a value of a driver as text. It copies bytes, which belong to the driver.
func textOf(src any) string {
	switch src := src.(type) {
	case string:
		return src
	case []byte:
		return string(src)
	}
	return fmt.Sprint(src)
}

// errOf reports a value that the column should not contain. It names the Go type only, because the
// value may be confidential and errors are logged.
func errOf(what string, src any) error { return fmt.Errorf("a %T is no %s", src, what) }

// setInteger accepts text too: a column of SQLite without a strict type may contain digits.
func setInteger(v reflect.Value, src any) error {
	n, ok := src.(int64)
	if !ok {
		text := textOf(src)
		var err error
		if n, err = strconv.ParseInt(text, 10, 64); err != nil {
			// A numeric stores integers above the largest int64.
			large, err := strconv.ParseUint(text, 10, 64)
			if err == nil && v.CanUint() && !v.OverflowUint(large) {
				v.SetUint(large)
				return nil
			}
			return errOf("integer", src)
		}
	}
	switch {
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	default:
		return errRange
	}
	return nil
}

// errRange reports a number that the type of the field does not have.
var errRange = errors.New("a number does not fit into the field")

// setNumber also accepts integers: SQLite stores 1.0 as 1 in a column of numeric affinity. A real
// becomes the number of its shortest text, as in JSON; some drivers return another.
func (c *column) setNumber(v reflect.Value, src any) error {
	f, ok := src.(float64)
	if !ok {
		var err error
		if f, err = strconv.ParseFloat(textOf(src), 64); err != nil {
			return errOf("number", src)
		}
	}
	if c.typ.Name == sqltype.Real {
		f = realOf(f)
	}
	rounded := f
	if v.Kind() == reflect.Float32 {
		rounded = float64(float32(f)) // OverflowFloat is true of the shortest text of the largest float32
	}
	if math.IsNaN(rounded) || math.IsInf(rounded, 0) {
		return errRange
	}
	v.SetFloat(f)
	return nil
}

// realOf returns the number of the shortest text of a real.
func realOf(f float64) float64 {
	var space [32]byte
	f, _ = strconv.ParseFloat(string(strconv.AppendFloat(space[:0], f, 'g', -1, 32)), 64)
	return f
}

// setBool also accepts integers, because SQLite has no boolean type.
func setBool(v reflect.Value, src any) error {
	switch src := src.(type) {
	case bool:
		v.SetBool(src)
	case int64:
		v.SetBool(src != 0)
	default:
		return errOf("boolean", src)
	}
	return nil
}

// setTime sets a time from the representation in the column.
func (c *column) setTime(v reflect.Value, src any) error {
	at, err := c.timeOf(src)
	if err == nil {
		v.Set(reflect.ValueOf(at.UTC()))
	}
	return err
}

// timeOf converts a value of a driver to a time of the years that JSON has (RFC 3339 section 5.6).
func (c *column) timeOf(src any) (time.Time, error) {
	at, err := c.anyTimeOf(src)
	if unix := at.Unix(); err == nil && (unix < firstUnix || unix > lastUnix) {
		err = errors.New("a time is not within the years 0 to 9999")
	}
	return at, err
}

// The first and the last second of these years, since 1970.
const (
	firstUnix = -62_167_219_200
	lastUnix  = 253_402_300_799
)

// anyTimeOf converts a value of a driver to a time. A number of units and its rest may be negative,
// which time.Unix normalizes.
func (c *column) anyTimeOf(src any) (time.Time, error) {
	if at, ok := src.(time.Time); ok {
		return at, nil // drivers of SQLite return it for columns with types such as datetime
	}
	if n, ok := src.(int64); ok && c.spec.Unit != 0 {
		perSecond := int64(time.Second / c.spec.Unit)
		second, rest := n/perSecond, n%perSecond
		return time.Unix(second, rest*int64(c.spec.Unit)), nil
	}
	layout := c.spec.Layout
	if layout == "" {
		if at, ok := postgresTime(textOf(src)); ok && c.typ.Name != sqltype.Text {
			return at, nil
		}
		layout = sqlquery.TimeLayout
	}
	at, err := time.Parse(layout, textOf(src))
	if err != nil {
		return at, errOf("time as the column keeps them (see Options.Columns)", src)
	}
	return at, nil
}

// setBytes sets a slice or an array of bytes, also of a named type.
func setBytes(v reflect.Value, src any) error {
	text := textOf(src) // a copy
	if v.Kind() == reflect.Array {
		if len(text) != v.Len() {
			return fmt.Errorf("there are %d bytes, and the field has %d", len(text), v.Len())
		}
	} else {
		v.Set(reflect.MakeSlice(v.Type(), len(text), len(text)))
	}
	for i := range len(text) {
		v.Index(i).SetUint(uint64(text[i]))
	}
	return nil
}

// setJSON unmarshals JSON, which document or another program has written. It ignores unknown
// members, and the next write removes them. document in value.go is its inverse.
func setJSON(v reflect.Value, src any) error {
	text := textOf(src)
	if raw, ok := v.Addr().Interface().(*jsontext.Value); ok && text == "null" {
		*raw = nil // the value that was written; omitzero does not omit null
		return nil
	}
	return json.Unmarshal([]byte(text), v.Addr().Interface(), json.WithUnmarshalers(exactIntegers))
}

// exactIntegers keeps integers that float64 would round, like package schema does for requests.
// Members of type any would otherwise lose digits between a write and the next read.
var exactIntegers = json.UnmarshalFromFunc(func(dec *jsontext.Decoder, v *any) error {
	if dec.PeekKind() != '0' {
		return errors.ErrUnsupported // default behavior
	}
	raw, err := dec.ReadValue()
	if err != nil {
		return err
	}
	const exact = 1 << 53 // float64 rounds larger integers, so their digits are parsed
	n, bad := strconv.ParseInt(string(raw), 10, 64)
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || (bad != nil || n > exact || n < -exact) && !strings.ContainsAny(string(raw), ".eE") {
		*v = raw.Clone()
		return nil
	}
	*v = f
	return nil
})
