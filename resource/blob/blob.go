// Package blob serves binary content, such as images and documents, under ids: PUT, GET, HEAD and
// DELETE at /files/{id}, and POST at /files, which chooses an id. If the store is a [Lister], GET of
// /files lists the metadata.
//
// A [Store] keeps the content; package files has one over a folder, package bucket one over an
// object store. [New] returns a [Collection] of it, a part of a [resource.Catalog] that package
// rest serves:
//
//	images := blob.New("images", store, &blob.Options{MediaTypes: []string{"image/*"}})
//	catalog := resource.NewCatalog(nil, orders, images)
//
// The list is a resource of its own ([Collection.Items]) with pages, a filter by prefix
// (?id.startsWith=), a type in GraphQL, and an event for each upload and deletion. If several
// requests write one blob at the same time, an event may be omitted; the last one has the last state.
//
// A POST of multipart/form-data, as browsers send it, stores each file of the form. Package rest refuses
// forms of other sites, which browsers send without a CORS preflight; see Origins of rest.Options.
//
// Authorization, preconditions and idempotency keys work as they do for items. Content is streamed:
// the library holds at most 64 KiB of it in memory, or what the [idempotency.Guard] allows if a
// request has a key and no digest.
package blob

// The collection, its options and the interface of its store. Called by applications and protocols;
// write.go has its writes.

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/deleted"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
)

// Store keeps blobs under ids: files of a folder, objects of a bucket. [New] serves it. Its methods
// are called concurrently.
type Store interface {
	// Open returns the blob with its Content, which the caller closes. The content is that of the
	// revision, even if it is replaced while it is read. The error is [resource.ErrNotFound], or
	// [resource.ErrGone] if the store remembers that the blob was deleted.
	Open(ctx context.Context, id string) (*Blob, error)
	// Put stores all of r in place of the revision expect or, if expect is empty, as a new blob.
	// Readers see no part of it before all of it is stored. If r returns an error, Put returns it
	// unchanged and stores nothing. The other errors are [resource.ErrStale] if expect is not the
	// current revision, [resource.ErrExists] if expect is empty and there is a blob,
	// [resource.ErrGone] if the store remembers a deletion and does not reuse ids,
	// [resource.ErrNotFound] if no blob can have this id, and [ErrFull] if there is no space.
	Put(ctx context.Context, id string, expect resource.Rev, mediaType string, r io.Reader) (*Blob, error)
	// Delete removes the blob if expect is its current revision. The error is [resource.ErrStale],
	// [resource.ErrNotFound] or [resource.ErrGone].
	Delete(ctx context.Context, id string, expect resource.Rev) error
}

// ErrFull reports that the store has no space for the content, and has stored nothing. It becomes
// 507 with Retry-After (RFC 4918 section 11.5).
var ErrFull = errors.New("blob: no space for the content")

// Blob is the metadata of binary content, and the content if it was opened.
type Blob struct {
	ID        string
	Rev       resource.Rev // never empty; changes with every Put
	Modified  time.Time    // zero if unknown, as are the seconds 0 and 1 of Unix time
	MediaType string       // as declared when the content was stored; empty if it was not declared
	Size      int64        // in bytes
	SHA256    []byte       // of the content; nil if unknown
	// ContentEncoding is the coding of the stored content, such as gzip; empty for none. It is sent as it is,
	// also to a client that does not accept the coding, and Size and ranges are those of the coded bytes.
	ContentEncoding string
	// Content is the content; nil in the results of Put. An [*os.File] that no middleware wraps is
	// sent to the client without a copy in user space (sendfile).
	Content io.ReadSeekCloser
}

// ETag returns the entity tag of the blob, which is strong. A blob has one representation.
func (b *Blob) ETag() string { return b.Rev.ETag() }

// Collection is a [Store] with a name and a policy: PUT, GET, HEAD and DELETE at /name/{id}, and
// POST at /name. It is a [resource.Part]. It is safe for concurrent use.
type Collection struct {
	name  string
	store Store
	opts  Options
	items *resource.Resource // nil if blobs are not listed
	// deletions has the ids that were deleted last, for stores that do not record deletions.
	deletions *deleted.IDs
	writers   *writers
	binding   resource.Binding // of a catalog; zero for a definition
}

