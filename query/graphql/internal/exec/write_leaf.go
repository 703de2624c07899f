package exec

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

// leaf says what a value that has no parts has to be (section 6.4.3, CoerceResult). Package schema has written it by
// then; what is looked at is the JSON.
type leaf struct {
	form  form
	names [][]byte // values of an enum, in quotation marks
	// foreign says that code of the application writes it.
	foreign bool
}

// form is what is left to be done or checked.
type form uint8

const (
	plain   form = iota // nothing
	ident               // an integer that is written as a string
	short               // an integer of a type that may hold more than an Int
	oneName             // a string that has to be a value of an enum
)

// leafOf returns the leaf of a field whose named type is a scalar or an enum.
func leafOf(f *model.Field) leaf {
	t, named := outputType(f), f.Type.Named()
	if t == nil {
		return leaf{}
	}
	l := leaf{foreign: foreign(t)}
	// Lists of lists are of leaves in the end, and each is looked at by itself.
	for r := f.Type; r.Elem != nil && t.Elem != nil; r = r.Elem {
		t = t.Elem
	}
	switch {
	case named.Kind == model.Enum:
		l.form = oneName
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

// foreign reports whether code of the application writes values of a type, or may.
func foreign(t *schema.Type) bool {
	switch t.Kind {
	case schema.Integer, schema.Number, schema.Boolean:
		return false
	case schema.String:
		return t.Format == "" && (t.GoType.Kind() != reflect.String || marshals(t.GoType))
	case schema.Array:
		return foreign(t.Elem)
	}
	return true // maps and what may be any JSON can hold everything
}

// marshals reports whether a type writes itself as text.
func marshals(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextAppender]())
}

// What a leaf may not be. These are faults of the server, and texts for its log.
var (
	errNull    = errors.New("a null where the schema has none")
	errNotEnum = errors.New("a value that is none of its enum")
	errNotInt  = errors.New("a value outside of the 32 bits of an Int")
)

// leafMember appends the leaf that a member of a struct is.
func (r *run) leafMember(n *field, t *schema.Type, parent any) (err error) {
	start := len(r.dst)
	if n.leaf.foreign {
		defer r.caught(&err)
	}
	if n.def.ZeroNull && n.def.Member.IsZero(parent) {
		r.dst = append(r.dst, "null"...)
		return nil
	}
	if r.dst, err = t.AppendField(r.dst, n.def.Member, parent); err != nil {
		return err
	}
	// Of all values that are written, nulls alone begin with this letter.
	if n.leaf.form == plain && (!n.nonNull || r.dst[start] != 'n') {
		return nil
	}
	return r.check(n, start, n.nonNull)
}

// leafValue appends the leaf that v points to: an element of a list, or what custom code has given.
func (r *run) leafValue(n *field, t *schema.Type, v any, nonNull bool) (err error) {
	start := len(r.dst)
	if n.leaf.foreign {
		defer r.caught(&err)
	}
	if r.dst, err = t.Append(r.dst, v); err != nil {
		return err
	}
	return r.check(n, start, nonNull)
}

// caught ends a panic of whatever writes a leaf: that is one leaf that cannot be written.
func (r *run) caught(err *error) {
	if v := recover(); v != nil {
		*err = r.panicked(r.ctx, v)
	}
}

// check looks at what was appended since start. Whoever gets the error cuts that off.
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
		if text[0] != '"' { // the option string of the tag json has put it in quotation marks already
			r.dst = append(append(r.dst, '"'), '"')
			copy(r.dst[start+1:], r.dst[start:])
			r.dst[start] = '"'
		}
	case short:
		if _, err := strconv.ParseInt(string(text), 10, 32); err != nil {
			return errNotInt
		}
	case oneName:
		for _, name := range n.leaf.names {
			if string(name) == string(text) {
				return nil
			}
		}
		return errNotEnum
	}
	return nil
}

// text appends a string that nothing is known of.
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
	return fmt.Errorf("introspection has a %T", v)
}
