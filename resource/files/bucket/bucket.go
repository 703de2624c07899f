// Package bucket keeps bytes in a bucket of [gocloud.dev/blob]: S3, Google Cloud Storage, Azure, a folder, memory. It is a
// [resource.BlobStore], and a module of its own, so that whoever does not need it does not get its drivers.
//
//	b, err := blob.OpenBucket(ctx, "s3://uploads")
//	...
//	catalog := resource.NewCatalog(nil, resource.NewBlobs("files", bucket.New(b), nil))
//
// The key of an object is the id; [blob.PrefixedBucket] puts something before it. Revision and declared media type are in the
// metadata of the object, which other programs see, too. Objects that others have written are served with the content type and
// the tag that the bucket has for them.
//
// # What is weaker than in a folder
//
// Between goroutines of one process compare-and-swap holds without exception, as the whole conformance kit checks. Between
// processes the portable API has one condition only, that nothing is there: of two processes that create the same id one gets
// ErrExists. When two processes replace or delete the same id in the same instant, the later one may win over a revision that it
// has not seen. Have one process write, or use buckets whose objects are written once.
//
// A bucket keeps no old content for those who are reading it. A read that begins, or goes on after a Seek, when the object has
// been replaced is an error and never other content: the download is cut off, and resuming it begins anew. To know that costs a
// second look at the metadata for each read that begins.
//
// The driver for folders writes metadata beside the content and not with it, so that a crash can part the two: for folders
// there is package files.
//
// The bucket does not remember what was deleted (404 and not 410), and knows no SHA-256 of what it has: what a client sends in
// Repr-Digest is checked all the same.
package bucket

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"mime"
	"net/url"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/tx"
)

// Store is a [resource.BlobStore] over a bucket. It is safe for concurrent use.
type Store struct {
	bucket *blob.Bucket
	seed   maphash.Seed
	locks  [64]sync.RWMutex // by id: writers exclude each other and those who are about to read
}

var _ resource.BlobStore = (*Store)(nil)

// New returns a store over a bucket, which the caller closes when nobody uses the store any more. There should be one Store
// for a bucket: two do not know of each other's writers, as two processes do not.
func New(b *blob.Bucket) *Store { return &Store{bucket: b, seed: maphash.MakeSeed()} }

// The names under which the metadata of an object has what the bucket does not know by itself.
const (
	revKey  = "stoa-rev"
	typeKey = "stoa-media-type"
)

func (s *Store) lock(id string) *sync.RWMutex {
	return &s.locks[maphash.String(s.seed, id)%uint64(len(s.locks))]
}

