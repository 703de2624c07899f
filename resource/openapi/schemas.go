package openapi

// The schemas of items and of inputs and outputs of commands. component defines the schema of a
// type in one mode; other files refer to it.

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/openapi/internal/ecma"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// mode is the use of a document of a type. It determines which members are allowed and required.
// Each mode is a component of its own. A closed schema cannot be extended with allOf:
// additionalProperties does not see the members of other subschemas (JSON Schema 2020-12 Core,
// section 10.3.2.3).
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
// another one, because of the id. It is comparable and the key of builder.models.
type model struct {
	typ  *schema.Type
	mode mode
	// id is the id field of the type of a resource; "" for a nested type.
	id string
	// takesID: the client may choose the id of a new item. assignsID: the server may.
	takesID, assignsID bool
	// version: a merge patch may have the member that names the contract.
	version bool
}

// refuses reports whether the field is not allowed. PUT and PATCH may repeat members that they
// cannot change, so refuses is false for them, see fixed.
func (m *model) refuses(f *schema.Field) bool {
	switch m.mode {
	case shown:
		return f.WriteOnly
	case created:
		return f.ReadOnly || m.id == f.Name && !m.takesID
	}
	return false
}

// fixed reports whether the field may be sent, but only with its current value. The schema cannot
// express the current value, so only the description of the member states the rule.
func (m *model) fixed(f *schema.Field) bool {
	return (m.mode == replaced || m.mode == patched) && (f.ReadOnly || m.id == f.Name || m.isKey(f))
}

// isKey reports whether the field is part of a composite id.
func (m *model) isKey(f *schema.Field) bool {
	id := m.typ.Field(m.id)
	return id != nil && slices.Contains(id.Key, f)
}

// missing returns the required fields, by decoding an empty document. These include fields that are
// not tagged required but have an invalid zero value. The decoder decides, so the document cannot
// disagree with validation. For patched these are the members that a patch cannot remove.
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
			// A violation inside a nested object makes the member itself required.
			first, _, _ := strings.Cut(strings.TrimPrefix(v.Pointer, "/"), "/")
			out[jsontext.Pointer("/"+first).LastToken()] = true
		}
	}
	// An empty id may have no violation in the schema, but the core rejects it.
	if m.mode == created && m.id != "" && m.takesID && !m.assignsID {
		out[m.id] = true
	}
	if id := m.typ.Field(m.id); id != nil && m.mode == replaced { // the path has the key
		maps.DeleteFunc(out, func(name string, _ bool) bool {
			return slices.ContainsFunc(id.Key, func(f *schema.Field) bool { return f.Name == name })
		})
	}
	return out
}

