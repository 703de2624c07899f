package openapi

// The batch media type of POST. Called by create in operations.go for collections with batches.

import (
	"net/url"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/patch"
)

// mediaBatch is the media type of a batch. In vendor types its name is batchName.
const (
	mediaBatch = "application/vnd.stoa.batch+json"
	batchName  = "batch"
)

// addBatch adds the batch to the description of POST, and returns its response. A batch has no path
// of its own: it is another media type of POST. The operation therefore lists query parameters that
// do not apply to a batch.
func (d *described) addBatch(op *operation) (ok entry[*response]) {
	op.Description = sentences(op.Description, "With the media type `"+mediaBatch+
		"` the body is a list of operations on the collection. They are executed "+
		"in order, all of them or none. If one fails, the response is its problem: `operation` "+
		"is its index from 0, and pointers are relative to the request body. Query parameters do not apply")
	s, example := d.batch()
	content := d.contents(append([]string{mediaBatch}, d.vendorTypes(batchName)...), s, example)
	op.RequestBody.Content = append(op.RequestBody.Content, content...)

	results, example := d.batchResults()
	return d.effect(200, "The results of the operations of a batch, in order.",
		[]string{"Cache-Control", "Vary"},
		d.contents(append([]string{mediaJSON}, d.vendorTypes(batchName)...), results, example))
}

// batch describes the request body of a batch. Each operation has a component of its own, because a
// mapping of a discriminator refers to components.
func (d *described) batch() (s *schemaObject, example string) {
	name := d.names.unique(d.noun + "Batch")
	maxLen, one := d.c.Limits().Operations, 1
	forms := &schemaObject{Discriminator: &discriminator{PropertyName: "op"}}
	for _, form := range d.batchForms() {
		component := d.names.unique(name + pascal(form.op))
		d.doc.Components.Schemas.add(component, form.schema())
		forms.OneOf = append(forms.OneOf, schemaRef(component))
		forms.Discriminator.Mapping.add(form.op, "#/components/schemas/"+component)
	}
	list := array(forms)
	// The limit is that of the catalog and the same for the operations of a JSON Patch.
	list.MinItems, list.MaxItems = &one, &maxLen
	list.Description = "The operations, in the order of their execution."
	d.doc.Components.Schemas.add(name,
		&schemaObject{Type: typeNames{"object"}, Required: []string{"operations"},
			Description: "Operations that are executed in one transaction.", AdditionalProperties: false,
			Properties: append(ordered[*schemaObject]{{"operations", list}}, d.bodyMembers()...)})
	return schemaRef(name), d.batchExample(name)
}

// batchForm is one kind of operation in a batch. Its schema has the members in the order op, id,
// ifMatch, value or patch.
type batchForm struct {
	op    string
	value *schemaObject // nil without a value
	patch *schemaObject // nil without a patch
	types []string      // media types of patches, if there are registered formats
	id    bool          // refers to an item by its id
	match bool          // ifMatch is required
}

// batchForms returns the operations that the collection supports. create is always possible:
// without it a collection has no batches, see Description.Batches.
func (d *described) batchForms() []batchForm {
	out := []batchForm{{op: "create", value: d.batchValue(d.createModel)}}
	if d.r.Can(resource.OpReplace) {
		out = append(out, batchForm{op: "replace", value: d.batchValue(d.replaceModel), id: true,
			// A replace that may create the item has no entity tag to send.
			match: d.policy.RequireIfMatch && !d.policy.TakesIDs})
	}
	if d.r.Can(resource.OpPatch) {
		// A value never matches both, because one is an object and the other an array.
		merge := d.component(d.patchModel)
		if d.patchModel.version {
			merge = d.batchValue(d.patchModel)
		}
		either := &schemaObject{AnyOf: []*schemaObject{merge, d.jsonPatch()},
			Description: "An object is a merge patch (RFC 7396), an array a JSON Patch (RFC 6902)."}
		form := batchForm{op: "patch", patch: either, id: true, match: d.policy.RequireIfMatch}
		if formats := d.patchFormats(); len(formats) > 0 {
			form.types = []string{patch.MergeType, patch.JSONType}
			for _, f := range formats {
				if f.JSON() {
					form.types = append(form.types, f.MediaType)
				}
			}
			either.AnyOf = append(either.AnyOf, &schemaObject{Description: "In the format of patchType."})
		}
		out = append(out, form)
	}
	if d.r.Can(resource.OpDelete) {
		out = append(out, batchForm{op: "delete", id: true, match: d.policy.RequireIfMatch})
	}
	return out
}

