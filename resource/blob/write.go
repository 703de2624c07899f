package blob

// Writes: the idempotency key, policy and preconditions, and the store's compare-and-swap, as
// write.go of package resource has them for items. Called by protocols. It calls resource.Key,
// resource.Preconditions and package internal/retry.

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/internal/retry"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Put stores content under an id, and reports whether there was no blob before. Authorization and
// preconditions are checked before the content is read. Of opts it uses If and Key.
func (c *Collection) Put(
	ctx context.Context, id, mediaType string, content *httpbody.Upload, opts *resource.WriteOptions,
) (b *Blob, created bool, err error) {
	w := writeRequest{
		c:         c,
		op:        resource.OpReplace,
		id:        id,
		mediaType: mediaType,
		content:   content,
		opts:      orZero(opts),
	}
	err = w.run(ctx)
	return w.blob, w.created, err
}

// Create stores content under a new id. Of opts it uses Key.
func (c *Collection) Create(
	ctx context.Context, mediaType string, content *httpbody.Upload, opts *resource.WriteOptions,
) (*Blob, error) {
	w := writeRequest{c: c, op: resource.OpCreate, mediaType: mediaType, content: content, opts: orZero(opts)}
	err := w.run(ctx)
	return w.blob, err
}

// CreateAll stores several contents under new ids. next returns them one after the other, each after
// the one before was stored, and [io.EOF] at the end. If one cannot be stored, CreateAll removes those
// before it and returns the error.
func (c *Collection) CreateAll(
	ctx context.Context, next func() (mediaType string, content *httpbody.Upload, err error),
) (blobs []*Blob, err error) {
	for {
		mediaType, content, err := next()
		if err == io.EOF {
			return blobs, nil
		}
		var b *Blob
		if err == nil {
			b, err = c.Create(ctx, mediaType, content, nil)
		}
		if err != nil {
			return nil, errors.Join(err, c.discard(ctx, blobs))
		}
		blobs = append(blobs, b)
	}
}

// discard removes blobs that were created by a request that has failed, even if the client has
// disconnected. A blob that has been replaced remains.
func (c *Collection) discard(ctx context.Context, blobs []*Blob) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), retry.Timeout)
	defer cancel()
	var errs []error
	for _, b := range blobs {
		err := c.inOrder(b.ID, func(t *turn) error {
			if err := c.store.Delete(ctx, b.ID, b.Rev); err != nil {
				return err
			}
			return c.publish(ctx, t, b, nil)
		})
		if err != nil && !errors.Is(err, resource.ErrStale) && !errors.Is(err, resource.ErrNotFound) {
			// not wrapped, because the error of the upload decides the status
			errs = append(errs, fmt.Errorf("remove %q: %v", b.ID, err))
		}
	}
	return errors.Join(errs...)
}

// Delete removes a blob. Of opts it uses If and Key.
func (c *Collection) Delete(ctx context.Context, id string, opts *resource.WriteOptions) error {
	w := writeRequest{c: c, op: resource.OpDelete, id: id, opts: orZero(opts)}
	return w.run(ctx)
}

// writeRequest is one call of Put, Create or Delete. It is a [resource.KeyedWrite].
type writeRequest struct {
	c         *Collection
	op        resource.Op
	id        string // empty for Create
	mediaType string
	content   *httpbody.Upload
	opts      *resource.WriteOptions
	sum       []byte // digest of the content, for the fingerprint of the key

	before  *Blob // what the write replaces or deletes
	blob    *Blob
	created bool
}

// run executes the write under its key. The digest of the content is computed first: it is part
// of the fingerprint that the key is compared with.
func (w *writeRequest) run(ctx context.Context) (err error) {
	ctx = w.c.binding.Context(ctx)
	if key := w.opts.Key; key != nil && w.content != nil {
		if w.sum, err = key.Digest(ctx, w.content); err != nil {
			return w.c.wrap(w.op, w.id, err)
		}
	}
	if err := w.opts.Key.Do(ctx, w); err != nil {
		return w.c.wrap(w.op, w.id, err)
	}
	return nil
}

// Do carries out the request and publishes its event.
func (w *writeRequest) Do(ctx context.Context) error {
	return w.c.inOrder(w.id, func(t *turn) error {
		if stored, err := w.write(ctx); err != nil || !stored {
			return err
		}
		return w.c.publish(ctx, t, w.before, w.blob)
	})
}

