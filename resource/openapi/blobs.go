package openapi

// The operations of blob collections. document.go calls blobs for each of them.

import (
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// describedBlobs is what the document needs of a [blob.Collection]. It shadows the methods of
// builder that depend on a policy: withCommonErrors, withGone and headers.
type describedBlobs struct {
	*builder
	name, noun string // of the collection, and of one blob in operation ids
	opts       blob.Options
}

// blobs describes the paths of a blob collection. A collection that is read-only has only GET and
// OPTIONS. The collection path has GET if the blobs are listed.
func (b *builder) blobs(p *blob.Collection) {
	d := &describedBlobs{builder: b, name: p.Name(), noun: b.nouns.unique(pascal(p.Name()) + "Item"),
		opts: p.Options()}
	b.addTag(d.name, "The files at /"+d.name+".")

	all := &pathItem{Parameters: b.versionParameters()}
	one := &pathItem{Parameters: append([]*parameter{d.idParameter()}, b.versionParameters()...),
		Get: d.get()}
	if items := p.Items(); items != nil {
		list := b.describeResource(items)
		if all.Get = list.list(); b.queries {
			all.Query = list.query(all.Get)
		}
	}
	if !d.opts.ReadOnly {
		all.Post, one.Put, one.Delete = d.post(), d.put(), d.delete()
	}
	all.Options = b.options("options"+pascal(d.name), d.name, "the collection "+d.name,
		append(accept("Accept-Post", all.Post), accept("Accept-Query", all.Get)...)...)
	one.Options = b.options("options"+d.noun, d.name, "a file", "Accept-Ranges")
	b.addProblem(one.Options, 404) // invalid names
	b.doc.Paths.add("/"+d.name, all)
	b.doc.Paths.add("/"+d.name+"/{id}", one)
}

// idParameter describes the id in the path. MaxLength counts characters and the limit bytes, so it
// rejects no valid name but accepts some that are too long.
func (d *describedBlobs) idParameter() *parameter {
	one, maxLen := 1, 255 // bytes, not characters
	return &parameter{Name: "id", In: "path", Required: true,
		Description: "The name, percent-encoded as one path segment. `.` and `..` are not valid.",
		Example:     quote("photo.jpg"), Schema: &schemaObject{Type: typeNames{"string"}, MinLength: &one,
			MaxLength: &maxLen,
			Pattern:   `^[^/\x00-\x1f\x7f-\x9f]+$`}}
}

// blobOperation returns an operation without parameters and responses.
func (d *describedBlobs) blobOperation(verb string, op resource.Op, summary string,
	description ...string) *operation {
	return d.newOperation(verb+d.noun, d.name, d.name, op, summary, description...)
}

// get describes GET, with 206 for ranges.
func (d *describedBlobs) get() *operation {
	op := d.blobOperation("get", resource.OpGet, "Get a file",
		"Returns the content as it was stored, with its declared media type",
		"With a single `Range` it returns that part. A request for several ranges returns the whole content",
		"The content is not compressed, and a Content-Security-Policy keeps browsers from executing it")
	op.Parameters = append(append(d.readConditions(), d.prefer("handling=lenient")),
		d.share("Range", &parameter{Name: "Range", In: "header", Schema: text(),
			Example: quote("bytes=0-1023"),
			Description: "The requested part: `bytes=0-1023`, `bytes=1024-` or, for the last 512 bytes, " +
				"`bytes=-512`. " +
				"Other values are ignored."}),
		d.share("IfRange", &parameter{Name: "If-Range", In: "header", Schema: text(), Example: quote(`"5"`),
			Description: "The `ETag` or `Last-Modified` of the parts received so far. If it has changed, " +
				"the whole content is returned."}))
	headers := append(d.headers(), "Vary", "Preference-Applied")
	// 304 lacks the fields that describe the content, because it has none.
	whole := append(headers, "Accept-Ranges", "Content-Security-Policy", "Repr-Digest")
	op.Responses = d.answers(d.withCommonErrors(d.withGone(400, 404, 406, 412, 416)...),
		d.answer(200, "The whole content.", whole, d.content()),
		d.answer(206, "The requested part.", append(whole, "Content-Range"), d.content()),
		d.answer(304, "The client has the current representation.", headers, nil))
	return op
}

// put describes PUT. It has 201 and 204 but never 200: the response does not repeat the content.
func (d *describedBlobs) put() *operation {
	op := d.blobOperation("replace", resource.OpReplace, "Store a file",
		"Stores the request body under this name and replaces an existing file. Readers see either the old "+
			"or the new content",
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append(d.uploadParameters(), d.conditions()...)
	op.RequestBody = d.body()
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withRequired(d.withGone(400, 404, 411, 412,
		413, 415, 507)...)...)...),
		d.empty(201, "The file has been created.", append([]string{"Location"}, d.headers()...)...),
		d.empty(204, "The file has been replaced.", d.headers()...))
	return op
}

