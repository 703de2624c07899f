package schema

import (
	"encoding"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
)

// op is how values of a type are handled: what Kind is to a client, it is to the code that walks values.
type op uint8

const (
	opForeign op = iota // by go-json-experiment/json: any, and types with JSON methods
	opObject
	opSlice
	opArray
	opMap
	opString
	opInt
	opUint
	opFloat
	opBool
	opTime
	opText // by its text methods
	opBytes
)

// compiler makes the Types of one graph of Go types. They become known to others only when all of them are complete,
// because a recursive type is used while it is being made.
type compiler struct {
	fresh map[reflect.Type]*Type
}

// compile returns the Type of t, which is not a pointer.
func (c *compiler) compile(t reflect.Type) (*Type, error) {
	if known, ok := types.known.Load(t); ok {
		return known.(*Type), nil
	}
	if made, ok := c.fresh[t]; ok {
		return made, nil
	}
	made := &Type{Name: nameOf(t.Name()), GoType: t, Len: -1, pointer: reflect.PointerTo(t)}
	c.fresh[t] = made
	if err := c.fill(made); err != nil {
		return nil, err
	}
	return made, nil
}

// fill decides how values of the type are handled. The order is that of go-json-experiment/json: its own treatment of
// times first, then JSON methods, then text methods, and only then the Go kind, because a struct with methods is not an
// object to anyone.
func (c *compiler) fill(t *Type) error {
	switch {
	case t.GoType == reflect.TypeFor[time.Time]():
		t.Kind, t.op, t.Format = String, opTime, "date-time"
		return nil
	case t.GoType == reflect.TypeFor[time.Duration]():
		return fmt.Errorf("schema: time.Duration has no agreed form in JSON; use an integer and name its unit, " +
			"or a type with MarshalText and UnmarshalText")
	case t.GoType.Kind() == reflect.Interface:
		return interfaceType(t)
	case implementsAny[jsonMethods](t):
		t.Kind, t.op = Any, opForeign
		return nil
	case implementsText(t.GoType):
		t.Kind, t.op = String, opText
		return nil
	case implementsAny[textMethods](t):
		t.Kind, t.op = Any, opForeign // it writes text and reads something else, or the reverse
		return nil
	}
	if scalar(t) {
		return nil
	}
	return c.composite(t)
}

// interfaceType accepts only the empty interface: go-json-experiment/json could not read the others back.
func interfaceType(t *Type) error {
	// To write it would work, but what is written could not be read back, and patches do both.
	if t.GoType.NumMethod() > 0 {
		return fmt.Errorf("schema: %v is an interface, so it cannot be read from JSON; use any or a concrete type", t.GoType)
	}
	t.Kind, t.op = Any, opForeign
	return nil
}

// scalar fills t if its Go kind is written as one value.
func scalar(t *Type) bool {
	switch t.GoType.Kind() {
	case reflect.String:
		t.Kind, t.op = String, opString
	case reflect.Bool:
		t.Kind, t.op = Boolean, opBool
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		t.Kind, t.op, t.Bits = Integer, opInt, t.GoType.Bits()
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		t.Kind, t.op, t.Bits, t.Unsigned = Integer, opUint, t.GoType.Bits(), true
	case reflect.Float32, reflect.Float64:
		t.Kind, t.op, t.Bits = Number, opFloat, t.GoType.Bits()
	default:
		return false
	}
	return true
}

// composite fills t if it is made of other types. They are compiled after t has become known to the compiler, which is
// what lets a type contain itself.
func (c *compiler) composite(t *Type) error {
	switch t.GoType.Kind() {
	case reflect.Struct:
		return c.object(t)
	case reflect.Slice, reflect.Array:
		t.Kind, t.op = Array, opSlice
		if t.GoType.Kind() == reflect.Array {
			t.op, t.Len = opArray, t.GoType.Len()
		}
		// A named byte type may mean anything, and go-json-experiment/json writes it as a number.
		if t.GoType.Elem() == reflect.TypeFor[byte]() {
			t.Kind, t.op, t.Format = String, opBytes, "byte"
			return nil
		}
		return c.elem(t)
	case reflect.Map:
		t.Kind, t.op = Map, opMap
		if err := c.keys(t); err != nil {
			return err
		}
		return c.elem(t)
	case reflect.Pointer:
		// The first level was removed by whoever asked for this type.
		return fmt.Errorf("schema: %v is a pointer to a pointer; one level says all that JSON can say", t.GoType)
	}
	return fmt.Errorf("schema: %v has no form in JSON; hide the field with the tag json:\"-\" or use another type", t.GoType)
}