// write carries out the request. stored is false if an earlier attempt has stored the blob.
func (w *writeRequest) write(ctx context.Context) (stored bool, err error) {
	stored = true
	switch w.op {
	case resource.OpDelete:
		err = w.runDelete(ctx)
	case resource.OpReplace:
		err = w.runPut(ctx)
	default:
		w.created = true
		if id := w.opts.Key.NewID(ctx, w.c.name); id != "" {
			w.blob, stored, err = w.createWithID(ctx, id)
		} else {
			w.blob, err = w.runCreate(ctx)
		}
	}
	return stored, err
}

// runPut stores content in place of the current blob or, if that is allowed, as a new one.
func (w *writeRequest) runPut(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, retry.Timeout) // for retries; the content may take longer
	defer cancel()
	return retry.Do(limited, func() error {
		cur, op, err := w.check(ctx)
		if err != nil {
			return err
		}
		if !w.content.Rewind() {
			return retry.ErrContended
		}
		var expect resource.Rev
		if w.created, w.before = op == resource.OpCreate, cur; !w.created {
			expect = cur.Rev
		}
		if w.blob, err = w.store(ctx, w.id, expect); errors.Is(err, resource.ErrExists) {
			return errLost // another request has created it: check again
		}
		return lostOr(err)
	}, isLost)
}

// errLost reports that another write of the blob was faster, so that a second attempt may succeed.
// It differs from ErrStale, which is also the error of a precondition.
var errLost = errors.New("blob changed by another request")

func isLost(err error) bool { return err == errLost }

// lostOr returns err, the error of a store, and errLost for ErrStale.
func lostOr(err error) error {
	if errors.Is(err, resource.ErrStale) {
		return errLost
	}
	return err
}

// store calls the store's Put and checks its result. An error of the content takes precedence over
// the error that the store returns for it, and a store that has not read the content to its end
// cannot have stored all of it.
func (w *writeRequest) store(ctx context.Context, id string, expect resource.Rev) (*Blob, error) {
	blob, err := w.c.store.Put(ctx, id, expect, w.mediaType, w.content)
	read, ended := w.content.Err(), w.content.Complete()
	switch {
	case read != nil && err == nil:
		return nil, storeFault("stored content that could not be read: %v", read)
	case read != nil:
		return nil, read
	case errors.Is(err, ErrFull):
		return nil, fullError(err)
	case err != nil:
		return nil, err
	case blob == nil || blob.Rev == "":
		return nil, storeFault("returned no revision of the blob that it stored")
	case !ended:
		return nil, storeFault("stored content without reading it to its end")
	}
	blob.ID = id
	return blob, nil
}

// fullError adds the problem of a store without space. Space may be freed only by an operator, so
// clients wait longer than after other failures.
func fullError(err error) error {
	d := problem.New(problem.InsufficientStorage,
		"There is no space for the content. Nothing was stored; retry after 1 minute.")
	d.Header = http.Header{"Retry-After": {"60"}}
	return fmt.Errorf("%w: %w (%w)", d, err, idempotency.ErrNothingDone) // frees the key for the retry
}

// check authorizes a Put and checks its preconditions. op is OpCreate or OpReplace.
func (w *writeRequest) check(ctx context.Context) (cur *Blob, op resource.Op, err error) {
	cur, err = w.c.stat(ctx, w.id)
	op = resource.OpReplace
	switch {
	case err == nil:
	case errors.Is(err, errRemembered):
		op = resource.OpCreate
	case errors.Is(err, errHidden),
		(errors.Is(err, resource.ErrGone) || errors.Is(err, errHiddenGone)) && !w.c.opts.AllowRecreate:
		// If-Match fails for a blob that does not exist, so it must for a hidden one.
		if errors.Is(err, resource.ErrGone) || w.opts.If.Check(nil, false) == nil {
			return nil, "", err
		}
		op = resource.OpCreate
	case errors.Is(err, resource.ErrGone), errors.Is(err, errHiddenGone):
		op = resource.OpCreate
	case errors.Is(err, resource.ErrNotFound):
		op = resource.OpCreate
	default:
		return nil, "", err
	}
	// The policy needs no content here, so it precedes the preconditions (RFC 9110 section 13.2.1).
	if err := w.c.authorize(ctx, op, cur, &Blob{ID: w.id, MediaType: w.mediaType}); err != nil {
		return nil, "", err
	}
	return cur, op, w.opts.If.Check(cur.entry(), w.c.opts.RequireIfMatch)
}

