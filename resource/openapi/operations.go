package openapi

// The operations of a resource. Called by resource in document.go. parameters.go describes the
// parameters, schemas.go the request bodies and responses.go the responses.

import (
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/csv"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// described is a resource and what its operations have in common. A lookup has one too, with only
// the fields that a read needs.
type described struct {
	*builder
	r        *resource.Resource
	name     string // name of the resource
	noun     string // of an item, in operation ids: Order
	word     string // of an item, in sentences: order
	policy   *resource.Description
	settings rest.ResourceOptions

	// The fields below are computed once, because several operations and batches refer to them.
	item                      *schemaObject // schema of an item in responses
	samples                   samples
	where                     []*parameter // the filters of lists in full
	createModel, replaceModel model
	patchModel                model
	counted                   bool
	getID                     string // id of the operation that gets an item
}

// describeResource computes what all operations of a resource have in common, and defines the
// schema of its items.
func (b *builder) describeResource(r *resource.Resource) *described {
	settings := b.o.REST.Resource(r)
	d := &described{builder: b, r: r, name: r.Name(), word: b.itemWord(r), policy: r.Describe(),
		settings: settings,
		counted:  r.Describe().Counts}
	d.noun = b.itemName(r)
	if b.nouns[d.noun] {
		d.noun = pascal(r.Name()) + "Item" // the items of another resource have that name
	}
	d.noun = b.nouns.unique(d.noun)
	m := model{typ: r.Type(), mode: created, id: r.Describe().ID, assignsID: d.policy.AssignsIDs,
		takesID: d.policy.TakesIDs && d.policy.Key == nil}
	d.createModel = m
	m.mode = replaced
	d.replaceModel = m
	m.mode, m.version = patched, settings.VersionInPatch
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

// newOperation returns an operation with a tag that may differ from name: a lookup has the tag of
// the resource that it returns. name is that of the part, which Secured expects.
func (b *builder) newOperation(id, tag, name string, op resource.Op, summary string,
	description ...string) *operation {
	out := &operation{OperationID: b.ids.unique(id), Tags: []string{tag}, Summary: summary,
		Description: sentences(description...), Deprecated: b.now.deprecated()}
	if out.Deprecated {
		out.Sunset = stamp(b.now.contract.Sunset)
	}
	if len(b.o.Security) > 0 && b.o.Secured != nil {
		// A pointer to a list replaces the requirements of the root, and a nil one inherits them.
		switch secured := b.o.Secured(name, op); {
		case secured && b.o.mixed:
			own := b.o.requirements()
			out.Security = &own
		case !secured && !b.o.mixed:
			out.Security = &[]requirement{}
		}
	}
	return out
}

// list describes GET of the collection.
func (d *described) list() *operation {
	op := d.resourceOperation("list"+pascal(d.name), resource.OpList, "List "+d.name,
		"Returns a page of the items that match all filters. `next` is the cursor of the next page, and "+
			"the link `next` is its URL",
		d.orderText(), d.linesText(),
		d.feedText("the items that match the filters"))
	op.Parameters = d.listParameters()
	types := append([]string{mediaJSON}, d.vendorTypes(d.settings.Media)...)
	sample := d.samples.list
	if !d.full {
		sample = "" // the example of an item is enough
	}
	content := d.contents(types, d.listSchema(), sample)
	if d.full {
		// JSON Schema cannot describe a sequence of values.
		content.add(mediaNDJSON, &mediaType{Schema: textOf("One item per line, each a JSON object."),
			ItemSchema: d.item})
		content.add(csv.MediaType, &mediaType{Schema: d.csvSchema()})
	}
	// The feed adds a media type to content, so this precedes the use of content.
	d.addFeed(op, &content)
	// Each header field is a component, so a name costs one line in the document.
	headers := append([]string{"Link", "Cache-Control", "Vary", "Preference-Applied"},
		d.cursorHeader()...)
	if d.full { // a weak tag, for conditional reads
		headers = append([]string{"ETag"}, headers...)
	}
	op.Responses = d.answers(d.withCommonErrors(d.withFeedErrors(400, 406, 412)...),
		d.answer(200, "A page of items.", headers, content),
		d.unchanged(headers))
	return op
}

// linesText describes the export of a list. The default profile omits it, see hasFeed.
func (d *described) linesText() string {
	if !d.full {
		return ""
	}
	return "With `Accept: " + mediaNDJSON + "` it returns one item per line, and without `limit` all " +
		"items. With `Accept: text/csv` it returns the same as CSV, with the columns in the order of " +
		"`fields`. It is read page by page and is no snapshot of the list"
}

// orderText describes the order of a list. The id is always the last key, which makes the order
// total and cursors unambiguous.
func (d *described) orderText() string {
	if d.r.Describe().Query.Natural {
		return "The items are in the order of the store"
	}
	return "The items are sorted by `sort`, then by `" + d.r.Describe().ID + "`"
}

// create describes POST. A creation is 201 with and without a body; a change without one is 204.
func (d *described) create() *operation {
	how := "The server chooses the id"
	switch {
	case d.policy.TakesIDs && d.policy.AssignsIDs:
		how = "The server chooses the id unless the request body has one"
	case d.policy.TakesIDs:
		how = "The client chooses the id"
	}
	op := d.resourceOperation("create"+d.noun, resource.OpCreate, "Create "+article(d.word), how,
		d.keyText(d.name, true))
	op.Parameters = d.writeParameters()
	op.RequestBody = d.newRequestBody(d.createModel, d.samples.create)
	headers := append([]string{"Location", "Content-Location"}, d.itemHeaders()...)
	statuses, good := []int{400, 406, 409, 413, 415, 422}, []entry[*response]{d.written(201,
		"The item has been created; its path is in `Location`. The body is omitted with `Prefer: "+
			"return=minimal`.",
		headers)}
	if d.full && d.r.Describe().Batches { // a batch has the errors of all its operations
		statuses, good = d.withGone(append(statuses, 404, 412)...), append(good, d.addBatch(op))
	}
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(statuses...)...), good...)
	return op
}