// batchValue describes a value in a batch. It is that of POST or PUT without the member that names
// the contract, which belongs to the whole batch. The schema is a reference, so not is a keyword
// beside it and does not change the component.
func (d *described) batchValue(m model) *schemaObject {
	s := d.component(m)
	for _, member := range d.bodyMembers() {
		// The loop runs at most once, because a Negotiator has at most one version.Body.
		s.Not = &schemaObject{Required: []string{member.name}}
	}
	return s
}

// schema describes one operation. It is closed. The const of op makes the alternatives of oneOf
// exclusive for validators that ignore the discriminator.
func (f *batchForm) schema() *schemaObject {
	s := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: false, Required: []string{"op"},
		Description: "The operation `" + f.op + "` of a batch.",
		Properties: ordered[*schemaObject]{{"op", &schemaObject{Type: typeNames{"string"}, Const: quote(f.op),
			Description: "The kind of the operation."}}}}
	add := func(name string, p *schemaObject) {
		s.Required = append(s.Required, name)
		s.Properties.add(name, p)
	}
	if f.id {
		add("id", textOf("The id as in the path, always as a string."))
		s.Properties.add("ifMatch",
			textOf("Like `If-Match`: the operation fails unless the item has one of these entity tags."))
	}
	if f.match {
		s.Required = append(s.Required, "ifMatch")
	}
	if f.value != nil {
		f.value.Description = "The complete value of the item."
		add("value", f.value)
	}
	if f.patch != nil {
		add("patch", f.patch)
	}
	if f.types != nil {
		s.Properties.add("patchType", &schemaObject{Type: typeNames{"string"}, Enum: jsonStrings(f.types...),
			Description: "The media type of `patch`. Default: an array is a JSON Patch, any other value a " +
				"merge patch."})
	}
	return s
}

// batchExample returns an example with a create and a patch operation. It is valid only if the
// values are, so it consists of other examples.
func (d *described) batchExample(name string) string {
	if d.samples.create == "" {
		return ""
	}
	ops := `{"operations":[{"op":"create","value":` + string(d.exampleValue(d.samples.create)) + `}`
	if d.samples.patch != "" && d.r.Can(resource.OpPatch) {
		ops += `,{"op":"patch","id":` + string(asText(d.samples.id)) + `,"patch":` +
			string(d.exampleValue(d.samples.patch)) + `}`
	}
	return d.addExample(name, []byte(ops+"]}"))
}

// asText returns an id as a string, which it always is in a batch. In the item it may be a number.
func asText(id jsontext.Value) jsontext.Value {
	if id.Kind() == '"' {
		return id
	}
	return quote(string(id))
}

// pathOf returns the path of the item with this id. Reserved characters are escaped, so the id
// stays one segment.
func (d *described) pathOf(id jsontext.Value) jsontext.Value {
	text, _ := jsontext.AppendUnquote(nil, asText(id))
	return quote("/" + d.name + "/" + url.PathEscape(string(text)))
}

// batchResults describes the response to a batch. The media type is plain JSON: only the request
// needs a type that distinguishes it from an item.
func (d *described) batchResults() (s *schemaObject, example string) {
	name := d.names.unique(d.noun + "BatchResults")
	status := integer(200, 299)
	status.Description = "The status of the operation if it had been a request of its own."
	value := *d.item // a reference, to which the description is added
	value.Description = "The item after the operation."
	result := &schemaObject{Type: typeNames{"object"}, Required: []string{"status"},
		Properties: ordered[*schemaObject]{
			{"status", status},
			{"id", textOf("The id as in the path.")},
			{"location", textOf("The path of a created item.")},
			{"etag", textOf("The entity tag of the item as uncompressed JSON.")},
			{"value", &value},
		}}
	results := array(result)
	results.Description = "The results, in the order of the operations."
	d.doc.Components.Schemas.add(name, &schemaObject{Type: typeNames{"object"}, Required: []string{"results"},
		Description: "`value` is omitted with `Prefer: return=minimal`, and after the response has reached " +
			"its size limit.",
		Properties: append(ordered[*schemaObject]{{"results", results}}, d.contractMembers()...)})
	if d.samples.item == "" {
		return schemaRef(name), ""
	}
	return schemaRef(name),
		d.addExample(name, []byte(`{"results":[{"status":201,"id":`+string(asText(d.samples.id))+
			`,"location":`+
			string(d.pathOf(d.samples.id))+`,"etag":"\"5.Gk2Vq9bU\"","value":`+
			string(d.exampleValue(d.samples.item))+`}]}`))
}
