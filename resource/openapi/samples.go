package openapi

// Examples of resources, derived from their samples. Called by describeResource in operations.go.

import (
	"bytes"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// samples has the names of the example components of a resource; "" if there is none.
type samples struct {
	item, list, create, replace, patch, operations string
	id                                             jsontext.Value
}

// makeSamples derives all examples from the first sample of a resource. All have the values of one
// sample, so that the id in an example path is that of the item in the example body.
func (d *described) makeSamples() samples {
	var s samples
	all := d.r.Describe().Samples // in the projection of this contract
	if len(all) == 0 {
		return s
	}
	typ, v := d.r.Type(), all[0]
	item, err := typ.Append(nil, v)
	if err != nil { // without an example the document is still valid
		return s
	}
	// Requests may contain writeOnly members, responses may not.
	full, err := typ.AppendFull(nil, v)
	if err != nil {
		return s
	}
	base := strings.TrimPrefix(d.item.Ref, "#/components/schemas/")
	s.item = d.addExample(base, item)
	s.list = d.addExample(pascal(d.name)+"Page", []byte(`{"items":[`+string(item)+`]}`))
	// The names are those of the schemas in the same modes, see suffixes in schemas.go.
	if d.r.Can(resource.OpCreate) {
		s.create = d.addExample(base+"Create", d.trim(d.createModel, full))
	}
	unnamed := d.createModel
	unnamed.takesID = false // the id is in the path
	if d.r.Can(resource.OpReplace) {
		s.replace = d.addExample(base+"Replace", d.trim(unnamed, full))
	}
	if f, value := d.patchable(full); f != nil && d.r.Can(resource.OpPatch) {
		// AppendToken escapes ~ and / (RFC 6901 section 3).
		name, pointer := quote(f.Name), quote(string(jsontext.Pointer("").AppendToken(f.Name)))
		s.patch = d.addExample(base+"Patch", []byte("{"+string(name)+":"+string(value)+"}"))
		s.operations = d.addExample(base+"Operations",
			[]byte(`[{"op":"replace","path":`+string(pointer)+`,"value":`+string(value)+`}]`))
	}
	id := typ.Field(d.r.Describe().ID)
	s.id = jsonOf(id.Get(v))
	return s
}

// sampleOf returns the name of the example for a schema; "" if there is none. Examples of items
// have the name of their schema, see makeSamples.
func (b *builder) sampleOf(s *schemaObject) string {
	name := strings.TrimPrefix(s.Ref, "#/components/schemas/")
	if b.doc.Components.Examples.has(name) {
		return name
	}
	return ""
}

// addExample defines an example and returns its name. It keeps an existing one of another resource
// with the same type. Two views of a type in one catalog have equal samples up to their projection.
func (b *builder) addExample(name string, value []byte) string {
	if !b.doc.Components.Examples.has(name) {
		b.doc.Components.Examples.add(name, &example{Value: value})
	}
	return name
}

// exampleValue returns the value of a defined example.
func (b *builder) exampleValue(name string) jsontext.Value {
	for _, e := range b.doc.Components.Examples {
		if e.name == name {
			return e.value.Value
		}
	}
	return nil
}

// trim removes the members that the model does not allow from a JSON object. Otherwise the example
// of a request would be rejected by the schema of the request, which is closed.
func (b *builder) trim(m model, object []byte) []byte {
	var out bytes.Buffer
	dec := jsontext.NewDecoder(bytes.NewReader(object))
	// The decoder is used because values must be copied without changing their digits.
	dec.ReadToken() // errors are impossible: package schema wrote the object
	out.WriteByte('{')
	for dec.PeekKind() == '"' {
		name, _ := dec.ReadToken()
		f := m.typ.Field(name.String())
		value, err := dec.ReadValue()
		if err != nil || f == nil || m.refuses(f) {
			continue
		}
		if out.Len() > 1 {
			out.WriteByte(',')
		}
		out.Write(quote(f.Name))
		out.WriteByte(':')
		out.Write(b.trimValue(f.Type, m.mode, value))
	}
	out.WriteByte('}')
	return out.Bytes()
}

// trimValue trims the objects in a value. Objects in maps are copied with all their members.
func (b *builder) trimValue(t *schema.Type, m mode, value []byte) []byte {
	switch {
	case t.Kind == schema.Object && value[0] == '{':
		return b.trim(model{typ: t, mode: m}, value)
	case t.Kind == schema.Array && value[0] == '[':
		var parts [][]byte
		dec := jsontext.NewDecoder(bytes.NewReader(value))
		dec.ReadToken()
		for dec.PeekKind() != ']' {
			elem, err := dec.ReadValue()
			if err != nil {
				break
			}
			parts = append(parts, b.trimValue(t.Elem, m, bytes.Clone(elem)))
		}
		return []byte("[" + string(bytes.Join(parts, []byte(","))) + "]")
	}
	return bytes.Clone(value)
}

// patchable returns the first field that a patch can set, and its value in the sample. The value is
// the current one, so the patch has no effect but is valid for any constraint.
func (d *described) patchable(full []byte) (*schema.Field, jsontext.Value) {
	var pick *schema.Field
	for _, f := range d.r.Type().Fields {
		if !d.patchModel.fixed(f) && !f.WriteOnly && f.Comparable() {
			pick = f
			break
		}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(full))
	dec.ReadToken()
	for pick != nil && dec.PeekKind() == '"' {
		name, _ := dec.ReadToken()
		this := name.String() == pick.Name
		value, err := dec.ReadValue()
		if err != nil {
			break
		}
		// In a merge patch null would remove the member.
		if this && value.Kind() != 'n' {
			return pick, value.Clone()
		}
	}
	return nil, nil
}
