package resource

// Writing blobs: the id, policy and preconditions, and the store's compare-and-swap, as write.go has them for items. Called by
// protocols. It calls write_retry.go, precondition.go and idempotency.go.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/retry"
)

// Open returns a blob that the caller may see, with its Content, which the caller closes. The error is [ErrNotFound] or
// [ErrGone].
func (b *Blobs) Open(ctx context.Context, id string) (*Blob, error) {
	blob, err := b.open(ctx, id)
	if err != nil {
		return nil, b.wrap(OpGet, id, err)
	}
	return blob, nil
}

// Put stores content under an id. What is wrong with the target is found before any of the content is read.
func (b *Blobs) Put(
	ctx context.Context, id, mediaType string, content *httpbody.Upload, opts *WriteOptions,
) (*Blob, Outcome, error) {
	w := blobRequest{b: b, op: OpReplace, id: id, mediaType: mediaType, content: content, opts: opts.orZero()}
	err := w.run(ctx)
	return w.blob, w.outcome, err
}

// Create stores content under a new id.
func (b *Blobs) Create(ctx context.Context, mediaType string, content *httpbody.Upload, opts *WriteOptions) (*Blob, error) {
	w := blobRequest{b: b, op: OpCreate, mediaType: mediaType, content: content, opts: opts.orZero()}
	err := w.run(ctx)
	return w.blob, err
}

// Delete removes a blob.
func (b *Blobs) Delete(ctx context.Context, id string, opts *WriteOptions) error {
	w := blobRequest{b: b, op: OpDelete, id: id, opts: opts.orZero()}
	return w.run(ctx)
}

// blobRequest is one call of Put, Create or Delete. It is a [KeyedWrite].
type blobRequest struct {
	b         *Blobs
	op        Op
	id        string // empty for Create
	mediaType string
	content   *httpbody.Upload
	opts      *WriteOptions
	sum       []byte // digest of the content, for the fingerprint of the key

	blob    *Blob
	outcome Outcome
}

func (w *blobRequest) run(ctx context.Context) (err error) {
	if key := w.opts.Key; key != nil && w.content != nil {
		if w.sum, err = key.Digest(ctx, w.content); err != nil {
			return w.b.wrap(w.op, w.id, err)
		}
	}
	if err := w.opts.Key.Do(ctx, w); err != nil {
		return w.b.wrap(w.op, w.id, err)
	}
	return nil
}

// Do carries out the request.
func (w *blobRequest) Do(ctx context.Context) (err error) {
	switch w.op {
	case OpDelete:
		return w.delete(ctx)
	case OpReplace:
		return w.put(ctx)
	}
	w.outcome = Created
	if id := w.opts.Key.NewID(ctx, w.b.name); id != "" {
		w.blob, err = w.createWithID(ctx, id)
	} else {
		w.blob, err = w.create(ctx)
	}
	return err
}

// put stores content in place of the current blob or, if that is allowed, as a new one.
func (w *blobRequest) put(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, retry.Timeout) // for retries; the content may take longer
	defer cancel()
	return retryStale(limited, func() error {
		cur, op, err := w.check(ctx)
		if err != nil {
			return err
		}
		if !w.content.Rewind() {
			return retry.ErrContended
		}
		var expect Rev
		if w.outcome = Created; op == OpReplace {
			expect, w.outcome = cur.Rev, Replaced
		}
		if w.blob, err = w.store(ctx, w.id, expect); errors.Is(err, ErrExists) {
			return ErrStale // another request has created it: check again
		}
		return err
	})
}

// store calls the store's Put and checks what it returns. An error of the content is the cause whatever the store made of it,
// and a store that has not read to the end cannot have stored all.
func (w *blobRequest) store(ctx context.Context, id string, expect Rev) (*Blob, error) {
	blob, err := w.b.store.Put(ctx, id, expect, w.mediaType, w.content)
	read, ended := w.content.Err(), w.content.Complete()
	switch {
	case read != nil && err == nil:
		return nil, storeFault("stored content that could not be read: %v", read)
	case read != nil:
		return nil, read
	case err != nil:
		return nil, err
	case blob == nil || blob.Rev == "":
		return nil, storeFault("gave no revision of what it stored")
	case !ended:
		return nil, storeFault("stored content without reading it to its end")
	}
	return blob, nil
}