// valid reports whether an id can be a key: one segment, without what some service has a meaning for.
func valid(id string) bool {
	return id != "" && id != "." && id != ".." && len(id) <= 255 && utf8.ValidString(id) &&
		!strings.ContainsAny(id, `/\`) && !strings.ContainsFunc(id, unicode.IsControl)
}

// Open returns the object with this key. Its Content asks the bucket for bytes when they are read, and not before.
func (s *Store) Open(ctx context.Context, id string) (*resource.Blob, error) {
	if !valid(id) {
		return nil, resource.ErrNotFound
	}
	lock := s.lock(id)
	lock.RLock()
	defer lock.RUnlock()
	attrs, err := s.bucket.Attributes(ctx, id)
	if err != nil {
		return nil, translate(err)
	}
	b := describe(id, attrs)
	b.Content = &content{size: attrs.Size, open: func(at int64) (io.ReadCloser, error) {
		return s.read(ctx, id, b.Rev, at)
	}}
	return b, nil
}

// read opens an object at an offset, if it is still that of a revision. It looks after it has opened it: had the object
// been replaced before, it would see that.
func (s *Store) read(ctx context.Context, id string, rev resource.Rev, at int64) (io.ReadCloser, error) {
	lock := s.lock(id)
	lock.RLock()
	defer lock.RUnlock()
	r, err := s.bucket.NewRangeReader(ctx, id, at, -1, nil)
	if err != nil {
		return nil, err
	}
	attrs, err := s.bucket.Attributes(ctx, id)
	if err == nil && describe(id, attrs).Rev != rev {
		err = errReplaced
	}
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

var errReplaced = errors.New("bucket: the object has been replaced since it was opened")

// describe is what the bucket knows of an object.
func describe(id string, attrs *blob.Attributes) *resource.Blob {
	b := &resource.Blob{ID: id, Rev: resource.Rev(attrs.Metadata[revKey]), Modified: attrs.ModTime,
		Size:      attrs.Size,
		MediaType: attrs.ContentType}
	if b.Rev == "" { // somebody else's
		b.Rev = resource.Rev(fmt.Sprintf("plain-%s-%d-%d", attrs.ETag, attrs.ModTime.UnixNano(), attrs.Size))
	}
	if text, err := url.QueryUnescape(attrs.Metadata[typeKey]); err == nil && text != "" {
		b.MediaType = text
	}
	return b
}

// Put stores r as the object with this key. The object is there when its writer is closed, and that is when the revision is
// compared.
func (s *Store) Put(ctx context.Context, id string, expect resource.Rev, mediaType string,
	r io.Reader) (*resource.Blob, error) {
	if !valid(id) {
		return nil, resource.ErrNotFound
	}
	lock := s.lock(id)
	lock.RLock()
	err := s.expected(ctx, id, expect) // before anything is read
	lock.RUnlock()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	w, err := s.bucket.NewWriter(ctx, id, &blob.WriterOptions{
		ContentType: plainType(mediaType), IfNotExist: expect == "", Metadata: map[string]string{
			revKey: string(resource.NewRev()), typeKey: url.QueryEscape(mediaType)},
	})
	if err != nil {
		return nil, translate(err)
	}
	abandon := func(err error) error {
		cancel() // so that Close gives up
		_ = w.Close()
		return err
	}
	source := &remembering{r: r}
	if _, err := io.Copy(w, source); err != nil {
		if source.err == nil { // it was the bucket's
			err = translate(err)
		}
		return nil, abandon(err)
	}
	lock.Lock()
	defer lock.Unlock()
	if err := s.expected(ctx, id, expect); err != nil {
		return nil, abandon(err)
	}
	if err := w.Close(); err != nil {
		return nil, unsure(err)
	}
	attrs, err := s.bucket.Attributes(ctx, id)
	if err != nil {
		return nil, err // stored, but nobody can say as what
	}
	return describe(id, attrs), nil
}

// plainType is the media type as the bucket will take it.
func plainType(mediaType string) string {
	if _, _, err := mime.ParseMediaType(mediaType); err != nil {
		return "application/octet-stream"
	}
	return mediaType
}

// remembering tells the errors of the content from those of the bucket.
type remembering struct {
	r   io.Reader
	err error
}

func (m *remembering) Read(p []byte) (int, error) {
	n, err := m.r.Read(p)
	if err != nil && err != io.EOF {
		m.err = err
	}
	return n, err
}

// expected checks that a key has the revision that a writer expects; empty expects nothing there.
func (s *Store) expected(ctx context.Context, id string, expect resource.Rev) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	attrs, err := s.bucket.Attributes(ctx, id)
	switch {
	case gcerrors.Code(err) == gcerrors.NotFound && expect == "":
		return nil
	case gcerrors.Code(err) == gcerrors.NotFound:
		return resource.ErrStale
	case err != nil:
		return err
	case expect == "":
		return resource.ErrExists
	case describe(id, attrs).Rev != expect:
		return resource.ErrStale
	}
	return nil
}

// Delete removes the object.
func (s *Store) Delete(ctx context.Context, id string, expect resource.Rev) error {
	if !valid(id) {
		return resource.ErrNotFound
	}
	lock := s.lock(id)
	lock.Lock()
	defer lock.Unlock()
	attrs, err := s.bucket.Attributes(ctx, id)
	switch {
	case err != nil:
		return translate(err)
	case describe(id, attrs).Rev != expect:
		return resource.ErrStale
	}
	return unsure(s.bucket.Delete(ctx, id))
}

// unsure is translate for what came of a change: if the answer has not come in time, the change may have been made.
func unsure(err error) error {
	if gcerrors.Code(err) == gcerrors.DeadlineExceeded {
		return errors.Join(tx.ErrOutcomeUnknown, err)
	}
	return translate(err)
}

// translate turns an error of the bucket into one of the contract.
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
