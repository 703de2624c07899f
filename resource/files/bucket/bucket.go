// Package bucket stores blobs in a bucket of [gocloud.dev/blob]: S3, Google Cloud Storage, Azure, a
// folder or memory. A [Store] is a [blob.Store]. The package is a module of its own, so
// that its drivers are not dependencies of the main module.
//
//	b, err := gcblob.OpenBucket(ctx, "s3://uploads")
//	...
//	catalog := resource.NewCatalog(nil, blob.New("files", bucket.New(b), nil))
//
// The id of a blob is the key of its object; use [gcblob.PrefixedBucket] for a prefix. The revision
// and the declared media type are in the metadata of the object, where other programs can see them.
// Objects of other programs are served with the content type and a revision that are derived from
// the object's attributes.
//
// # Limitations
//
// Compare-and-swap is reliable between the goroutines of one process; the whole conformance kit
// passes. Between processes, the portable API offers one condition only: that no object exists. If
// two processes create the same id, one gets ErrExists. If two processes replace or delete the same
// id at the same time, one may overwrite a revision that it has not seen. Use a single writing
// process, or write each object once.
//
// A bucket does not keep old content for readers. If an object is replaced during a download, the
// next read that begins, or continues after a Seek, returns an error and never the new content. The
// client must start again. To detect this, each read that begins also reads the attributes of the
// object.
//
// The driver for folders writes content and metadata separately, so a crash can leave one without
// the other. Use package files for folders.
//
// The bucket does not remember deletions (404, not 410) and stores no SHA-256. A Repr-Digest that a
// client sends is verified anyway.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"io/fs"
	"mime"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	gcblob "gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/internal/modified"
	"github.com/stoa-go/stoa/resource/tx"
)

// Store is a [blob.Store] in a bucket. It is safe for concurrent use.
type Store struct {
	bucket *gcblob.Bucket
	folder bool // of the file system, where the driver reserves some keys
	seed   maphash.Seed
	locks  [64]sync.RWMutex // by id: a writer excludes other writers and starting readers
}

var (
	_ blob.Store  = (*Store)(nil)
	_ blob.Lister = (*Store)(nil)
)

// New returns a Store for b. The caller closes b after the last use of the Store. Use one Store per
// bucket in a process, because two Stores do not share locks.
func New(b *gcblob.Bucket) *Store {
	return &Store{bucket: b, seed: maphash.MakeSeed(), folder: b.As(new(fs.FileInfo))}
}

// Metadata keys of the revision, of the declared media type, and of the time of the object that was
// replaced.
const (
	revKey      = "stoa-rev"
	typeKey     = "stoa-media-type"
	previousKey = "stoa-previous"
)

// escape matches how drivers write a character that a service does not support.
var escape = regexp.MustCompile(`__0x[0-9a-fA-F]+__`)

func (s *Store) lock(id string) *sync.RWMutex {
	return &s.locks[maphash.String(s.seed, id)%uint64(len(s.locks))]
}

