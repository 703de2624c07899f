package openapi

import (
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
)

// mediaBatch is what a list of operations is called, beside the types of a vendor, in which its name is batchName.
const (
	mediaBatch = "application/vnd.stoa.batch+json"
	batchName  = "batch"
)

// addBatch adds to the description of POST that several writes can be one, and returns how that is answered.
func (d *described) addBatch(op *operation) (ok entry[*response]) {
	op.Description = sentences(op.Description, "With `"+mediaBatch+"` it takes a list of operations on the collection, which are done "+
		"in their order, each seeing those before it, and all of them or none. The first that is refused is the answer: `operation` "+
		"says which it was, from 0, and pointers lead into the list. No parameters are for it")
	s, example := d.batch()
	content := d.contents(append([]string{mediaBatch}, d.vendorTypes(batchName)...), s, example)
	op.RequestBody.Content = append(op.RequestBody.Content, content...)

	results, example := d.batchResults()
	return d.effect(200, "What became of each operation of a batch, in their order.", []string{"Cache-Control", "Vary"},
		d.contents(append([]string{mediaJSON}, d.vendorTypes(batchName)...), results, example))
}

// batch describes the list.
func (d *described) batch() (s *schemaObject, example string) {
	name := d.names.unique(d.noun + "Batch")
	most, one := d.c.Limits().Operations, 1
	forms := &schemaObject{Discriminator: &discriminator{PropertyName: "op"}}
	for _, form := range d.batchForms() {
		component := d.names.unique(name + pascal(form.op))
		d.doc.Components.Schemas.add(component, form.schema())
		forms.OneOf = append(forms.OneOf, schemaRef(component))
		forms.Discriminator.Mapping.add(form.op, "#/components/schemas/"+component)
	}
	list := array(forms)
	list.MinItems, list.MaxItems = &one, &most
	d.doc.Components.Schemas.add(name, &schemaObject{Type: typeNames{"object"}, Required: []string{"operations"},
		Description: "Operations that stand or fall together.", AdditionalProperties: false,
		Properties: append(ordered[*schemaObject]{{"operations", list}}, d.bodyMembers()...)})
	return schemaRef(name), d.batchExample(name)
}

// batchForm is one of the things that can stand in a batch.
type batchForm struct {
	op    string
	value *schemaObject // nil: no value
	patch *schemaObject // nil: no patch
	id    bool          // it is about an item that is there, or may be
	match bool          // and has to say which revision of it
}

// batchForms are those that the collection takes.
func (d *described) batchForms() []batchForm {
	out := []batchForm{{op: "create", value: d.batchValue(d.createModel)}}
	if d.r.Can(resource.OpReplace) {
		out = append(out, batchForm{op: "replace", value: d.batchValue(d.replaceModel), id: true,
			match: d.policy.RequireIfMatch && !d.policy.TakesIDs})
	}
	if d.r.Can(resource.OpPatch) {
		either := &schemaObject{AnyOf: []*schemaObject{d.component(d.patchModel), d.jsonPatch()},
			Description: "An object is a merge patch (RFC 7396), an array a JSON Patch (RFC 6902)."}
		out = append(out, batchForm{op: "patch", patch: either, id: true, match: d.policy.RequireIfMatch})
	}
	if d.r.Can(resource.OpDelete) {
		out = append(out, batchForm{op: "delete", id: true, match: d.policy.RequireIfMatch})
	}
	return out
}

// batchValue describes a value in a batch: as POST and PUT take it, but for what names the contract, which is that of all.
func (d *described) batchValue(m model) *schemaObject {
	s := d.component(m)
	for _, member := range d.bodyMembers() {
		s.Not = &schemaObject{Required: []string{member.name}}
	}
	return s
}

// schema describes one operation.
func (f *batchForm) schema() *schemaObject {
	s := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: false, Required: []string{"op"},
		Properties: ordered[*schemaObject]{{"op", &schemaObject{Type: typeNames{"string"}, Const: quote(f.op)}}}}
	add := func(name string, p *schemaObject) {
		s.Required = append(s.Required, name)
		s.Properties.add(name, p)
	}
	if f.id {
		add("id", textOf("The id as it stands in a path, a string also where it is a number."))
		s.Properties.add("ifMatch", textOf("As `If-Match`: it is done only if the item has one of these entity tags."))
	}
	if f.match {
		s.Required = append(s.Required, "ifMatch")
	}
	if f.value != nil {
		add("value", f.value)
	}
	if f.patch != nil {
		add("patch", f.patch)
	}
	return s
}

// batchExample creates and patches with what the examples of the collection are.
func (d *described) batchExample(name string) string {
	if d.samples.create == "" {
		return ""
	}
	ops := `{"operations":[{"op":"create","value":` + string(d.exampleValue(d.samples.create)) + `}`
	if d.samples.patch != "" && d.r.Can(resource.OpPatch) {
		ops += `,{"op":"patch","id":` + string(asText(d.samples.id)) + `,"patch":` + string(d.exampleValue(d.samples.patch)) + `}`
	}
	return d.addExample(name, []byte(ops+"]}"))
}

// asText is an id as a string, which it is in a batch whatever it is in its item.
func asText(id jsontext.Value) jsontext.Value {
	if id.Kind() == '"' {
		return id
	}
	return quote(string(id))
}

// pathOf is where an item with such an id is.
func (d *described) pathOf(id jsontext.Value) jsontext.Value {
	text, _ := jsontext.AppendUnquote(nil, asText(id))
	return quote("/" + d.name + "/" + url.PathEscape(string(text)))
}

// batchResults describes the answer.
func (d *described) batchResults() (s *schemaObject, example string) {
	name := d.names.unique(d.noun + "BatchResults")
	status := integer(200, 299)
	status.Description = "What the operation would have been answered with alone."
	result := &schemaObject{Type: typeNames{"object"}, Required: []string{"status"}, Properties: ordered[*schemaObject]{
		{"status", status},
		{"id", textOf("The id as it stands in a path.")},
		{"location", textOf("Where an item that was created is.")},
		{"etag", textOf("The entity tag that GET of the item has now, as JSON and not compressed.")},
		{"value", d.item},
	}}
	d.doc.Components.Schemas.add(name, &schemaObject{Type: typeNames{"object"}, Required: []string{"results"},
		Description: "Without `value` where `Prefer: return=minimal` asked for that, and behind those that fill an answer.",
		Properties:  append(ordered[*schemaObject]{{"results", array(result)}}, d.echoed()...)})
	if d.samples.item == "" {
		return schemaRef(name), ""
	}
	return schemaRef(name), d.addExample(name, []byte(`{"results":[{"status":201,"id":`+string(asText(d.samples.id))+`,"location":`+
		string(d.pathOf(d.samples.id))+`,"etag":"\"5.Gk2Vq9bU\"","value":`+string(d.exampleValue(d.samples.item))+`}]}`))
}
