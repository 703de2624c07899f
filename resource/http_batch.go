package resource

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/patch"
)

// mediaBatch is a list of operations; see [Resource.Batches].
//
// Neighbours have lists like this one, but bind them to an envelope of their own: the operations of JSON:API are
// application/vnd.api+json with an extension, those of SCIM are application/scim+json (RFC 7644 section 3.7), and OData
// nests whole requests. So the type has a name of its own. The answer is plain JSON.
const (
	mediaBatch = "application/vnd.stoa.batch+json"
	batchName  = "batch" // in the media types of a vendor
)

// maxShown is how much larger the items in an answer can be than the content of a batch.
const maxShown = 8

// isBatch reports whether the content claims to be a batch, where one is taken.
func (x *call) isBatch() bool {
	if !x.route.resource.Batches() {
		return false
	}
	lines := x.r.Header["Content-Type"]
	if len(lines) != 1 || lines[0] == mediaJSON {
		return false
	}
	mt, err := header.ParseMediaType(lines[0])
	// The basic type of a vendor claims to be anything, and then it is an item.
	return err == nil && mt.Type == mediaBatch || x.sel.Content(batchName) && !x.sel.Content(x.media())
}

// batch answers POST of a batch. Each operation is judged as if it had come alone, so the status of each is in the
// answer; one that is refused takes back all others, and its refusal is the answer.
func (x *call) batch() error {
	x.batched = true
	var w writeRequest
	if err := x.prepareBatch(&w); err != nil {
		return err
	}
	buf := getBuffer()
	defer putBuffer(buf)
	if err := x.content(buf); err != nil {
		return err
	}
	show := x.valueOf
	if w.minimal {
		show = func(*Entry) []byte { return nil }
	}
	ops, err := x.readBatch(&w, *buf)
	if w.key != "" {
		return x.batchOnce(&w, ops, err, *buf, show)
	}
	if err != nil {
		return err
	}
	results, err := x.route.resource.together(x.r.Context(), ops, maxShown*x.c.opts.Limits.Body,
		func(e *Entry) (value, shown []byte) { return show(e), nil })
	if err != nil {
		return x.refused(err)
	}
	return x.sendResults(&w, results)
}

// prepareBatch is prepare for a batch, which has no item, and whose answer always has content.
func (x *call) prepareBatch(w *writeRequest) error {
	w.prefer = x.prefer()
	wish, _ := w.prefer.Get("return")
	w.minimal = wish == "minimal"
	err := x.acceptable()
	if err != nil {
		return err
	}
	if w.enc, err = x.encodings(); err != nil {
		return err
	}
	if _, err = x.checkContent(x.route.posts...); err != nil {
		return err
	}
	w.media = mediaBatch
	w.opts.Lenient = x.lenient(w.prefer)
	w.opts.MaxDepth, w.opts.MaxNames = x.c.opts.Limits.Depth, x.c.opts.Limits.Names
	if err = x.noParameters(w.opts.Lenient); err != nil {
		return err
	}
	w.key, err = x.key()
	return err
}

// readBatch reads the operations of a batch.
func (x *call) readBatch(w *writeRequest, doc []byte) ([]batchOperation, error) {
	limits := x.c.opts.Limits
	reader := batchReader{r: x.route.resource, opts: w.opts, limits: patch.Limits{Ops: limits.Operations, Depth: limits.Depth}}
	return reader.read(doc)
}

// refused says why nothing of a batch has been done. What the one operation would have had as fields of the header, such
// as the tag that is current, is about an item and not about the collection; the tag goes into the content.
func (x *call) refused(err error) error {
	var at *operationError
	if !errors.As(err, &at) {
		return err
	}
	d := at.problem(Problem(x.existing(at.err)))
	var failed *failedError
	if errors.As(at.err, &failed) && failed.current.Rev != "" {
		d.Extensions["etag"] = x.plainTag(failed.current.Rev)
	}
	if d.StatusCode() == http.StatusInternalServerError {
		return errors.Join(d, err) // with what there is to log
	}
	return d
}

// plainTag is the entity tag that GET shows to a client that wants plain JSON in this contract.
func (x *call) plainTag(rev Rev) string {
	return etag(rev, x.route.resource.projection.variants[identity], x.sel.Contract())
}

// sendResults answers with what has become of each operation, in their order.
func (x *call) sendResults(w *writeRequest, results []operationResult) error {
	buf := getBuffer()
	defer putBuffer(buf)
	b := append(*buf, `{"results":[`...)
	for i := range results {
		if i > 0 {
			b = append(b, ',')
		}
		b = x.appendResult(b, &results[i])
	}
	*buf = append(b, ']', '}')
	if w.minimal {
		x.applied("return=minimal")
	}
	x.representation(w)
	w.selection.versionMember = x.versionMember()
	return x.sendDocument(http.StatusOK, w.echoed(*buf), w.enc)
}

// appendResult appends one result. The write stands: an item that cannot be shown is left out, and the log says why.
func (x *call) appendResult(dst []byte, result *operationResult) []byte {
	e, status, value := &result.entry, result.status, result.value
	if status == http.StatusOK && value == nil {
		status = http.StatusNoContent
	}
	dst = strconv.AppendInt(append(dst, `{"status":`...), int64(status), 10)
	dst = appendMember(dst, "id", e.ID)
	if result.status == http.StatusCreated {
		dst = appendMember(dst, "location", x.href(x.route.name, e.ID, ""))
	}
	if tag := x.plainTag(e.Rev); tag != "" && result.op != OpDelete {
		dst = appendMember(dst, "etag", tag)
	}
	if value != nil {
		dst = append(append(dst, `,"value":`...), value...)
	}
	return append(dst, '}')
}

// valueOf returns an item that has been written as JSON, and nil if this contract has no words for it.
func (x *call) valueOf(e *Entry) []byte {
	shape := x.route.resource.projection
	if e.Value == nil {
		if err := shape.show(e); err != nil { // once more, for the reason
			if !errors.Is(err, ErrNotFound) {
				x.report(err)
			}
			return nil
		}
	}
	value, err := shape.typ.Append(nil, e.Value)
	if err != nil {
		x.report(err)
		return nil
	}
	return value
}

// appendMember appends a member that is a string. What is no valid UTF-8 no JSON can say as it is.
func appendMember(dst []byte, name, value string) []byte {
	dst = append(append(append(dst, ',', '"'), name...), '"', ':')
	dst, _ = jsontext.AppendQuote(dst, value)
	return dst
}
