package blob

// The list of a collection: a read-only resource of the metadata of its blobs. Protocols serve it as
// any other resource. New creates it if the store is a Lister; order.go publishes its events.

import (
	"context"
	"encoding/hex"
	"iter"
	"strings"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// Lister is a [Store] that lists its blobs. The collection then has GET and HEAD at its path, a type
// in GraphQL, and events.
type Lister interface {
	// List yields the metadata of blobs, without Content, in the order of the bytes of their ids. A
	// blob that is stored or deleted at the same time may be yielded or not. The iterator is used
	// once and yields nothing after an error. The consumer may stop early.
	List(ctx context.Context, q ListQuery) iter.Seq2[*Blob, error]
}

// ListQuery selects blobs of a [Lister].
type ListQuery struct {
	// Prefix is how the ids begin. Empty selects all.
	Prefix string
	// After is an id, of a blob that exists or not. The list begins after it, in its order. Empty
	// begins at the start.
	After string
	// Reverse is the descending order.
	Reverse bool
}

// Contains reports whether an id is part of the result.
func (q *ListQuery) Contains(id string) bool {
	if !strings.HasPrefix(id, q.Prefix) {
		return false
	}
	return q.After == "" || q.Reverse && id < q.After || !q.Reverse && id > q.After
}

// The doc comments of File are the descriptions that clients see.
//
//go:generate go run ../schema/describe

// File is the metadata of a file. Its content is at its path.
type File struct {
	// ID is the name, which is the last segment of the path.
	ID string `json:"id" maxLength:"255"`
	// Size is the size of the content in bytes.
	Size int64 `json:"size" minimum:"0"`
	// MediaType is the media type of the content; absent if unknown.
	MediaType string `json:"mediaType,omitzero"`
	// SHA256 is the SHA-256 of the content in hexadecimal; absent if unknown.
	SHA256 string `json:"sha256,omitzero"`
	// Modified is the time at which the content was stored; absent if unknown.
	Modified time.Time `json:"modified,omitzero"`
}

// File returns the metadata of the blob, and nil for nil.
func (b *Blob) File() *File {
	if b == nil {
		return nil
	}
	return &File{ID: b.ID, Size: b.Size, MediaType: b.MediaType, SHA256: hex.EncodeToString(b.SHA256),
		Modified: known(b.Modified).UTC()}
}

// blob returns what a policy sees of the metadata, and nil for nil.
func (f *File) blob() *Blob {
	if f == nil {
		return nil
	}
	sum, _ := hex.DecodeString(f.SHA256) // nil if it is not known
	return &Blob{ID: f.ID, Modified: f.Modified, MediaType: f.MediaType, Size: f.Size, SHA256: sum}
}

// Items returns the resource of the metadata, and nil if the store is not a [Lister] or
// Options.NoList is set. Its items are of the type [File].
func (c *Collection) Items() *resource.Resource { return c.items }

// newItems returns the resource for Items.
func (c *Collection) newItems(lister Lister) *resource.Resource {
	opts := &resource.Options[File]{
		Query: query.Support{Filter: map[string][]query.Op{"id": {query.Eq, query.StartsWith}},
			Sort: []string{"id"}},
		Public: c.opts.Public,
	}
	if authorize := c.opts.Authorize; authorize != nil {
		opts.Authorize = func(ctx context.Context, op resource.Op, before, after *File) error {
			return authorize(ctx, op, before.blob(), after.blob())
		}
	}
	return resource.Ops[File]{
		Get: func(ctx context.Context, id string) (resource.Item[File], error) {
			b, err := c.statStored(ctx, id)
			if err != nil {
				return resource.Item[File]{}, err
			}
			return b.item(), nil
		},
		List: func(ctx context.Context, q query.Query) iter.Seq2[resource.Item[File], error] {
			return func(yield func(resource.Item[File], error) bool) { list(ctx, lister, q, yield) }
		},
	}.Resource(c.name, opts)
}

// item returns the metadata as an item.
func (b *Blob) item() resource.Item[File] {
	return resource.Item[File]{ID: b.ID, Rev: b.Rev, Modified: known(b.Modified), Value: *b.File()}
}

// list yields the items of a query. Ids that cannot be in a path are left out: the store may contain
// objects of other programs.
func list(ctx context.Context, lister Lister, q query.Query, yield func(resource.Item[File], error) bool) {
	lq := ListQuery{Prefix: prefixOf(q.Filter), Reverse: len(q.Sort) > 0 && q.Sort[0].Desc}
	if q.After != nil {
		lq.After, _ = q.After[0].(string)
	}
	n := 0
	for b, err := range lister.List(ctx, lq) {
		switch {
		case err != nil:
			yield(resource.Item[File]{}, err)
			return
		case b == nil || b.Rev == "" || b.Size < 0:
			yield(resource.Item[File]{}, storeFault("listed a blob without a revision or a size"))
			return
		case !validID(b.ID) || !query.Match(q.Filter, func(string) any { return b.ID }):
			continue
		}
		if n++; !yield(b.item(), nil) || n == q.Limit {
			return
		}
	}
}

// prefixOf returns a prefix of all ids that match a filter. Only the id can be filtered.
func prefixOf(f query.Filter) string {
	switch f.Op {
	case query.Eq, query.StartsWith:
		text, _ := f.Value.(string)
		return text
	case query.AndOp:
		longest := ""
		for _, part := range f.Filters {
			if p := prefixOf(part); len(p) > len(longest) {
				longest = p
			}
		}
		return longest
	}
	return ""
}
