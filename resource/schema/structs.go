package schema

import (
	"cmp"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// object fills in the fields of a struct, those of embedded structs at the place where they are embedded.
func (c *compiler) object(t *Type) error {
	t.Kind, t.op = Object, opObject
	t.byName = map[string]*Field{}
	if err := c.members(t, t.GoType, nil); err != nil {
		return err
	}
	for i, f := range t.Fields {
		f.place = i
		if err := f.checkName(t); err != nil {
			return err
		}
	}
	return nil
}

// members adds the fields of struct s, which is found in t at the index, to t.
func (c *compiler) members(t *Type, s reflect.Type, index []int) error {
	for i := range s.NumField() {
		sf := s.Field(i)
		at := append(append(make([]int, 0, len(index)+1), index...), i)
		if err := c.member(t, sf, at); err != nil {
			return fmt.Errorf("schema: %s.%s: %s", structName(s), sf.Name, strings.TrimPrefix(err.Error(), "schema: "))
		}
	}
	return nil
}

// structName names a struct in a message: package reflect would write an unnamed one out, tags and all.
func structName(s reflect.Type) string {
	return cmp.Or(s.Name(), "struct")
}

// member adds one Go field, or nothing if JSON cannot see it, or all fields of a struct that is embedded.
func (c *compiler) member(t *Type, sf reflect.StructField, index []int) error {
	opts, err := parseJSONTag(sf)
	if err != nil {
		return err
	}
	tags, err := parseTags(sf.Tag)
	if err != nil {
		return err
	}
	if opts.hidden {
		return tags.onlyDoc("is not part of the JSON")
	}
	if opts.embed {
		if err := embeddable(sf.Type); err != nil {
			return err
		}
		if err := tags.onlyDoc("is embedded, so its fields take its place"); err != nil {
			return err
		}
		return c.members(t, sf.Type, index)
	}
	f := &Field{Name: opts.name, GoName: sf.Name, Index: index, owner: t.pointer,
		OmitZero: opts.omitZero, OmitEmpty: opts.omitEmpty, Quoted: opts.quoted}
	elem, nullable := indirect(sf.Type)
	f.Nullable, f.pointer = nullable, nullable && elem != sf.Type
	if f.Type, err = c.compile(elem); err != nil {
		return err
	}
	f.omits = omitsBy(sf.Type)
	if err := f.apply(tags); err != nil {
		return err
	}
	return t.add(f)
}

// add gives the struct one more member. As in Go, a shallower field hides a deeper one of the same name.
func (t *Type) add(f *Field) error {
	if other := t.byName[f.Name]; other != nil {
		switch {
		case len(other.Index) < len(f.Index):
			return nil
		case len(other.Index) == len(f.Index):
			// Go and go-json-experiment/json would drop both without a word.
			return fmt.Errorf("the JSON name %q is that of %s too; give one of them another", f.Name, other.GoName)
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

// checkName refuses two names that differ only in case: one of them is a misspelling, now or in a client.
func (f *Field) checkName(t *Type) error {
	for _, other := range t.Fields {
		if other != f && strings.EqualFold(other.Name, f.Name) {
			return fmt.Errorf("schema: %s.%s: the JSON names %q and %q differ only in case",
				structName(t.GoType), f.GoName, f.Name, other.Name)
		}
	}
	return nil
}

// embeddable reports why the fields of an embedded type cannot take its place, if they cannot. Pointers are among the
// reasons: behind a nil there are no fields, so which members an object has would depend on the value.
func embeddable(t reflect.Type) error {
	plain := &Type{pointer: reflect.PointerTo(t)}
	switch {
	case t.Kind() != reflect.Struct:
		return fmt.Errorf("only a struct can be embedded, not %v; give the field a JSON name", t)
	case implementsAny[jsonMethods](plain), implementsAny[textMethods](plain):
		return fmt.Errorf("%v marshals itself, so it has no fields to take its place; give the field a JSON name", t)
	}
	return nil
}

// omitsBy says how omitzero finds out about fields of this type.
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

// jsonOptions are what a json tag says.
type jsonOptions struct {
	name                                       string
	hidden, embed, omitZero, omitEmpty, quoted bool
}

// parseJSONTag reads the json tag as go-json-experiment/json does, and refuses what this package could not follow.
func parseJSONTag(sf reflect.StructField) (jsonOptions, error) {
	opts := jsonOptions{name: sf.Name}
	tag, tagged := sf.Tag.Lookup("json")
	if tag == "-" {
		return jsonOptions{hidden: true}, nil
	}
	// Fields of an embedded struct can be reached even if its type is not exported.
	if !sf.IsExported() && !sf.Anonymous {
		if tagged {
			return opts, fmt.Errorf("it has a json tag and is not exported; export it or remove the tag")
		}
		return jsonOptions{hidden: true}, nil
	}
	name, rest, _ := strings.Cut(tag, ",")
	if strings.ContainsAny(name, "'\"\\`") {
		return opts, fmt.Errorf("the JSON name %q has quotes or backslashes", name)
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
		return opts, fmt.Errorf("it has a JSON name and is not exported")
	}
	if opts.quoted && !isNumeric(sf.Type) {
		return opts, fmt.Errorf("the json option string is for numbers only")
	}
	return opts, nil
}

// option notes one option of a json tag. Unknown ones are refused even though go-json-experiment/json ignores them: what
// looks like omitempty and is not would otherwise be found out about by a client.
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
		return fmt.Errorf("the json option format is an experiment of go-json-experiment/json; use a type with MarshalText " +
			"and UnmarshalText")
	case "case":
		return fmt.Errorf("the json option case is refused: member names are compared exactly")
	default:
		return fmt.Errorf("unknown json option %s", strconv.Quote(option))
	}
	return nil
}

// isNumeric reports whether the json option string applies, which it does to numbers and to pointers to them.
func isNumeric(t reflect.Type) bool {
	t, _ = indirect(t)
	plain := &Type{GoType: t, pointer: reflect.PointerTo(t)}
	return scalar(plain) && (plain.Kind == Integer || plain.Kind == Number) &&
		!implementsAny[jsonMethods](plain) && !implementsAny[textMethods](plain)
}
