package sqltable

// Arguments of statements: args numbers them, argument converts fields to values of columns, and
// values lists the columns of a write. Values that a column cannot store become errors for clients
// before the statement is executed, because an error would abort a transaction of PostgreSQL.

import (
	"bytes"
	"reflect"
	"strings"
	"time"
	"unicode/utf8"

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
func (t *Table[T]) argument(c *column, v *T) (any, error) {
	switch c.form {
	case bytesForm:
		return bytesOf(reflect.ValueOf(v).Elem().FieldByIndex(c.field.Index)), nil
	case jsonForm:
		return t.document(c, reflect.ValueOf(v).Elem().FieldByIndex(c.field.Index))
	}
	value := c.field.Get(v)
	switch value := value.(type) {
	case nil:
		return nil, nil
	case uint64: // only values above the largest int64
		if c.spec.Kind == sqlquery.Integer {
			return nil, resource.Invalid(c.field.Name, "range")
		}
	case time.Time: // in UTC, as in the column
		if year := value.UTC().Year(); year < 0 || year > 9999 {
			return nil, resource.Invalid(c.field.Name, "range")
		}
	case string:
		if t.dialect == sqltx.PostgreSQL && !takes(c.spec.Kind, value) {
			return nil, resource.Invalid(c.field.Name, "format")
		}
	}
	return t.tr.Arg(c.field.Name, value), nil
}

// takes reports whether PostgreSQL can store a text in a column of this kind. PostgreSQL stores no
// NUL in text. For a uuid the spelling must be that of RFC 9562.
func takes(kind sqlquery.Kind, s string) bool {
	if kind == sqlquery.UUID {
		return isUUID(s)
	}
	return utf8.ValidString(s) && strings.IndexByte(s, 0) < 0
}

// bytesOf returns a copy, because a driver may read it after the call. Array fields and named slice
// types are copied to a []byte, which every driver accepts.
func bytesOf(v reflect.Value) any {
	for v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	b := make([]byte, v.Len()) // not nil, which would be NULL
	reflect.Copy(reflect.ValueOf(b), v)
	return b
}

// document returns a value that is not a scalar as JSON, including members that clients cannot
// read. A nil value is NULL if the column is nullable. Members are sorted, so that equal values
// have equal texts and [Content] does not change.
func (t *Table[T]) document(c *column, v reflect.Value) (any, error) {
	if (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) && v.IsNil() && !c.spec.NotNull {
		return nil, nil
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

// values returns the columns and placeholders of a write, without the id. Columns of the revision
// and of the time are set by the store even if a field has them.
func (t *Table[T]) values(w *args, v *T, now time.Time) (names, places []string, err error) {
	for _, c := range t.columns {
		if c == t.id || c.computed() || c.isRev || c.isModified {
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
