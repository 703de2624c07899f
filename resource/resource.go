package resource

// Resource: construction, reading one item, and counting. Called by applications and protocols.
// Writes are in write.go, lists in list.go, events in watch.go. It calls read.go.

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/schema"
)

// Resource is a collection with its schema, its policy and the queries that clients can make. It is
// a [Part] of a [Catalog]. Protocols access a collection only by the methods of Resource and [Raw].
//
// [New] and [View] return definitions. A definition can be in several catalogs, and reads and writes by
// itself. [Catalog.Resource] returns it bound to a catalog, with the relations of the definition, which
// lead to other resources of that catalog.
//
// A Resource returns its items as one Go type. [View] returns a Resource of the same collection
// with another type.
//
// All methods are safe for concurrent use. The values that they return are pointers to the Go type
// and belong to the caller, unless documented otherwise.
type Resource struct {
	core        *core
	projection  *projection
	idNames     []string            // the JSON name of the id field, for schema.DecodeOptions
	description func() *Description // calls newDescription once
	definition  *Resource           // itself, unless it is bound
	env         *env                // never nil
}

// Raw has what protocols need of a Resource and programs do not: encoded items, revisions and entity tags
// without the items, and what a record of an idempotency key keeps. [Resource.Raw] returns it.
type Raw struct{ r *Resource }

// Raw returns the methods for protocols.
func (r *Resource) Raw() Raw { return Raw{r} }

// env is what a catalog adds to a definition. That of a definition is empty.
type env struct {
	// context returns the context of what the catalog calls. It is nil for a definition.
	context   func(ctx context.Context) context.Context
	relations map[string]*link
	// target is the result of QueryTarget; sorts and groups are its paths of fields of related items.
	target        *query.Target
	sorts, groups []string
	joins         map[*query.Join]*core // of sort keys and groups -> the related items
}

func newResource(c *core, p *projection) *Resource {
	r := &Resource{core: c, projection: p, env: &env{}}
	r.definition = r
	r.idNames = []string{r.id()}
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
	found = o.settle(typ)
	if o.Restore {
		found = append(found, ops.restoreMistakes()...)
	}
	found = append(found, o.aggregateMistakes(&ops)...)
	found = append(found, ops.searchMistakes(o.Query)...)
	mistakes.Panic("resource: "+name, found)
	mistakes.Panic("resource: "+name, mistakes.OfStore("Options.Query", o.Query, typ, ops.CheckSupport))
	c := newCore(name, typ, ops, &o)
	if mistake := c.tryScope(); mistake != "" {
		panic("resource: " + name + ": " + mistake)
	}
	p := &projection{typ: typ, id: c.id.Field, name: typ.Name, relations: c.relations}
	p.variants = etag.NewVariants(p.name, p.typ, mediaJSON)
	p.shape, p.pageShape = cache.NewShape(), cache.NewShape()
	c.projections = []*projection{p}
	return newResource(c, p)
}

// Name returns the name of the resource.
func (r *Resource) Name() string { return r.core.name }

// Type returns the schema of the items that the methods return.
func (r *Resource) Type() *schema.Type { return r.projection.typ }

// id returns the JSON name of the id field.
func (r *Resource) id() string { return r.projection.fieldOf(r.core.id.Name) }

// idField returns the id field of the projection.
func (r *Resource) idField() *schema.Field { return r.projection.id }

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
	case OpRestore:
		return ops.restore != nil
	}
	return false
}

// Get returns one item. The error is [ErrNotFound] if it does not exist or the caller may not see
// it, and [ErrGone] if it was deleted and the caller may know that.
func (r *Resource) Get(ctx context.Context, id string) (Entry, error) {
	ctx = r.inCatalog(ctx)
	var e *Entry
	err := r.core.limited(ctx, func(ctx context.Context) (err error) {
		e, err = r.find(ctx, id, nil)
		return err
	})
	if err != nil {
		return Entry{}, r.wrap(OpGet, id, err)
	}
	r.projection.conceal(e, false)
	return *e, nil
}