// Options adjust a [Collection]. The zero value lets every caller do everything, and the start-up
// report has a warning.
type Options struct {
	// Authorize is called for each request, like Options.Authorize of package resource: before is
	// the current blob without its Content, or nil; after has the ID and MediaType of the new one,
	// or is nil. For a blob that the store remembers as deleted, before has the ID alone, and op is
	// OpGet: the error decides whether the caller receives 410 or 404.
	Authorize func(ctx context.Context, op resource.Op, before, after *Blob) error
	// Public declares that Authorize is nil on purpose. With Authorize it is a mistake.
	Public bool
	// ReadOnly serves GET and HEAD alone.
	ReadOnly bool
	// NoList does not list the blobs, even if the store is a [Lister]. Use it if ids are secrets.
	NoList bool
	// NewID returns the id for a POST. Default a random UUID of version 7, which sorts by time (RFC
	// 9562 section 5.7).
	NewID func(mediaType string) string
	// MaxSize limits the content, in bytes. Default 1 GiB. Longer content is 413.
	MaxSize int64
	// MediaTypes are the accepted media types, such as image/png and image/*; others are 415. Nil
	// accepts all. Content without Content-Type is application/octet-stream (RFC 9110 section 8.3).
	MediaTypes []string
	// RequireIfMatch rejects a PUT of an existing blob and a DELETE without If-Match: 428.
	RequireIfMatch bool
	// AllowRecreate lets PUT store a blob under an id that was deleted, if the store remembers
	// deletions.
	AllowRecreate bool
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.~-]*$`)

// New serves a store under a name, which is its path. opts may be nil. It panics if the name cannot
// be a path segment, if store is nil or a nil pointer, if one of MediaTypes is not a media type, if
// MaxSize is negative, or if Public is set beside Authorize.
//
// Content is served with the media type that was declared when it was stored. Responses have
// X-Content-Type-Options: nosniff and a Content-Security-Policy that keeps scripts in uploaded
// pages from running as part of the site. They have no Content-Disposition, so that images and
// texts are displayed by the pages that link to them.
//
// A PUT without preconditions replaces the current blob. If it loses a race against another write,
// content of up to 64 KiB is stored again; longer content has been consumed, and the client
// receives 503 and must send it again.
//
// A request with an Idempotency-Key is identified by the digest of its content (RFC 9530). Content
// without one is read into memory, up to the MaxBody of the Guard. For a POST the id is derived
// from the key, unless NewID is set.
func New(name string, store Store, opts *Options) *Collection {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("blob: invalid collection name %q; use letters, digits and -_.~", name))
	}
	c := &Collection{name: name, store: store, deletions: deleted.New(0), writers: new(writers)}
	if opts != nil {
		c.opts = *opts
	}
	var found []string
	if mistakes.Nil(store) {
		found = append(found, "the store is nil; pass an initialized Store")
	}
	if c.opts.Public && c.opts.Authorize != nil {
		found = append(found,
			"Options.Public declares that there is no policy, but Authorize is set; remove Public")
	}
	if c.opts.MaxSize < 0 {
		found = append(found, fmt.Sprintf("Options.MaxSize is %d; set a number of bytes, or 0 for 1 GiB",
			c.opts.MaxSize))
	}
	for _, t := range c.opts.MediaTypes {
		if m, err := header.ParseMediaType(t); err != nil || m.Type != strings.ToLower(t) {
			found = append(found, fmt.Sprintf("Options.MediaTypes has %q, which is not a media type", t))
		}
	}
	mistakes.Panic("blob: "+name, found)
	if lister, ok := store.(Lister); ok && !c.opts.NoList {
		c.items = c.newItems(lister)
	}
	return c
}

// Name returns the name of the collection.
func (c *Collection) Name() string { return c.name }

// Options returns the options with defaults filled in.
func (c *Collection) Options() Options {
	o := c.opts
	if o.MaxSize == 0 {
		o.MaxSize = 1 << 30
	}
	return o
}

// Part describes the collection to a catalog.
func (c *Collection) Part() resource.PartInfo {
	return resource.PartInfo{
		Name:       c.name,
		Keyed:      !c.opts.ReadOnly,
		DerivesIDs: c.opts.NewID == nil,
		Items:      c.items,
		Bind:       c.bind,
		Report:     c.summary(),
	}
}

// bind returns the collection of a catalog.
func (c *Collection) bind(b resource.Binding) resource.Part {
	bound := *c
	bound.binding, bound.items = b, b.Resource(c.items)
	return &bound
}

// summary returns the lines of the start-up report.
func (c *Collection) summary() string {
	o, list, item := c.Options(), "POST, OPTIONS", "GET, HEAD, PUT, DELETE, OPTIONS"
	if o.ReadOnly {
		list, item = "OPTIONS", "GET, HEAD, OPTIONS"
	}
	if c.items != nil {
		list = "GET, HEAD, QUERY, " + list
	}
	accepted := "*/*"
	if o.MediaTypes != nil {
		accepted = strings.Join(o.MediaTypes, ", ")
	}
	text := fmt.Sprintf("/%s  %s\n/%s/{id}  %s\n    bytes: %s, at most %d bytes each\n",
		c.name, list, c.name, item, accepted, o.MaxSize)
	if !o.ReadOnly {
		text += "    deletions: if the store does not record them, a repeated DELETE is 410 in this " +
			"process and 404 after a restart\n"
	}
	if o.Authorize == nil && !o.Public {
		text += "    weak: no Authorize: every caller may read and write; set Public if intended\n"
	}
	return text
}

const mediaOctets = "application/octet-stream"

// maxMediaType limits a stored media type, in bytes. Registered names have at most 127 characters
// in each half (RFC 6838 section 4.2), and parameters follow.
const maxMediaType = 400

// DeclaredType returns the media type that the lines of a Content-Type field declare, with its
// parameters, and reports whether Options.MediaTypes accept it.
func (c *Collection) DeclaredType(lines []string) (mediaType string, ok bool) {
	mediaType = strings.TrimSpace(strings.Join(lines, ","))
	if mediaType == "" {
		mediaType = mediaOctets
	}
	m, err := header.ParseMediaType(mediaType)
	if err != nil || len(mediaType) > maxMediaType || strings.Contains(m.Type, "*") ||
		!utf8.ValidString(mediaType) {
		return "", false
	}
	family, _, _ := strings.Cut(m.Type, "/")
	accepts := func(t string) bool {
		return strings.EqualFold(t, m.Type) || strings.EqualFold(t, family+"/*") || t == "*/*"
	}
	return mediaType, c.opts.MediaTypes == nil || slices.ContainsFunc(c.opts.MediaTypes, accepts)
}

// maxID limits an id, in bytes. It is the limit of file names in most file systems.
const maxID = 255

// ValidID reports whether a blob can have this id: one segment of a path, not empty, without
// control characters, of at most 255 bytes.
func (c *Collection) ValidID(id string) bool { return validID(id) }

// validID rejects ids that a store could mistake for a path.
func validID(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= maxID && utf8.ValidString(id) &&
		!strings.ContainsRune(id, '/') && !strings.ContainsFunc(id, unicode.IsControl)
}

// Open returns a blob that the caller may see, with its Content, which the caller closes. The error
// is [resource.ErrNotFound] or [resource.ErrGone].
func (c *Collection) Open(ctx context.Context, id string) (*Blob, error) {
	blob, err := c.open(c.binding.Context(ctx), id)
	if err != nil {
		return nil, c.wrap(resource.OpGet, id, err)
	}
	return blob, nil
}

// CheckRead returns an error if If-Match or If-Unmodified-Since does not hold for a blob that Open
// returned: 412.
func (c *Collection) CheckRead(b *Blob, p *resource.Preconditions) error {
	if err := p.CheckRead(b.entry()); err != nil {
		return c.wrap(resource.OpGet, b.ID, err)
	}
	return nil
}

// open returns a blob that the caller may see.
func (c *Collection) open(ctx context.Context, id string) (*Blob, error) {
	b, err := c.store.Open(ctx, id)
	if err != nil {
		return nil, c.absent(ctx, id, err)
	}
	switch {
	case b == nil || b.Content == nil:
		return nil, storeFault("returned blob %q without its content", id)
	case b.Rev == "" || b.Size < 0:
		err = storeFault("returned blob %q without a revision or a size", id)
	default:
		b.Modified = known(b.Modified)
		err = c.visible(ctx, b)
	}
	if err != nil {
		b.Content.Close()
		return nil, err
	}
	return b, nil
}

// known returns the zero time for the first two seconds of 1970. Reproducible builds set the time of each
// file to one of these, whatever its content is.
func known(modified time.Time) time.Time {
	if s := modified.Unix(); s == 0 || s == 1 {
		return time.Time{}
	}
	return modified
}

// statStored returns the metadata of a blob, whatever the policy.
func (c *Collection) statStored(ctx context.Context, id string) (*Blob, error) {
	b, err := c.store.Open(ctx, id)
	switch {
	case err != nil:
		return nil, err
	case b == nil || b.Content == nil:
		return nil, storeFault("returned blob %q without its content", id)
	}
	return b.withoutContent(), b.Content.Close()
}

// stat returns a blob without its content.
func (c *Collection) stat(ctx context.Context, id string) (*Blob, error) {
	b, err := c.open(ctx, id)
	if err != nil {
		return nil, err
	}
	return b.withoutContent(), b.Content.Close()
}

// withoutContent returns a copy for hooks and responses, which must not read the content.
func (b *Blob) withoutContent() *Blob {
	out := *b
	out.Content = nil
	return &out
}

// entry returns the blob as preconditions need it; nil for nil.
func (b *Blob) entry() *resource.Entry {
	if b == nil {
		return nil
	}
	return &resource.Entry{ID: b.ID, Rev: b.Rev, Modified: b.Modified}
}

// Both errors are 404 for the client. They are distinct from ErrNotFound because PUT must not
// create a blob under the id.
var (
	errHidden     = fmt.Errorf("%w: hidden from the caller", resource.ErrNotFound)
	errHiddenGone = fmt.Errorf("%w: deletion hidden from the caller", resource.ErrNotFound)
)

// visible returns errHidden if the caller may not see the blob.
func (c *Collection) visible(ctx context.Context, b *Blob) error {
	err := c.authorize(ctx, resource.OpGet, b.withoutContent(), nil)
	if errors.Is(err, resource.ErrForbidden) || errors.Is(err, resource.ErrNotFound) {
		return errHidden
	}
	return err
}

// errRemembered is ErrGone for a deletion that the process remembers and the store does not. The id
// can be used again.
var errRemembered = fmt.Errorf("%w: remembered by the process", resource.ErrGone)

// absent returns why there is no blob. It returns ErrGone only if the caller may know that the blob
// was deleted.
func (c *Collection) absent(ctx context.Context, id string, err error) error {
	remembered := errors.Is(err, resource.ErrNotFound) && c.deletions.Has(id)
	if !remembered && !errors.Is(err, resource.ErrGone) {
		return err
	}
	switch hidden := c.visible(ctx, &Blob{ID: id}); {
	case errors.Is(hidden, errHidden) && remembered:
		return err // the id can be used again
	case errors.Is(hidden, errHidden):
		return errHiddenGone
	case hidden != nil:
		return hidden
	case remembered:
		return errRemembered
	}
	return err
}

// authorize calls Options.Authorize, if it is set.
func (c *Collection) authorize(ctx context.Context, op resource.Op, before, after *Blob) error {
	if c.opts.Authorize == nil {
		return nil
	}
	return c.opts.Authorize(ctx, op, before, after)
}

// wrap adds the place to an error.
func (c *Collection) wrap(op resource.Op, id string, err error) error {
	return &resource.Error{Op: op, Resource: c.name, ID: id, Err: err}
}

// storeFault returns the error of a store that violates its contract: 500. The format begins with the
// verb of a sentence about the store.
func storeFault(format string, args ...any) error {
	return fmt.Errorf("store "+format, args...)
}
