package openapi

// Generation of examples for types without samples. Called by commands.go for inputs and outputs.
// Examples consist of the tags example, default and enum, and otherwise of fixed values.

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// Resources have samples, commands have none. Examples of their inputs and outputs are generated
// from the tags of the fields.

// inventExample generates an example of a model, defines it, and returns its name. It returns "" if
// it cannot generate a document that is valid: an invalid example is worse than none. An output is
// not checked: Decode validates requests only.
func (b *builder) inventExample(name string, m model) string {
	doc := b.invent(m, 0)
	if doc == nil {
		return ""
	}
	if m.mode == created {
		if _, err := m.typ.Decode(doc, &schema.DecodeOptions{}); err != nil {
			return ""
		}
	}
	return b.addExample(name, doc)
}

// maxInvented limits the depth of generated examples, in particular for recursive types.
const maxInvented = 6

// invent generates an object with the required members and those that have an example or a default.
// It returns nil if it cannot. Optional members without an example are omitted, because a fixed
// value would not explain them.
func (b *builder) invent(m model, depth int) jsontext.Value {
	if depth > maxInvented {
		return nil
	}
	var out bytes.Buffer
	missing := m.missing()
	for _, f := range m.typ.Fields {
		if m.refuses(f) || f.Example == nil && f.Default == nil && !b.required(&m, f, missing) {
			continue
		}
		// Without a value for a required member the object would not be valid, so it is given up.
		v := b.inventField(f, m.mode, depth)
		if v == nil {
			return nil
		}
		if out.Len() > 0 {
			out.WriteByte(',')
		}
		out.Write(quote(f.Name))
		out.WriteByte(':')
		out.Write(v)
	}
	return jsontext.Value("{" + out.String() + "}")
}

// inventField generates the value of a field from its example, default or enumeration, and
// otherwise from its type.
func (b *builder) inventField(f *schema.Field, m mode, depth int) jsontext.Value {
	switch {
	case f.Example != nil:
		return exampleOf(f)
	case f.Default != nil:
		return written(f, f.Default)
	case len(f.Enum) > 0 && f.Type.Elem == nil:
		return written(f, f.Enum[0])
	case f.Type.Kind == schema.Array:
		return b.inventArray(f, m, depth)
	}
	v := b.inventOne(f, f.Type, m, depth)
	if f.Quoted && v != nil {
		return quote(string(v))
	}
	return v
}

// inventArray generates the least number of elements, but at least one. The elements are equal. If
// they must be unique, inventExample discards the example of an input.
func (b *builder) inventArray(f *schema.Field, m mode, depth int) jsontext.Value {
	n := max(f.Type.Len, 1)
	if f.MinItems != nil && *f.MinItems > n || f.MaxItems != nil && *f.MaxItems < n {
		return nil
	}
	elem := b.inventOne(f, f.Type.Elem, m, depth)
	if elem == nil {
		return nil
	}
	return jsontext.Value("[" + strings.Repeat(string(elem)+",", n-1) + string(elem) + "]")
}

// inventOne generates a value of type t, which is that of the field or of its elements.
func (b *builder) inventOne(f *schema.Field, t *schema.Type, m mode, depth int) jsontext.Value {
	if isProblem(t) {
		return b.exampleProblem(problem.Invalid).Append(nil)
	}
	switch t.Kind {
	case schema.Object:
		return b.invent(model{typ: t, mode: m}, depth+1)
	// An empty map is not valid if minItems is set. inventExample then discards the example.
	case schema.Map, schema.Any:
		return jsontext.Value("{}")
	case schema.Boolean:
		return jsontext.Value("true")
	case schema.Integer, schema.Number:
		switch {
		// The bounds are inclusive, so each of them is valid.
		case f.Minimum != "":
			return jsontext.Value(f.Minimum)
		case f.Maximum != "":
			return jsontext.Value(f.Maximum)
		}
		return jsontext.Value("1")
	case schema.String:
		return inventText(f)
	}
	return nil
}

// inventText generates a string. It does not support patterns. Lengths are those of ASCII, in which
// bytes and characters are the same.
func inventText(f *schema.Field) jsontext.Value {
	if f.IsDecimal() {
		return quote(inventDecimal(f))
	}
	if s, ok := wellFormed[f.Format]; ok {
		return quote(s)
	}
	s := "text"
	switch {
	case f.Pattern != nil:
		return nil
	case f.MaxLength != nil && *f.MaxLength < len(s):
		s = s[:*f.MaxLength]
	case f.MinLength != nil && *f.MinLength > len(s):
		s = strings.Repeat("x", *f.MinLength)
	}
	return quote(s)
}

// inventDecimal generates a decimal within the limits and the precision of the field.
func inventDecimal(f *schema.Field) string {
	switch {
	case f.Minimum != "" || f.Maximum != "":
		return cmp.Or(f.Minimum, f.Maximum)
	case f.Precision == 0 || f.Precision > f.Scale && f.Scale > 0:
		return "1.5"
	case f.Precision == f.Scale:
		return "0.5"
	}
	return "1"
}

// wellFormed has a valid value for each format that the library validates. Names and addresses are
// those reserved for documentation (RFC 2606, RFC 5737 and RFC 3849).
var wellFormed = map[string]string{
	"date-time":  "2026-11-21T06:00:00Z",
	"date":       "2026-11-21",
	"time":       "06:00:00Z",
	"time-local": "06:00:00",
	"duration":   "P1DT2H",
	"email":      "ann@example.com",
	"uuid":       "019ab3a1-7c00-7b3e-8a5e-3d1f0c2b4a69",
	"uri":        "https://example.com/",
	"hostname":   "example.com",
	"ipv4":       "192.0.2.1",
	"ipv6":       "2001:db8::1",
	"byte":       "AAEC",
}
