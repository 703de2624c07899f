package resource

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/schema"
)

// Resource is a collection as it is served: with its schema, its policy and what clients can ask of it. It is a [Part]
// of a [Catalog], and its methods are what every door calls; no door reaches the collection another way.
//
// A Resource shows its items in one shape. [View] gives another shape of the same Resource.
//
// All methods are safe for concurrent use. The values they give out are pointers to the Go type of the shape, and the
// caller's to keep unless said otherwise.
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

// New serves a collection under a name, which is its path and its name in every description: "orders" is served at
// /orders. What the collection can do is seen from its methods. opts may be nil.
//
// It panics if the name cannot be a path segment, if T has no id field or cannot be a schema, if opts contradict T or
// each other, if one of Options.Samples is not valid, and if a method of c is named like one of a capability but has
// another signature.
func New[T any](name string, c Collection[T], opts *Options[T]) *Resource {
	return OpsOf(c).Resource(name, opts)
}

// Resource serves the operations under a name, as [New] serves a collection.
func (ops Ops[T]) Resource(name string, opts *Options[T]) *Resource {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of a resource: letters, digits and -_.~ can", name))
	}
	if ops.Get == nil || ops.List == nil {
		panic(fmt.Sprintf("resource: %s: Get and List must be set", name))
	}
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	typ := schema.For[T]()
	o.settle(name, typ)
	h := newCore(name, typ, ops, &o)
	s := &projection{typ: typ, id: h.id.Field, name: typ.Name, relations: h.relations}
	s.variants = etag.NewVariants(s.name, s.typ, mediaJSON)
	h.projections = []*projection{s}
	return newResource(h, s)
}

// Name returns the name it was given.
func (r *Resource) Name() string { return r.core.name }

// Type returns the schema of its items in the shape it shows.
func (r *Resource) Type() *schema.Type { return r.projection.typ }

// id returns the JSON name of the id field.
func (r *Resource) id() string { return r.projection.fieldOf(r.core.id.Name) }

// ValidID reports whether an item of the collection can have this id: an integer is written without sign and leading zeros, so
// 01 and +1 are not the item 1.
func (r *Resource) ValidID(id string) bool { return r.core.id.Canonical(id) }

// Can reports whether the collection can do op.
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

// Get returns one item. The error is [ErrNotFound] where there is none or the caller may not see it, and [ErrGone]
// where it was deleted and the caller may know.
func (r *Resource) Get(ctx context.Context, id string) (Entry, error) {
	e, err := r.find(ctx, id, nil)
	if err != nil {
		return Entry{}, r.wrap(OpGet, id, err)
	}
	return *e, nil
}

// GetPage is Get with pooled memory: the page has the item as its only entry, and is released by the caller.
func (r *Resource) GetPage(ctx context.Context, id string) (Page, error) {
	b := r.core.ops.newBuffer()
	if _, err := r.find(ctx, id, b); err != nil {
		b.release()
		return Page{}, r.wrap(OpGet, id, err)
	}
	return Page{Entries: b.entries(), buffer: b}, nil
}

// find is Get without a copy and without the place in errors. For b see core.load.
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

// Count returns how many items a filter selects, of those that the caller may see. See [Description].Counts.
func (r *Resource) Count(ctx context.Context, f query.Filter) (int, error) {
	if !r.Describe().Counts {
		return 0, r.wrap(OpList, "", errNoCount)
	}
	q, err := r.storeQuery(ctx, query.Query{Filter: f})
	if err != nil {
		return 0, r.wrap(OpList, "", err)
	}
	n, err := r.core.ops.count(ctx, query.Query{Filter: q.Filter})
	if err != nil {
		return 0, r.wrap(OpList, "", err)
	}
	return n, nil
}

var errNoCount = errors.New("the collection is not counted")

// storeQuery turns a query in the names of the shape into one for the collection: fields renamed, the shape's own
// condition and the caller's scope added.
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
