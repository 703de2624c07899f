package rest

// GET and HEAD of a blob, with ranges (RFC 9110 section 14) and preconditions. Called by blob.go.
// It calls Collection.Open and copies the content to the connection without a buffer of its own.

import (
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

var (
	byteRanges = []string{"bytes"}
	// sandboxed prevents a stored HTML page from running scripts, submitting forms and loading
	// resources with the origin of the API. An SVG image has its own styles.
	sandboxed = []string{"default-src 'none'; media-src 'self'; style-src 'unsafe-inline'; sandbox"}
	// played is sandboxed for audio and video. A browser plays them in a page of its own that requests the
	// content again, which Chromium blocks for an opaque origin. Scripts stay disabled.
	played = []string{sandboxed[0] + " allow-same-origin"}
)

// getBlob handles GET and HEAD. The blob is opened before Accept is evaluated, because its media
// type is stored with it. So a missing blob is 404 whatever the client accepts.
func (c *call) getBlob(id string) error {
	if err := c.refuseBlobQuery(); err != nil {
		return err
	}
	b := c.route.blobs
	blob, err := b.Open(c.r.Context(), id)
	if err != nil {
		return err
	}
	defer blob.Content.Close()
	// RFC 9110 section 8.3 lets a recipient assume this type. To send it prevents a browser from
	// guessing another one.
	if blob.MediaType == "" {
		blob.MediaType = "application/octet-stream"
	}
	if err := c.acceptableBlob(blob); err != nil {
		return err
	}
	// Preconditions apply only to a request that would succeed without them (RFC 9110 section
	// 13.2.1), so they follow Accept.
	unchanged, err := c.conditions(blob)
	switch {
	case err != nil:
		return err
	case unchanged:
		c.blobHeaders(blob, -1)
		// A 304 with an entity tag needs no date (RFC 9110 section 15.4.5).
		c.w.Header().Del("Last-Modified")
		return c.noContent(http.StatusNotModified)
	}
	return c.sendBlob(blob)
}

// acceptableBlob returns 406 if the client accepts neither the media type nor the identity coding
// (RFC 9110 section 15.5.7).
func (c *call) acceptableBlob(blob *blob.Blob) error {
	if _, ok := header.Accept(c.r.Header["Accept"], []string{blob.MediaType}); !ok {
		return acceptError([]string{blob.MediaType})
	}
	if blob.ContentEncoding != "" { // the only representation, so it is not negotiated (section 12.1)
		return nil
	}
	// The content is never compressed: ranges, the size and the digest refer to the stored bytes,
	// and most large files are compressed already.
	if lines := c.r.Header["Accept-Encoding"]; lines != nil && !header.AcceptEncoding(lines).Identity {
		return problem.New(problem.NotAcceptable,
			"Accept-Encoding must allow identity, because the content is not compressed.")
	}
	return nil
}

// conditions evaluates the preconditions of a read in the order of RFC 9110 section 13.2.2.
// If-Range is evaluated by sendBlob.
func (c *call) conditions(blob *blob.Blob) (unchanged bool, err error) {
	cond, err := parsePreconditions(c.r.Header)
	if err != nil {
		return false, err
	}
	if err := c.route.blobs.CheckRead(blob, &cond); err != nil {
		return false, err
	}
	// If-None-Match replaces If-Modified-Since, also if no tag matches (RFC 9110 section 13.1.3).
	if none := cond.IfNoneMatch; none.Any || none.List != nil {
		tag := blob.ETag()
		return none.Weak(tag[1 : len(tag)-1]), nil
	}
	return unchangedSince(&cond, blob.Modified), nil
}

// sendBlob sends the content, or the requested range of it. Range applies to GET only (RFC 9110
// section 14.2).
func (c *call) sendBlob(blob *blob.Blob) error {
	// A blob in several ranges would need multipart/byteranges. A server may ignore such a Range
	// field (RFC 9110 section 14.2), so the client gets the whole content.
	span, status := header.Span{Length: blob.Size}, http.StatusOK
	// A range of no bytes cannot be satisfied. Some clients request one of each file, so it is ignored.
	if lines := c.r.Header["Range"]; lines != nil && c.r.Method == http.MethodGet && blob.Size > 0 &&
		header.IfRange(c.r.Header["If-Range"], blob.ETag(), blob.Modified, time.Now()) {
		part, ok, err := header.Range(lines, blob.Size)
		if err != nil {
			d := problem.New(problem.RangeNotSatisfiable,
				"The range is outside the content, which has "+strconv.FormatInt(blob.Size, 10)+" bytes.")
			d.Header = http.Header{"Content-Range": {"bytes */" + strconv.FormatInt(blob.Size, 10)},
				"Accept-Ranges": byteRanges}
			return d
		}
		if ok {
			span, status = part, http.StatusPartialContent
		}
	}
	h := c.w.Header()
	if status == http.StatusPartialContent {
		last := span.Start + span.Length - 1
		h["Content-Range"] = []string{
			"bytes " + strconv.FormatInt(span.Start, 10) + "-" + strconv.FormatInt(last, 10) + "/" +
				strconv.FormatInt(blob.Size, 10)}
	}
	// Seek precedes the header, so that its error can still become a status code.
	if c.r.Method == http.MethodGet && span.Start > 0 {
		if _, err := blob.Content.Seek(span.Start, io.SeekStart); err != nil {
			return &resource.Error{Op: resource.OpGet, Resource: c.route.name, ID: blob.ID, Err: err}
		}
	}
	c.blobHeaders(blob, span.Length)
	h["Accept-Ranges"] = byteRanges
	h["Content-Type"] = []string{blob.MediaType}
	if blob.ContentEncoding != "" {
		h["Content-Encoding"] = []string{blob.ContentEncoding}
	}
	// Uploads are not trusted. With nosniff, this keeps a page that a user has uploaded from acting
	// as the site that serves it.
	h["Content-Security-Policy"] = sandboxed
	switch family, _, _ := strings.Cut(blob.MediaType, "/"); strings.ToLower(family) {
	case "audio", "video":
		h["Content-Security-Policy"] = played
	}
	// The digest is that of the whole representation, also in a 206 (RFC 9530 section 3).
	if blob.SHA256 != nil {
		h["Repr-Digest"] = []string{
			string(header.AppendDigest(nil, header.Digest{Algorithm: "sha-256", Sum: blob.SHA256}))}
	}
	// From here on an error can only abort the connection, and the client detects it by
	// Content-Length.
	c.started = true
	c.w.WriteHeader(status)
	if c.r.Method == http.MethodHead {
		return nil
	}
	return c.stream(blob.Content, span.Length)
}

// blobHeaders sets the header fields that all responses about a blob share. length is negative if
// there is no body.
func (c *call) blobHeaders(blob *blob.Blob, length int64) {
	h := c.w.Header()
	header.AddVary(h, c.route.varyItem)
	h["Cache-Control"] = c.route.cache
	h["Etag"] = []string{blob.ETag()}
	h["X-Content-Type-Options"] = nosniff
	if date := appendDate(nil, blob.Modified); !blob.Modified.IsZero() && len(date) > 0 {
		h["Last-Modified"] = []string{string(date)}
	}
	if length >= 0 {
		h["Content-Length"] = []string{strconv.FormatInt(length, 10)}
	}
}

// stream sends the next n bytes. An error aborts the connection, so that the client does not treat
// a partial body as complete. It passes the reader on without a wrapper, so that net/http can use
// sendfile.
func (c *call) stream(from io.Reader, n int64) error {
	if n == 0 {
		return nil
	}
	_, err := io.CopyN(c.w, from, n)
	// The client has disconnected. There is nothing to log.
	if errors.As(err, new(*net.OpError)) {
		panic(http.ErrAbortHandler)
	}
	return err
}
