package openapi

// The schemas of items and of inputs and outputs of commands. component defines the schema of a
// type in one mode; other files refer to it.

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// mode is the use of a document of a type. It determines which members are allowed and required.
type mode uint8

const (
	// in responses: open, because minor versions may add members; without writeOnly members
	shown    mode = iota
	created       // POST body: closed; without members that the server sets
	replaced      // PUT body: closed; members that the server sets may be repeated
	patched       // merge patch: all members optional; null removes
)

var suffixes = [...]string{shown: "", created: "Create", replaced: "Replace", patched: "Patch"}

// model is a type in one mode. The type of a resource has other rules than the same type nested in
// another one, because of the id.
type model struct {
	typ  *schema.Type
	mode mode
	// id is the id field of the type of a resource; "" for a nested type.
	id string
	// takesID: the client may choose the id of a new item. assignsID: the server may.
	takesID, assignsID bool
}

// refuses reports whether the field is not allowed.
func (m *model) refuses(f *schema.Field) bool {
	switch m.mode {
	case shown:
		return f.WriteOnly
	case created:
		return f.ReadOnly || m.id == f.Name && !m.takesID
	}
	return false
}

// fixed reports whether the field may be sent, but only with its current value.
func (m *model) fixed(f *schema.Field) bool {
	return (m.mode == replaced || m.mode == patched) && (f.ReadOnly || m.id == f.Name)
}

// missing returns the required fields, by decoding an empty document. These include fields that are
// not tagged required but have an invalid zero value.
func (m *model) missing() map[string]bool {
	opts := &schema.DecodeOptions{}
	switch {
	case m.mode == replaced:
		opts.Mode = schema.Replace
	case m.mode == patched:
		opts.Mode = schema.Patched
	}
	if m.id != "" {
		if m.mode != created || !m.takesID {
			opts.ReadOnly = []string{m.id}
		} else if m.assignsID {
			opts.Filled = []string{m.id}
		}
	}
	out := map[string]bool{}
	var bad schema.Violations
	if _, err := m.typ.Decode([]byte("{}"), opts); errors.As(err, &bad) {
		for _, v := range bad {
			first, _, _ := strings.Cut(strings.TrimPrefix(v.Pointer, "/"), "/")
			out[jsontext.Pointer("/"+first).LastToken()] = true
		}
	}
	if m.mode == created && m.id != "" && m.takesID && !m.assignsID {
		out[m.id] = true
	}
	return out
}

// component returns a reference to the schema of a model and defines it on first use. Unnamed types
// are inlined; they cannot be recursive.
func (b *builder) component(m model) *schemaObject {
	if name, ok := b.models[m]; ok {
		return schemaRef(name)
	}
	if m.typ.Name == "" && m.id == "" {
		return b.object(m)
	}
	name := b.names.unique(b.baseName(m.typ) + suffixes[m.mode])
	b.models[m] = name
	s := &schemaObject{}
	b.doc.Components.Schemas.add(name, s) // before its fields, which may refer to it
	*s = *b.object(m)
	return schemaRef(name)
}

// baseName returns the component name of a type: the name that its resource uses, which is the same
// in all contracts, and otherwise that of the Go type.
func (b *builder) baseName(t *schema.Type) string {
	for _, r := range b.c.Resources() {
		if r.Type() == t {
			return pascal(b.o.REST.Resource(r).Media)
		}
	}
	return pascal(t.Name)
}

// isItem reports whether t is the item type of a resource.
func (b *builder) isItem(t *schema.Type) bool {
	for _, r := range b.c.Resources() {
		if r.Type() == t {
			return true
		}
	}
	return false
}

// object describes an object.
func (b *builder) object(m model) *schemaObject {
	out := &schemaObject{Type: typeNames{"object"}, Properties: ordered[*schemaObject]{}}
	missing := m.missing()
	// in the order in which the JSON is written
	for _, f := range m.typ.Fields {
		if m.refuses(f) {
			continue
		}
		p := b.property(&m, f)
		if m.mode == patched && !missing[f.Name] && !m.fixed(f) {
			p = orNull(p)
		}
		out.Properties.add(f.Name, p)
		if b.required(&m, f, missing) {
			out.Required = append(out.Required, f.Name)
		}
	}
	if m.mode == shown {
		b.addRelations(m.typ, out)
		b.addContractMembers(m.typ, out)
		return out
	}
	// The member that names the contract is only allowed at the top level.
	if m.id != "" && m.mode != patched {
		out.Properties = append(out.Properties, b.bodyMembers()...)
	}
	out.AdditionalProperties = false
	return out
}

// addRelations adds the members for related items. Resources with the same type share a schema, which has
// the relations of all of them.
func (b *builder) addRelations(t *schema.Type, s *schemaObject) {
	for _, r := range b.c.Resources() {
		if r.Type() != t {
			continue
		}
		for _, name := range r.Describe().Relations {
			if s.Properties.has(name) {
				continue
			}
			target, most := b.c.Related(r, name)
			end := b.component(model{typ: target.Type(), mode: shown})
			if most > 0 {
				end = array(end)
			} else {
				end = orNull(end)
			}
			end.Description = "With `expand=" + name + "`."
			s.Properties.add(name, end)
		}
	}
}

