package resource

import (
	"net/http"

	"github.com/stoa-go/stoa/resource/header"
)

// received is a PUT or POST of bytes as far as its header says.
func (x *call) received(w *writeRequest) (u *upload, err error) {
	if err := x.noParams(); err != nil {
		return nil, err
	}
	if w.media, err = x.declared(); err != nil {
		return nil, err
	}
	if u, err = x.newUpload(x.route.blobs.Options().MaxSize); err != nil {
		return nil, err
	}
	w.key, err = x.key()
	return u, err
}

// putBlob answers PUT. What is stored is what was sent, octet by octet, so the answer has the validators of it (RFC 9110
// section 9.3.4) and no content. With Expect: 100-continue the client is asked for the content by the first read of it, and
// that is when nothing else stands against it (section 10.1.1).
func (x *call) putBlob(id string) error {
	var w writeRequest
	u, err := x.received(&w)
	if err != nil {
		return err
	}
	cond, err := ParsePreconditions(x.r.Header)
	if err != nil {
		return err
	}
	b := x.route.blobs
	var blob *Blob
	var out Outcome
	if w.key == "" {
		blob, out, err = b.put(x.r.Context(), id, w.media, &cond, u)
	} else {
		blob, out, err = x.uploadOnce(&w, id, u, &cond)
	}
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
func (x *call) postBlob() error {
	var w writeRequest
	u, err := x.received(&w)
	if err != nil {
		return err
	}
	b := x.route.blobs
	var blob *Blob
	if w.key == "" {
		blob, err = b.add(x.r.Context(), w.media, u)
	} else {
		blob, _, err = x.uploadOnce(&w, "", u, nil)
	}
	if err != nil {
		return b.fault(OpCreate, "", err)
	}
	x.blobHeaders(blob, -1)
	x.w.Header()["Location"] = []string{x.href(b.name, blob.ID, "")}
	return x.noContent(http.StatusCreated)
}

// deleteBlob answers DELETE.
func (x *call) deleteBlob(id string) error {
	if err := x.noParams(); err != nil {
		return err
	}
	var w writeRequest
	var err error
	if w.key, err = x.key(); err != nil {
		return err
	}
	cond, err := ParsePreconditions(x.r.Header)
	if err != nil {
		return err
	}
	b := x.route.blobs
	if w.key == "" {
		err = b.delete(x.r.Context(), id, &cond)
	} else {
		err = x.deleteBlobOnce(&w, id, &cond)
	}
	if err != nil {
		return b.fault(OpDelete, id, err)
	}
	h := x.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, x.route.varyItem)
	return x.noContent(http.StatusNoContent)
}
