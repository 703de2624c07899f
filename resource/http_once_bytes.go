package resource

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// Content that is stored as it is, and may be of any length: what it means is told by its digest. A client that sends one
// need not have it held here.

// meaning is that of the content of an upload: the first digest that came with it (RFC 9530), which the content must then
// have, or else its own, for which it is read into memory up to most bytes.
func (u *upload) meaning(most int64) ([]byte, error) {
	for _, s := range u.sums {
		if s.Size() == sha256.Size {
			return append([]byte("sha-256:"), s.want...), nil
		}
	}
	if len(u.sums) > 0 {
		return append([]byte("sha-512:"), u.sums[0].want...), nil
	}
	content, err := io.ReadAll(io.LimitReader(u.from, most+1))
	switch {
	case err != nil:
		return nil, unreadable(err, u.max)
	case int64(len(content)) > most:
		d := problem.New(problem.TooLarge, "Content of more than "+strconv.FormatInt(most, 10)+
			" bytes can have an Idempotency-Key if it has a Content-Digest, too.")
		d.Extensions = map[string]any{"limit": most}
		return nil, d
	}
	u.from = bytes.NewReader(content)
	sum := sha256.Sum256(content)
	return append([]byte("sha-256:"), sum[:]...), nil
}

// streamingTime is for content that is still on its way while it is stored.
const streamingTime = time.Hour

// streaming is how long it may take to store what is not held here but read from the client meanwhile: as long as the
// request may, and at most an hour. Zero is for what is held: that does not wait for anybody.
func (x *call) streaming(u *upload) time.Duration {
	if len(u.sums) == 0 {
		return 0
	}
	return x.longest()
}

// longest is how long what is much may take.
func (x *call) longest() time.Duration {
	if until, ok := x.r.Context().Deadline(); ok {
		return min(time.Until(until), streamingTime)
	}
	return streamingTime
}

// uploadOnce does a PUT of bytes, or for an empty id a POST, under a key.
func (x *call) uploadOnce(w *writeRequest, id string, u *upload, cond *Preconditions) (*Blob, Outcome, error) {
	b := x.route.blobs
	meaning, err := u.meaning(x.c.opts.Once.Options().MaxBody)
	if err != nil {
		return nil, 0, err
	}
	var blob *Blob
	out := Created
	k := x.under(w, id, id == "", meaning)
	k.op.Time = x.streaming(u)
	before, err := k.once(func(ctx context.Context) (_ idempotency.Record, err error) {
		if id != "" {
			blob, out, err = b.put(ctx, id, w.media, cond, u)
		} else if newID := k.newID(ctx, b.name); newID != "" {
			blob, err = b.addDerived(ctx, newID, w.media, u)
		} else {
			blob, err = b.add(ctx, w.media, u)
		}
		if err != nil {
			return idempotency.Record{}, err
		}
		return recordOfBlob(b.name, blob, out), nil
	})
	if before == nil {
		return blob, out, err
	}
	if before.Status != http.StatusCreated {
		out = Replaced
	}
	blob, err = x.blobAgain(before)
	return blob, out, err
}

// addDerived is add under an id that follows from a key. What is there already is what an attempt before has stored: the id
// follows from the content, too, and there is never a part of it.
func (b *Blobs) addDerived(ctx context.Context, id, mediaType string, u *upload) (*Blob, error) {
	if err := b.permit(ctx, OpCreate, nil, &Blob{ID: id, MediaType: mediaType}); err != nil {
		return nil, err
	}
	stored, err := b.store.Put(ctx, id, "", mediaType, u)
	if err = u.blame(stored, err); errors.Is(err, ErrExists) {
		return b.stat(ctx, id)
	}
	if err == nil {
		stored.ID = id
	}
	return stored, err
}

func recordOfBlob(collection string, blob *Blob, out Outcome) idempotency.Record {
	rec := idempotency.Record{Status: http.StatusNoContent, Collection: collection, ID: blob.ID, Rev: string(blob.Rev)}
	if out == Created {
		rec.Status = http.StatusCreated
	}
	noteModified(&rec, blob.Modified)
	return rec
}

// blobAgain is what the record of an upload says, if the caller may still know: of what has gone meanwhile no policy can be
// asked but that for what is gone.
func (x *call) blobAgain(rec *idempotency.Record) (*Blob, error) {
	b := x.route.blobs
	blob := &Blob{ID: rec.ID, Rev: Rev(rec.Rev), Modified: notedModified(rec)}
	if b.opts.Authorize != nil {
		_, err := b.stat(x.r.Context(), rec.ID)
		if errors.Is(err, errHidden) || err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone) {
			return nil, err
		}
	}
	x.replayed(rec)
	return blob, nil
}

// deleteBlobOnce does a DELETE of bytes under a key.
func (x *call) deleteBlobOnce(w *writeRequest, id string, cond *Preconditions) error {
	b := x.route.blobs
	before, err := x.under(w, id, false, nil).once(func(ctx context.Context) (idempotency.Record, error) {
		return idempotency.Record{Status: http.StatusNoContent, Collection: b.name, ID: id}, b.delete(ctx, id, cond)
	})
	if before != nil {
		x.replayed(before)
	}
	return err
}

// importOnce does an import under a key. What its lines mean depends on the contract, as they are not read before it is done.
func (x *call) importOnce(w *writeRequest, im *importRun, atomic bool) ([]byte, error) {
	u, err := x.newUpload(math.MaxInt64)
	if err != nil {
		return nil, err
	}
	meaning, err := u.meaning(x.c.opts.Once.Options().MaxBody)
	if err != nil {
		return nil, err
	}
	x.r = x.r.WithContext(x.r.Context())
	x.r.Body = io.NopCloser(u)
	aside, err := x.asideIf(atomic)
	if err != nil {
		return nil, err
	}
	defer aside.remove()
	var doc []byte
	k := x.under(w, "", atomic, append([]byte(im.r.projection.name+":"), meaning...))
	k.op.Time = x.streaming(u)
	if k.level == idempotency.ExactlyOnce { // a transaction of ten thousand lines takes its time, with a key or without
		k.op.Time = x.longest()
	}
	k.whole = true
	if k.level == idempotency.ExactlyOnce && !tx.Active(x.r.Context()) {
		im.oneByOneFrom = new(int)
		*im.oneByOneFrom = math.MaxInt
	}
	var before *idempotency.Record
	for err = errOneByOne; errors.Is(err, errOneByOne); {
		before, err = k.once(func(ctx context.Context) (rec idempotency.Record, err error) {
			im.done = imported{}
			if doc, err = x.importFrom(ctx, im, aside); err != nil {
				return rec, err
			}
			return idempotency.Record{Status: http.StatusOK, Media: mediaJSON, Result: doc}, nil
		})
	}
	if before != nil {
		x.replayed(before)
		doc = before.Result
	}
	return doc, err
}
