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
func (x *call) prepareUpload(w *writeRequest) (u *httpbody.Upload, err error) {
	if err := x.refuseBlobQuery(); err != nil {
		return nil, err
	}
	if w.media, err = x.checkUpload(); err != nil {
		return nil, err
	}
	// Digests are parsed before the body is read. The reader compares them when it reaches the end
	// of the body.
	if u, err = httpbody.NewUpload(x.r, x.route.blobs.Options().MaxSize); err != nil {
		return nil, err
	}
	w.key, err = x.parseKey()
	return u, err
}

// putBlob handles PUT of a blob. The content is stored unchanged, so the response has its
// validators (RFC 9110 section 9.3.4) and no body. With Expect: 100-continue the first read of the
// body sends 100, after all other checks (section 10.1.1).
func (x *call) putBlob(id string) error {
	var w writeRequest
	u, err := x.prepareUpload(&w)
	if err != nil {
		return err
	}
	if err := httpbody.RequireLength(x.r); err != nil { // absent content would empty the file
		return err
	}
	if w.opts.If, err = parsePreconditions(x.r.Header); err != nil {
		return err
	}
	w.opts.Key = x.useKey(w.key, id, w.media)
	blob, created, err := x.route.blobs.Put(x.r.Context(), id, w.media, u, &w.opts)
	if err != nil {
		return err
	}
	x.replayed()
	x.blobHeaders(blob, -1)
	if !created {
		return x.noContent(http.StatusNoContent)
	}
	x.w.Header()["Location"] = []string{x.href(x.route.name, id, "")}
	return x.noContent(http.StatusCreated)
}

// postBlob handles POST on the collection: a PUT with an id that the server chooses.
func (x *call) postBlob() error {
	var w writeRequest
	u, err := x.prepareUpload(&w)
	if err != nil {
		return err
	}
	// Preconditions are ignored: the target is the collection, which has no entity tag.
	w.opts.Key = x.useKey(w.key, "", w.media)
	blob, err := x.route.blobs.Create(x.r.Context(), w.media, u, &w.opts)
	if err != nil {
		return err
	}
	x.replayed()
	x.blobHeaders(blob, -1)
	x.w.Header()["Location"] = []string{x.href(x.route.name, blob.ID, "")}
	return x.noContent(http.StatusCreated)
}

// deleteBlob serves DELETE of a file.
func (x *call) deleteBlob(id string) error {
	if err := x.refuseBlobQuery(); err != nil {
		return err
	}
	var w writeRequest
	var err error
	if w.key, err = x.parseKey(); err != nil {
		return err
	}
	if w.opts.If, err = parsePreconditions(x.r.Header); err != nil {
		return err
	}
	w.opts.Key = x.useKey(w.key, id, w.media)
	if err := x.route.blobs.Delete(x.r.Context(), id, &w.opts); err != nil {
		return err
	}
	x.replayed()
	h := x.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, x.route.varyItem)
	return x.noContent(http.StatusNoContent)
}

// checkUpload checks the header fields of an upload before the body is read: media type, content
// coding and length.
func (x *call) checkUpload() (mediaType string, err error) {
	b := x.route.blobs
	// A store replaces whole blobs only. To ignore the field would store a part as the whole, so a
	// server should respond with 400 (RFC 9110 section 14.5).
	if len(x.r.Header["Content-Range"]) > 0 {
		return "", contentRangeError()
	}
	mediaType, ok := b.DeclaredType(x.r.Header["Content-Type"])
	if !ok {
		use := "a media type such as image/png"
		if types := b.Options().MediaTypes; types != nil {
			use = strings.Join(types, " or ")
		}
		return "", httpbody.UnsupportedType(x.r, unsupportedType(x.r, use), acceptedTypes(b))
	}
	// The stored bytes are sent without Content-Encoding later, so they must not be encoded now.
	return mediaType, httpbody.CheckIdentity(x.r, b.Options().MaxSize)
}
