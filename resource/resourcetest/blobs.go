package resourcetest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// BlobsOptions configures [RunBlobs].
type BlobsOptions struct {
	// Remembers declares that the store records deletions: it returns ErrGone, not ErrNotFound, for
	// a deleted id.
	Remembers bool
	// Once declares that the store never reuses an id: Put under a deleted id returns ErrGone.
	Once bool
	// Volatile declares that reading content may fail after its revision was replaced or deleted. A
	// read must still never mix the content of two revisions.
	Volatile bool
	// Writers is the number of goroutines that race for one id. Default 8.
	Writers int
	// Seed determines all random choices. Default random. Every failure prints it.
	Seed uint64
}

// RunBlobs tests a [blob.Store]. It calls newStore for each case; newStore returns an empty store.
// opts may be nil. The environment variable RESOURCETEST_SEED overrides Seed, as for [Run].
func RunBlobs(t *testing.T, newStore func(t *testing.T) blob.Store, opts *BlobsOptions) {
	t.Helper()
	s, err := newBlobSetup(opts)
	if err != nil {
		t.Fatalf("resourcetest: %v", err)
	}
	for _, c := range blobCases() {
		if c.unless != nil && c.unless(s.BlobsOptions) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			rec := c.try(t.Context(), s, newStore(t))
			if len(rec.failures) > 0 {
				t.Error(explain(rec, c.contract, s.Seed, t.Name()))
			}
		})
	}
}

// blobSetup is BlobsOptions with defaults applied.
type blobSetup struct {
	BlobsOptions
	patience time.Duration
}

func newBlobSetup(opts *BlobsOptions) (*blobSetup, error) {
	s := &blobSetup{patience: patience}
	if opts != nil {
		s.BlobsOptions = *opts
	}
	s.Writers = cmp.Or(s.Writers, 8)
	var err error
	s.Seed, err = chosenSeed(s.Seed)
	return s, err
}

// blobCase is one rule of the contract of blob.Store, with its test.
type blobCase struct {
	name     string
	contract string
	unless   func(o BlobsOptions) bool // nil if the case applies to every store
	run      func(k *blobKit)
}

// blobCases returns all cases. The simple ones precede those that rely on them.
func blobCases() []blobCase {
	return slices.Concat(blobStoreCases(), blobListCases(), blobFailureCases(), blobRaceCases())
}

// blobKit has the store of a case, and methods that call it and check the results.
type blobKit struct {
	*blobSetup
	store blob.Store
	ctx   context.Context
	rec   *record
	rng   *rand.Rand // for the case's goroutine only
}

// try runs the case against a new store. It uses a separate goroutine, so a case that blocks fails
// alone.
func (c blobCase) try(ctx context.Context, s *blobSetup, store blob.Store) *record {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rec := &record{}
	k := &blobKit{blobSetup: s, store: store, ctx: ctx, rec: rec,
		rng: rand.New(rand.NewPCG(s.Seed, caseHash(c.name)))}
	rec.within(s.patience, func() { c.run(k) })
	return rec.result()
}

func (k *blobKit) errorf(format string, args ...any) { k.rec.add(&k.rec.failures, format, args...) }

// fatalf records a failure and ends the goroutine.
func (k *blobKit) fatalf(format string, args ...any) {
	k.errorf(format, args...)
	runtime.Goexit()
}

// wantError records a failure unless err is one of want.
func (k *blobKit) wantError(err error, what string, want ...error) {
	for _, w := range want {
		if errors.Is(err, w) {
			return
		}
	}
	k.errorf("%s returned %v, want %v", what, quoted(err), want)
}

// random returns n random bytes.
func (k *blobKit) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(k.rng.Uint32())
	}
	return b
}

// put stores content, which must succeed, and checks the returned Blob.
func (k *blobKit) put(id string, expect resource.Rev, content []byte) *blob.Blob {
	b, err := k.store.Put(k.ctx, id, expect, "text/x-kit; charset=utf-8", bytes.NewReader(content))
	if err != nil || b == nil {
		k.fatalf("Put of %q failed: %v", id, err)
	}
	switch {
	case b.ID != id:
		k.errorf("Put of %q returned id %q", id, b.ID)
	case b.Rev == "" || b.Rev == expect:
		k.errorf("Put of %q with revision %q returned revision %q, want a new one", id, expect, b.Rev)
	case b.Size != int64(len(content)):
		k.errorf("Put of %q returned size %d, want %d", id, b.Size, len(content))
	case b.Content != nil:
		k.errorf("Put of %q returned Content, which no caller closes; want nil", id)
	}
	k.sameSum(b, content, "Put")
	return b
}

// sameSum checks the SHA-256 digest if the store provides one.
func (k *blobKit) sameSum(b *blob.Blob, content []byte, where string) {
	if want := sha256.Sum256(content); b.SHA256 != nil && !bytes.Equal(b.SHA256, want[:]) {
		k.errorf("%s of %q returned SHA256 %x, want %x or nil", where, b.ID, b.SHA256, want)
	}
}

// open opens an id that must exist.
func (k *blobKit) open(id string) *blob.Blob {
	b, err := k.store.Open(k.ctx, id)
	if err != nil || b == nil || b.Content == nil {
		k.fatalf("Open of %q failed: %v", id, err)
	}
	return b
}

// holds checks that an id has this content and the metadata that Put returned.
func (k *blobKit) holds(id string, want *blob.Blob, content []byte) {
	b := k.open(id)
	defer b.Content.Close()
	got, err := io.ReadAll(b.Content)
	switch {
	case err != nil:
		k.errorf("reading the content of %q failed: %v", id, err)
	case !bytes.Equal(got, content):
		k.errorf("Open of %q returned content %s, want %s as stored", id, excerpt(got), excerpt(content))
	case b.ID != id || b.Rev != want.Rev || b.Size != int64(len(content)) || b.MediaType != want.MediaType:
		k.errorf("Open of %q returned id %q, revision %q, %d bytes of %q; Put returned revision %q, "+
			"%d bytes of %q",
			id, b.ID, b.Rev, b.Size, b.MediaType, want.Rev, len(content), want.MediaType)
	case !b.Modified.Equal(want.Modified):
		k.errorf("Open of %q returned Modified %v, Put returned %v", id, b.Modified, want.Modified)
	}
	k.sameSum(b, got, "Open")
}

// absent checks that Open of an id returns one of the errors in want.
func (k *blobKit) absent(id string, want ...error) {
	b, err := k.store.Open(k.ctx, id)
	if err == nil {
		b.Content.Close()
	}
	k.wantError(err, fmt.Sprintf("Open of %q", id), want...)
}

// gone returns the error that the store must return for a deleted id.
func (k *blobKit) gone() error {
	if k.Remembers {
		return resource.ErrGone
	}
	return resource.ErrNotFound
}

func excerpt(b []byte) string {
	if len(b) > 24 {
		return fmt.Sprintf("%x... (%d bytes)", b[:24], len(b))
	}
	return fmt.Sprintf("%x (%d bytes)", b, len(b))
}
