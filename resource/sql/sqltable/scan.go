package sqltable

// Reading of rows: newRow prepares the arguments of Scan, rows streams items, and the setters
// convert values of drivers. Drivers differ in the Go types that they return for a column.

import (
	"context"
	"encoding"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// row is the destination of Scan for all rows of a result, one after the other. A value is copied
// before the next row is scanned. The memory that its pointers, lists and maps refer to is
// allocated for each row. The order of dests is that of [Table.selected].
type row[T any] struct {
	value    T
	rev      string
	modified time.Time
	dests    []any
}

// newRow returns a row for these columns, in the order of [Table.selected].
func (t *Table[T]) newRow(columns []*column) *row[T] {
	r := &row[T]{}
	if t.rev.expr != "" {
		r.dests = append(r.dests, &r.rev)
	}
	if t.modified != nil {
		r.dests = append(r.dests, t.modified.scanner(reflect.ValueOf(&r.modified).Elem()))
	}
	v := reflect.ValueOf(&r.value).Elem()
	for _, c := range columns {
		r.dests = append(r.dests, c.dest(v.FieldByIndex(c.field.Index)))
	}
	return r
}

// selected returns the expressions for SELECT or RETURNING. newRow must have the same order.
func (t *Table[T]) selected(columns []*column) []string {
	var list []string
	if t.rev.expr != "" {
		list = append(list, t.rev.expr)
	}
	if t.modified != nil {
		list = append(list, t.modified.expr)
	}
	for _, c := range columns {
		list = append(list, c.expr)
	}
	return list
}

// item returns the last scanned row.
func (t *Table[T]) item(r *row[T]) resource.Item[T] {
	it := resource.Item[T]{ID: t.id.field.Text(&r.value), Modified: r.modified, Value: r.value}
	if t.rev.expr != "" {
		it.Rev = t.rev.of(r.rev)
	}
	return it
}

// rows runs a statement that returns items, and streams them. Unless the consumer stops, it reads
// the result to its end, because an INSERT can return a row and fail afterwards.
func (t *Table[T]) rows(
	ctx context.Context, c sqltx.Conn, columns []*column, statement string, args []any,
) iter.Seq2[resource.Item[T], error] {
	return func(yield func(resource.Item[T], error) bool) {
		answer, err := c.QueryContext(ctx, statement, args...)
		if err != nil {
			yield(resource.Item[T]{}, err)
			return
		}
		defer answer.Close()
		r, done := t.getRow(columns)
		defer done()
		for answer.Next() {
			if err = answer.Scan(r.dests...); err != nil {
				break
			}
			if !yield(t.item(r), nil) {
				return
			}
			r.reset()
		}
		if err = errors.Join(err, answer.Err()); err != nil {
			yield(resource.Item[T]{}, err)
		}
	}
}

// reset clears the value, so that it does not affect the next row.
func (r *row[T]) reset() {
	var zero T
	r.value = zero
}

// getRow returns a row for the columns, and a function that returns it to the pool. Only rows of
// all columns are pooled. A row holds reflection values for each column, which cost more than the
// scan itself.
func (t *Table[T]) getRow(columns []*column) (r *row[T], done func()) {
	if len(columns) != len(t.columns) {
		return t.newRow(columns), func() {}
	}
	r = t.rowPool.Get().(*row[T])
	return r, func() {
		r.reset()
		t.rowPool.Put(r)
	}
}

// dest returns the argument of Scan for a field.
func (c *column) dest(field reflect.Value) any {
	if p, ok := field.Addr().Interface().(*string); ok && c.spec.NotNull && c.scalar() {
		return p // the fast path of database/sql
	}
	return c.scanner(field)
}

// fieldScanner is a [sql.Scanner] that sets a field. It accepts every type that a driver returns
// for the column.
type fieldScanner struct {
	column *column
	field  reflect.Value
	set    func(v reflect.Value, src any) error
}

func (c *column) scanner(field reflect.Value) *fieldScanner {
	return &fieldScanner{c, field, c.setter(field.Type())}
}

// Scan sets the field. NULL becomes nil, or the zero value of a field that cannot be nil.
func (c *fieldScanner) Scan(src any) error {
	if src == nil {
		c.field.SetZero()
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
		return fmt.Errorf("sqltable: column %s: %w", c.column.expr, err)
	}
	return nil
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
	case t == reflect.TypeFor[time.Time]():
		return c.setTime
	case reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()):
		return func(v reflect.Value, src any) error {
			return v.Addr().Interface().(encoding.TextUnmarshaler).UnmarshalText([]byte(textOf(src)))
		}
	}
	switch t.Kind() {
	case reflect.String:
		return func(v reflect.Value, src any) error { v.SetString(textOf(src)); return nil }
	case reflect.Bool:
		return setBool
	case reflect.Float32, reflect.Float64:
		return setNumber
	}
	return setInteger
}

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
		var err error
		if n, err = strconv.ParseInt(textOf(src), 10, 64); err != nil {
			return errOf("integer", src)
		}
	}
	switch {
	case v.CanInt() && !v.OverflowInt(n):
		v.SetInt(n)
	case v.CanUint() && n >= 0 && !v.OverflowUint(uint64(n)):
		v.SetUint(uint64(n))
	default:
		return fmt.Errorf("%d does not fit into the field", n)
	}
	return nil
}

// setNumber also accepts integers: SQLite stores 1.0 as 1 in a column of numeric affinity.
func setNumber(v reflect.Value, src any) error {
	f, ok := src.(float64)
	if !ok {
		var err error
		if f, err = strconv.ParseFloat(textOf(src), 64); err != nil {
			return errOf("number", src)
		}
	}
	v.SetFloat(f)
	return nil
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

// timeOf converts a value of a driver to a time. A number of units and its rest may be negative,
// which time.Unix normalizes.
func (c *column) timeOf(src any) (time.Time, error) {
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
