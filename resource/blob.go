package resource

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource/header"
)

// BlobStore keeps bytes under ids: files of a folder, objects of a bucket. [Blobs] serves it. Its methods are called
// from many goroutines at once.
type BlobStore interface {
	// Open returns what is there, with its Content, which the caller closes. The content is that of the revision, whatever
	// is written meanwhile. The error is [ErrNotFound], or [ErrGone] if the store remembers that it was deleted.
	Open(ctx context.Context, id string) (*Blob, error)
	// Put stores all of r, in place of the revision expect, or, if that is empty, where nothing is. Nobody sees anything of
	// it before all is there to stay; after an error of r, which Put returns as it is, nothing has changed. The error is
	// [ErrStale] if another revision is there or none, [ErrExists] if something is there and expect is empty, and
	// [ErrGone] if the store remembers a deletion and takes no id twice. [ErrNotFound] says that the id can be none.
	Put(ctx context.Context, id string, expect Rev, mediaType string, r io.Reader) (*Blob, error)
	// Delete removes the revision expect. The error is [ErrStale], [ErrNotFound] or [ErrGone].
	Delete(ctx context.Context, id string, expect Rev) error
}

// Blob is what a [BlobStore] knows about bytes, and the way to them.
type Blob struct {
	ID        string
	Rev       Rev       // never empty; another with every Put
	Modified  time.Time // zero if unknown
	MediaType string    // as it was declared; empty if nobody did
	Size      int64     // in bytes
	SHA256    []byte    // of the content; nil if unknown
	// Content is the bytes. It is nil in what Put returns.
	//
	// If it is an [*os.File] itself and nothing stands between, it goes to the client without passing through this process
	// (sendfile).
	Content io.ReadSeekCloser
}

// Blobs is a [BlobStore] as it is served: PUT, GET, HEAD and DELETE of bytes at /name/id, and POST at /name, which
// assigns an id. It is a [Part] of a [Catalog].
type Blobs struct {
	name  string
	store BlobStore
	opts  BlobOptions
}

// BlobOptions adjust [Blobs]. The zero value serves everything to everybody, and the start-up report says so.
type BlobOptions struct {
	// Authorize is asked about every request, as Options.Authorize is: before is what is there, without its Content, or
	// nil; after is what would be there, of which ID and MediaType are known, or nil. Of what was deleted, if the store
	// remembers it, before has the ID alone, and the question is whether the caller may know: OpGet.
	Authorize func(ctx context.Context, op Op, before, after *Blob) error
	// Public declares that there is no Authorize on purpose.
	Public bool
	// ReadOnly leaves GET and HEAD alone.
	ReadOnly bool
	// NewID makes the id for a POST; nil means a random UUID of version 7, which sorts by time (RFC 9562 section 5.7).
	NewID func(mediaType string) string
	// MaxSize is how many bytes one may have; 1 GiB if zero. More is 413.
	MaxSize int64
	// MediaTypes are the types that are taken, such as image/png and image/*. Nil means all; others are 415. What comes
	// without a Content-Type is application/octet-stream (RFC 9110 section 8.3).
	MediaTypes []string
	// RequireIfMatch refuses to change or delete for a client that does not say which revision it has seen: 428.
	RequireIfMatch bool
	// AllowRecreate lets PUT bring back an id that was deleted, where the store remembers deletions.
	AllowRecreate bool
}

// NewBlobs serves a store of bytes under a name, which is its path. opts may be nil. It panics if the name cannot be a
// path segment, and if one of MediaTypes is no media type.
//
// What is stored is served as it was declared and never guessed at. Whoever may store can store a page with scripts, so
// each answer carries X-Content-Type-Options: nosniff and a Content-Security-Policy under which nothing of it runs as part of
// this site. Content-Disposition is not sent, so that images and texts show where they are linked to.
//
// A PUT that says nothing of revisions wins over what is there. If others write the same id meanwhile, content of up to 64 KiB
// is stored again after theirs; longer content has been read by then, and the client is told to send it again: 503.
//
// With an Idempotency-Key content has a digest (RFC 9530), which tells what is meant by the key; what has none is held in
// memory for that, and is bounded by what the Guard reads. Where the id is neither the client's choice nor that of NewID, it
// follows from the key.
func NewBlobs(name string, store BlobStore, opts *BlobOptions) *Blobs {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of blobs: letters, digits and -_.~ can", name))
	}
	b := &Blobs{name: name, store: store}
	if opts != nil {
		b.opts = *opts
	}
	for _, t := range b.opts.MediaTypes {
		if m, err := header.ParseMediaType(t); err != nil || m.Type != strings.ToLower(t) {
			panic(fmt.Sprintf("resource: %s takes %q, which is no media type", name, t))
		}
	}
	return b
}

// Part describes the blobs to a catalog.
func (b *Blobs) Part() PartInfo {
	return PartInfo{Name: b.name, Keyed: !b.opts.ReadOnly, DerivesIDs: b.opts.NewID == nil, Report: b.summary()}
}

// Name returns the name it was given.
func (b *Blobs) Name() string { return b.name }

const mediaOctets = "application/octet-stream"

// maxMediaType is the length of the longest media type that is stored. Registered names have 127 characters in each half at
// most (RFC 6838 section 4.2), and then there may be parameters.
const maxMediaType = 400

// DeclaredType returns the media type that the lines of a Content-Type field declare, parameters included, and whether
// BlobOptions.MediaTypes accept it.
func (b *Blobs) DeclaredType(lines []string) (mediaType string, ok bool) {
	mediaType = strings.TrimSpace(strings.Join(lines, ","))
	if mediaType == "" {
		mediaType = mediaOctets
	}
	m, err := header.ParseMediaType(mediaType)
	if err != nil || len(mediaType) > maxMediaType || strings.Contains(m.Type, "*") || !utf8.ValidString(mediaType) {
		return "", false
	}
	family, _, _ := strings.Cut(m.Type, "/")
	takes := func(t string) bool {
		return strings.EqualFold(t, m.Type) || strings.EqualFold(t, family+"/*") || t == "*/*"
	}
	return mediaType, b.opts.MediaTypes == nil || slices.ContainsFunc(b.opts.MediaTypes, takes)
}

// ETag returns the entity tag of the blob: a strong one, and the only one, since bytes have one representation.
func (b *Blob) ETag() string { return b.Rev.ETag() }

// CheckRead returns an error if If-Match or If-Unmodified-Since does not hold for a blob: 412.
func (b *Blobs) CheckRead(blob *Blob, p *Preconditions) error { return p.CheckRead(blob.entry()) }