// runCreate stores content under an id that NewID returns.
func (w *writeRequest) runCreate(ctx context.Context) (*Blob, error) {
	newID := w.c.opts.NewID
	if newID == nil {
		newID = func(string) string { return newUUID() }
	}
	for range 100 {
		id := newID(w.mediaType)
		if !validID(id) {
			return nil, storeFault("was given the id %q, which is no segment of a path", id)
		}
		after := &Blob{ID: id, MediaType: w.mediaType}
		if err := w.c.authorize(ctx, resource.OpCreate, nil, after); err != nil {
			return nil, err
		}
		blob, err := w.store(ctx, id, "")
		if !errors.Is(err, resource.ErrExists) && !errors.Is(err, resource.ErrGone) {
			return blob, err
		}
		if !w.content.Rewind() {
			break
		}
	}
	return nil, retry.ErrContended
}

// createWithID stores content under an id that was derived from a key. A blob with this id was
// stored by an earlier attempt: the id depends on the content, and the store never has a part of
// it. stored is false then.
func (w *writeRequest) createWithID(ctx context.Context, id string) (b *Blob, stored bool, err error) {
	after := &Blob{ID: id, MediaType: w.mediaType}
	if err := w.c.authorize(ctx, resource.OpCreate, nil, after); err != nil {
		return nil, false, err
	}
	b, err = w.store(ctx, id, "")
	if errors.Is(err, resource.ErrExists) {
		b, err = w.c.stat(ctx, id)
		return b, false, err
	}
	return b, true, err
}

// runDelete removes the blob.
func (w *writeRequest) runDelete(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, retry.Timeout)
	defer cancel()
	return retry.Do(limited, func() error {
		cur, err := w.c.stat(ctx, w.id)
		if err != nil {
			return err
		}
		w.before = cur
		if err := w.c.authorize(ctx, resource.OpDelete, cur, nil); err != nil {
			return err
		}
		if err := w.opts.If.Check(cur.entry(), w.c.opts.RequireIfMatch); err != nil {
			return err
		}
		return lostOr(w.remove(ctx, cur.Rev))
	}, isLost)
}

// remove removes a revision from the store, and remembers the id. The id is added before, so that
// concurrent requests find it.
func (w *writeRequest) remove(ctx context.Context, rev resource.Rev) error {
	ids := w.c.deletions
	ids.Begin(w.id)
	err := w.c.store.Delete(ctx, w.id, rev)
	if err != nil {
		ids.End(w.id, false)
		return err
	}
	tx.AfterCommit(ctx, func() { ids.End(w.id, true) })
	tx.AfterRollback(ctx, func() { ids.End(w.id, false) })
	return nil
}

// Content returns the digest of the content.
func (w *writeRequest) Content(context.Context) resource.KeyedContent {
	return resource.KeyedContent{Sent: w.sum}
}

// Creates reports whether the id is not chosen by the client.
func (w *writeRequest) Creates() bool { return w.op == resource.OpCreate }

// Record returns the record of the write.
func (w *writeRequest) Record() (idempotency.Record, error) {
	rec := idempotency.Record{Status: http.StatusNoContent, Collection: w.c.name, ID: w.id}
	if w.op == resource.OpDelete {
		return rec, nil
	}
	rec.ID, rec.Rev = w.blob.ID, string(w.blob.Rev)
	if w.created {
		rec.Status = http.StatusCreated
	}
	rec.SetModified(w.blob.Modified)
	return rec, nil
}

// Replay restores the blob from a record, if the caller may still see it. If it has been deleted
// since, the policy for deleted blobs decides.
func (w *writeRequest) Replay(ctx context.Context, rec *idempotency.Record) error {
	if w.op == resource.OpDelete {
		return nil
	}
	w.created = rec.Status == http.StatusCreated
	w.blob = &Blob{ID: rec.ID, Rev: resource.Rev(rec.Rev), Modified: rec.Modified()}
	if w.c.opts.Authorize != nil {
		_, err := w.c.stat(ctx, rec.ID)
		absent := errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone)
		if errors.Is(err, errHidden) || err != nil && !absent {
			return err
		}
	}
	return nil
}

func orZero(o *resource.WriteOptions) *resource.WriteOptions {
	if o == nil {
		return &resource.WriteOptions{}
	}
	return o
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
