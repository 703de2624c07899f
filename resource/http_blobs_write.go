package resource

import (
	"net/http"

	"github.com/stoa-go/stoa/resource/header"
)

// received is a PUT or POST of bytes as far as its header says.
func (x *exchange) received() (mediaType string, u *upload, err error) {
	if err := x.noParams(); err != nil {
		return "", nil, err
	}
	if mediaType, err = x.declared(); err != nil {
		return "", nil, err
	}
	u, err = x.newUpload(x.route.blobs.Options().MaxSize)
	return mediaType, u, err
}

// putBlob answers PUT. What is stored is what was sent, octet by octet, so the answer has the validators of it (RFC 9110
// section 9.3.4) and no content. With Expect: 100-continue the client is asked for the content by the first read of it, and
// that is when nothing else stands against it (section 10.1.1).
func (x *exchange) putBlob(id string) error {
	mediaType, u, err := x.received()
	if err != nil {
		return err
	}
	cond, err := ParsePreconditions(x.r.Header)
	if err != nil {
		return err
	}
	b := x.route.blobs
	blob, out, err := b.put(x.r.Context(), id, mediaType, &cond, u)
	if err != nil {
		return b.fault(OpReplace, id, err)
	}
	x.blobHeaders(blob, -1)
	if out != Created {
		return x.noContent(http.StatusNoContent)
	}
	x.w.Header()["Location"] = []string{x.href(b.name, id, "")}
	return x.noContent(http.StatusCreated)
}

// postBlob answers POST on the path of the whole: the same under an id that is ours to choose.
func (x *exchange) postBlob() error {
	mediaType, u, err := x.received()
	if err != nil {
		return err
	}
	b := x.route.blobs
	blob, err := b.add(x.r.Context(), mediaType, u)
	if err != nil {
		return b.fault(OpCreate, "", err)
	}
	x.blobHeaders(blob, -1)
	x.w.Header()["Location"] = []string{x.href(b.name, blob.ID, "")}
	return x.noContent(http.StatusCreated)
}

// deleteBlob answers DELETE.
func (x *exchange) deleteBlob(id string) error {
	if err := x.noParams(); err != nil {
		return err
	}
	cond, err := ParsePreconditions(x.r.Header)
	if err != nil {
		return err
	}
	b := x.route.blobs
	if err := b.delete(x.r.Context(), id, &cond); err != nil {
		return b.fault(OpDelete, id, err)
	}
	h := x.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, x.route.varyItem)
	return x.noContent(http.StatusNoContent)
}
