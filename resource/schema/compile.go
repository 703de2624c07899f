package schema

// The plans of Go types, made on first use and shared by all callers. structs.go compiles structs,
// and tags.go reads their tags.

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
)

// This file compiles a Go type into a Type: Of calls compile, which decides by the Go type how
// values are handled, and recurses through element and field types. The files structs.go and
// tags.go compile struct fields and their tags.

// op selects the code that encodes, decodes and compares values of a type. It is more specific than
// Kind.
type op uint8

const (
	opJSON op = iota // any, and types with JSON methods: handled by go-json-experiment/json
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
	opText // types with text methods
	opBytes
)

// compiler creates the Types of a graph of Go types. They are published when all of them are
// complete, because a recursive type refers to an incomplete one.
type compiler struct {
	fresh map[reflect.Type]*Type
}

// compile returns the Type of t, which must not be a pointer. outer has the descriptions of the
// fields of t if it has no name.
func (c *compiler) compile(t reflect.Type, outer source) (*Type, error) {
	if known, ok := types.known.Load(t); ok {
		return known.(*Type), nil
	}
	if made, ok := c.fresh[t]; ok {
		return made, nil
	}
	d := descriptionOf(t)
	if t.Name() != "" {
		outer = source{fields: d.Fields}
	}
	made := &Type{Name: nameOf(t.Name()), Doc: d.Doc, Deprecated: d.Deprecated, GoType: t, Len: -1,
		pointer: reflect.PointerTo(t)}
	// Before its fields are compiled: a recursive type finds itself in fresh. A struct that fails
	// leaves an incomplete entry, which Of never publishes, so that its mistakes are reported once.
	// Any other type is reported for each field that has it.
	c.fresh[t] = made
	if err := c.compileInto(made, outer); err != nil {
		if t.Kind() != reflect.Struct {
			delete(c.fresh, t)
		}
		return nil, err
	}
	made.setValues(d.Values)
	return made, nil
}

// compileInto sets Kind, op and the related fields of t. The precedence is that of
// go-json-experiment/json: time.Time, then JSON methods, then text methods, then the Go kind. JSON
// methods that only quote the text are ignored.
func (c *compiler) compileInto(t *Type, src source) error {
	switch {
	case t.GoType == reflect.TypeFor[time.Time]():
		t.Kind, t.op, t.Format = String, opTime, "date-time"
		return nil
	case t.GoType == reflect.TypeFor[time.Duration]():
		return errors.New("schema: time.Duration has no standard JSON encoding; " +
			"use a string with format:\"duration\", an integer, or a type with MarshalText and UnmarshalText")
	case t.GoType == reflect.TypeFor[query.Decimal](), t.GoType == reflect.TypeFor[query.Duration]():
		return fmt.Errorf("schema: %v is the value of a filter; use a string with format:\"%s\"",
			t.GoType, strings.ToLower(t.GoType.Name()))
	case t.GoType.Kind() == reflect.Interface:
		return compileInterface(t)
	case implementsAny[jsonMethods](t) && !isQuotedText(t.GoType):
		t.Kind, t.op = Any, opJSON
		return nil
	case implementsText(t.GoType):
		t.Kind, t.op = String, opText
		return nil
	case implementsAny[textMethods](t):
		t.Kind, t.op = Any, opJSON // only one of encoding and decoding uses text
		return nil
	}
	if compileScalar(t) {
		return nil
	}
	return c.compileComposite(t, src)
}

// compileInterface accepts only the empty interface, because other interfaces cannot be decoded.
func compileInterface(t *Type) error {
	if t.GoType.NumMethod() > 0 {
		return fmt.Errorf("schema: %v is an interface, so it cannot be decoded; use any or a concrete type",
			t.GoType)
	}
	t.Kind, t.op = Any, opJSON
	return nil
}

