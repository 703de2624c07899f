package openapi

import (
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// described is a resource and what its operations have in common.
type described struct {
	*builder
	r        *resource.Resource
	name     string // name of the resource
	noun     string // of an item, in operation ids: Order
	word     string // of an item, in sentences: order
	policy   resource.Policy
	settings rest.ResourceOptions

	item                      *schemaObject // schema of an item in responses
	samples                   samples
	createModel, replaceModel model
	patchModel                model
	counted                   bool
	getID                     string // id of the operation that gets an item
}

// describeResource computes what all operations of a resource have in common, and defines the
// schema of its items.
func (b *builder) describeResource(r *resource.Resource) *described {
	settings := b.o.REST.Resource(r)
	d := &described{builder: b, r: r, name: r.Name(), word: settings.Media, policy: r.Policy(),
		settings: settings,
		counted:  r.Counts()}
	d.noun = pascal(d.word)
	if b.nouns[d.noun] {
		d.noun = pascal(r.Name()) + "Item" // the items of another resource have that name
	}
	d.noun = b.nouns.unique(d.noun)
	m := model{typ: r.Type(), mode: created, id: r.ID(), takesID: d.policy.TakesIDs,
		assignsID: d.policy.AssignsIDs}
	d.createModel = m
	m.mode = replaced
	d.replaceModel = m
	m.mode = patched
	d.patchModel = m
	d.item = b.component(model{typ: r.Type(), mode: shown})
	d.samples = d.makeSamples()
	return d
}

// resourceOperation returns an operation without parameters and responses.
func (d *described) resourceOperation(id string, op resource.Op, summary string,
	description ...string) *operation {
	return d.newOperation(id, d.name, d.name, op, summary, description...)
}

// newOperation returns an operation with a tag that may differ from name: a lookup has the tag of the
// resource that it returns.
func (b *builder) newOperation(id, tag, name string, op resource.Op, summary string,
	description ...string) *operation {
	out := &operation{OperationID: b.ids.unique(id), Tags: []string{tag}, Summary: summary,
		Description: sentences(description...), Deprecated: b.now.deprecated()}
	if out.Deprecated {
		out.Sunset = stamp(b.now.contract.Sunset)
	}
	if len(b.o.Security) > 0 && b.o.Secured != nil && !b.o.Secured(name, op) {
		out.Security = &[]requirement{}
	}
	return out
}

// list describes GET of the collection.
func (d *described) list() *operation {
	op := d.resourceOperation("list"+pascal(d.name), resource.OpList, "List "+d.name,
		"Returns a page of the items that match all of the filters. The next page is at `next`, and at the link of that name",
		d.orderText(),
		"Asked for `application/x-ndjson` it returns one item a line, and without `limit` all of them",
		d.feedText("what matches the filters"))
	op.Parameters = d.listParameters()
	types := append([]string{mediaJSON}, d.vendorTypes(d.word)...)
	content := d.contents(types, d.listSchema(), d.samples.list)
	// JSON Schema cannot describe a sequence of values.
	content.add("application/x-ndjson", &mediaType{Schema: textOf("One item a line, each a JSON object.")})
	d.addFeed(op, &content)
	headers := append([]string{"ETag", "Link", "Cache-Control", "Vary", "Preference-Applied"},
		d.cursorHeader()...)
	if d.r.Can(resource.OpCreate) {
		headers = append(headers, "Accept-Post")
	}
	op.Responses = d.answers(d.withCommonErrors(d.withFeedErrors(400, 406)...), d.answer(200, "A page of items.", headers, content),
		d.unchanged(headers))
	return op
}

// orderText describes the order of a list.
func (d *described) orderText() string {
	if d.r.Query().Natural {
		return "The order is that of the store"
	}
	return "The order is that of `sort`, and then of `" + d.r.ID() + "`"
}

// create describes POST.
func (d *described) create() *operation {
	how := "The server chooses the id"
	switch {
	case d.policy.TakesIDs && d.policy.AssignsIDs:
		how = "The server chooses the id, unless there is one in the content"
	case d.policy.TakesIDs:
		how = "The client chooses the id"
	}
	op := d.resourceOperation("create"+d.noun, resource.OpCreate, "Create an item in "+d.name, how,
		d.keyText(d.name, true))
	op.Parameters = d.writeParameters()
	op.RequestBody = d.newRequestBody(d.createModel, d.samples.create)
	headers := append([]string{"Location", "Content-Location"}, d.itemHeaders()...)
	statuses, good := []int{400, 406, 409, 413, 415, 422}, []entry[*response]{d.written(201,
		"The item has been created, and is at `Location`. With `Prefer: return=minimal` there is no content.",
		headers)}
	if d.r.Batches() { // a batch has the errors of all its operations
		statuses, good = d.withGone(append(statuses, 404, 412)...), append(good, d.addBatch(op))
	}
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(statuses...)...), good...)
	return op
}

