package exec

// Scalars and enums. write.go calls leafMember for members of structs, and write_value.go calls
// leafValue for other values. Package schema writes the JSON, which is then checked and converted
// in place, so values need no intermediate form.

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
)

// leaf describes the checks of a scalar or enum value (section 6.4.3, CoerceResult). They inspect
// the JSON that package schema has written.
type leaf struct {
	form  form
	names [][]byte // enum values as JSON
	// foreign reports whether application code writes the value.
	foreign bool
}

// form is the check or conversion that a value needs.
type form uint8

const (
	plain     form = iota // none
	ident                 // an integer that becomes a string
	short                 // an integer that may exceed the range of Int
	enumValue             // a string that must be an enum value
)

// leafOf returns the leaf of a field that has a scalar or enum as its named type. The result is
// part of the plan, so a run does not inspect types.
func leafOf(f *model.Field) leaf {
	t, named := outputType(f), f.Type.Named()
	if t == nil {
		return leaf{}
	}
	l := leaf{foreign: foreign(t)}
	// The elements of nested lists are checked one by one.
	for r := f.Type; r.Elem != nil && t.Elem != nil; r = r.Elem {
		t = t.Elem
	}
	switch {
	case named.Kind == model.Enum:
		l.form = enumValue
		for _, v := range named.Values {
			l.names = append(l.names, []byte(strconv.Quote(v.Name)))
		}
	case named.Name == "ID" && t.Kind == schema.Integer:
		l.form = ident
	case named.Name == "Int" && (t.Bits > 32 || t.Unsigned && t.Bits > 16):
		l.form = short
	}
	return l
}

// foreign reports whether application code may write values of a type. Only such values need a
// deferred recover, which is not free on this path.
func foreign(t *schema.Type) bool {
	switch t.Kind {
	case schema.Integer, schema.Number, schema.Boolean:
		return false
	case schema.String:
		return t.Format == "" && (t.GoType.Kind() != reflect.String || marshals(t.GoType))
	case schema.Array:
		return foreign(t.Elem)
	}
	return true // maps and arbitrary JSON may contain any type
}

// marshals reports whether t implements a text interface.
func marshals(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextAppender]())
}

// errNull is the internal error of a null value.
var errNull = errors.New("graphql: null value of a non-null field")

// outputError is the internal error of a value that the type of its field does not permit. It is not masked,
// because the client may read the value, in REST too. The log has no values, so its text is the reason.
type outputError struct {
	reason string // equal for all values of a field
	value  string // as JSON
}

func (e outputError) Error() string { return e.reason }

// leafMember appends a member of a struct that is a leaf.
func (r *run) leafMember(n *field, t *schema.Type, parent any) (err error) {
	start := len(r.dst)
	if n.leaf.foreign {
		defer r.recoverLeaf(&err)
	}
	if n.def.ZeroNull && n.def.Member.IsZero(parent) {
		r.dst = append(r.dst, "null"...)
		return nil
	}
	if r.dst, err = t.AppendField(r.dst, n.def.Member, parent); err != nil {
		return err
	}
	// null is the only JSON value that begins with n
	if n.leaf.form == plain && (!n.nonNull || r.dst[start] != 'n') {
		return nil
	}
	return r.check(n, start, n.nonNull)
}

// leafValue appends the leaf that v points to: an element of a list, or a result of custom code.
func (r *run) leafValue(n *field, t *schema.Type, v any, nonNull bool) (err error) {
	start := len(r.dst)
	if n.leaf.foreign {
		defer r.recoverLeaf(&err)
	}
	if r.dst, err = t.Append(r.dst, v); err != nil {
		return err
	}
	return r.check(n, start, nonNull)
}

// recoverLeaf recovers from a panic of application code that writes a leaf.
func (r *run) recoverLeaf(err *error) {
	if v := recover(); v != nil {
		*err = r.panicked(r.ctx, v)
	}
}

// check checks the value appended since start. The caller truncates it if there is an error. A
// value of the form plain is only checked for null.
func (r *run) check(n *field, start int, nonNull bool) error {
	text := r.dst[start:]
	if text[0] == 'n' {
		if nonNull {
			return errNull
		}
		return nil
	}
	switch n.leaf.form {
	case ident:
		if text[0] != '"' { // the option "string" of the json tag has quoted it already
			r.dst = append(append(r.dst, '"'), '"')
			copy(r.dst[start+1:], r.dst[start:])
			r.dst[start] = '"'
		}
	case short:
		if _, err := strconv.ParseInt(string(text), 10, 32); err != nil {
			return outputError{"Int cannot represent non 32-bit signed integer value", string(text)}
		}
	case enumValue:
		for _, name := range n.leaf.names {
			if string(name) == string(text) {
				return nil
			}
		}
		reason := fmt.Sprintf("Enum %q cannot represent value", n.def.Type.Named().Name)
		return outputError{reason, string(text)}
	}
	return nil
}

// text appends s as a JSON string.
func (r *run) text(s string) error {
	var err error
	r.dst, err = jsontext.AppendQuote(r.dst, s)
	return err
}

// metaLeaf appends a leaf of introspection.
func (r *run) metaLeaf(v any) error {
	switch v := v.(type) {
	case string:
		return r.text(v)
	case bool:
		r.dst = strconv.AppendBool(r.dst, v)
		return nil
	}
	return fmt.Errorf("graphql: introspection value has the type %T", v)
}
