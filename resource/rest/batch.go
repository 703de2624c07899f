package rest

// Batches: several writes in one POST on a collection, in one transaction. Called by route.go;
// calls Resource.Batch. The results are sent in the order of the operations.

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
)

// mediaBatch is the media type of a list of operations. Similar formats have other envelopes:
// JSON:API uses application/vnd.api+json with an extension, SCIM application/scim+json (RFC 7644
// section 3.7), and OData nests whole requests. The response is plain JSON.
const (
	mediaBatch = "application/vnd.stoa.batch+json"
	batchName  = "batch" // name in vendor media types
)

// maxResultFactor limits the size of the items in a response, as a multiple of the size limit of a
// body.
const maxResultFactor = 8

// isBatch reports whether the Content-Type is that of a batch and the resource supports batches.
func (c *call) isBatch() bool {
	if !c.route.resource.Describe().Batches {
		return false
	}
	lines := c.r.Header["Content-Type"]
	// An absent or repeated Content-Type is not that of a batch. post rejects it.
	if len(lines) != 1 || lines[0] == mediaJSON {
		return false
	}
	mt, err := header.ParseMediaType(lines[0])
	// The vendor type without a name matches every representation. It means an item.
	return err == nil && mt.Type == mediaBatch || c.sel.Content(batchName) && !c.sel.Content(c.media())
}

// batch handles POST of a batch. Each operation has the status that it would have alone. If one
// fails, all are rolled back and its error is the response.
func (c *call) batch() error {
	// The flag is set before Accept is evaluated: it selects the vendor type of the response.
	c.batched = true
	var w writeRequest
	if err := c.prepareBatch(&w); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := c.readContent(buf); err != nil {
		return err
	}
	// Preconditions of a batch are members of its operations. The other options apply to each
	// operation, as if it were a request of its own.
	w.opts.IgnoreGone = c.route.ignoreGone
	w.opts.Key = c.useKey(w.key, "", w.media)
	results, err := c.route.resource.Batch(c.r.Context(), *buf, &resource.BatchOptions{
		WriteOptions:  w.opts,
		MaxOperations: c.h.limits.Operations,
		// The operations of a small batch can return large items. Items beyond the limit are
		// omitted, because the writes are committed and the response must not fail.
		MaxResult:    maxResultFactor * c.h.limits.Body,
		PatchFormats: c.h.opts.PatchFormats,
		Minimal:      w.minimal,
		Report:       func(err error) { c.logError(err) },
	})
	if err != nil {
		return c.batchError(err)
	}
	c.replayed()
	c.rec.AddItems(len(results))
	return c.sendResults(&w, results)
}

// prepareBatch is prepare for a batch. A batch has no item and no preconditions, and its response
// always has a body.
func (c *call) prepareBatch(w *writeRequest) error {
	w.prefer = c.prefer()
	preference, _ := w.prefer.Get("return")
	w.minimal = preference == "minimal"
	err := c.acceptable()
	if err != nil {
		return err
	}
	if w.enc, err = c.encodings(); err != nil {
		return err
	}
	if _, err = c.checkContent(c.route.posts...); err != nil {
		return err
	}
	// One media type for both spellings, the vendor type and its synonym: it is part of the
	// fingerprint of the key, and a retry may use the other one.
	w.media = mediaBatch
	w.opts.Lenient = c.lenient(w.prefer)
	w.opts.MaxDepth, w.opts.MaxNames = c.h.limits.Depth, c.h.limits.Names
	if err = c.refuseQuery(w.opts.Lenient); err != nil {
		return err
	}
	w.key, err = c.parseKey()
	return err
}

// batchError returns the problem of the operation that failed. Its header fields, such as the
// current entity tag, would be about the collection here. So the tag is a member of the problem.
func (c *call) batchError(err error) error {
	d := resource.Problem(err)
	// Without the member, the batch itself was rejected and no operation has run.
	if d.Extensions["operation"] == nil {
		return err
	}
	// The extensions were created for this error, so they can be modified.
	if href := c.existingURL(err); href != "" {
		d.Extensions["existing"] = href
	}
	if rev := currentRev(err); rev != "" {
		d.Extensions["etag"] = c.plainTag(rev, c.sel.Name())
	}
	if d.StatusCode() == http.StatusInternalServerError {
		return errors.Join(d, err) // err is for the log
	}
	return d
}

// sendResults sends the result of each operation, in their order.
func (c *call) sendResults(w *writeRequest, results []resource.BatchResult) error {
	buf := buffers.Get()
	defer buffers.Put(buf)
	b := append(*buf, `{"results":[`...)
	for i := range results {
		if i > 0 {
			b = append(b, ',')
		}
		b = c.appendResult(b, &results[i])
	}
	*buf = append(b, ']', '}')
	// The status is 200 also with return=minimal: the ids and entity tags of the results are the
	// only way to learn what the server has chosen.
	if w.minimal {
		c.applied("return=minimal")
	}
	c.applyReturn(w)
	w.selection.versionMember = c.versionMember()
	return c.sendDocument(http.StatusOK, w.withVersionMember(*buf), w.enc)
}

// appendResult appends one result. The write is committed, so an item that cannot be rendered is
// omitted; Report has logged the error.
func (c *call) appendResult(dst []byte, result *resource.BatchResult) []byte {
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
		dst = appendMember(dst, "location", c.href(c.route.name, result.ID, ""))
	}
	// The tag is that of the item as application/json, also if the batch has a vendor type: a
	// client sends it with a later request for the item.
	if tag := c.plainTag(result.Rev, c.sel.Name()); tag != "" && result.Op != resource.OpDelete {
		dst = appendMember(dst, "etag", tag)
	}
	if result.JSON != nil {
		dst = append(append(dst, `,"value":`...), result.JSON...)
	}
	return append(dst, '}')
}

// appendMember appends a member with a string value. Invalid UTF-8, which JSON cannot represent, is
// replaced.
func appendMember(dst []byte, name, value string) []byte {
	dst = append(append(append(dst, ',', '"'), name...), '"', ':')
	dst, _ = jsontext.AppendQuote(dst, value)
	return dst
}