// get describes GET of an item. It sets getID, to which links of other operations refer.
func (d *described) get() *operation {
	op := d.resourceOperation("get"+d.noun, resource.OpGet, "Get "+article(d.word), "Returns one item",
		d.goneText(), d.feedText("the item"))
	d.getID = op.OperationID
	op.Parameters = append(append(d.partParameters(), d.prefer("handling=lenient")), d.readConditions()...)
	content := d.itemContent()
	d.addFeed(op, &content)
	headers := append(d.itemHeaders(), d.cursorHeader()...)
	op.Responses = d.answers(d.withCommonErrors(d.withFeedErrors(d.withGone(400, 404, 406, 412)...)...),
		d.answer(200, "The item.", append(headers, "Preference-Applied"), content), d.unchanged(headers))
	return op
}

// replace describes PUT. PUT creates the item if the client may choose ids (RFC 9110 section
// 9.3.4). The collection may lack either ability, so 200, 201 or both are listed.
func (d *described) replace() *operation {
	does := "Replaces the item. Members that are not sent get their default or are removed"
	replaces := d.r.Can(resource.OpPatch) // an item that can be patched can be replaced, and vice versa
	switch {
	case d.policy.TakesIDs && replaces:
		does += ". If the item does not exist, it is created"
	case d.policy.TakesIDs:
		does = "Creates the item. An existing item cannot be replaced"
	}
	if d.policy.TakesIDs && d.policy.Remembers && !d.policy.AllowRecreate {
		does += ". A deleted item cannot be created again (410)"
	}
	op := d.resourceOperation("replace"+d.noun, resource.OpReplace, "Replace "+article(d.word), does,
		d.conditionText(), d.keyText(d.name, false))
	// A PUT that creates an item has no entity tag to send, so If-Match is not required in the
	// schema.
	op.Parameters = append(d.writeParameters(), d.writeConditions(!d.policy.TakesIDs)...)
	op.RequestBody = d.newRequestBody(d.replaceModel, d.samples.replace)
	headers := append([]string{"Content-Location"}, d.itemHeaders()...)
	var good []entry[*response]
	if replaces {
		good = append(good, d.written(200, d.replacedText(), headers), d.empty(204,
			"The item has been replaced; the body is omitted because of `Prefer: return=minimal`.",
			d.itemHeaders()...))
	}
	if d.policy.TakesIDs {
		good = append(good, d.written(201,
			"The item has been created. The body is omitted with `Prefer: return=minimal`.",
			append([]string{"Location"}, headers...)))
	}
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withGone(400, 404, 406, 409, 412, 413, 415,
		422)...)...), good...)
	return op
}

// replacedText describes 200 for PUT. RFC 9110 section 9.3.4 allows a validator only if the content
// is stored without changes.
func (d *described) replacedText() string {
	if d.settings.AlwaysETagOnPut {
		return "The current item."
	}
	return "The current item. There is an `ETag` only if the item is stored exactly as it was sent."
}

