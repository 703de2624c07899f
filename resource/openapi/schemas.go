package openapi

import (
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// mode is what a document of a type is for, which decides what may be in it and what must.
type mode uint8

const (
	shown    mode = iota // in answers: open, so that minors can add to it, and without what is writeOnly
	created              // sent with POST: closed, and without what the server decides
	replaced             // sent with PUT: closed; what the server decides may be sent back
	patched              // sent as a merge patch: everything optional, null removes
)

var suffixes = [...]string{shown: "", created: "Create", replaced: "Replace", patched: "Patch"}

// model is a type in one mode. The outermost type of a resource differs from the same type inside of others, since its
// id is special.
type model struct {
	typ  *schema.Type
	mode mode
	// id is the id field of the outermost type of a resource, and "" inside.
	id string
	// takesID and assignsID say who may choose the id of a new item.
	takesID, assignsID bool
}

// refuses reports whether a document of the model must not have the field.
func (m *model) refuses(f *schema.Field) bool {
	switch m.mode {
	case shown:
		return f.WriteOnly
	case created:
		return f.ReadOnly || m.id == f.Name && !m.takesID
	}
	return false
}

// fixed reports whether the field can be in a document of the model, but only as it is.
func (m *model) fixed(f *schema.Field) bool {
	return (m.mode == replaced || m.mode == patched) && (f.ReadOnly || m.id == f.Name)
}

// missing returns the fields without which the library refuses a document of the model: it is asked about an empty one.
// That is more than those tagged required, since a field whose zero value breaks a rule must be there as well.
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

// component returns a reference to the schema of a model, which it defines where it meets it first. Types without a name
// have no component and are written in place; they cannot be recursive.
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
	b.doc.Components.Schemas.add(name, s) // before its fields, which may lead back to it
	*s = *b.object(m)
	return schemaRef(name)
}

// baseName is what a type is called in the document: as its resource calls it, so that contracts call it alike, or else as
// Go does.
func (b *builder) baseName(t *schema.Type) string {
	for _, r := range b.c.Resources() {
		if r.Type() == t {
			return pascal(b.o.REST.Resource(r).Media)
		}
	}
	return pascal(t.Name)
}

// isItem reports whether t is the type of a resource of the catalog.
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
	// In the order of the schema, which is that of the JSON that is written.
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
		b.relate(m.typ, out)
		b.echo(m.typ, out)
		return out
	}
	// The member that names the contract stands beside those of the item, never inside of it.
	if m.id != "" && m.mode != patched {
		out.Properties = append(out.Properties, b.bodyMembers()...)
	}
	out.AdditionalProperties = false
	return out
}

// relate adds the members that hold related items, if they are asked for. Resources that show one type have one schema, so
// it has the relations of all of them.
func (b *builder) relate(t *schema.Type, s *schemaObject) {
	for _, r := range b.c.Resources() {
		if r.Type() != t {
			continue
		}
		for _, name := range r.Relations() {
			if s.Properties.has(name) {
				continue
			}
			target, many := b.c.Related(r, name)
			end := b.component(model{typ: target.Type(), mode: shown})
			if many {
				end = array(end)
			} else {
				end = orNull(end)
			}
			end.Description = "With `expand=" + name + "`."
			s.Properties.add(name, end)
		}
	}
}

// echo adds the members that repeat the contract to those who named it in what they sent.
func (b *builder) echo(t *schema.Type, s *schemaObject) {
	sent := func(r *resource.Resource) bool {
		return r.Type() == t && (r.Can(resource.OpCreate) || r.Can(resource.OpReplace) || b.hasJobsOf(r))
	}
	if !slices.ContainsFunc(b.c.Resources(), sent) {
		return
	}
	s.Properties = append(s.Properties, b.echoed()...)
}

// hasJobsOf reports whether items of a resource are what commands are answered with.
func (b *builder) hasJobsOf(r *resource.Resource) bool {
	return slices.ContainsFunc(b.c.Commands(), func(c *resource.Command) bool { return c.Jobs() != nil && c.Jobs().Name() == r.Name() })
}

// echoed are the members of an answer that repeat the contract.
func (b *builder) echoed() ordered[*schemaObject] {
	out := b.bodyMembers()
	for i, m := range out {
		out[i].value = &schemaObject{Type: m.value.Type, Examples: m.value.Examples,
			Description: "The contract, by its full name. Only in the answer to a POST or PUT whose content named it."}
	}
	return out
}

// required reports whether a document of the model is not one without the field.
func (b *builder) required(m *model, f *schema.Field, missing map[string]bool) bool {
	switch m.mode {
	case shown: // always written, unless the client asks for a part
		return !f.OmitZero && !f.OmitEmpty && (b.o.Whole || !b.isItem(m.typ))
	case created:
		return missing[f.Name]
	case replaced: // what a client does not see it need not repeat
		return missing[f.Name] && !m.fixed(f) && !f.WriteOnly
	}
	return false
}

