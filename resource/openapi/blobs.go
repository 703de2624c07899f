package openapi

import (
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// describedBlobs is what the document needs of a [blob.Collection].
type describedBlobs struct {
	*builder
	name, noun string // of the collection, and of one blob in operation ids
	opts       blob.Options
}

// blobs describes the paths of a blob collection.
func (b *builder) blobs(p *blob.Collection) {
	d := &describedBlobs{builder: b, name: p.Name(), noun: b.nouns.unique(pascal(p.Name()) + "Item"),
		opts: p.Options()}
	b.addTag(d.name, "The bytes at /"+d.name+".")

	all := &pathItem{Parameters: b.versionParameters()}
	one := &pathItem{Parameters: append([]*parameter{d.idParameter()}, b.versionParameters()...),
		Get: d.get()}
	if !d.opts.ReadOnly {
		all.Post, one.Put, one.Delete = d.post(), d.put(), d.delete()
	}
	all.Options = b.options("options"+pascal(d.name), d.name, "all of "+d.name,
		accept("Accept-Post", all.Post)...)
	one.Options = b.options("options"+d.noun, d.name, "one of "+d.name, "Accept-Ranges")
	b.addProblem(one.Options, 404) // invalid names
	b.doc.Paths.add("/"+d.name, all)
	b.doc.Paths.add("/"+d.name+"/{id}", one)
}

// idParameter describes the id in the path.
func (d *describedBlobs) idParameter() *parameter {
	one, maxLen := 1, 255 // bytes, not characters
	return &parameter{Name: "id", In: "path", Required: true,
		Description: "Its name, escaped as one segment of the path. `.` and `..` are none.",
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
	op := d.blobOperation("get", resource.OpGet, "Get one of "+d.name,
		"Returns the bytes as they were stored, with the media type that was said of them",
		"With `Range` it returns one part of them. Several parts are not served: then it is the whole",
		"They are never compressed, and no browser runs anything in them")
	op.Parameters = append(append(d.readConditions(), d.prefer("handling=lenient")),
		d.share("Range", &parameter{Name: "Range", In: "header", Schema: text(),
			Example: quote("bytes=0-1023"),
			Description: "A part: `bytes=0-1023`, `bytes=1024-` or, for the last ones, `bytes=-512`. " +
				"What is no range of bytes is ignored."}),
		d.share("IfRange", &parameter{Name: "If-Range", In: "header", Schema: text(), Example: quote(`"5"`),
			Description: "The `ETag` or `Last-Modified` that the parts so far are of. If it is another, the whole is sent."}))
	headers := append(d.headers(), "Vary", "Preference-Applied")
	whole := append(headers, "Accept-Ranges", "Content-Security-Policy", "Repr-Digest")
	op.Responses = d.answers(d.withCommonErrors(d.withGone(400, 404, 406, 412, 416)...),
		d.answer(200, "All of the bytes.", whole, d.content()),
		d.answer(206, "The part that was asked for.", append(whole, "Content-Range"), d.content()),
		d.answer(304, "The client has it already.", headers, nil))
	return op
}

// put describes PUT.
func (d *describedBlobs) put() *operation {
	op := d.blobOperation("replace", resource.OpReplace, "Store one of "+d.name,
		"Stores the content under this name, in place of what is there. Nobody sees anything of it before it is there as a whole",
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append(d.uploadParameters(), d.conditions()...)
	op.RequestBody = d.body()
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withRequired(d.withGone(400, 404, 412, 413, 415)...)...)...),
		d.empty(201, "It has been stored.", append([]string{"Location"}, d.headers()...)...),
		d.empty(204, "It has been stored, in place of what was there.", d.headers()...))
	return op
}

// post describes POST.
func (d *describedBlobs) post() *operation {
	op := d.blobOperation("create", resource.OpCreate, "Store something new in "+d.name,
		"Stores the content under a name that the server chooses", d.keyText(d.name, true))
	op.Parameters = d.uploadParameters()
	op.RequestBody = d.body()
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(400, 413, 415)...),
		d.empty(201, "It has been stored, and is at `Location`.",
			append([]string{"Location"}, d.headers()...)...))
	return op
}

// delete describes DELETE. Whether the store remembers deletions is unknown here.
func (d *describedBlobs) delete() *operation {
	op := d.blobOperation("delete", resource.OpDelete, "Delete one of "+d.name,
		"204 means that it is gone. 410 means that it was before, and 404 that it is not here, or never was",
		d.conditionText(), d.keyText(d.name, false))
	op.Parameters = append(append(d.conditions(), d.prefer("handling=lenient")), d.keyParameter()...)
	op.Responses = d.answers(d.withCommonErrors(d.withKeyErrors(d.withRequired(d.withGone(400, 404, 412)...)...)...),
		d.empty(204, "It is gone.", "Cache-Control"))
	return op
}

// withCommonErrors adds the errors of every operation.
func (d *describedBlobs) withCommonErrors(statuses ...int) []int {
	return d.withErrors(d.opts.Authorize == nil, statuses...)
}

// withGone adds 410, which a store that remembers deletions returns.
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
		return "`If-Match` is required to change what is there: it says which revision has been seen, by its `ETag`"
	}
	return "With `If-Match` it is done only if nobody else has changed it since"
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
				" (RFC 9530), by sha-256 or sha-512. If it is another nothing is stored."})
	}
	return append([]*parameter{digest("Repr-Digest", "the bytes"), digest("Content-Digest", "the content"),
		d.prefer("handling=lenient")}, d.keyParameter()...)
}

// body describes the request body. OpenAPI has no schema for binary content.
func (d *describedBlobs) body() *requestBody {
	types := d.opts.MediaTypes
	if len(types) == 0 {
		types = []string{"*/*"}
	}
	return &requestBody{Required: true, Content: d.contents(types, nil, ""),
		Description: "The bytes, " + strconv.FormatInt(d.opts.MaxSize, 10) +
			" of them at most. What is said of their type is said " +
			"again to whoever gets them; without a word it is application/octet-stream."}
}

// content describes the response body: bytes of any media type.
func (d *describedBlobs) content() ordered[*mediaType] { return d.contents([]string{"*/*"}, nil, "") }

// headers returns the header fields of an existing blob. PUT has them too, because blobs are stored
// unchanged (RFC 9110 section 9.3.4).
func (d *describedBlobs) headers() []string {
	return []string{"ETag", "Last-Modified", "Cache-Control"}
}