// patch describes PATCH. The two formats differ in what null means, so the description names the
// one that can store it.
func (d *described) patch() *operation {
	op := d.resourceOperation("patch"+d.noun, resource.OpPatch, "Patch "+article(d.word),
		"Applies the whole patch or nothing. A merge patch (RFC 7396) has the members to change, and null "+
			"removes a member. To set "+
			"a member to null, use JSON Patch (RFC 6902). A patch without effect does not change the "+
			"revision",
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append(d.writeParameters(), d.writeConditions(true)...)
	about := "A patch. Patches do not name a version and have no vendor media types."
	if d.patchModel.version {
		about = "A patch. Its media type does not name a version; a merge patch may have the member " +
			"that does."
	}
	op.RequestBody = &requestBody{Required: true, Content: d.patchContent(), Description: about}
	headers := append([]string{"Content-Location"}, d.itemHeaders()...)
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withGone(400, 404, 406, 409, 412, 413, 415,
		422)...)...),
		d.written(200, "The current item.", headers),
		d.empty(204, "The item has been changed; the body is omitted because of `Prefer: return=minimal`.",
			d.itemHeaders()...))
	return op
}

// patchContent describes the media types of PATCH. Vendor media types are omitted: in rest a patch does
// not name a contract by its type.
func (d *described) patchContent() ordered[*mediaType] {
	merge := d.media(d.component(d.patchModel), d.samples.patch)
	content := ordered[*mediaType]{
		{patch.MergeType, merge},
		{patch.JSONType, d.media(d.jsonPatch(), d.samples.operations)},
	}
	if d.o.REST == nil || !d.o.REST.RequirePatchType {
		content.add(mediaJSON, merge)
	}
	for _, f := range d.patchFormats() {
		s := &schemaObject{Description: f.Description}
		if !f.JSON() {
			s.Type = typeNames{"string"}
		}
		content.add(f.MediaType, &mediaType{Schema: s, Idempotent: f.Idempotent})
	}
	return content
}

// patchFormats returns the registered formats of patches.
func (d *described) patchFormats() []patch.Format {
	if d.o.REST == nil {
		return nil
	}
	return d.o.REST.PatchFormats
}

// delete describes DELETE. It explains 204, 404 and 410, because clients must distinguish them. The
// store decides: only a Tombstoner remembers deletions.
func (d *described) delete() *operation {
	means := "204 means that the item has been deleted, and 410 that it was deleted before. "
	switch {
	case !d.remembers():
		means = "204 means that the item has been deleted. "
	case d.settings.RepeatedDelete == 204:
		means = "204 means that the item has been deleted, now or before; other methods return 410 for a " +
			"deleted item. "
	}
	means += d.absentText()
	op := d.resourceOperation("delete"+d.noun, resource.OpDelete, "Delete "+article(d.word), means,
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append([]*parameter{d.prefer("handling=lenient")}, d.writeConditions(true)...)
	op.Parameters = append(op.Parameters, d.keyParameter()...)
	statuses := d.withGone(400, 404, 409, 412)
	if d.settings.RepeatedDelete == 204 {
		// withGone has added 410, which other methods return for the deleted item.
		statuses = slices.DeleteFunc(statuses, func(status int) bool { return status == gone })
	}
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(statuses...)...),
		d.empty(204, "The item has been deleted.", "Cache-Control"))
	return op
}

// restore describes POST of the path that restores an item. 409 is an item that is not deleted, or a
// unique value that another item has now.
func (d *described) restore() *operation {
	op := d.resourceOperation("restore"+d.noun, resource.OpRestore, "Restore "+article(d.word),
		"Makes a deleted item exist again, with the value that it had. 404 means that it never existed or "+
			"is no longer kept, and 409 that it is not deleted", d.keyText(d.name, false))
	op.Parameters = d.writeParameters()
	headers := append([]string{"Content-Location"}, d.itemHeaders()...)
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(400, 404, 406, 409, 422)...),
		d.written(200, "The restored item.", headers),
		d.empty(204, "The item has been restored; the body is omitted because of `Prefer: return=minimal`.",
			d.itemHeaders()...))
	return op
}

