package bucket

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"

	gcblob "gocloud.dev/blob"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
)

// listed is how many keys are kept in memory for a list in descending order.
const listed = 1000

// List implements [blob.Lister]. A bucket lists keys in ascending order from the first one, so the
// time for a page grows with the number of keys before it, which are read in pages of the service.
// The attributes of each blob are a request of their own.
func (s *Store) List(ctx context.Context, q blob.ListQuery) iter.Seq2[*blob.Blob, error] {
	return func(yield func(*blob.Blob, error) bool) {
		keys := s.keys
		if q.Reverse {
			keys = s.keysReversed
		}
		for key, err := range keys(ctx, q) {
			var b *blob.Blob
			if err == nil {
				b, err = s.stat(ctx, key)
			}
			if errors.Is(err, resource.ErrNotFound) {
				continue // deleted since
			}
			if !yield(b, err) || err != nil {
				return
			}
		}
	}
}

// stat returns a blob without its content.
func (s *Store) stat(ctx context.Context, key string) (*blob.Blob, error) {
	attrs, err := s.bucket.Attributes(ctx, key)
	if err != nil {
		return nil, translate(err)
	}
	return blobOf(key, attrs), nil
}

// keys yields the keys of a query in ascending order. The delimiter leaves out keys with a slash,
// which are not ids.
func (s *Store) keys(ctx context.Context, q blob.ListQuery) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		it := s.bucket.List(&gcblob.ListOptions{Prefix: q.Prefix, Delimiter: "/"})
		for {
			object, err := it.Next(ctx)
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield("", translate(err))
				return
			case object.IsDir || !s.isValidKey(object.Key):
				continue
			case q.Reverse && q.After != "" && object.Key >= q.After:
				return
			case !q.Contains(object.Key):
				continue
			}
			if !yield(object.Key, nil) {
				return
			}
		}
	}
}

// keysReversed yields the keys of a query in descending order. It lists the keys again for each
// 1,000 of them.
func (s *Store) keysReversed(ctx context.Context, q blob.ListQuery) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for {
			var last []string
			for key, err := range s.keys(ctx, q) {
				if err != nil {
					yield("", err)
					return
				}
				if last = append(last, key); len(last) == 2*listed {
					last = slices.Delete(last, 0, listed)
				}
			}
			last = last[max(0, len(last)-listed):]
			for _, key := range slices.Backward(last) {
				if !yield(key, nil) {
					return
				}
			}
			if len(last) < listed {
				return
			}
			q.After = last[0]
		}
	}
}