// addContractMembers adds the members that repeat the contract in the response, if the body of a
// POST or PUT named it.
func (b *builder) addContractMembers(t *schema.Type, s *schemaObject) {
	sent := func(r *resource.Resource) bool {
		return r.Type() == t && (r.Can(resource.OpCreate) || r.Can(resource.OpReplace) || b.hasJobsOf(r))
	}
	if !slices.ContainsFunc(b.c.Resources(), sent) {
		return
	}
	s.Properties = append(s.Properties, b.contractMembers()...)
}

// hasJobsOf reports whether r contains the jobs of a command.
func (b *builder) hasJobsOf(r *resource.Resource) bool {
	return slices.ContainsFunc(resource.PartsOf[*command.Command](b.c), func(c *command.Command) bool {
		return c.Jobs() != nil && c.Jobs().Name() == r.Name()
	})
}

// contractMembers returns the response members that repeat the contract.
func (b *builder) contractMembers() ordered[*schemaObject] {
	out := b.bodyMembers()
	for i, m := range out {
		out[i].value = &schemaObject{Type: m.value.Type, Examples: m.value.Examples,
			Description: "The full name of the contract, in responses to a POST or PUT with this member in " +
				"its body."}
	}
	return out
}

// required reports whether the field is required.
func (b *builder) required(m *model, f *schema.Field, missing map[string]bool) bool {
	switch m.mode {
	case shown: // always written, unless the client requests a part of the item
		return !f.OmitZero && !f.OmitEmpty && (b.o.Whole || !b.isItem(m.typ))
	case created:
		return missing[f.Name]
	case replaced: // clients need not send members that they do not receive
		return missing[f.Name] && !m.fixed(f) && !f.WriteOnly
	}
	return false
}

// constrainID adds the constraints of ids that a client chooses: an id must be one path segment
// that is not normalized away. A pattern of the field takes precedence.
func constrainID(s *schemaObject) {
	if s.Pattern != "" {
		return
	}
	s.Pattern = `^[^\x00-\x1f\x7f-\x9f]*$`
	s.Not = &schemaObject{Enum: jsonStrings(".", "..")}
	if s.MaxLength == nil {
		maxLen := 1024 // bytes, not characters
		s.MaxLength = &maxLen
	}
}

// property describes a field of an object.
func (b *builder) property(m *model, f *schema.Field) *schemaObject {
	s := b.constrained(f, m.mode)
	if m.mode == created && f.Name == m.id && f.Type.Kind == schema.String {
		constrainID(s)
	}
	if f.Nullable && (m.mode == created || m.mode == replaced || m.mode == shown && !f.OmitZero &&
		!f.OmitEmpty) {
		s = orNull(s) // in responses, a null that may be omitted is omitted
	}
	s.Description = describeField(f)
	if f.Pattern != nil && !portable(f.Pattern) {
		s.Description = sentences(s.Description, "It must match the RE2 pattern `"+f.Pattern.String()+
			"`.")
	}
	if m.fixed(f) {
		s.Description = sentences(s.Description, "It cannot be changed: omit it, or send the current value.")
	}
	s.Deprecated = f.Deprecated != ""
	s.ReadOnly = m.mode == shown && f.ReadOnly
	s.WriteOnly = m.mode != shown && f.WriteOnly
	if m.mode == created || m.mode == replaced && !f.WriteOnly && !m.fixed(f) {
		s.Default = written(f, f.Default)
	}
	if f.Example != nil {
		s.Examples = []jsontext.Value{exampleOf(f)}
	}
	return s
}

// exampleOf returns the value of the tag example, which package schema has validated.
func exampleOf(f *schema.Field) jsontext.Value {
	if v, ok := f.Example.(jsontext.Value); ok {
		return v
	}
	return written(f, f.Example)
}

// written returns a canonical value of a field as JSON.
func written(f *schema.Field, v any) jsontext.Value {
	out := jsonOf(v)
	if f.Quoted && out != nil {
		return quote(string(out))
	}
	return out
}

// describeField returns the description from the tags of a field.
func describeField(f *schema.Field) string {
	out := f.Doc
	if f.Deprecated != "" {
		out = sentences(out, "Deprecated: "+f.Deprecated)
	}
	if f.Unique && f.Comparable() {
		out = sentences(out, "It is unique among all items.")
	}
	return out
}

