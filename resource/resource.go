package resource

// Resource: construction, reading one item, and counting. Called by applications and protocols.
// Writes are in write.go, lists in list.go, events in watch.go. It calls read.go.

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/schema"
)

// Resource is a collection with its schema, its policy and the queries that clients can make. It is
// a [Part] of a [Catalog]. Protocols access a collection only by the methods of Resource.
//
// A Resource returns its items as one Go type. [View] returns a Resource of the same collection
// with another type.
//
// All methods are safe for concurrent use. The values that they return are pointers to the Go type
// and belong to the caller, unless documented otherwise.
type Resource struct {
	core        *core
	projection  *projection
	description func() *Description // calls newDescription once
}

func newResource(c *core, p *projection) *Resource {
	r := &Resource{core: c, projection: p}
	r.description = sync.OnceValue(r.newDescription)
	return r
}

var validName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.~-]*$`)

// New returns a Resource for c. name is its path and its name in every description: "orders" is
// served at /orders. The methods of c determine the operations. opts may be nil.
//
// New panics if name is not a path segment, if c is nil or a nil pointer, if T is a pointer, has no id
// field or no schema, if opts contradict T or each other, if one of Options.Samples is not valid, or
// if c has a method with the name of a capability and another signature. The text has all mistakes of
// T, of opts or of the methods with their fixes; the README.md of this folder lists them.
func New[T any](name string, c Collection[T], opts *Options[T]) *Resource {
	return OpsOf(c).Resource(name, opts)
}

// Resource returns a Resource for the operations, like [New] for a collection.
func (ops Ops[T]) Resource(name string, opts *Options[T]) *Resource {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("resource: invalid resource name %q; use letters, digits and -_.~", name))
	}
	if ops.Get == nil || ops.List == nil {
		panic(fmt.Sprintf("resource: %s: Ops.Get and Ops.List must be set", name))
	}
	typ, found := mistakes.TypeOf[T]()
	mistakes.Panic("resource: "+name, found)
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	mistakes.Panic("resource: "+name, o.settle(typ))
	h := newCore(name, typ, ops, &o)
	s := &projection{typ: typ, id: h.id.Field, name: typ.Name, relations: h.relations}
	s.variants = etag.NewVariants(s.name, s.typ, mediaJSON)
	h.projections = []*projection{s}
	return newResource(h, s)
}

// Name returns the name of the resource.
func (r *Resource) Name() string { return r.core.name }

// Type returns the schema of the items that the methods return.
func (r *Resource) Type() *schema.Type { return r.projection.typ }

// id returns the JSON name of the id field.
func (r *Resource) id() string { return r.projection.fieldOf(r.core.id.Name) }

// ValidID reports whether an item can have this id. An integer id has no plus sign and no leading
// zeros: 01 and +1 are not valid.
func (r *Resource) ValidID(id string) bool { return r.core.id.Canonical(id) }

// Can reports whether the collection supports op, whatever the policy. OpReplace includes an
// [Inserter], for which Put can only create.
func (r *Resource) Can(op Op) bool {
	switch ops := &r.core.ops; op {
	case OpGet, OpList:
		return true
	case OpCreate:
		return ops.create != nil || ops.insert != nil
	case OpReplace:
		return ops.replace != nil || ops.insert != nil
	case OpPatch:
		return ops.replace != nil
	case OpDelete:
		return ops.delete != nil
	}
	return false
}

// Get returns one item. The error is [ErrNotFound] if it does not exist or the caller may not see
// it, and [ErrGone] if it was deleted and the caller may know that.
func (r *Resource) Get(ctx context.Context, id string) (Entry, error) {
	var e *Entry
	err := r.core.limited(ctx, func(ctx context.Context) (err error) {
		e, err = r.find(ctx, id, nil)
		return err
	})
	if err != nil {
		return Entry{}, r.wrap(OpGet, id, err)
	}
	return *e, nil
}

// GetPage is Get with pooled memory. The item is the only entry of the page. The caller must call
// Page.Release.
func (r *Resource) GetPage(ctx context.Context, id string) (Page, error) {
	b := r.core.ops.newBuffer()
	err := r.core.limited(ctx, func(ctx context.Context) error {
		_, err := r.find(ctx, id, b)
		return err
	})
	if err != nil {
		b.release()
		return Page{}, r.wrap(OpGet, id, err)
	}
	return Page{Entries: b.entries(), buffer: b}, nil
}

// find is Get that returns the Entry by pointer and errors without an [*Error]. For b see core.load.
func (r *Resource) find(ctx context.Context, id string, b buffer) (*Entry, error) {
	e, err := r.core.load(ctx, id, b)
	if err != nil {
		return nil, err
	}
	if err := r.projection.show(e); err != nil {
		return nil, err
	}
	if e.Rev == "" {
		e.Rev = r.projection.contentRev(e.Value)
	}
	return e, nil
}

// Count returns the number of items that f selects and the caller may see. If [Description].Counts
// is false, it returns an internal error.
func (r *Resource) Count(ctx context.Context, f query.Filter) (int, error) {
	if !r.Describe().Counts {
		return 0, r.wrap(OpList, "", errNoCount)
	}
	q, err := r.storeQuery(ctx, query.Query{Filter: f})
	if err != nil {
		return 0, r.wrap(OpList, "", err)
	}
	var n int
	err = r.core.limited(ctx, func(ctx context.Context) (err error) {
		n, err = r.core.ops.count(ctx, query.Query{Filter: q.Filter})
		return err
	})
	if err != nil {
		return 0, r.wrap(OpList, "", err)
	}
	return n, nil
}

var errNoCount = errors.New("the collection does not support counting")

// storeQuery converts a query from the names of this projection to those of the collection. It adds
// the filters of the projection and the caller's scope.
func (r *Resource) storeQuery(ctx context.Context, q query.Query) (query.Query, error) {
	f, err := r.projection.filterToStore(q.Filter)
	if err != nil {
		return q, err
	}
	q.Filter = f
	if len(r.projection.where) > 0 {
		q.Filter = query.And(append([]query.Filter{f}, r.projection.where...)...)
	}
	scope, err := r.core.scopeOf(ctx)
	if err != nil {
		return q, err
	}
	q.Filter = query.And(q.Filter, scope)
	if r.projection.storeNames == nil {
		return q, nil
	}
	q.Sort = slices.Clone(q.Sort)
	for i := range q.Sort {
		q.Sort[i].Field = r.projection.storeNames[q.Sort[i].Field]
	}
	return q, nil
}