// GetPage is Get with pooled memory. The item is the only entry of the page. The caller must call
// Page.Release.
func (raw Raw) GetPage(ctx context.Context, id string) (Page, error) {
	r := raw.r
	ctx = r.inCatalog(ctx)
	b := r.core.ops.newBuffer()
	err := r.core.limited(ctx, func(ctx context.Context) error {
		e, err := r.find(ctx, id, b)
		if err == nil {
			r.projection.conceal(e, false)
		}
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
	if err == nil {
		err = r.projection.show(e)
	}
	if errors.Is(err, errHidden) {
		err = r.core.hidden(ctx, id)
	}
	if err != nil {
		return nil, err
	}
	if e.Rev == "" {
		e.Rev = r.projection.contentRev(e.Value)
	}
	return e, nil
}

// AppendJSON appends the JSON of an entry that r has read with ctx: Entry.JSON, or else the encoding of
// Entry.Value, which is taken from the cache if possible. It must not be called for the result of a
// write, nor for an entry that was read with a selection of fields. After an error it returns dst
// unchanged.
func (raw Raw) AppendJSON(ctx context.Context, dst []byte, e *Entry) ([]byte, error) {
	r := raw.r
	if e.JSON != nil {
		return append(dst, e.JSON...), nil
	}
	items := r.core.cacheFor(ctx)
	if items == nil || e.Rev == "" {
		return r.projection.typ.Append(dst, e.Value)
	}
	key := r.projection.cacheKey(e)
	if item := items.Get(key); item != nil {
		return append(dst, item...), nil
	}
	start := len(dst)
	dst, err := r.projection.typ.Append(dst, e.Value)
	if err == nil {
		items.Put(key, dst[start:])
	}
	return dst, err
}

// wrap returns err as an [*Error], or nil. It converts field names of a store's or hook's error to this
// projection.
func (r *Resource) wrap(op Op, id string, err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	// A problem of up of a view has the view's names already.
	return &Error{Op: op, Resource: r.core.name, ID: id, Err: fielderr.Locate(err, r.projection.pointer)}
}

// inCatalog returns the context of a read or write, and of the hooks and policy that it calls.
func (r *Resource) inCatalog(ctx context.Context) context.Context {
	if r.env.context == nil {
		return ctx
	}
	return r.env.context(ctx)
}

// HasRevisions reports whether [Raw.GetRevision] is available: the collection is a [Revisioner], and
// neither policy nor a view needs the value. Unless conditional is set, it also reports whether
// GetRevision is worth its cost: reads do no I/O, and the cache may have the item.
func (raw Raw) HasRevisions(conditional bool) bool {
	r := raw.r
	c := r.core
	return c.ops.getRevision != nil && c.ops.authorize == nil && c.scope == nil && r.projection.down == nil &&
		(conditional || c.inMemory && c.cache.Load() != nil)
}

// GetRevision returns the revision of an item and when it was modified, which is zero if unknown. The errors
// are those of [Resource.Get]. [Raw.CachedJSON] may have the item. GetRevision must not be called if
// [Raw.HasRevisions] is false.
func (raw Raw) GetRevision(ctx context.Context, id string) (rev Rev, modified time.Time, err error) {
	r := raw.r
	c := r.core
	if !c.id.Canonical(id) {
		return "", time.Time{}, r.wrap(OpGet, id, ErrNotFound)
	}
	if c.readTimeout == 0 {
		rev, modified, err = c.ops.getRevision(ctx, id)
	} else {
		rev, modified, err = c.limitedRevision(ctx, id)
	}
	if err != nil {
		return "", time.Time{}, r.wrap(OpGet, id, c.absent(ctx, id, err))
	}
	return rev, modified, nil
}

// CachedJSON returns the JSON of an item with a revision that [Raw.GetRevision] has returned for
// ctx, and nil if the cache does not have it. The caller must not change it.
func (raw Raw) CachedJSON(ctx context.Context, id string, rev Rev) []byte {
	r := raw.r
	items := r.core.cacheFor(ctx)
	if items == nil || rev == "" {
		return nil
	}
	return items.Get(cache.Key{Shape: r.projection.shape, ID: id, Rev: string(rev)})
}