// get describes GET of an item.
func (d *described) get() *operation {
	op := d.resourceOperation("get"+d.noun, resource.OpGet, "Get an item of "+d.name, "Returns one item",
		d.goneText(), d.feedText("it"))
	d.getID = op.OperationID
	op.Parameters = append(append(d.partParameters(), d.prefer("handling=lenient")), d.readConditions()...)
	content := d.itemContent()
	d.addFeed(op, &content)
	headers := append(d.itemHeaders(), d.cursorHeader()...)
	op.Responses = d.answers(d.withCommonErrors(d.withFeedErrors(d.withGone(400, 404, 406, 412)...)...),
		d.answer(200, "The item.", append(headers, "Preference-Applied"), content), d.unchanged(headers))
	return op
}

// replace describes PUT.
func (d *described) replace() *operation {
	does := "Puts the content in the place of the item. What is left out gets its default, or is removed"
	replaces := d.r.Can(resource.OpPatch) // an item that can be patched can be replaced, and vice versa
	switch {
	case d.policy.TakesIDs && replaces:
		does += ". Where there is no such item it is created"
	case d.policy.TakesIDs:
		does = "Creates the item. One that is there cannot be replaced"
	}
	if d.policy.TakesIDs && d.policy.Remembers && !d.policy.AllowRecreate {
		does += ". An item that was deleted cannot be put back: 410"
	}
	op := d.resourceOperation("replace"+d.noun, resource.OpReplace, "Replace an item of "+d.name, does,
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append(d.writeParameters(), d.writeConditions(!d.policy.TakesIDs)...)
	op.RequestBody = d.newRequestBody(d.replaceModel, d.samples.replace)
	headers := append([]string{"Content-Location"}, d.itemHeaders()...)
	var good []entry[*response]
	if replaces {
		good = append(good, d.written(200, d.replacedText(), headers), d.empty(204,
			"The item has been replaced; `Prefer: return=minimal` asked for no content.", d.itemHeaders()...))
	}
	if d.policy.TakesIDs {
		good = append(good, d.written(201, "The item has been created.",
			append([]string{"Location"}, headers...)))
	}
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withGone(400, 404, 406, 409, 412, 413, 415, 422)...)...), good...)
	return op
}

// replacedText describes 200 for PUT. RFC 9110 section 9.3.4 allows a validator only if the content
// is stored without changes.
func (d *described) replacedText() string {
	if d.settings.AlwaysETagOnPut {
		return "The item as it is now."
	}
	return "The item as it is now. There is an `ETag` only if it is stored octet by octet as it was sent."
}

// patch describes PATCH.
func (d *described) patch() *operation {
	op := d.resourceOperation("patch"+d.noun, resource.OpPatch, "Change parts of an item of "+d.name,
		"Applies all of the patch or nothing. A merge patch (RFC 7396) names what changes, and null removes: it cannot set "+
			"anything to null, for which there is JSON Patch (RFC 6902). A patch that changes nothing leaves the revision as it is",
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append(d.writeParameters(), d.writeConditions(true)...)
	content := ordered[*mediaType]{
		{patch.MergeType, d.media(d.component(d.patchModel), d.samples.patch)},
		{patch.JSONType, d.media(d.jsonPatch(), d.samples.operations)},
	}
	op.RequestBody = &requestBody{Required: true, Content: content,
		Description: "A patch. Patches name no version and have no types of a vendor."}
	headers := append([]string{"Content-Location"}, d.itemHeaders()...)
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withGone(400, 404, 406, 409, 412, 413, 415, 422)...)...),
		d.written(200, "The item as it is now.", headers),
		d.empty(204, "The item has been changed; `Prefer: return=minimal` asked for no content.",
			d.itemHeaders()...))
	return op
}