// check authorizes a Put and checks its preconditions. op tells whether it creates or replaces.
func (w *blobRequest) check(ctx context.Context) (cur *Blob, op Op, err error) {
	cur, err = w.b.stat(ctx, w.id)
	op = OpReplace
	switch {
	case err == nil:
	case errors.Is(err, errHidden):
		return nil, "", err
	case errors.Is(err, ErrGone), errors.Is(err, errHiddenGone):
		if !w.b.opts.AllowRecreate {
			return nil, "", err
		}
		op = OpCreate
	case errors.Is(err, ErrNotFound):
		op = OpCreate
	default:
		return nil, "", err
	}
	// The policy needs no content here, so it precedes the preconditions (RFC 9110 section 13.2.1).
	if err := w.b.authorize(ctx, op, cur, &Blob{ID: w.id, MediaType: w.mediaType}); err != nil {
		return nil, "", err
	}
	return cur, op, w.opts.If.Check(cur.entry(), w.b.opts.RequireIfMatch)
}

// create stores content under an id of its own.
func (w *blobRequest) create(ctx context.Context) (*Blob, error) {
	newID := w.b.opts.NewID
	if newID == nil {
		newID = func(string) string { return newUUID() }
	}
	for range 100 {
		id := newID(w.mediaType)
		if !validBlobID(id) {
			return nil, storeFault("is given the id %q, which is no segment of a path", id)
		}
		if err := w.b.authorize(ctx, OpCreate, nil, &Blob{ID: id, MediaType: w.mediaType}); err != nil {
			return nil, err
		}
		blob, err := w.store(ctx, id, "")
		if !errors.Is(err, ErrExists) && !errors.Is(err, ErrGone) {
			if err == nil {
				blob.ID = id
			}
			return blob, err
		}
		if !w.content.Rewind() {
			break
		}
	}
	return nil, retry.ErrContended
}

// createWithID stores content under an id that was derived from a key. A blob with this id was stored by an earlier attempt:
// the id depends on the content, and the store never has a part of it.
func (w *blobRequest) createWithID(ctx context.Context, id string) (*Blob, error) {
	if err := w.b.authorize(ctx, OpCreate, nil, &Blob{ID: id, MediaType: w.mediaType}); err != nil {
		return nil, err
	}
	blob, err := w.store(ctx, id, "")
	if errors.Is(err, ErrExists) {
		return w.b.stat(ctx, id)
	}
	if err == nil {
		blob.ID = id
	}
	return blob, err
}

// delete removes the blob.
func (w *blobRequest) delete(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, retry.Timeout)
	defer cancel()
	return retryStale(limited, func() error {
		cur, err := w.b.stat(ctx, w.id)
		if err != nil {
			return err
		}
		if err := w.b.authorize(ctx, OpDelete, cur, nil); err != nil {
			return err
		}
		if err := w.opts.If.Check(cur.entry(), w.b.opts.RequireIfMatch); err != nil {
			return err
		}
		return w.b.store.Delete(ctx, w.id, cur.Rev)
	})
}

// Content returns the digest of the content.
func (w *blobRequest) Content() []byte { return w.sum }

// Creates reports whether the id is not the client's.
func (w *blobRequest) Creates() bool { return w.op == OpCreate }

// Record returns the record of the write.
func (w *blobRequest) Record() (idempotency.Record, error) {
	rec := idempotency.Record{Status: http.StatusNoContent, Collection: w.b.name, ID: w.id}
	if w.op == OpDelete {
		return rec, nil
	}
	rec.ID, rec.Rev = w.blob.ID, string(w.blob.Rev)
	if w.outcome == Created {
		rec.Status = http.StatusCreated
	}
	rec.SetModified(w.blob.Modified)
	return rec, nil
}

