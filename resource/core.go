package resource

// The core of a resource: the collection without its type parameter, and the policy, shared by all
// projections. Made by resource.go; used by every file that reads or writes. It calls untyped.go.

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/internal/asread"
	"github.com/stoa-go/stoa/resource/internal/deleted"
	"github.com/stoa-go/stoa/resource/internal/keylock"
	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/internal/operand"
	"github.com/stoa-go/stoa/resource/internal/recent"
	"github.com/stoa-go/stoa/resource/internal/sharedfeed"
	"github.com/stoa-go/stoa/resource/internal/stamps"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// core is what all projections of a resource share: the collection without its type parameter, the
// policy and the locks. Values are a *T in an any.
type core struct {
	name string
	typ  *schema.Type
	// schemaID is typ.Fingerprint, in events.
	schemaID string
	id       *keys.ID
	key      []string             // the fields that determine the id: those of its Key, or itself
	validID  func(id string) bool // id.Canonical
	query    query.Support
	ops      erased
	locks    keylock.Locks
	// reserved has the ids that no item can have because a command has their path: string -> true.
	// A catalog adds to it when it is made, concurrently with requests of other catalogs.
	reserved sync.Map
	// publisher is nil if no catalog with a Feed has the core.
	publisher     atomic.Pointer[publisher]
	source        sharedfeed.Source              // of a [feed.Watcher], which has no publisher
	unpublishable recent.Set[unpublishableEvent] // recent ones, which have been logged

	stamps     stamps.Fields
	now        func() time.Time              // for stamps
	principals atomic.Pointer[[]principalOf] // of all catalogs; see attachPrincipal

	cache   atomic.Pointer[cache.Cache] // of the first catalog with one
	noCache bool
	// scopeComplete: groups are made without authorize.
	scopeComplete bool
	// cold is how many lists will not look into the cache, after it had too few items.
	cold atomic.Int32
	// inMemory: reads of the collection do no I/O.
	inMemory bool

	scope         func(ctx context.Context) (query.Filter, error)
	hasForms      bool // the type has decimals or durations
	authorizeGone func(ctx context.Context, id string) error
	relations     []*relation
	samples       []any         // *T
	projections   []*projection // the first is the stored type

	public, noEvents, requireIfMatch, allowRecreate bool
	hideGone                                        bool // authorizeGone hides every deleted item
	keepsDeleted                                    bool // the collection is a Restorer
	// deletions has the ids that were deleted last. It is nil if the collection records deletions
	// itself, or if no caller may know of them.
	deletions *deleted.IDs
	// hooksInTx makes each write one transaction, from reading the item to storing the new value.
	hooksInTx bool

	pageSize, maxPageSize int
	readTimeout           time.Duration // 0 if there is none
}

// principalOf is the CatalogOptions.Principal of a catalog.
type principalOf struct {
	catalog any // *Catalog
	name    func(ctx context.Context) string
}

// Entry is an [Item] without its type parameter.
type Entry struct {
	ID string
	// Rev is the revision of the item. In a [View] that hides fields it is a hash of what the view shows
	// and, in pages, empty: see [Resource.ETag].
	Rev      Rev
	Modified time.Time // zero if unknown, and in a [View] that hides fields
	Next     string    // only from stores of natural order
	// Value is a pointer to the Go type of the Resource. It is nil if a write returns the ID or the
	// JSON alone ([Key.Raw]), or an item that cannot be shown ([Raw.NotShown]).
	Value any
	// JSON is the encoded item, which the caller must not change. [Raw.ListJSON] and
	// [Raw.PagesJSON] set it, in general without a Value.
	JSON []byte

	// stored is the *T as it was read, which is never changed. It is the pointer in Value unless the
	// Resource is a view.
	stored any
	keys   []any // of Item
}