// delete describes DELETE. It explains 204, 404 and 410, because clients must distinguish them.
func (d *described) delete() *operation {
	means := "204 and 410 both mean that the item is gone: 204 that it has been deleted just now, 410 that it was before. " +
		"404 means that it was never known here"
	switch {
	case !d.policy.Remembers:
		means = "204 means that the item is gone. What was deleted is not remembered here, so 404 means that there is none, " +
			"whether it was deleted before or never known"
	case d.settings.RepeatedDelete == 204:
		means = "204 means that the item is gone, also if it was before, for which other methods have 410. " +
			"404 means that it was never known here"
	}
	op := d.resourceOperation("delete"+d.noun, resource.OpDelete, "Delete an item of "+d.name, means,
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append([]*parameter{d.prefer("handling=lenient")}, d.writeConditions(true)...)
	op.Parameters = append(op.Parameters, d.keyParameter()...)
	statuses := d.withGone(400, 404, 409, 412)
	if d.settings.RepeatedDelete == 204 {
		statuses = slices.DeleteFunc(statuses, func(status int) bool { return status == gone })
	}
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(statuses...)...),
		d.empty(204, "The item is gone.", "Cache-Control"))
	return op
}

// options describes OPTIONS of a path, which documents Allow. It needs no authentication. accepts
// are the fields that list the accepted media types.
func (b *builder) options(id, tag, what string, accepts ...string) *operation {
	op := b.newOperation(id, tag, tag, "", "What can be done with "+what,
		"Tells the methods that are served here")
	if len(b.o.Security) > 0 {
		op.Security = &[]requirement{}
	}
	headers := append([]string{"Allow", "Cache-Control", "Vary"}, accepts...)
	op.Responses = b.answers(b.withVersionErrors(400, 414), b.answer(204, "The methods are in `Allow`.", headers,
		nil))
	return op
}

// accept returns the field that lists the media types for an operation; nil if op is nil.
func accept(field string, op *operation) []string {
	if op == nil {
		return nil
	}
	return []string{field}
}

// goneText describes 404 and 410 for a read.
func (d *described) goneText() string {
	if !d.policy.Remembers {
		return ""
	}
	return "404 means that there was never such an item, and 410 that it was deleted"
}

// conditionText describes how to prevent lost updates.
func (d *described) conditionText() string {
	if d.policy.RequireIfMatch {
		return "`If-Match` is required: it says which revision has been seen, by its `ETag`"
	}
	return "With `If-Match` it is done only if nobody else has changed the item since"
}

// withGone adds 410 if an item may have been deleted, and 428 if a precondition is required.
func (d *described) withGone(statuses ...int) []int {
	if d.policy.Remembers || d.r.Can(resource.OpDelete) {
		statuses = append(statuses, gone)
	}
	if d.policy.RequireIfMatch && slices.Contains(statuses, 409) {
		statuses = append(statuses, 428)
	}
	return statuses
}

// newRequestBody describes the request body of POST and PUT.
func (d *described) newRequestBody(m model, example string) *requestBody {
	s := d.component(m)
	return &requestBody{Required: true, Description: d.bodySizeText(),
		Content: d.contents(append([]string{mediaJSON}, d.vendorTypes(d.word)...), s, example)}
}

// bodySizeText describes the size limit of a request body.
func (b *builder) bodySizeText() string {
	return "Of " + strconv.FormatInt(b.c.Limits().Body, 10) + " bytes at most."
}

// contents uses one schema and one example for several media types.
func (b *builder) contents(types []string, s *schemaObject, example string) ordered[*mediaType] {
	var out ordered[*mediaType]
	for _, t := range types {
		out.add(t, b.media(s, example))
	}
	return out
}

// media returns content with an optional example, which is always called sample.
func (b *builder) media(s *schemaObject, name string) *mediaType {
	m := &mediaType{Schema: s}
	if name != "" {
		m.Examples.add("sample", &example{Ref: "#/components/examples/" + name})
	}
	return m
}

// itemContent describes an item in a response.
func (d *described) itemContent() ordered[*mediaType] {
	return d.contents(append([]string{mediaJSON}, d.vendorTypes(d.word)...), d.item, d.samples.item)
}

// itemHeaders returns the header fields of every representation of an item.
func (d *described) itemHeaders() []string {
	out := []string{"ETag", "Last-Modified", "Cache-Control", "Vary"}
	if d.r.Can(resource.OpPatch) {
		out = append(out, "Accept-Patch")
	}
	return out
}

// listSchema describes a page.
func (d *described) listSchema() *schemaObject {
	name := d.names.unique(pascal(d.name) + "Page")
	s := &schemaObject{Type: typeNames{"object"}, Required: []string{"items"},
		Properties: ordered[*schemaObject]{
			{"items", array(d.item)},
			{"next", textOf("Where the next page begins: the value of `after`. The last page has none.")},
		}}
	if d.counted {
		total := &schemaObject{Type: typeNames{"integer"}, Minimum: jsonOf(0),
			Description: "How many items match, for `Prefer: count=exact`."}
		s.Properties.add("total", total)
	}
	d.doc.Components.Schemas.add(name, s)
	return schemaRef(name)
}
