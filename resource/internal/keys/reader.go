// Package keys reads ids and foreign keys from the fields of items by reflection, and joins items
// with the rows that their keys refer to. Ids and keys are read for each row of each page, so
// strings are built only when they must be.
package keys

import (
	"encoding"
	"reflect"
	"strconv"

	"github.com/stoa-go/stoa/resource/schema"
)

// Reader reads keys from a field: of a string as it is, of an integer as decimal text, otherwise as
// the text of the field.
type Reader struct {
	// Field has the keys.
	Field *schema.Field

	plain  bool         // the field is a string, in the item itself, that is always a key unless empty
	kind   reflect.Kind // of one key: String, Int64, Uint64, or Invalid for one that is read as text
	many   bool         // the field is a slice or an array of keys
	absent bool         // a zero is not a key, because the JSON leaves it out
}

// NewReader returns a Reader of a field for which [Unfit] returns an empty string.
func NewReader(f *schema.Field) *Reader {
	typ, many := f.Type, f.Type.Kind == schema.Array
	if many {
		typ = typ.Elem
	}
	k := &Reader{
		Field:  f,
		absent: (f.OmitZero || f.OmitEmpty) && !f.Nullable,
		many:   many,
		kind:   integerKind(typ),
	}
	if typ.Kind == schema.String && typ.GoType.Kind() == reflect.String && !writesText(typ.GoType) {
		k.kind = reflect.String
		k.plain = !many && !f.Nullable && len(f.Index) == 1
	}
	return k
}

// integerKind returns Int64 or Uint64 if integers of a type can be read as such, and otherwise
// Invalid.
func integerKind(typ *schema.Type) reflect.Kind {
	switch kind := typ.GoType.Kind(); {
	case typ.Kind != schema.Integer:
	case kind >= reflect.Int && kind <= reflect.Int64:
		return reflect.Int64
	case kind >= reflect.Uint && kind <= reflect.Uint64:
		return reflect.Uint64
	}
	return reflect.Invalid
}

// writesText reports whether a type has a text form of its own. It may differ from the value of the
// string.
func writesText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// Unfit returns why keys cannot be read from a field, as the rest of a sentence; an empty string if
// they can. many accepts a list of keys. f may be nil.
func Unfit(f *schema.Field, many bool) string {
	switch {
	case f == nil:
		return "which is not the JSON name of a field"
	case f.WriteOnly:
		return "which is writeOnly, so responses would reveal it"
	case f.Type.Kind == schema.Array && !many:
		return "which is a list; set Many"
	case f.Type.Kind == schema.Array:
		if k := f.Type.Elem.Kind; k != schema.Integer && k != schema.String || NewReader(f).needsText() {
			return "which is not a list of strings or integers"
		}
	case !f.Comparable():
		return "which is neither a single value nor a list of them"
	}
	return ""
}

// needsText reports whether the elements of a list have a text and no method to write it.
func (k *Reader) needsText() bool {
	return k.many && k.kind == reflect.Invalid && !writesText(k.Field.Type.Elem.GoType)
}

// in returns the Go field in v, a pointer to the struct. It is not valid if the field is a nil
// pointer.
func (k *Reader) in(v any) reflect.Value {
	f := reflect.ValueOf(v).Elem()
	for _, i := range k.Field.Index {
		f = f.Field(i)
	}
	return pointee(f)
}

// string returns the key of a plain field in v. It is in without the cases that the field does not have.
func (k *Reader) string(v any) string {
	return reflect.ValueOf(v).Elem().Field(k.Field.Index[0]).String()
}

// pointee follows a pointer. The result for a nil pointer is not valid.
func pointee(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	return v
}

// Read adds the keys in v, a pointer to an item, to the current item of j. Null and an empty string
// are not keys.
func (k *Reader) Read(j *Join, v any) {
	if k.plain {
		if key := k.string(v); key != "" {
			j.raw = append(j.raw, key)
		}
		return
	}
	f := k.in(v)
	if !f.IsValid() {
		return
	}
	if !k.many {
		if !k.absent || !f.IsZero() {
			k.addKey(j, f, v)
		}
		return
	}
	for i := range f.Len() {
		if elem := pointee(f.Index(i)); elem.IsValid() {
			k.addKey(j, elem, v)
		}
	}
}

// addKey adds the key f of the item v. Integers are added as text that shares one string with the
// other keys of the Join.
func (k *Reader) addKey(j *Join, f reflect.Value, v any) {
	key := ""
	switch k.kind {
	case reflect.Int64:
		j.addText(strconv.AppendInt(j.text, f.Int(), 10))
	case reflect.Uint64:
		j.addText(strconv.AppendUint(j.text, f.Uint(), 10))
	case reflect.String:
		key = f.String()
	default:
		key = k.text(f, v)
	}
	if key != "" {
		j.raw = append(j.raw, key)
	}
}

// text returns a key that is neither an integer nor a plain string.
func (k *Reader) text(f reflect.Value, v any) string {
	if !k.many {
		return k.Field.Text(v)
	}
	m, _ := reflect.TypeAssert[encoding.TextMarshaler](f.Addr())
	text, err := m.MarshalText()
	if err != nil {
		return ""
	}
	return string(text)
}

// Find returns the slot in j of the key in v, a pointer to a row.
func (k *Reader) Find(j *Join, v any) (slot int32, ok bool) {
	if k.plain {
		return j.Find(k.string(v))
	}
	f := k.in(v)
	if !f.IsValid() {
		return 0, false
	}
	// Enough for any 64-bit integer, and on the stack.
	var buf [24]byte
	switch k.kind {
	case reflect.Int64:
		return j.findText(strconv.AppendInt(buf[:0], f.Int(), 10))
	case reflect.Uint64:
		return j.findText(strconv.AppendUint(buf[:0], f.Uint(), 10))
	case reflect.String:
		return j.Find(f.String())
	}
	return j.Find(k.Field.Text(v))
}