// elem fills in the element type of an array or map.
func (c *compiler) elem(t *Type) error {
	elem, nullable := indirect(t.GoType.Elem())
	compiled, err := c.compile(elem)
	if err != nil {
		return err
	}
	t.Elem, t.ElemNullable = compiled, nullable
	return nil
}

// keys finds out how the keys of a map are written: a member name is always a string.
func (c *compiler) keys(t *Type) error {
	key, err := c.compile(t.GoType.Key())
	if err != nil {
		return err
	}
	switch key.op {
	case opString, opInt, opUint, opText:
		t.key, t.keyBits = key.op, key.Bits
		return nil
	}
	return fmt.Errorf("schema: the keys of %v cannot be member names; use strings, integers, or a type with MarshalText "+
		"and UnmarshalText", t.GoType)
}

// indirect removes the pointer from a type, and reports whether null may stand for the value.
func indirect(t reflect.Type) (elem reflect.Type, nullable bool) {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem(), true
	}
	return t, t.Kind() == reflect.Interface
}

// settle computes the traits of the new types. They depend on each other in circles, so it goes round until nothing
// changes.
func (c *compiler) settle() {
	for changed := true; changed; {
		changed = false
		for _, t := range c.fresh {
			if now := t.computeTraits(); now != t.traits {
				t.traits, changed = now, true
			}
		}
	}
}

// computeTraits sums up the traits of what the type is composed of, as far as they are known by now.
func (t *Type) computeTraits() traits {
	var sum traits
	// Elements are not there yet when defaults are filled in, and see to their read-only fields when they are read.
	if t.Elem != nil {
		sum.constrained = t.Elem.constrained
	}
	for _, f := range t.Fields {
		sum.constrained = sum.constrained || f.checked || f.Type.constrained
		sum.defaults = sum.defaults || f.Default != nil || f.inPlace() && f.Type.defaults
		sum.readOnly = sum.readOnly || f.ReadOnly || f.Type.readOnly
	}
	return sum
}

// jsonMethods and textMethods have one field for each interface by which a type takes over its own form.
type jsonMethods struct {
	json.MarshalerTo
	json.Marshaler
	json.UnmarshalerFrom
	json.Unmarshaler
}

type textMethods struct {
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// implementsAny reports whether a pointer to the type implements one of the interfaces in the struct M.
func implementsAny[M any](t *Type) bool {
	m := reflect.TypeFor[M]()
	for i := range m.NumField() {
		if t.pointer.Implements(m.Field(i).Type) {
			return true
		}
	}
	return false
}

// implementsText reports whether values of t are both written and read as text.
func implementsText(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	writes := p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextAppender]())
	return writes && p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// nameOf makes the Go name of an instance of a generic type a name that other languages accept: Page[a/b.Place] becomes
// PageOfPlace.
func nameOf(name string) string {
	open := strings.IndexByte(name, '[')
	if open < 0 {
		return name
	}
	var b strings.Builder
	b.WriteString(name[:open])
	word := " Of"
	for arg := range strings.FieldsFuncSeq(name[open:], func(r rune) bool { return strings.ContainsRune("[],*", r) }) {
		arg = arg[strings.LastIndexAny(arg, "./")+1:]
		if arg == "" {
			continue
		}
		b.WriteString(word[1:])
		b.WriteString(strings.ToUpper(arg[:1]) + arg[1:])
		word = " And"
	}
	return b.String()
}