// compileScalar sets Kind and op if the Go kind is a scalar, and reports whether it is.
func compileScalar(t *Type) bool {
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

// compileComposite compiles a type that is composed of other types. t is already registered in
// c.fresh, so a type can contain itself.
func (c *compiler) compileComposite(t *Type, src source) error {
	switch t.GoType.Kind() {
	case reflect.Struct:
		return c.compileStruct(t, src)
	case reflect.Slice, reflect.Array:
		t.Kind, t.op = Array, opSlice
		if t.GoType.Kind() == reflect.Array {
			t.op, t.Len = opArray, t.GoType.Len()
		}
		// Slices of named byte types are arrays of numbers, as in go-json-experiment/json.
		if t.GoType.Elem() == reflect.TypeFor[byte]() {
			t.Kind, t.op, t.Format = String, opBytes, "byte"
			return nil
		}
		return c.compileElem(t, src)
	case reflect.Map:
		t.Kind, t.op = Map, opMap
		if err := c.compileKeys(t); err != nil {
			return err
		}
		return c.compileElem(t, src)
	case reflect.Pointer:
		// The caller has removed the first pointer.
		return fmt.Errorf("schema: %v is a pointer to a pointer; use a single pointer", t.GoType)
	}
	return fmt.Errorf("schema: %v cannot be encoded as JSON; "+
		"hide the field with json:\"-\" or use another type", t.GoType)
}

// compileElem compiles the element type of an array or a map.
func (c *compiler) compileElem(t *Type, src source) error {
	elem, nullable := indirect(t.GoType.Elem())
	compiled, err := c.compile(elem, src)
	if err != nil {
		return err
	}
	// OpenAPI could describe it and GraphQL could not, and neither tags nor relations reach its elements.
	for e := compiled; e != nil; e = e.Elem {
		if e == t {
			return fmt.Errorf("schema: %v contains itself without a struct; "+
				"use a struct with a field for the elements", t.GoType)
		}
	}
	t.Elem, t.ElemNullable = compiled, nullable
	return nil
}

// compileKeys compiles the key type of a map. Member names are strings, so the key must have a text
// form.
func (c *compiler) compileKeys(t *Type) error {
	key, err := c.compile(t.GoType.Key(), source{})
	if err != nil {
		return err
	}
	switch key.op {
	case opString, opInt, opUint, opText:
		t.Key = key
		return nil
	}
	return fmt.Errorf("schema: the keys of %v cannot be member names; use strings, integers, or a type "+
		"with MarshalText and UnmarshalText", t.GoType)
}

// indirect removes one pointer from a type, and reports whether null is a valid value.
func indirect(t reflect.Type) (elem reflect.Type, nullable bool) {
	if t.Kind() == reflect.Pointer && t.Name() == "" {
		return t.Elem(), true
	}
	return t, t.Kind() == reflect.Interface
}

// propagateTraits computes the traits of the new types. Types can be recursive, so it repeats until
// nothing changes. Traits only change from false to true, so it ends.
func (c *compiler) propagateTraits() {
	for changed := true; changed; {
		changed = false
		for _, t := range c.fresh {
			if now := t.computeTraits(); now != t.traits {
				t.traits, changed = now, true
			}
		}
	}
}

// computeTraits combines the traits of the types that t is composed of, as far as they are
// computed.
func (t *Type) computeTraits() traits {
	var sum traits
	// Elements get their defaults when they are decoded, and compare their read-only fields then.
	if t.Elem != nil {
		sum.constrained = t.Elem.constrained
		sum.secret, sum.preset, sum.omits = t.Elem.secret, t.Elem.preset, t.Elem.omits
		sum.renews = t.Elem.renews || t.Elem.preset || t.Elem.secret && t.Kind == Array
	}
	for _, f := range t.Fields {
		sum.constrained = sum.constrained || f.checked || f.Type.constrained
		sum.defaults = sum.defaults || f.Default != nil || f.inPlace() && f.Type.defaults
		sum.zeroInvalid = sum.zeroInvalid || f.isInvalidAbsent()
		sum.readOnly = sum.readOnly || f.ReadOnly || f.Type.readOnly
		hasDefault := f.Default != nil && !f.ReadOnly
		sum.secret = sum.secret || f.WriteOnly || f.Type.secret
		sum.preset = sum.preset || hasDefault || f.Type.preset
		sum.omits = sum.omits || hasDefault && (f.OmitZero || f.OmitEmpty) || f.Type.omits
		sum.renews = sum.renews || f.Type.renews || f.Type.preset && (f.pointer || f.OmitZero || f.OmitEmpty)
	}
	return sum
}

// jsonMethods embeds the interfaces by which a type defines its JSON encoding.
type jsonMethods struct {
	json.MarshalerTo
	json.Marshaler
	json.UnmarshalerFrom
	json.Unmarshaler
}

// textMethods embeds the interfaces by which a type defines its text encoding.
type textMethods struct {
	encoding.TextAppender
	encoding.TextMarshaler
	encoding.TextUnmarshaler
}

// implementsAny reports whether a pointer to the type implements one of the interfaces in the
// struct M.
func implementsAny[M any](t *Type) bool {
	m := reflect.TypeFor[M]()
	for i := range m.NumField() {
		if t.pointer.Implements(m.Field(i).Type) {
			return true
		}
	}
	return false
}

// implementsText reports whether t has methods for both encoding and decoding as text. The methods
// may have a pointer receiver, because all values are addressable.
func implementsText(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	writes := p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		p.Implements(reflect.TypeFor[encoding.TextAppender]())
	return writes && p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// isQuotedText reports whether a type with JSON and text methods is a string: its zero value, in
// JSON, is its text in quotation marks. Its methods belong to the application and may panic.
func isQuotedText(t reflect.Type) (quoted bool) {
	if !implementsText(t) {
		return false
	}
	defer func() {
		if recover() != nil {
			quoted = false
		}
	}()
	zero := reflect.New(t)
	text, err := appendText(nil, zero.Elem())
	if err != nil {
		return false
	}
	quotedText, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		return false
	}
	inJSON, err := json.Marshal(zero.Interface())
	return err == nil && bytes.Equal(inJSON, quotedText)
}

// nameOf converts the Go name of an instance of a generic type into an identifier: Page[a/b.Place]
// becomes PageOfPlace, and Page[*a/b.Place] becomes PageOfNullablePlace.
func nameOf(name string) string {
	open := strings.IndexByte(name, '[')
	if open < 0 {
		return name
	}
	var b strings.Builder
	b.WriteString(name[:open])
	word := " Of"
	for arg := range strings.FieldsFuncSeq(name[open:],
		func(r rune) bool { return strings.ContainsRune("[],", r) }) {
		if strings.HasPrefix(arg, "*") && !strings.HasSuffix(word, "Nullable") {
			word += "Nullable"
		}
		arg = arg[strings.LastIndexAny(arg, "*./")+1:]
		if arg == "" {
			continue
		}
		b.WriteString(word[1:])
		b.WriteString(strings.ToUpper(arg[:1]) + arg[1:])
		word = " And"
	}
	return b.String()
}