// newCore returns the core of a resource, without types: from here on items are pointers in values
// of type any. The options have been checked.
func newCore[T any](name string, typ *schema.Type, ops Ops[T], o *Options[T]) *core {
	c := &core{
		name:           name,
		typ:            typ,
		schemaID:       typ.Fingerprint(),
		query:          o.Query,
		scope:          o.Scope,
		hasForms:       operand.NeedsConversion(typ),
		authorizeGone:  o.AuthorizeGone,
		public:         o.Public,
		noEvents:       o.NoEvents,
		noCache:        o.NoCache,
		scopeComplete:  o.ScopeComplete,
		inMemory:       ops.InMemory,
		requireIfMatch: o.RequireIfMatch,
		allowRecreate:  o.AllowRecreate,
		keepsDeleted:   ops.Restore != nil,
		pageSize:       o.PageSize,
		maxPageSize:    o.MaxPageSize,
	}
	c.id = keys.NewID(typ.Field(o.ID))
	c.validID = c.id.Canonical
	c.stamps, c.now = stamps.Of(typ), o.Now
	if c.key = []string{c.id.Name}; c.id.Key != nil {
		c.key = namesOf(c.id.Key)
	}
	if c.authorizeGone == nil && (o.Authorize != nil || o.Scope != nil) {
		c.hideGone = true
		c.authorizeGone = func(context.Context, string) error { return ErrNotFound }
	}
	for i := range o.Samples {
		sample := o.Samples[i]
		c.id.Compose(&sample)
		c.samples = append(c.samples, &sample)
	}
	for _, rel := range o.Relations {
		c.relations = append(c.relations, eraseRelation(c, rel))
	}
	if o.ReadTimeout > 0 && !ops.InMemory {
		c.readTimeout = o.ReadTimeout
	}
	c.ops = erase(c, ops, o)
	if c.id.Key != nil && c.ops.insert != nil {
		c.ops.create = nil // each new item has an id
	}
	if c.ops.delete != nil && c.ops.deleted == nil && !c.hideGone {
		c.deletions = deleted.New(o.RecentDeletes)
	}
	c.hooksInTx = !o.HooksOutsideTx && c.ops.runner != nil && (o.Before != nil || o.Authorize != nil)
	return c
}

// attachCache sets the cache of the resource unless an earlier catalog has. The items of a collection that
// does not return revisions may depend on more than those.
func (c *core) attachCache(items *cache.Cache) {
	if items.Fits(0) && !c.noCache && (c.ops.getRevision != nil || c.ops.listRevisions != nil) {
		c.cache.CompareAndSwap(nil, items)
	}
}

// cacheFor returns the cache for reads with ctx, and nil if they must not use it.
func (c *core) cacheFor(ctx context.Context) *cache.Cache {
	items := c.cache.Load()
	if items == nil || tx.Active(ctx) {
		return nil
	}
	return items
}

// complete checks an item that a store returned. It sets the id from the value, or the value's id
// field from the item.
func (c *core) complete(e *Entry) error {
	e.stored = e.Value
	if e.Rev == "" && (c.ops.replace != nil || c.ops.delete != nil) {
		return storeFault("returned item %q without a revision", e.ID)
	}
	if c.id.Key != nil {
		return c.completeKey(e)
	}
	switch {
	case e.ID == "":
		if e.ID = c.id.Of(e.Value); e.ID == "" {
			return storeFault("returned an item without an id")
		}
	case c.id.Is(e.Value, e.ID):
	case c.id.IsZero(e.Value):
		if err := c.id.SetText(e.Value, e.ID); err != nil {
			return storeFault("returned the id %q, which does not fit the type of the id field", e.ID)
		}
	default:
		return storeFault("returned the id %q for an item with the id field %q", e.ID, c.id.Text(e.Value))
	}
	return nil
}

// checkRevision is complete for an item without a value.
func (c *core) checkRevision(id string, rev Rev) error {
	switch {
	case id == "":
		return storeFault("returned an item without an id and a value")
	case rev == "" && (c.ops.replace != nil || c.ops.delete != nil):
		return storeFault("returned item %q without a revision", id)
	}
	return nil
}

// checkFound is checkRevision for an item that was requested by id.
func (c *core) checkFound(found *Revision, id string) error {
	if found.ID != id {
		return storeFault("returned item %q for the id %q", found.ID, id)
	}
	return c.checkRevision(id, found.Rev)
}

// completeKey is complete for an item with a composite id.
func (c *core) completeKey(e *Entry) error {
	id := c.id.Compose(e.Value)
	switch {
	case id == "":
		return storeFault("returned an item without %s, which are the id", strings.Join(c.key, " or "))
	case e.ID != "" && e.ID != id:
		return storeFault("returned the id %q for an item with the key %q", e.ID, id)
	}
	e.ID = id
	return nil
}

// foreign reports whether a program with another type of the items has written a document, which may
// lack fields. schemaID is that of the document; empty means the type of this program.
func (c *core) foreign(schemaID string) bool { return schemaID != "" && schemaID != c.schemaID }

// joinedField returns the field of a sort key of r, or of a group, that is a field of related items.
func (r *Resource) joinedField(key *query.JoinedField) *schema.Field {
	return r.env.joins[key.Join].typ.Field(key.Field)
}

// keepRow replaces ctx by one in which the store can keep the row of an item, from its Get to its Replace.
// Collections in memory have no rows.
func (c *core) keepRow(ctx *context.Context, id string) *asread.Context {
	if c.inMemory {
		return nil
	}
	return asread.Begin(ctx, id)
}