// component returns a reference to the schema of a model and defines it on first use. Unnamed types
// are inlined; they cannot be recursive. The result is a new reference for each call, because
// callers add keywords to it.
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
// in all contracts, and otherwise that of the Go type. A view usually has a Go type of another
// name, such as OrderV1. Generated clients of two contracts then differ in the members only.
func (b *builder) baseName(t *schema.Type) string {
	for _, r := range b.c.Resources() {
		if r.Type() == t {
			return b.itemName(r)
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

// object describes an object. It is not a component: callers that need a reference call component.
func (b *builder) object(m model) *schemaObject {
	out := &schemaObject{Type: typeNames{"object"}, Description: describeModel(&m),
		Deprecated: m.typ.Deprecated != "", Properties: ordered[*schemaObject]{}}
	missing := m.missing()
	// in the order in which the JSON is written
	for _, f := range m.typ.Fields {
		if m.refuses(f) || !b.full && m.mode == patched && m.fixed(f) {
			continue // a patch for generated clients has only what it can change
		}
		p := b.property(&m, f)
		// In a merge patch null removes the member (RFC 7396 section 1), also one that is not
		// nullable.
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
	if m.id != "" && (m.mode != patched || m.version) {
		out.Properties = append(out.Properties, b.bodyMembers()...)
	}
	out.AdditionalProperties = false
	return out
}

// addRelations adds the members for related items. Resources with the same type share a schema,
// which has the relations of all of them. They are never required, because only expand adds them.
func (b *builder) addRelations(t *schema.Type, s *schemaObject) {
	for _, r := range b.c.Resources() {
		if r.Type() != t {
			continue
		}
		for _, name := range r.Describe().Relations {
			if s.Properties.has(name) {
				continue
			}
			target, most := r.Related(name)
			end := b.component(model{typ: target.Type(), mode: shown})
			if most > 0 {
				end = array(end)
			} else {
				end = orNull(end)
			}
			end.Description = "With `expand=" + name + "`."
			s.Properties.add(name, end)
			if r.Paged(name) && !s.Properties.has(name+"Page") {
				s.Properties.add(name+"Page", relatedPage(name, target.Describe().Counts))
			}
		}
	}
}

// relatedPage returns the schema of the member beside related items that were requested with parameters.
func relatedPage(name string, counts bool) *schemaObject {
	page := &schemaObject{Type: typeNames{"object"}, Description: "With parameters of `" + name + "`."}
	page.Properties.add("next", &schemaObject{Type: typeNames{"string"},
		Description: "The cursor of the next page, for `after`."})
	if counts {
		page.Properties.add("total", &schemaObject{Type: typeNames{"integer"},
			Description: "The total, with `count=exact`."})
	}
	return page
}

// addContractMembers adds the members that repeat the contract in the response, if the body of a
// POST or PUT named it. They are optional: responses to other requests do not have them.
func (b *builder) addContractMembers(t *schema.Type, s *schemaObject) {
	sent := func(r *resource.Resource) bool {
		return r.Type() == t && (r.Can(resource.OpCreate) || r.Can(resource.OpReplace) || b.hasJobsOf(r))
	}
	if !slices.ContainsFunc(b.c.Resources(), sent) {
		return
	}
	s.Properties = append(s.Properties, b.contractMembers()...)
}

// hasJobsOf reports whether r contains the jobs of a command. The 202 of a command contains a job,
// and the body of the command can name the contract.
func (b *builder) hasJobsOf(r *resource.Resource) bool {
	return slices.ContainsFunc(resource.PartsOf[*command.Command](b.c), func(c *command.Command) bool {
		return c.Jobs() != nil && c.Jobs().Name() == r.Name()
	})
}

// contractMembers returns the response members that repeat the contract. Unlike in requests they
// have no pattern: the response has the full name, whatever name was sent.
func (b *builder) contractMembers() ordered[*schemaObject] {
	out := b.bodyMembers()
	for i, m := range out {
		out[i].value = &schemaObject{Type: m.value.Type, Examples: m.value.Examples,
			Description: "The full name of the contract, in responses to a POST or PUT with this member in " +
				"its body."}
	}
	return out
}

// required reports whether the field is required. Absent members of a merge patch keep their value,
// so none is required.
func (b *builder) required(m *model, f *schema.Field, missing map[string]bool) bool {
	switch m.mode {
	case shown: // always written, unless the client requests a part of the item
		return !f.OmitZero && !f.OmitEmpty && (!b.full || !b.isItem(m.typ))
	case created:
		return missing[f.Name]
	case replaced: // clients need not send members that they do not receive
		return missing[f.Name] && !m.fixed(f) && !f.WriteOnly
	}
	return false
}

// constrainID adds the constraints of ids that a client chooses: an id must be one path segment
// that is not normalized away. A pattern of the field takes precedence. The rules are those of the
// core for ids in paths. Clients and proxies normalize the segments . and .. away (RFC 3986 section
// 5.2.4), even if they are escaped.
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

// property describes a field of an object. The keywords are those of a new schema or a new
// reference, so that they apply to this member only.
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
	if f.StoreDefault && m.mode == created {
		s.Description = sentences(s.Description, "If it is absent, the server sets it.")
	}
	if m.fixed(f) {
		s.Description = sentences(s.Description, "It cannot be changed: omit it, or send the current value.")
	}
	s.Description = withList(s.Description, enumList(f))
	s.Deprecated = f.Deprecated != ""
	if b.full { // oapi-codegen makes such members optional, and the schemas of each direction lack them
		s.ReadOnly = m.mode == shown && f.ReadOnly
		s.WriteOnly = m.mode != shown && f.WriteOnly
	}
	// In responses and patches an absent member is empty or unchanged, and never the default.
	if f.Default != nil && (m.mode == created || m.mode == replaced && !f.WriteOnly && !m.fixed(f)) {
		if b.full {
			s.Default = written(f, f.Default)
		} else { // openapi-typescript requires members that have a default
			s.Description = sentences(s.Description, "Default `"+string(written(f, f.Default))+"`")
		}
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

// constrained describes the value of a field with the constraints of its tags. For an array or a
// map they apply to the elements, except the number of elements. value does the same for types
// without tags, such as the elements of elements.
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
	// A merge patch treats a map as an object, in which null removes an entry.
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
	// A Go array has a fixed length, which container has described already.
	if t.Len < 0 {
		s.MinItems, s.MaxItems = f.MinItems, f.MaxItems
	}
	s.UniqueItems = f.Unique
	return s
}

// constrain adds the constraints of a field to the schema of a single value. A number with
// omitempty may be zero in responses even if its constraints exclude zero, because omitempty does
// not omit numbers. minLength and maxLength count Unicode characters in JSON Schema, as they do in
// package schema.
func constrain(s *schemaObject, f *schema.Field, m mode) {
	if s.Ref != "" { // an object, which has no constraints
		return
	}
	number := slices.Contains(s.Type, "integer") || slices.Contains(s.Type, "number")
	if f.Quoted && number { // a quoted number is a string in JSON, of which the format has the range
		if f.Type.Kind == schema.Number {
			s.Pattern = ecma.Number
		} else {
			s.Pattern, s.Format = ecma.Integer(f.Type.Bits, f.Type.Unsigned)
		}
		s.Type, s.Minimum, s.Maximum = typeNames{"string"}, nil, nil
	}
	if f.Format != "" {
		if s.Format != f.Format && s.Type[0] == "integer" { // the other format has the limits of the Go type
			s.Minimum, s.Maximum = bounds(cmp.Or(f.Type.Elem, f.Type))
		}
		s.Format = f.Format
	}
	if m == shown && number && f.OmitEmpty && !f.Required {
		return
	}
	s.MinLength, s.MaxLength = f.MinLength, f.MaxLength
	if f.Pattern != nil {
		s.Pattern, _ = portable(f)
	} else if f.IsDecimal() {
		s.Pattern = ecma.Decimal(f.Precision, f.Scale)
	}
	for _, v := range f.Enum {
		if !hasSpellings(f) {
			s.Enum = append(s.Enum, written(f, v))
		}
	}
	if f.Minimum != "" && number && !f.Quoted {
		s.Minimum = jsontext.Value(f.Minimum)
	}
	if f.Maximum != "" && number && !f.Quoted {
		s.Maximum = jsontext.Value(f.Maximum)
	}
}

// hasSpellings reports whether texts that differ have the same value, such as 1.5 and 1.50. An enum would
// reject the other spellings, which requests and responses may have.
func hasSpellings(f *schema.Field) bool {
	return f.IsDecimal() || f.IsDuration() || f.Format == "time-local" ||
		f.Quoted && f.Type.Kind == schema.Number
}

// portable returns the pattern of a field in the syntax of JSON Schema, and "" if it has no pattern. If
// ok is false, the pattern is omitted from the schema and quoted in the description.
func portable(f *schema.Field) (pattern string, ok bool) {
	if f.Pattern == nil {
		return "", true
	}
	return ecma.Pattern(f.Pattern.String())
}

// textLimits returns a sentence about the limits of a number in a string, or "".
func textLimits(f *schema.Field) string {
	low, high := f.Minimum, f.Maximum
	if f.Quoted && f.Format != "" && f.Type.Kind == schema.Integer { // in place of the format of the Go type
		least, greatest := bounds(f.Type)
		low, high = cmp.Or(low, string(least)), cmp.Or(high, string(greatest))
	}
	switch {
	case !f.IsDecimal() && !f.Quoted || low == "" && high == "":
		return ""
	case high == "":
		return "The number is at least " + low + "."
	case low == "":
		return "The number is at most " + high + "."
	}
	return "The number is from " + low + " to " + high + "."
}

// isProblem reports whether the type is problem.Details, which has its own schema.
func isProblem(t *schema.Type) bool { return t.GoType == reflect.TypeFor[problem.Details]() }

// value describes a type without constraints. m is the mode of the surrounding document, in which
// nested objects are described too.
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

// container describes an array or a map with elements described by inner. t.Len is -1 for a slice.
// A map has no properties, only a schema for all values.
func container(t *schema.Type, inner *schemaObject) *schemaObject {
	if t.Kind == schema.Map {
		return &schemaObject{Type: typeNames{"object"}, AdditionalProperties: inner,
			PropertyNames: keyNames(t.Key)}
	}
	s := array(inner)
	if t.Len >= 0 {
		s.MinItems, s.MaxItems = &t.Len, &t.Len
	}
	return s
}

// keyNames describes the names of the members of a map. It returns nil if every name is valid.
func keyNames(key *schema.Type) *schemaObject {
	if key.Kind == schema.Integer {
		pattern, format := ecma.Integer(key.Bits, key.Unsigned)
		return &schemaObject{Type: typeNames{"string"}, Format: format, Pattern: pattern}
	}
	doc := key.Doc
	if doc == "" && !key.SameJSON(schema.For[string]()) {
		doc = "The text form of `" + key.Name + "`."
	}
	if doc == "" {
		return nil
	}
	return textOf(doc)
}

// scalar describes a type of single values. format, or bounds if there is no format, describe the
// Go type. A format is an annotation in JSON Schema 2020-12. It does not reject values unless the
// validator is configured to check formats.
func scalar(t *schema.Type) *schemaObject {
	s := &schemaObject{Type: typeNames{t.Kind.String()}, Format: t.Format}
	switch t.Kind {
	case schema.String:
		if t.Format == "byte" {
			// contentEncoding is the keyword of OpenAPI 3.1. The format byte is that of 3.0, for
			// older tools.
			s.ContentEncoding = "base64"
			if t.Len >= 0 {
				s.Pattern = ecma.Base64(t.Len)
			}
		}
	case schema.Number:
		s.Format = "double"
		if t.Bits == 32 {
			s.Format = "float"
		}
	case schema.Integer:
		low, high := bounds(t)
		switch {
		// The format defines the maximum. Written as a number, that of 64 bits would be rounded by
		// tools that parse numbers as float64.
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