// isValidKey reports whether id can be a key: one path segment without characters that have a
// special meaning for some service, and without an escape of the drivers, which do not list it.
func (s *Store) isValidKey(id string) bool {
	if s.folder && strings.HasSuffix(id, ".attrs") || escape.MatchString(id) {
		return false
	}
	return id != "" && id != "." && id != ".." && len(id) <= 255 && utf8.ValidString(id) &&
		!strings.ContainsAny(id, `/\`) && !strings.ContainsFunc(id, unicode.IsControl)
}

// Open returns the object with the key id. Its Content requests data from the bucket when it is
// read. The error is [resource.ErrNotFound], [resource.ErrUnavailable] or one of the bucket.
func (s *Store) Open(ctx context.Context, id string) (*blob.Blob, error) {
	if !s.isValidKey(id) {
		return nil, resource.ErrNotFound
	}
	lock := s.lock(id)
	lock.RLock()
	defer lock.RUnlock()
	attrs, err := s.bucket.Attributes(ctx, id)
	if err != nil {
		return nil, translate(err)
	}
	b := blobOf(id, attrs)
	b.Content = &objectReader{size: attrs.Size, open: func(at int64) (io.ReadCloser, error) {
		return s.openRange(ctx, id, b.Rev, at)
	}}
	return b, nil
}

// openRange opens an object at an offset if it still has the revision. It checks the revision after
// opening, so that an object that was replaced before is detected.
func (s *Store) openRange(ctx context.Context, id string, rev resource.Rev, at int64) (io.ReadCloser, error) {
	lock := s.lock(id)
	lock.RLock()
	defer lock.RUnlock()
	r, err := s.bucket.NewRangeReader(ctx, id, at, -1, nil)
	if err != nil {
		return nil, err
	}
	attrs, err := s.bucket.Attributes(ctx, id)
	if err == nil && blobOf(id, attrs).Rev != rev {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

var errReplaced = errors.New("bucket: object was replaced after it was opened")

// blobOf returns the blob for the attributes of an object.
func blobOf(id string, attrs *gcblob.Attributes) *blob.Blob {
	b := &blob.Blob{ID: id, Rev: resource.Rev(attrs.Metadata[revKey]), Modified: attrs.ModTime,
		Size:      attrs.Size,
		MediaType: attrs.ContentType}
	if !strings.EqualFold(attrs.ContentEncoding, "identity") {
		b.ContentEncoding = attrs.ContentEncoding
	}
	if b.Rev == "" { // written by another program
		b.Rev = resource.Rev(fmt.Sprintf("plain-%s-%d-%d", attrs.ETag, attrs.ModTime.UnixNano(), attrs.Size))
	}
	if at, err := time.Parse(time.RFC3339Nano, attrs.Metadata[previousKey]); err == nil {
		b.Modified = modified.Next(b.Modified, at)
	}
	if text, err := url.QueryUnescape(attrs.Metadata[typeKey]); err == nil && text != "" {
		b.MediaType = text
	}
	return b
}

// Put stores the content of r as the object with the key id. The object is created when its writer
// is closed; the revision is compared immediately before. An error of r is returned unchanged.
func (s *Store) Put(ctx context.Context, id string, expect resource.Rev, mediaType string,
	r io.Reader) (*blob.Blob, error) {
	if !s.isValidKey(id) {
		return nil, resource.ErrNotFound
	}
	lock := s.lock(id)
	lock.RLock()
	previous, err := s.checkRevision(ctx, id, expect) // fail before r is read
	lock.RUnlock()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	metadata := map[string]string{revKey: string(resource.NewRev()), typeKey: url.QueryEscape(mediaType)}
	if previous != nil {
		metadata[previousKey] = previous.Modified.UTC().Format(time.RFC3339Nano)
	}
	w, err := s.bucket.NewWriter(ctx, id, &gcblob.WriterOptions{
		ContentType: plainType(mediaType), IfNotExist: expect == "", Metadata: metadata,
	})
	if err != nil {
		return nil, translate(err)
	}
	abort := func(err error) error {
		cancel() // makes Close discard the object
		_ = w.Close()
		return err
	}
	source := &errRecorder{r: r}
	if _, err := io.Copy(w, source); err != nil {
		if source.err == nil { // an error of the bucket, not of r
			err = translate(err)
		}
		return nil, abort(err)
	}
	lock.Lock()
	defer lock.Unlock()
	if _, err := s.checkRevision(ctx, id, expect); err != nil {
		return nil, abort(err)
	}
	if err := w.Close(); err != nil {
		return nil, translateWrite(err)
	}
	attrs, err := s.bucket.Attributes(ctx, id)
	if err != nil {
		return nil, err // stored, but its revision is unknown
	}
	return blobOf(id, attrs), nil
}

// plainType returns a content type that every bucket accepts.
func plainType(mediaType string) string {
	if _, _, err := mime.ParseMediaType(mediaType); err != nil {
		return "application/octet-stream"
	}
	return mediaType
}

// errRecorder distinguishes the errors of the reader from those of the bucket.
type errRecorder struct {
	r   io.Reader
	err error
}

func (m *errRecorder) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}

// checkRevision checks that a key has the expected revision; empty expects no object. It returns the
// object, or nil if there is none.
func (s *Store) checkRevision(ctx context.Context, id string, expect resource.Rev) (*blob.Blob, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	b, err := s.stat(ctx, id)
	switch {
	case errors.Is(err, resource.ErrNotFound) && expect == "":
		return nil, nil
	case errors.Is(err, resource.ErrNotFound):
		return nil, resource.ErrStale
	case err != nil:
		return nil, err
	case expect == "":
		return nil, resource.ErrExists
	case b.Rev != expect:
		return nil, resource.ErrStale
	}
	return b, nil
}

// Delete removes the object with the key id.
func (s *Store) Delete(ctx context.Context, id string, expect resource.Rev) error {
	if !s.isValidKey(id) {
		return resource.ErrNotFound
	}
	lock := s.lock(id)
	lock.Lock()
	defer lock.Unlock()
	attrs, err := s.bucket.Attributes(ctx, id)
	switch {
	case err != nil:
		return translate(err)
	case blobOf(id, attrs).Rev != expect:
		return resource.ErrStale
	}
	return translateWrite(s.bucket.Delete(ctx, id))
}

// translateWrite is translate for the result of a write. After a timeout the write may have
// happened.
func translateWrite(err error) error {
	if gcerrors.Code(err) == gcerrors.DeadlineExceeded {
		return errors.Join(tx.ErrOutcomeUnknown, err)
	}
	return translate(err)
}

// translate adds the error of package resource to one of the bucket.
func translate(err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		return errors.Join(resource.ErrNotFound, err)
	case gcerrors.FailedPrecondition:
		return errors.Join(resource.ErrExists, err)
	case gcerrors.ResourceExhausted, gcerrors.DeadlineExceeded:
		return errors.Join(resource.ErrUnavailable, err)
	}
	return err
}
