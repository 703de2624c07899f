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

// BlobsOptions adjust [RunBlobs]. The zero value is fine.
type BlobsOptions struct {
	// Remembers says that the store knows what was deleted: ErrGone and not ErrNotFound.
	Remembers bool
	// Once says that the store takes no id twice: Put where something was deleted is ErrGone.
	Once bool
	// Volatile says that content whose revision has been replaced or deleted may fail to be read. It may never be mixed with
	// another's.
	Volatile bool
	// Writers is how many goroutines race for one id; 0 means 8.
	Writers int
	// Seed determines all random choices; 0 takes a new one each time. It is printed with every failure.
	Seed uint64
}

// RunBlobs tests a [blob.Store]. newStore is called for each case and returns an empty one. opts may be nil. The
// environment variable RESOURCETEST_SEED overrides Seed, as for [Run].
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

// blobSetup is BlobsOptions with every default filled in.
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

// blobCase is one promise of a store of bytes, and how it is tried.
type blobCase struct {
	name     string
	contract string
	unless   func(o BlobsOptions) bool // nil: it is always tried
	run      func(k *blobKit)
}

// blobCases are all of them, from the simplest to those that build on it.
func blobCases() []blobCase {
	return slices.Concat(blobStoreCases(), blobFailureCases(), blobRaceCases())
}

// blobKit is what a case works with.
type blobKit struct {
	*blobSetup
	store blob.Store
	ctx   context.Context
	rec   *record
	rng   *rand.Rand // of the case's own goroutine
}

// try runs the case against a new store, in a goroutine of its own, so that one that blocks fails alone.
func (c blobCase) try(ctx context.Context, s *blobSetup, store blob.Store) *record {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	rec := &record{}
	k := &blobKit{blobSetup: s, store: store, ctx: ctx, rec: rec, rng: rand.New(rand.NewPCG(s.Seed, caseHash(c.name)))}
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

// random returns n bytes that nobody has had before.
func (k *blobKit) random(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(k.rng.Uint32())
	}
	return b
}

// put stores content where that has to succeed, and checks what comes back.
func (k *blobKit) put(id string, expect resource.Rev, content []byte) *blob.Blob {
	b, err := k.store.Put(k.ctx, id, expect, "text/x-kit; charset=utf-8", bytes.NewReader(content))
	if err != nil || b == nil {
		k.fatalf("Put of %q failed: %v", id, err)
	}
	switch {
	case b.ID != id:
		k.errorf("Put of %q gave the id %q", id, b.ID)
	case b.Rev == "" || b.Rev == expect:
		k.errorf("Put of %q in the place of revision %q gave revision %q", id, expect, b.Rev)
	case b.Size != int64(len(content)):
		k.errorf("Put of %q gave the size %d, want %d", id, b.Size, len(content))
	case b.Content != nil:
		k.errorf("Put of %q gave content, which nobody would close", id)
	}
	k.sameSum(b, content, "Put")
	return b
}

// sameSum checks the digest, where the store knows one.
func (k *blobKit) sameSum(b *blob.Blob, content []byte, where string) {
	if want := sha256.Sum256(content); b.SHA256 != nil && !bytes.Equal(b.SHA256, want[:]) {
		k.errorf("%s of %q gave the digest %x, want %x or none", where, b.ID, b.SHA256, want)
	}
}

// open opens what has to be there.
func (k *blobKit) open(id string) *blob.Blob {
	b, err := k.store.Open(k.ctx, id)
	if err != nil || b == nil || b.Content == nil {
		k.fatalf("Open of %q failed: %v", id, err)
	}
	return b
}

// holds checks that an id has this content and what Put said about it.
func (k *blobKit) holds(id string, want *blob.Blob, content []byte) {
	b := k.open(id)
	defer b.Content.Close()
	got, err := io.ReadAll(b.Content)
	switch {
	case err != nil:
		k.errorf("the content of %q could not be read: %v", id, err)
	case !bytes.Equal(got, content):
		k.errorf("%q has other content than was stored: %s, want %s", id, excerpt(got), excerpt(content))
	case b.ID != id || b.Rev != want.Rev || b.Size != int64(len(content)) || b.MediaType != want.MediaType:
		k.errorf("Open of %q gave %q, revision %q, %d bytes of %q; Put had given revision %q, %d bytes of %q", id, b.ID, b.Rev,
			b.Size, b.MediaType, want.Rev, len(content), want.MediaType)
	case !b.Modified.Equal(want.Modified):
		k.errorf("Open of %q gave the time %v, and Put %v", id, b.Modified, want.Modified)
	}
	k.sameSum(b, got, "Open")
}

// absent checks that an id has nothing.
func (k *blobKit) absent(id string, want ...error) {
	b, err := k.store.Open(k.ctx, id)
	if err == nil {
		b.Content.Close()
	}
	k.wantError(err, fmt.Sprintf("Open of %q", id), want...)
}

// gone are the errors with which the store says that something was deleted.
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