// options describes OPTIONS of a path, which documents Allow. It needs no authentication. accepts
// are the fields that list the accepted media types. Browsers send it without credentials before a
// cross-origin request.
func (b *builder) options(id, tag, what string, accepts ...string) *operation {
	op := b.newOperation(id, tag, tag, "", "List the methods of "+what,
		"Returns the supported methods in `Allow`")
	op.Security = nil
	if len(b.doc.Security) > 0 {
		op.Security = &[]requirement{}
	}
	headers := append([]string{"Allow", "Cache-Control", "Vary"}, accepts...)
	op.Responses = b.answers(b.withVersionErrors(400, 414),
		b.answer(204, "The methods are in `Allow`.", headers,
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

// remembers reports whether a deleted item is 410, for a time at least.
func (d *described) remembers() bool { return d.policy.Remembers || d.policy.RemembersRecent }

// goneText describes 404 and 410 for a read.
func (d *described) goneText() string {
	switch {
	case d.policy.Remembers:
		return "404 means that the item never existed, and 410 that it was deleted"
	case d.policy.RemembersRecent:
		return "410 means that the item was deleted. " + d.absentText()
	}
	return ""
}

// absentText describes 404.
func (d *described) absentText() string {
	switch {
	case d.policy.Remembers:
		return "404 means that it never existed"
	case d.policy.RemembersRecent:
		return "Only recent deletions are remembered, so 404 means that it does not exist, whether or not " +
			"it was deleted before"
	}
	return "Deletions are not remembered, so 404 means that it does not exist, whether or not it was " +
		"deleted before"
}

// conditionText describes how to prevent lost updates. Without If-Match a write may overwrite a
// change that its client has not seen.
func (d *described) conditionText() string {
	if d.policy.RequireIfMatch {
		return "`If-Match` with the `ETag` of the item is required"
	}
	return "With `If-Match` the request fails if the item has changed since"
}

// withGone adds 410 if an item may have been deleted, and 428 if a precondition is required. Among
// the callers only writes list 409, and only writes can require a precondition.
func (d *described) withGone(statuses ...int) []int {
	if d.policy.Remembers || d.r.Can(resource.OpDelete) {
		statuses = append(statuses, gone)
	}
	if d.policy.RequireIfMatch && slices.Contains(statuses, 409) {
		statuses = append(statuses, 428)
	}
	return statuses
}

// newRequestBody describes the request body of POST and PUT. PATCH has its own, because its media
// types have different schemas.
func (d *described) newRequestBody(m model, example string) *requestBody {
	s := d.component(m)
	return &requestBody{Required: true, Description: d.bodySizeText(),
		Content: d.contents(append([]string{mediaJSON}, d.vendorTypes(d.settings.Media)...), s, example)}
}

// bodySizeText describes the size limit of a request body.
func (b *builder) bodySizeText() string {
	return "At most " + strconv.FormatInt(b.c.Limits().Body, 10) + " bytes."
}

// contents uses one schema and one example for several media types. The same pointers are used for
// all types, so callers must not modify a result per media type.
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
	return d.contents(append([]string{mediaJSON}, d.vendorTypes(d.settings.Media)...), d.item, d.samples.item)
}

// itemHeaders returns the header fields of every representation of an item.
func (d *described) itemHeaders() []string {
	return []string{"ETag", "Last-Modified", "Cache-Control", "Vary"}
}

// listSchema describes a page. It is not called again for the same resource: unique would define a
// second component.
func (d *described) listSchema() *schemaObject {
	name := d.names.unique(pascal(d.name) + "Page")
	items := array(d.item)
	items.Description = "The items of the page."
	s := &schemaObject{Type: typeNames{"object"}, Description: "A page of `" + d.name + "`.",
		Required: []string{"items"}, Properties: ordered[*schemaObject]{
			{"items", items},
			{"next", textOf("The value of `after` for the next page. The last page has none.")},
		}}
	if len(d.r.Describe().Query.Search) > 0 {
		s.Properties.add("highlights", highlights())
	}
	if d.counted {
		total := &schemaObject{Type: typeNames{"integer"}, Minimum: jsonOf(0),
			Description: "The number of items that match, with `Prefer: count=exact`."}
		s.Properties.add("total", total)
	}
	d.doc.Components.Schemas.add(name, s)
	if support := d.r.Describe().Query; d.full && support.CanAggregate() {
		return &schemaObject{OneOf: []*schemaObject{schemaRef(name), d.groupsSchema(&support)}}
	}
	return schemaRef(name)
}

// highlights describes the parts of texts that a search has found.
func highlights() *schemaObject {
	part := &schemaObject{Type: typeNames{"object"}, Required: []string{"text"},
		Properties: ordered[*schemaObject]{
			{"text", textOf("A part of the text, which is not escaped.")},
			{"match", &schemaObject{Type: typeNames{"boolean"},
				Description: "Whether `q` has found the part."}},
		}}
	item := &schemaObject{Type: typeNames{"object"}, AdditionalProperties: array(part),
		Description: "Each field in which `q` was found, with all parts of its text, in order."}
	s := array(item)
	s.Description = "With `highlight=true`: an element for each item of the page, in the same order."
	return s
}
