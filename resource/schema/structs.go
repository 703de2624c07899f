package schema

// Struct fields and embedded structs, with the precedence rules of encoding/json.

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/internal/near"
)

// This file compiles the fields of structs: their json tags, embedded structs, and duplicate names.

// compileStruct compiles the fields of a struct. Those of embedded structs are inserted at the
// position of the embedded field. Positions are set afterwards, because a later field can hide an
// earlier one.
func (c *compiler) compileStruct(t *Type, src source) error {
	t.Kind, t.op = Object, opObject
	t.byName = map[string]*Field{}
	mistakes := []error{c.compileFields(t, t.GoType, nil, src)}
	for i, f := range t.Fields {
		f.position = i
		mistakes = append(mistakes, f.checkName(t), f.checkUniqueWith(t))
	}
	return join("", append(mistakes, t.compileKey())...)
}

// compileFields compiles the fields of the struct s, which is t or embedded in t at the index. src
// has their descriptions. The error has the mistakes of all fields, because a programmer wants to fix
// them together.
func (c *compiler) compileFields(t *Type, s reflect.Type, index []int, src source) error {
	var mistakes []error
	for i := range s.NumField() {
		sf := s.Field(i)
		at := append(append(make([]int, 0, len(index)+1), index...), i)
		mistakes = append(mistakes, join(structName(s)+"."+sf.Name+": ", c.compileField(t, sf, at, src)))
	}
	return join("", mistakes...)
}

// structName returns the name of a struct for error messages. Package reflect would include all
// fields and tags of an unnamed struct.
func structName(s reflect.Type) string {
	return cmp.Or(s.Name(), "struct")
}

// compileField adds a Go field to t: nothing if it is not part of the JSON, and all fields of an
// embedded struct.
func (c *compiler) compileField(t *Type, sf reflect.StructField, index []int, src source) error {
	opts, err := parseJSONTag(sf)
	if err != nil {
		return err
	}
	tags, err := parseTags(sf.Tag, sf.Type)
	if tags == nil || err != nil && (opts.hidden || opts.embed) {
		return err
	}
	if opts.hidden {
		return tags.onlyDoc("is not part of the JSON")
	}
	if opts.embed {
		if err := checkEmbeddable(sf.Type); err != nil {
			return err
		}
		if err := tags.onlyDoc("is embedded, so the tag must be on its fields"); err != nil {
			return err
		}
		return c.compileFields(t, sf.Type, index, sourceOf(sf.Type, src.within(sf.Name)))
	}
	f := &Field{Name: opts.name, GoName: sf.Name, Index: index, owner: t.pointer,
		OmitZero: opts.omitZero, OmitEmpty: opts.omitEmpty, Quoted: opts.quoted}
	elem, nullable := indirect(sf.Type)
	f.Nullable, f.pointer = nullable, nullable && elem != sf.Type
	var typeErr error
	if f.Type, typeErr = c.compile(elem, src.within(sf.Name)); typeErr != nil {
		return join("", err, typeErr)
	}
	// By the type of the Go field, which may be a pointer, and not by that of its value.
	f.omits = omitsBy(sf.Type)
	err = join("", err, f.apply(tags))
	f.setComment(src.comment(sf.Name))
	return join("", err, t.add(f))
}

// add adds a field to t. As in Go, a field hides a more deeply embedded one of the same name. Two
// fields of the same depth are an error even if a later field would hide both.
func (t *Type) add(f *Field) error {
	if other := t.byName[f.Name]; other != nil {
		switch {
		case len(other.Index) < len(f.Index):
			return nil
		case len(other.Index) == len(f.Index):
			// encoding/json and go-json-experiment/json ignore both fields in this case.
			return fmt.Errorf("the JSON name %q is also that of %s; rename one of them", f.Name, other.GoName)
		}
		for i, field := range t.Fields {
			if field == other {
				t.Fields = append(t.Fields[:i:i], t.Fields[i+1:]...)
			}
		}
	}
	quoted, err := jsontext.AppendQuote([]byte{','}, f.Name)
	if err != nil {
		return fmt.Errorf("the JSON name %q is not valid UTF-8", f.Name)
	}
	f.at = f.Index[0]
	f.setLabel(quoted)
	t.Fields = append(t.Fields, f)
	t.byName[f.Name] = f
	return nil
}

// checkName rejects names that differ only in case, because clients would confuse them. JSON names
// are case-sensitive in the decoder, but not in every language of a client.
func (f *Field) checkName(t *Type) error {
	for _, other := range t.Fields[:f.position] { // a pair is one mistake
		if strings.EqualFold(other.Name, f.Name) {
			return fmt.Errorf("%s.%s: the JSON names %q and %q differ only in case",
				structName(t.GoType), f.GoName, f.Name, other.Name)
		}
	}
	return nil
}

