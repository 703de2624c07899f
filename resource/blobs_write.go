package resource

import (
	"context"
	"errors"
)

// What blobs do between HTTP and the store: policy and preconditions, as the write loop of a [Resource] has them.

// find opens a blob that the caller may see. The caller closes its Content.
func (b *Blobs) find(ctx context.Context, id string) (*Blob, error) {
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

// peek is find for what is known of the blob alone.
func (b *Blobs) stat(ctx context.Context, id string) (*Blob, error) {
	blob, err := b.find(ctx, id)
	if err != nil {
		return nil, err
	}
	return blob.known(), blob.Content.Close()
}

// known is the blob without its content.
func (b *Blob) known() *Blob {
	k := *b
	k.Content = nil
	return &k
}

// visible hides what the caller may not see behind errHidden, which looks as if there were nothing.
func (b *Blobs) visible(ctx context.Context, blob *Blob) error {
	err := b.permit(ctx, OpGet, blob.known(), nil)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}

// absent says why there is nothing: that it was deleted is told only to those who may know.
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

// permit asks Options.Authorize, if it is there.
func (b *Blobs) permit(ctx context.Context, op Op, before, after *Blob) error {
	if b.opts.Authorize == nil {
		return nil
	}
	return b.opts.Authorize(ctx, op, before, after)
}

// entry is a blob as preconditions see it; nil for none.
func (b *Blob) entry() *Entry {
	if b == nil {
		return nil
	}
	return &Entry{ID: b.ID, Rev: b.Rev, Modified: b.Modified}
}

// put stores content under an id, in the place of what is there or, if that is allowed, where nothing is. All that can be
// wrong with the target is found before any of the content is read.
func (b *Blobs) put(ctx context.Context, id, mediaType string, cond *Preconditions, u *upload) (stored *Blob, out Outcome, err error) {
	patient, cancel := context.WithTimeout(ctx, retryTimeout) // for waiting; the content takes as long as it takes
	defer cancel()
	err = retryStale(patient, func() error {
		cur, op, err := b.judge(ctx, id, mediaType, cond)
		if err != nil {
			return err
		}
		if !u.rewind() {
			return errContended
		}
		var expect Rev
		if out = Created; op == OpReplace {
			expect, out = cur.Rev, Replaced
		}
		stored, err = b.store.Put(ctx, id, expect, mediaType, u)
		if err = u.blame(stored, err); errors.Is(err, ErrExists) {
			return ErrStale // somebody was faster: judge again
		}
		return err
	})
	return stored, out, err
}

// judge decides whether something may be stored under an id, and whether it is the first thing there.
func (b *Blobs) judge(ctx context.Context, id, mediaType string, cond *Preconditions) (cur *Blob, op Op, err error) {
	cur, err = b.stat(ctx, id)
	op = OpReplace
	switch {
	case err == nil:
	case errors.Is(err, errHidden):
		return nil, "", err
	case errors.Is(err, ErrGone), errors.Is(err, errHiddenGone):
		if !b.opts.AllowRecreate {
			return nil, "", err
		}
		op = OpCreate
	case errors.Is(err, ErrNotFound):
		op = OpCreate
	default:
		return nil, "", err
	}
	// Policy needs no content here, so it comes before the conditions (RFC 9110 section 13.2.1).
	if err := b.permit(ctx, op, cur, &Blob{ID: id, MediaType: mediaType}); err != nil {
		return nil, "", err
	}
	return cur, op, cond.check(b, cur.entry())
}

// add stores content under a new id.
func (b *Blobs) add(ctx context.Context, mediaType string, u *upload) (*Blob, error) {
	newID := b.opts.NewID
	if newID == nil {
		newID = func(string) string { return newUUID() }
	}
	for range 100 {
		id := newID(mediaType)
		if !validBlobID(id) {
			return nil, storeFault("is given the id %q, which is no segment of a path", id)
		}
		if err := b.permit(ctx, OpCreate, nil, &Blob{ID: id, MediaType: mediaType}); err != nil {
			return nil, err
		}
		stored, err := b.store.Put(ctx, id, "", mediaType, u)
		if err = u.blame(stored, err); !errors.Is(err, ErrExists) && !errors.Is(err, ErrGone) {
			if err == nil {
				stored.ID = id
			}
			return stored, err
		}
		if !u.rewind() {
			break
		}
	}
	return nil, errContended
}

// delete removes a blob.
func (b *Blobs) delete(ctx context.Context, id string, cond *Preconditions) error {
	patient, cancel := context.WithTimeout(ctx, retryTimeout)
	defer cancel()
	return retryStale(patient, func() error {
		cur, err := b.stat(ctx, id)
		if err != nil {
			return err
		}
		if err := b.permit(ctx, OpDelete, cur, nil); err != nil {
			return err
		}
		if err := cond.check(b, cur.entry()); err != nil {
			return err
		}
		return b.store.Delete(ctx, id, cur.Rev)
	})
}
