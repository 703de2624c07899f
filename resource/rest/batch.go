package rest

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
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
const maxResultFactor = 8

// isBatch reports whether the content claims to be a batch, where one is taken.
func (x *call) isBatch() bool {
	if !x.route.resource.Describe().Batches {
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
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := x.readContent(buf); err != nil {
		return err
	}
	w.opts.IgnoreGone = x.route.ignoreGone
	w.opts.Key = x.useKey(w.key, "", w.media)
	results, err := x.route.resource.Batch(x.r.Context(), *buf, &resource.BatchOptions{
		WriteOptions:  w.opts,
		MaxOperations: x.h.limits.Operations,
		MaxResult:     maxResultFactor * x.h.limits.Body,
		Minimal:       w.minimal,
		Report:        func(err error) { x.logError(err) },
	})
	if err != nil {
		return x.batchError(err)
	}
	x.replayed()
	return x.sendResults(&w, results)
}

// prepareBatch is prepare for a batch, which has no item, and whose answer always has content.
func (x *call) prepareBatch(w *writeRequest) error {
	w.prefer = x.prefer()
	preference, _ := w.prefer.Get("return")
	w.minimal = preference == "minimal"
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
	w.opts.MaxDepth, w.opts.MaxNames = x.h.limits.Depth, x.h.limits.Names
	if err = x.refuseQuery(w.opts.Lenient); err != nil {
		return err
	}
	w.key, err = x.parseKey()
	return err
}

// refused returns the problem of an operation that was refused. Header fields that it would have alone, such as the current
// entity tag, are about an item and not about the collection; the tag is a member of the problem instead.
func (x *call) batchError(err error) error {
	d := resource.Problem(err)
	if d.Extensions["operation"] == nil {
		return err
	}
	if href := x.existingURL(err); href != "" {
		d.Extensions["existing"] = href
	}
	if rev := currentRev(err); rev != "" {
		d.Extensions["etag"] = x.plainTag(rev, x.sel.Contract())
	}
	if d.StatusCode() == http.StatusInternalServerError {
		return errors.Join(d, err) // with what there is to log
	}
	return d
}

// sendResults answers with what has become of each operation, in their order.
func (x *call) sendResults(w *writeRequest, results []resource.BatchResult) error {
	buf := buffers.Get()
	defer buffers.Put(buf)
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
	x.applyReturn(w)
	w.selection.versionMember = x.versionMember()
	return x.sendDocument(http.StatusOK, w.withVersionMember(*buf), w.enc)
}

// appendResult appends one result. The write stands: an item that cannot be shown is left out, and the log says why.
func (x *call) appendResult(dst []byte, result *resource.BatchResult) []byte {
	status := http.StatusOK
	switch {
	case result.Created:
		status = http.StatusCreated
	case result.Op == resource.OpDelete || result.JSON == nil:
		status = http.StatusNoContent
	}
	dst = strconv.AppendInt(append(dst, `{"status":`...), int64(status), 10)
	dst = appendMember(dst, "id", result.ID)
	if result.Created {
		dst = appendMember(dst, "location", x.href(x.route.name, result.ID, ""))
	}
	if tag := x.plainTag(result.Rev, x.sel.Contract()); tag != "" && result.Op != resource.OpDelete {
		dst = appendMember(dst, "etag", tag)
	}
	if result.JSON != nil {
		dst = append(append(dst, `,"value":`...), result.JSON...)
	}
	return append(dst, '}')
}

// appendMember appends a member that is a string. What is no valid UTF-8 no JSON can say as it is.
func appendMember(dst []byte, name, value string) []byte {
	dst = append(append(append(dst, ',', '"'), name...), '"', ':')
	dst, _ = jsontext.AppendQuote(dst, value)
	return dst
}