// Replay restores the blob from a record, if the caller may still see it. A blob that was deleted since is judged by the
// policy for deleted blobs alone.
func (w *blobRequest) Replay(ctx context.Context, rec *idempotency.Record) error {
	if w.op == OpDelete {
		return nil
	}
	if w.outcome = Replaced; rec.Status == http.StatusCreated {
		w.outcome = Created
	}
	w.blob = &Blob{ID: rec.ID, Rev: Rev(rec.Rev), Modified: rec.Modified()}
	if w.b.opts.Authorize != nil {
		_, err := w.b.stat(ctx, rec.ID)
		if errors.Is(err, errHidden) || err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone) {
			return err
		}
	}
	return nil
}

// open returns a blob that the caller may see. The caller closes its Content.
func (b *Blobs) open(ctx context.Context, id string) (*Blob, error) {
	blob, err := b.store.Open(ctx, id)
	if err != nil {
		return nil, b.absent(ctx, id, err)
	}
	switch {
	case blob == nil || blob.Content == nil:
		return nil, storeFault("gave %q without its content", id)
	case blob.Rev == "" || blob.Size < 0:
		err = storeFault("gave %q without a revision or a size", id)
	default:
		err = b.visible(ctx, blob)
	}
	if err != nil {
		blob.Content.Close()
		return nil, err
	}
	return blob, nil
}

// stat returns a blob without its content.
func (b *Blobs) stat(ctx context.Context, id string) (*Blob, error) {
	blob, err := b.open(ctx, id)
	if err != nil {
		return nil, err
	}
	return blob.withoutContent(), blob.Content.Close()
}

func (b *Blob) withoutContent() *Blob {
	k := *b
	k.Content = nil
	return &k
}

// visible returns errHidden, which becomes 404, if the caller may not see the blob.
func (b *Blobs) visible(ctx context.Context, blob *Blob) error {
	err := b.authorize(ctx, OpGet, blob.withoutContent(), nil)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}

// absent returns why there is no blob. Only callers who may know that it was deleted get ErrGone.
func (b *Blobs) absent(ctx context.Context, id string, err error) error {
	if !errors.Is(err, ErrGone) {
		return err
	}
	switch hidden := b.visible(ctx, &Blob{ID: id}); {
	case errors.Is(hidden, errHidden):
		return errHiddenGone
	case hidden != nil:
		return hidden
	}
	return err
}

// authorize calls BlobOptions.Authorize, if it is set.
func (b *Blobs) authorize(ctx context.Context, op Op, before, after *Blob) error {
	if b.opts.Authorize == nil {
		return nil
	}
	return b.opts.Authorize(ctx, op, before, after)
}

// entry returns the blob as preconditions need it; nil for nil.
func (b *Blob) entry() *Entry {
	if b == nil {
		return nil
	}
	return &Entry{ID: b.ID, Rev: b.Rev, Modified: b.Modified}
}

// wrap adds the place to an error.
func (b *Blobs) wrap(op Op, id string, err error) error {
	return &Error{Op: op, Resource: b.name, ID: id, Err: err}
}

// ValidID reports whether a blob can have this id: one segment of a path, not empty, without control characters, of at most
// 255 bytes.
func (b *Blobs) ValidID(id string) bool { return validBlobID(id) }

// maxBlobID is the longest id in bytes, which is that of a file name nearly everywhere.
const maxBlobID = 255

// validBlobID rejects ids that a store could mistake for a path.
func validBlobID(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= maxBlobID && utf8.ValidString(id) &&
		!strings.ContainsRune(id, '/') && !strings.ContainsFunc(id, unicode.IsControl)
}

// newUUID returns a random UUID of version 7, RFC 9562 section 5.7.
func newUUID() string {
	var u [16]byte
	rand.Read(u[6:]) // never fails: crypto/rand
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		u[i] = byte(ms >> (8 * (5 - i)))
	}
	u[6], u[8] = u[6]&0x0f|0x70, u[8]&0x3f|0x80
	text := hex.EncodeToString(u[:])
	return text[:8] + "-" + text[8:12] + "-" + text[12:16] + "-" + text[16:20] + "-" + text[20:]
}