// sentences joins texts, each ended by a period.
func sentences(list ...string) string {
	var out []string
	for _, s := range list {
		s = strings.TrimSpace(s)
		if s == "" {
			continue
		}
		if !strings.ContainsAny(s[len(s)-1:], ".!?:`") || strings.HasSuffix(s, "`") {
			s += "."
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// constrained describes the value of a field with the constraints of its tags. For an array or a
// map they apply to the elements, except the number of elements.
func (b *builder) constrained(f *schema.Field, m mode) *schemaObject {
	t := f.Type
	if t.Elem == nil {
		s := b.value(t, m)
		constrain(s, f, m)
		return s
	}
	elem := m
	if m == patched && t.Kind == schema.Array {
		elem = replaced // a merge patch replaces arrays as a whole
	}
	inner := b.value(t.Elem, elem)
	constrain(inner, f, m)
	if t.ElemNullable || m == patched && t.Kind == schema.Map {
		inner = orNull(inner)
	}
	s := container(t, inner)
	if t.Kind == schema.Map {
		s.MinProperties, s.MaxProperties = f.MinItems, f.MaxItems
		if m == patched {
			s.MinProperties, s.MaxProperties = nil, nil // these limit the result, not the patch
		}
		return s
	}
	if t.Len < 0 {
		s.MinItems, s.MaxItems = f.MinItems, f.MaxItems
	}
	s.UniqueItems = f.Unique
	return s
}

// constrain adds the constraints of a field to the schema of a single value. A number with
// omitempty may be zero in responses even if its constraints exclude zero, because omitempty does
// not omit numbers.
func constrain(s *schemaObject, f *schema.Field, m mode) {
	if s.Ref != "" { // an object, which has no constraints
		return
	}
	number := slices.Contains(s.Type, "integer") || slices.Contains(s.Type, "number")
	if f.Quoted && number { // a quoted number is a string in JSON
		s.Pattern = `^-?(0|[1-9][0-9]*)$`
		if s.Type[0] == "number" {
			s.Pattern = `^-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?$`
		}
		s.Type, s.Format, s.Minimum, s.Maximum = typeNames{"string"}, "", nil, nil
	}
	if f.Format != "" {
		s.Format = f.Format
	}
	if m == shown && number && f.OmitEmpty && !f.Required {
		return
	}
	s.MinLength, s.MaxLength = f.MinLength, f.MaxLength
	if f.Pattern != nil && portable(f.Pattern) {
		s.Pattern = f.Pattern.String()
	}
	for _, v := range f.Enum {
		s.Enum = append(s.Enum, written(f, v))
	}
	if f.Minimum != "" && !f.Quoted {
		s.Minimum = jsontext.Value(f.Minimum)
	}
	if f.Maximum != "" && !f.Quoted {
		s.Maximum = jsontext.Value(f.Maximum)
	}
}

// isProblem reports whether the type is problem.Details, which has its own schema.
func isProblem(t *schema.Type) bool { return t.GoType == reflect.TypeFor[problem.Details]() }

// value describes a type without constraints.
func (b *builder) value(t *schema.Type, m mode) *schemaObject {
	if isProblem(t) {
		return b.problemSchema()
	}
	switch t.Kind {
	case schema.Any:
		return &schemaObject{}
	case schema.Object:
		return b.component(model{typ: t, mode: m})
	case schema.Array, schema.Map:
		elem := m
		if m == patched && t.Kind == schema.Array {
			elem = replaced
		}
		inner := b.value(t.Elem, elem)
		if t.ElemNullable || m == patched && t.Kind == schema.Map {
			inner = orNull(inner)
		}
		return container(t, inner)
	}
	return scalar(t)
}

// container describes an array or a map with elements described by inner.
func container(t *schema.Type, inner *schemaObject) *schemaObject {
	if t.Kind == schema.Map {
		return &schemaObject{Type: typeNames{"object"}, AdditionalProperties: inner}
	}
	s := array(inner)
	if t.Len >= 0 {
		s.MinItems, s.MaxItems = &t.Len, &t.Len
	}
	return s
}

// scalar describes a type of single values. format, or bounds if there is no format, describe the
// Go type.
func scalar(t *schema.Type) *schemaObject {
	s := &schemaObject{Type: typeNames{t.Kind.String()}, Format: t.Format}
	switch t.Kind {
	case schema.String:
		if t.Format == "byte" {
			s.ContentEncoding = "base64"
		}
	case schema.Number:
		s.Format = "double"
		if t.Bits == 32 {
			s.Format = "float"
		}
	case schema.Integer:
		low, high := bounds(t)
		switch {
		case t.Bits >= 32 && t.Unsigned:
			s.Format, s.Minimum = "uint"+strconv.Itoa(t.Bits), low
		case t.Bits >= 32:
			s.Format = "int" + strconv.Itoa(t.Bits)
		default:
			s.Format, s.Minimum, s.Maximum = "int32", low, high
		}
	}
	return s
}

// bounds returns the least and the greatest value of an integer type. The greatest is used for
// types below 32 bits only.
func bounds(t *schema.Type) (low, high jsontext.Value) {
	if t.Unsigned {
		return jsontext.Value("0"), jsonOf(uint64(1)<<t.Bits - 1)
	}
	return jsonOf(-(int64(1) << (t.Bits - 1))), jsonOf(int64(1)<<(t.Bits-1) - 1)
}

// foreign matches regexp syntax that ECMA-262, the syntax of JSON Schema patterns, does not have or
// interprets differently.
var foreign = regexp.MustCompile(`\(\?[^:]|\[\[|\\[^dDwWsSbBtnrfv.*+?^$(){}\[\]|/\\]`)

// portable reports whether a pattern has the same meaning in ECMA-262.
func portable(p *regexp.Regexp) bool { return !foreign.MatchString(p.String()) }