// constrainID says what the library asks of every id that a client chooses: it has to be one segment of a path that nobody
// resolves or cuts short. A pattern of the field says more.
func constrainID(s *schemaObject) {
	if s.Pattern != "" {
		return
	}
	s.Pattern = `^[^\x00-\x1f\x7f-\x9f]*$`
	s.Not = &schemaObject{Enum: jsonStrings(".", "..")}
	if s.MaxLength == nil {
		most := 1024 // bytes, in fact
		s.MaxLength = &most
	}
}

// property describes a field of an object.
func (b *builder) property(m *model, f *schema.Field) *schemaObject {
	s := b.constrained(f, m.mode)
	if m.mode == created && f.Name == m.id && f.Type.Kind == schema.String {
		constrainID(s)
	}
	if f.Nullable && (m.mode == created || m.mode == replaced || m.mode == shown && !f.OmitZero && !f.OmitEmpty) {
		s = orNull(s) // in answers a null that may be left out is left out
	}
	s.Description = describeField(f)
	if f.Pattern != nil && !portable(f.Pattern) {
		s.Description = sentences(s.Description, "It must match, in the syntax of RE2, `"+f.Pattern.String()+"`.")
	}
	if m.fixed(f) {
		s.Description = sentences(s.Description, "It cannot be changed: leave it out, or send it as it is.")
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

// exampleOf returns the value of the tag example, which package schema has checked.
func exampleOf(f *schema.Field) jsontext.Value {
	if v, ok := f.Example.(jsontext.Value); ok {
		return v
	}
	return written(f, f.Example)
}

// written is a canonical value of a field as it stands in JSON.
func written(f *schema.Field, v any) jsontext.Value {
	out := jsonOf(v)
	if f.Quoted && out != nil {
		return quote(string(out))
	}
	return out
}

// describeField is what the tags of a field say to people.
func describeField(f *schema.Field) string {
	out := f.Doc
	if f.Deprecated != "" {
		out = sentences(out, "Deprecated: "+f.Deprecated)
	}
	if f.Unique && f.Comparable() {
		out = sentences(out, "No two items have the same.")
	}
	return out
}

// sentences puts texts one after the other, each closed by a full stop.
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

// constrained describes the value of a field, with what its tags say. On an array or a map they concern each element, but
// for how many there are.
func (b *builder) constrained(f *schema.Field, m mode) *schemaObject {
	t := f.Type
	if t.Elem == nil {
		s := b.value(t, m)
		constrain(s, f, m)
		return s
	}
	elem := m
	if m == patched && t.Kind == schema.Array {
		elem = replaced // an array in a merge patch replaces the one that is there, as a whole
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
			s.MinProperties, s.MaxProperties = nil, nil // of what comes out of it, not of the patch
		}
		return s
	}
	if t.Len < 0 {
		s.MinItems, s.MaxItems = f.MinItems, f.MaxItems
	}
	s.UniqueItems = f.Unique
	return s
}

// constrain adds the constraints of a field on single values. In answers a number that nobody gave is zero in spite of
// them, if omitempty says that it may be missing: it leaves out what is empty, and a number never is.
func constrain(s *schemaObject, f *schema.Field, m mode) {
	if s.Ref != "" { // an object, which no constraint is about
		return
	}
	number := slices.Contains(s.Type, "integer") || slices.Contains(s.Type, "number")
	if f.Quoted && number { // a number for the library, and a string for whoever reads the JSON
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

// isProblem reports whether values of a type are problems, which have a schema of their own.
func isProblem(t *schema.Type) bool { return t.GoType == reflect.TypeFor[problem.Details]() }

// value describes a type by itself.
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

// container describes an array or a map of what inner describes.
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

// scalar describes a type of single values. What JSON cannot tell of a Go type is in format, and in bounds where there is
// no format for it.
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

// bounds returns the smallest and the largest value of a small integer type; of a larger one only the smallest is needed.
func bounds(t *schema.Type) (low, high jsontext.Value) {
	if t.Unsigned {
		return jsontext.Value("0"), jsonOf(uint64(1)<<t.Bits - 1)
	}
	return jsonOf(-(int64(1) << (t.Bits - 1))), jsonOf(int64(1)<<(t.Bits-1) - 1)
}

// foreign are the constructs of package regexp which ECMA-262, that JSON Schema writes patterns in, does not know or
// reads in another way.
var foreign = regexp.MustCompile(`\(\?[^:]|\[\[|\\[^dDwWsSbBtnrfv.*+?^$(){}\[\]|/\\]`)

// portable reports whether a pattern means the same to every reader of the document.
func portable(p *regexp.Regexp) bool { return !foreign.MatchString(p.String()) }