// post describes POST. It has no preconditions, because the name does not exist before.
func (d *describedBlobs) post() *operation {
	op := d.blobOperation("create", resource.OpCreate, "Create a file",
		"Stores the request body under a name that the server chooses",
		"With `multipart/form-data` it stores each file of the form, and returns the member `items` with "+
			"the metadata of each", d.keyText(d.name, true))
	op.Parameters = d.uploadParameters()
	op.RequestBody = d.body()
	if d.opts.MediaTypes != nil { // otherwise the types include that of a form
		op.RequestBody.Content.add("multipart/form-data", d.media(nil, ""))
	}
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(400, 406, 413, 415, 507)...),
		d.empty(201, "The file has been created; its path is in `Location`.",
			append([]string{"Location"}, d.headers()...)...))
	return op
}

// delete describes DELETE. Whether the store remembers deletions is unknown here.
func (d *describedBlobs) delete() *operation {
	op := d.blobOperation("delete", resource.OpDelete, "Delete a file",
		"204 means that the file has been deleted, and 410 that it was deleted before. If only recent "+
			"deletions are remembered, 404 means that it does not exist, "+
			"whether or not it was deleted before",
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append(append(d.conditions(), d.prefer("handling=lenient")), d.keyParameter()...)
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withRequired(d.withGone(400, 404,
		412)...)...)...),
		d.empty(204, "The file has been deleted.", "Cache-Control"))
	return op
}

// withCommonErrors adds the errors of every operation.
func (d *describedBlobs) withCommonErrors(statuses ...int) []int {
	return d.withErrors(d.opts.Authorize == nil, statuses...)
}

// withGone adds 410, which a store that remembers deletions returns. A collection that is read-only
// cannot have deleted blobs.
func (d *describedBlobs) withGone(statuses ...int) []int {
	if d.opts.ReadOnly {
		return statuses
	}
	return append(statuses, gone)
}

// withRequired adds 428 if a precondition is required.
func (d *describedBlobs) withRequired(statuses ...int) []int {
	if d.opts.RequireIfMatch {
		return append(statuses, 428)
	}
	return statuses
}

// conditionText describes how to prevent lost updates.
func (d *describedBlobs) conditionText() string {
	if d.opts.RequireIfMatch {
		return "To change an existing file, `If-Match` with its `ETag` is required"
	}
	return "With `If-Match` the request fails if the file has changed since"
}

// conditions returns the preconditions of PUT and DELETE. If-Match is never marked as required,
// because new blobs need none.
func (d *describedBlobs) conditions() []*parameter {
	return []*parameter{d.precondition("If-Match"), d.precondition("If-None-Match"),
		d.precondition("If-Unmodified-Since")}
}

// uploadParameters returns the parameters of PUT and POST. OpenAPI describes the media type with
// the content.
func (d *describedBlobs) uploadParameters() []*parameter {
	digest := func(name, of string) *parameter {
		return d.share(pascal(name), &parameter{Name: name, In: "header", Schema: text(),
			Example: quote("sha-256=:uU0nuZNNPgilLlLX2n2r+sSE7+N6U4DukIj3rOLvzek=:"),
			Description: "The hash of " + of +
				" (RFC 9530), by sha-256 or sha-512. If it does not match, nothing is stored."})
	}
	return append([]*parameter{digest("Repr-Digest", "the file"),
		digest("Content-Digest", "the request body"),
		d.prefer("handling=lenient")}, d.keyParameter()...)
}

// body describes the request body. OpenAPI has no schema for binary content. An absent schema means
// raw bytes in OpenAPI 3.1; the format binary of OpenAPI 3.0 has no meaning in JSON Schema 2020-12.
func (d *describedBlobs) body() *requestBody {
	types := d.opts.MediaTypes
	if len(types) == 0 {
		types = []string{"*/*"}
	}
	return &requestBody{Required: true, Content: d.contents(types, nil, ""),
		Description: "The content, at most " + strconv.FormatInt(d.opts.MaxSize, 10) +
			" bytes. Its Content-Type is stored and returned with it; " +
			"the default is application/octet-stream."}
}

// content describes the response body: bytes of any media type.
func (d *describedBlobs) content() ordered[*mediaType] { return d.contents([]string{"*/*"}, nil, "") }

// headers returns the header fields of an existing blob. PUT has them too, because blobs are stored
// unchanged (RFC 9110 section 9.3.4).
func (d *describedBlobs) headers() []string {
	return []string{"ETag", "Last-Modified", "Cache-Control"}
}
