package rest

// PUT, POST and DELETE of blobs. Called by blob.go; calls blob.Collection. The content is streamed
// to the store and is never in memory as a whole.

import (
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// prepareUpload checks the header fields of an upload. The returned reader counts and hashes the
// content.
func (c *call) prepareUpload(w *writeRequest) (u *httpbody.Upload, err error) {
	if err := c.refuseBlobQuery(); err != nil {
		return nil, err
	}
	if w.media, err = c.checkUpload(); err != nil {
		return nil, err
	}
	// Digests are parsed before the body is read. The reader compares them when it reaches the end
	// of the body.
	if u, err = httpbody.NewUpload(c.r, c.route.blobs.Options().MaxSize); err != nil {
		return nil, err
	}
	w.key, err = c.parseKey()
	return u, err
}

// putBlob handles PUT of a blob. The content is stored unchanged, so the response has its
// validators (RFC 9110 section 9.3.4) and no body. With Expect: 100-continue the first read of the
// body sends 100, after all other checks (section 10.1.1).
func (c *call) putBlob(id string) error {
	var w writeRequest
	u, err := c.prepareUpload(&w)
	if err != nil {
		return err
	}
	if err := httpbody.RequireLength(c.r); err != nil { // absent content would empty the file
		return err
	}
	if w.opts.If, err = parsePreconditions(c.r.Header); err != nil {
		return err
	}
	w.opts.Key = c.useKey(w.key, id, w.media)
	blob, created, err := c.route.blobs.Put(c.r.Context(), id, w.media, u, &w.opts)
	if err != nil {
		return err
	}
	c.replayed()
	c.blobHeaders(blob, -1)
	if !created {
		return c.noContent(http.StatusNoContent)
	}
	c.w.Header()["Location"] = []string{c.href(c.route.name, id, "")}
	return c.noContent(http.StatusCreated)
}

// postBlob handles POST on the collection: a PUT with an id that the server chooses.
func (c *call) postBlob() error {
	var w writeRequest
	u, err := c.prepareUpload(&w)
	if err != nil {
		return err
	}
	// Preconditions are ignored: the target is the collection, which has no entity tag.
	w.opts.Key = c.useKey(w.key, "", w.media)
	blob, err := c.route.blobs.Create(c.r.Context(), w.media, u, &w.opts)
	if err != nil {
		return err
	}
	c.replayed()
	c.blobHeaders(blob, -1)
	c.w.Header()["Location"] = []string{c.href(c.route.name, blob.ID, "")}
	return c.noContent(http.StatusCreated)
}

// deleteBlob serves DELETE of a file.
func (c *call) deleteBlob(id string) error {
	if err := c.refuseBlobQuery(); err != nil {
		return err
	}
	var w writeRequest
	var err error
	if w.key, err = c.parseKey(); err != nil {
		return err
	}
	if w.opts.If, err = parsePreconditions(c.r.Header); err != nil {
		return err
	}
	w.opts.Key = c.useKey(w.key, id, w.media)
	if err := c.route.blobs.Delete(c.r.Context(), id, &w.opts); err != nil {
		return err
	}
	c.replayed()
	h := c.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, c.route.varyItem)
	return c.noContent(http.StatusNoContent)
}

// checkUpload checks the header fields of an upload before the body is read: media type, content
// coding and length.
func (c *call) checkUpload() (mediaType string, err error) {
	b := c.route.blobs
	// A store replaces whole blobs only. To ignore the field would store a part as the whole, so a
	// server should respond with 400 (RFC 9110 section 14.5).
	if len(c.r.Header["Content-Range"]) > 0 {
		return "", contentRangeError()
	}
	mediaType, ok := b.DeclaredType(c.r.Header["Content-Type"])
	if !ok {
		use := "a media type such as image/png"
		if types := b.Options().MediaTypes; types != nil {
			use = strings.Join(types, " or ")
		}
		return "", httpbody.UnsupportedType(c.r, unsupportedType(c.r, use), acceptedTypes(b))
	}
	// The stored bytes are sent without Content-Encoding later, so they must not be encoded now.
	return mediaType, httpbody.CheckIdentity(c.r, b.Options().MaxSize)
}
