package rest

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

var (
	byteRanges = []string{"bytes"}
	// sandboxed keeps a stored page from running scripts, sending forms and loading anything as part of this site.
	sandboxed = []string{"default-src 'none'; sandbox"}
)

// getBlob answers GET and HEAD.
func (x *call) getBlob(id string) error {
	if err := x.refuseBlobQuery(); err != nil {
		return err
	}
	b := x.route.blobs
	blob, err := b.Open(x.r.Context(), id)
	if err != nil {
		return err
	}
	defer blob.Content.Close()
	if blob.MediaType == "" {
		blob.MediaType = "application/octet-stream"
	}
	if err := x.acceptableBlob(blob.MediaType); err != nil {
		return err
	}
	unchanged, err := x.conditions(blob)
	switch {
	case err != nil:
		return err
	case unchanged:
		x.blobHeaders(blob, -1)
		x.w.Header().Del("Last-Modified") // the tag says more (RFC 9110 section 15.4.5)
		return x.noContent(http.StatusNotModified)
	}
	return x.sendBlob(blob)
}

// takes refuses a client that takes neither this type nor bytes as they are, RFC 9110 section 15.5.7.
func (x *call) acceptableBlob(mediaType string) error {
	if _, ok := header.Accept(x.r.Header["Accept"], []string{mediaType}); !ok {
		d := problem.New(problem.NotAcceptable, "This is served as "+mediaType+".")
		d.Extensions = map[string]any{"available": []string{mediaType}}
		return d
	}
	if lines := x.r.Header["Accept-Encoding"]; lines != nil && !header.AcceptEncoding(lines).Identity {
		return problem.New(
			problem.NotAcceptable,
			"Content is sent as it is, and this request does not take that.",
		)
	}
	return nil
}

// conditions judges all preconditions of a reader but If-Range, in the order of RFC 9110 section 13.2.2.
func (x *call) conditions(blob *blob.Blob) (unchanged bool, err error) {
	cond, err := parsePreconditions(x.r.Header)
	if err != nil {
		return false, err
	}
	if err := x.route.blobs.CheckRead(blob, &cond); err != nil {
		return false, err
	}
	if none := cond.IfNoneMatch; none.Any || none.List != nil {
		tag := blob.ETag()
		return none.Weak(tag[1 : len(tag)-1]), nil
	}
	return unchangedSince(&cond, blob.Modified), nil
}

// sendBlob answers with the content or the part of it that is asked for. Range is for GET alone (RFC 9110 section 14.2).
func (x *call) sendBlob(blob *blob.Blob) error {
	span, status := header.Span{Length: blob.Size}, http.StatusOK
	if lines := x.r.Header["Range"]; lines != nil && x.r.Method == http.MethodGet &&
		header.IfRange(x.r.Header["If-Range"], blob.ETag(), blob.Modified, time.Now()) {
		part, ok, err := header.Range(lines, blob.Size)
		if err != nil {
			d := problem.New(problem.RangeNotSatisfiable, "There are no bytes in this range.")
			d.Header = http.Header{
				"Content-Range": {"bytes */" + strconv.FormatInt(blob.Size, 10)},
				"Accept-Ranges": byteRanges,
			}
			return d
		}
		if ok {
			span, status = part, http.StatusPartialContent
		}
	}
	h := x.w.Header()
	if status == http.StatusPartialContent {
		last := span.Start + span.Length - 1
		h["Content-Range"] = []string{
			"bytes " + strconv.FormatInt(span.Start, 10) + "-" + strconv.FormatInt(last, 10) + "/" +
				strconv.FormatInt(blob.Size, 10),
		}
	}
	if x.r.Method == http.MethodGet && span.Start > 0 {
		if _, err := blob.Content.Seek(span.Start, io.SeekStart); err != nil {
			return &resource.Error{Op: resource.OpGet, Resource: x.route.name, ID: blob.ID, Err: err}
		}
	}
	x.blobHeaders(blob, span.Length)
	h["Accept-Ranges"] = byteRanges
	h["Content-Type"] = []string{blob.MediaType}
	h["Content-Security-Policy"] = sandboxed
	if blob.SHA256 != nil { // of the whole, also where a part is sent: RFC 9530 section 3
		h["Repr-Digest"] = []string{
			string(header.AppendDigest(nil, header.Digest{Algorithm: "sha-256", Sum: blob.SHA256})),
		}
	}
	x.started = true
	x.w.WriteHeader(status)
	if x.r.Method == http.MethodHead {
		return nil
	}
	return x.stream(blob.Content, span.Length)
}

// blobHeaders sets what all answers about a blob share. length is negative for none.
func (x *call) blobHeaders(blob *blob.Blob, length int64) {
	h := x.w.Header()
	header.AddVary(h, x.route.varyItem)
	h["Cache-Control"] = x.route.cache
	h["Etag"] = []string{blob.ETag()}
	h["X-Content-Type-Options"] = nosniff
	if !blob.Modified.IsZero() {
		h["Last-Modified"] = []string{string(appendDate(nil, blob.Modified))}
	}
	if length >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
}

// stream sends the next n bytes. Whatever happens now, the client must not take it for the whole: an error aborts the
// connection. The reader is handed on as it is, so that net/http can leave a file to the kernel.
func (x *call) stream(from io.Reader, n int64) error {
	if n == 0 {
		return nil
	}
	_, err := io.CopyN(x.w, from, n)
	if errors.As(
		err,
		new(*net.OpError),
	) { // of the connection: there is nobody to tell, and nothing to look into
		panic(http.ErrAbortHandler)
	}
	return err
}
