package sqltable

// Arguments of statements: args numbers them, argument converts fields to values of columns, and
// values lists the columns of a write. Values that a column cannot store become errors for clients
// before the statement is executed, because an error would abort a transaction of PostgreSQL.

import (
	"bytes"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// args collects the arguments of a statement.
type args struct {
	dialect sqltx.Dialect
	list    []any
}

// bind adds an argument and returns its placeholder, with the cast in PostgreSQL. SQLite has no
// types of parameters, and needs no cast.
func (w *args) bind(v any, cast string) string {
	w.list = append(w.list, v)
	p := w.dialect.Placeholder(len(w.list))
	if w.dialect == sqltx.PostgreSQL {
		p += cast
	}
	return p
}

// argument returns the value of a field for its column. The error is one for clients. A nil value
// is NULL.
func (t *untyped) argument(c *column, v any) (any, error) {
	switch c.form {
	case bytesForm:
		return c.bytes(reflect.ValueOf(v).Elem().FieldByIndex(c.field.Index)), nil
	case jsonForm:
		return t.document(c, reflect.ValueOf(v).Elem().FieldByIndex(c.field.Index))
	case arrayForm:
		return t.array(c, reflect.ValueOf(v).Elem().FieldByIndex(c.field.Index))
	}
	value := c.field.Get(v)
	if value == nil && c.field.Nullable {
		return nil, nil
	}
	if c.spec.Kind == sqlquery.Decimal || c.spec.Kind == sqlquery.Duration {
		return c.spelled(value, c.field.Text(v), t.dialect)
	}
	code := ""
	switch value := value.(type) {
	case nil:
		return nil, nil
	case time.Time: // in UTC, as in the column
		if value.IsZero() && c.storesNullForZero() {
			return nil, nil
		}
		if year := value.UTC().Year(); year < 0 || year > 9999 {
			code = "range"
		}
	case string:
		if code = c.faultOfText(t.dialect, value); code != "" && value == "" && !c.spec.NotNull {
			return nil, nil
		}
	default:
		code = c.faultOfNumber(t.dialect, value)
	}
	if code != "" {
		return nil, resource.Invalid(c.field.Name, code)
	}
	return t.tr.Arg(c.field.Name, value), nil
}

// bytes returns a copy, because a driver may read it after the call. Array fields and named slice
// types are copied to a []byte, which every driver accepts. A nil slice is NULL if the column is nullable.
func (c *column) bytes(v reflect.Value) any {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	if v.Kind() == reflect.Slice && v.IsNil() && !c.spec.NotNull {
		return nil
	}
	b := make([]byte, v.Len()) // not nil, which would be NULL
	reflect.Copy(reflect.ValueOf(b), v)
	return b
}

// document returns a value that is not a scalar as JSON, including members that clients cannot
// read. If the column is nullable, a nil value is NULL, and so is a zero struct with omitzero. Members
// are sorted, so that equal values have equal texts and [Content] does not change.
func (t *untyped) document(c *column, v reflect.Value) (any, error) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.Map, reflect.Slice:
		if v.IsNil() && !c.spec.NotNull {
			return nil, nil
		}
	case reflect.Struct:
		if c.field.OmitZero && v.IsZero() && !c.spec.NotNull {
			return nil, nil
		}
	}
	text, err := json.Marshal(v.Addr().Interface(), json.Deterministic(true))
	if err != nil {
		return nil, err
	}
	if t.dialect == sqltx.PostgreSQL && hasNUL(text) {
		return nil, resource.Invalid(c.field.Name, "format")
	}
	return string(text), nil
}

// hasNUL reports whether JSON contains the escape of U+0000, which jsonb does not support. An
// escaped backslash before u0000 is not one.
func hasNUL(text []byte) bool {
	for {
		i := bytes.IndexByte(text, '\\')
		if i < 0 || i+1 >= len(text) {
			return false
		}
		if bytes.HasPrefix(text[i:], []byte(`\u0000`)) {
			return true
		}
		text = text[i+2:]
	}
}

// values returns the columns and placeholders of a new item, without the id and the revision. It leaves out
// columns with a DEFAULT that applies. Columns of times are set by the store even if a field has them.
func (t *untyped) values(w *args, v any, now time.Time) (names, places []string, err error) {
	for _, c := range t.columns {
		if !t.isWritten(c) || c.leavesDefault(v) {
			continue
		}
		arg, err := t.argument(c, v)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, c.expr)
		places = append(places, w.bind(arg, c.cast))
	}
	if t.modified != nil {
		names = append(names, t.modified.expr)
		places = append(places, w.bind(t.tr.Arg(modifiedField, now), t.modified.cast))
	}
	return names, places, nil
}

// isWritten reports whether a write sets a column to the value of its field.
func (t *untyped) isWritten(c *column) bool {
	return !t.isKey(c) && !c.computed() && !c.generated && !c.isRev && !c.isModified && !c.isDeleted
}

// leavesDefault reports whether the database sets the column of a new item: the field has the tag
// default:"db" and is zero.
func (c *column) leavesDefault(v any) bool {
	return c.field != nil && c.field.StoreDefault &&
		reflect.ValueOf(v).Elem().FieldByIndex(c.field.Index).IsZero()
}

// emptyIsNone reports whether the type of the column has no value for an empty or zero field.
func (c *column) emptyIsNone() bool {
	switch c.spec.Kind {
	case sqlquery.Text:
		return c.scalar() && !c.isText()
	case sqlquery.Decimal, sqlquery.Duration, sqlquery.UUID, sqlquery.Time:
		return c.scalar()
	}
	return false
}
