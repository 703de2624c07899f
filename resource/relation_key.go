package resource

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"

	"github.com/stoa-go/stoa/resource/schema"
)

// keyReader reads keys from the field that holds them. It is asked for every item of every page, so it goes by the Go
// kinds where these say it all: strings are taken as they lie there, and integers are written into one text for all.
type keyReader struct {
	field  *schema.Field
	kind   reflect.Kind // of one key: String, Int64, Uint64, or Invalid for one that is known by its text
	many   bool         // the field is a slice or an array of keys
	absent bool         // a zero is no key, as it is left out of the JSON
}

func newKeyReader(f *schema.Field) *keyReader {
	k := &keyReader{field: f, absent: (f.OmitZero || f.OmitEmpty) && !f.Nullable, many: f.Type.Kind == schema.Array}
	typ := f.Type
	if k.many {
		typ = typ.Elem
	}
	switch kind := typ.GoType.Kind(); {
	case typ.Kind == schema.Integer && kind >= reflect.Int && kind <= reflect.Int64:
		k.kind = reflect.Int64
	case typ.Kind == schema.Integer && kind >= reflect.Uint && kind <= reflect.Uint64:
		k.kind = reflect.Uint64
	case typ.Kind == schema.String && kind == reflect.String && !writesText(typ.GoType):
		k.kind = reflect.String
	}
	return k
}

func writesText(t reflect.Type) bool {
	return reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// fitForKeys returns why a field cannot be Relation.Field, and "" if it can.
func fitForKeys(f *schema.Field, many bool) string {
	switch {
	case f == nil:
		return "which is no JSON name of one of its fields"
	case f.WriteOnly:
		return "which is writeOnly: answers would reveal it"
	case f.Type.Kind == schema.Array && !many:
		return "which is a list, so Many has to be true"
	case f.Type.Kind == schema.Array:
		if k := f.Type.Elem.Kind; k != schema.Integer && k != schema.String || newKeyReader(f).needsText() {
			return "which is no list of strings or integers"
		}
	case !f.Comparable():
		return "which is neither a single value nor a list of them"
	}
	return ""
}

// needsText reports whether the elements of a list have a text and no method to write it.
func (k *keyReader) needsText() bool {
	return k.many && k.kind == reflect.Invalid && !writesText(k.field.Type.Elem.GoType)
}

// in returns the Go field in v, a pointer to the struct; not valid where it is a nil pointer.
func (k *keyReader) in(v any) reflect.Value {
	f := reflect.ValueOf(v).Elem()
	for _, i := range k.field.Index {
		f = f.Field(i)
	}
	return target(f)
}

// target follows a pointer. What a nil pointer leads to is not valid.
func target(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Pointer {
		return v.Elem()
	}
	return v
}

// read adds the keys that v holds to those of g.
func (k *keyReader) read(g *gathered, v any) {
	f := k.in(v)
	if !f.IsValid() {
		return
	}
	if !k.many {
		if !k.absent || !f.IsZero() {
			k.add(g, f, v)
		}
		return
	}
	for i := range f.Len() {
		if elem := target(f.Index(i)); elem.IsValid() {
			k.add(g, elem, v)
		}
	}
}

func (k *keyReader) add(g *gathered, f reflect.Value, v any) {
	switch k.kind {
	case reflect.Int64:
		g.addText(strconv.AppendInt(g.text, f.Int(), 10))
	case reflect.Uint64:
		g.addText(strconv.AppendUint(g.text, f.Uint(), 10))
	case reflect.String:
		g.add(f.String())
	default:
		g.add(k.textOf(f, v))
	}
}

func (k *keyReader) textOf(f reflect.Value, v any) string {
	if !k.many {
		return k.field.Text(v)
	}
	m, _ := reflect.TypeAssert[encoding.TextMarshaler](f.Addr())
	text, err := m.MarshalText()
	if err != nil {
		return ""
	}
	return string(text)
}

// slot returns which of the keys of g the one that v holds is.
func (k *keyReader) slot(g *gathered, v any) (int32, bool) {
	f := k.in(v)
	if !f.IsValid() {
		return 0, false
	}
	var room [24]byte
	switch k.kind {
	case reflect.Int64:
		return g.findText(strconv.AppendInt(room[:0], f.Int(), 10))
	case reflect.Uint64:
		return g.findText(strconv.AppendUint(room[:0], f.Uint(), 10))
	case reflect.String:
		return g.find(f.String())
	}
	return g.find(k.field.Text(v))
}

// checkKeys panics if a relation does not say, or says twice, where its keys are.
func checkKeys[T any](name string, typ *schema.Type, rel *Relation[T]) {
	switch {
	case rel.Keys == nil && rel.Field == "" && rel.By == "":
		panic(fmt.Sprintf("resource: %s: relation %q needs Field, Keys or By", name, rel.Name))
	case rel.Keys != nil && rel.Field != "":
		panic(fmt.Sprintf("resource: %s: relation %q has both Field and Keys", name, rel.Name))
	case rel.Field != "":
		if why := fitForKeys(typ.Field(rel.Field), rel.Many || rel.By != ""); why != "" {
			panic(fmt.Sprintf("resource: %s: relation %q: Field names %q, %s", name, rel.Name, rel.Field, why))
		}
	}
}