// checkEmbeddable returns an error if the fields of an embedded type cannot be members of the outer
// object. Pointers are not allowed, because the members would depend on whether the pointer is nil.
func checkEmbeddable(t reflect.Type) error {
	plain := &Type{pointer: reflect.PointerTo(t)}
	switch {
	case t.Kind() != reflect.Struct:
		return fmt.Errorf("only a struct can be embedded, not %v; give the field a JSON name", t)
	case implementsAny[jsonMethods](plain), implementsAny[textMethods](plain):
		return fmt.Errorf("%v has marshal methods, so its fields cannot be embedded; "+
			"give the field a JSON name", t)
	}
	return nil
}

// omitsBy returns the values that omitzero omits for fields of the type. The rules are those of
// omitzero in encoding/json. A method with a pointer receiver needs an addressable value, see
// isZero.
func omitsBy(t reflect.Type) omits {
	type isZeroer = interface{ IsZero() bool }
	iface := reflect.TypeFor[isZeroer]()
	switch {
	case t.Implements(iface) && (t.Kind() == reflect.Pointer || t.Kind() == reflect.Interface):
		return omitsNilOrMethod
	case reflect.PointerTo(t).Implements(iface):
		return omitsMethod
	}
	return omitsZero
}

// jsonOptions are the options of a json tag.
type jsonOptions struct {
	name                                       string
	hidden, embed, omitZero, omitEmpty, quoted bool
}

// parseJSONTag parses the json tag like go-json-experiment/json, and rejects options that this
// package does not support.
func parseJSONTag(sf reflect.StructField) (jsonOptions, error) {
	opts := jsonOptions{name: sf.Name}
	tag, tagged := sf.Tag.Lookup("json")
	if tag == "-" {
		return jsonOptions{hidden: true}, nil
	}
	// Fields of an embedded struct are accessible even if its type is not exported.
	if !sf.IsExported() && !sf.Anonymous {
		if tagged {
			return opts,
				fmt.Errorf("the field has a json tag but is not exported; export it or remove the tag")
		}
		return jsonOptions{hidden: true}, nil
	}
	name, rest, _ := strings.Cut(tag, ",")
	if strings.ContainsAny(name, "'\"\\`") {
		return opts, fmt.Errorf("the JSON name %q must not contain quotation marks or backslashes", name)
	}
	if name != "" {
		opts.name = name
	}
	for option := range strings.SplitSeq(rest, ",") {
		if err := opts.option(option); err != nil {
			return opts, err
		}
	}
	opts.embed = opts.embed || sf.Anonymous && name == ""
	if opts.embed && (name != "" || opts.omitZero || opts.omitEmpty || opts.quoted) {
		return opts, fmt.Errorf("an embedded field cannot have a JSON name or other options")
	}
	if !sf.IsExported() && !opts.embed {
		return opts, fmt.Errorf("the field has a JSON name but is not exported; export it or remove the name")
	}
	if opts.quoted && !isNumeric(sf.Type) {
		return opts, fmt.Errorf("the json option string applies to numbers only")
	}
	return opts, nil
}

// option applies one option of a json tag. Unknown options are errors, although
// go-json-experiment/json ignores them, because a misspelled option would change the API without
// notice.
func (o *jsonOptions) option(option string) error {
	switch name, _, _ := strings.Cut(option, ":"); name {
	case "":
	case "omitzero":
		o.omitZero = true
	case "omitempty":
		o.omitEmpty = true
	case "string":
		o.quoted = true
	case "embed":
		o.embed = true
	case "format":
		return fmt.Errorf("the json option format is not supported; " +
			"use a type with MarshalText and UnmarshalText")
	case "case":
		return fmt.Errorf("the json option case is not supported; member names are case-sensitive")
	default:
		if known := near.Of(name, []string{"omitzero", "omitempty", "string", "embed"}); known != "" {
			return fmt.Errorf("unknown json option %q; use %s", option, known)
		}
		return fmt.Errorf("unknown json option %q; the options are omitzero, omitempty, string and embed",
			option)
	}
	return nil
}

// isNumeric reports whether the json option string applies: to numbers and pointers to numbers.
func isNumeric(t reflect.Type) bool {
	t, _ = indirect(t)
	plain := &Type{GoType: t, pointer: reflect.PointerTo(t)}
	return compileScalar(plain) && (plain.Kind == Integer || plain.Kind == Number) &&
		!implementsAny[jsonMethods](plain) && !implementsAny[textMethods](plain)
}
