package resource

// The core of a resource: the collection without its type parameter, and the policy, shared by all
// projections. Made by resource.go; used by every file that reads or writes. It calls untyped.go.

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/deleted"
	"github.com/stoa-go/stoa/resource/internal/keylock"
	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/internal/recent"
	"github.com/stoa-go/stoa/resource/internal/sharedfeed"
	"github.com/stoa-go/stoa/resource/schema"
)

// core is what all projections of a resource share: the collection without its type parameter, the
// policy and the locks. Values are a *T in an any.
type core struct {
	name string
	typ  *schema.Type
	// schemaID is typ.Fingerprint, in events.
	schemaID string
	id       *keys.ID
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

	scope         func(ctx context.Context) (query.Filter, error)
	authorizeGone func(ctx context.Context, id string) error
	relations     []*relation
	samples       []any         // *T
	projections   []*projection // the first is the stored type

	public, noEvents, requireIfMatch, allowRecreate bool
	hideGone                                        bool // authorizeGone hides every deleted item
	// deletions has the ids that were deleted last. It is nil if the collection records deletions
	// itself, or if no caller may know of them.
	deletions *deleted.IDs
	// hooksInTx makes each write one transaction, from reading the item to storing the new value.
	hooksInTx bool

	pageSize, maxPageSize int
	readTimeout           time.Duration // 0 if there is none
}

// Entry is an [Item] without its type parameter.
type Entry struct {
	ID       string
	Rev      Rev
	Modified time.Time // zero if unknown
	Next     string    // only from stores of natural order
	// Value is a pointer to the Go type of the Resource. It is nil if a write returns the ID or the
	// JSON alone ([Key.Raw]), or an item that cannot be shown ([Resource.NotShown]).
	Value any

	// stored is the *T as it was read, which is never changed. It is the pointer in Value unless the
	// Resource is a view.
	stored any
}

// newCore returns the core of a resource, without types: from here on items are pointers in values
// of type any. The options have been checked.
func newCore[T any](name string, typ *schema.Type, ops Ops[T], o *Options[T]) *core {
	h := &core{
		name:           name,
		typ:            typ,
		schemaID:       typ.Fingerprint(),
		query:          o.Query,
		scope:          o.Scope,
		authorizeGone:  o.AuthorizeGone,
		public:         o.Public,
		noEvents:       o.NoEvents,
		requireIfMatch: o.RequireIfMatch,
		allowRecreate:  o.AllowRecreate,
		pageSize:       o.PageSize,
		maxPageSize:    o.MaxPageSize,
	}
	h.id = keys.NewID(typ.Field(o.ID))
	h.validID = h.id.Canonical
	if h.authorizeGone == nil && (o.Authorize != nil || o.Scope != nil) {
		h.hideGone = true
		h.authorizeGone = func(context.Context, string) error { return ErrNotFound }
	}
	for i := range o.Samples {
		sample := o.Samples[i]
		h.samples = append(h.samples, &sample)
	}
	for _, rel := range o.Relations {
		h.relations = append(h.relations, eraseRelation(h, rel))
	}
	if o.ReadTimeout > 0 && !ops.InMemory {
		h.readTimeout = o.ReadTimeout
	}
	h.ops = erase(h, ops, o)
	if h.ops.delete != nil && h.ops.deleted == nil && !h.hideGone {
		h.deletions = deleted.New(o.RecentDeletes)
	}
	h.hooksInTx = !o.HooksOutsideTx && h.ops.runner != nil && (o.Before != nil || o.Authorize != nil)
	return h
}

// complete checks an item that a store returned. It sets the id from the value, or the value's id
// field from the item.
func (h *core) complete(e *Entry) error {
	e.stored = e.Value
	if e.Rev == "" && (h.ops.replace != nil || h.ops.delete != nil) {
		return storeFault("returned item %q without a revision", e.ID)
	}
	switch {
	case e.ID == "":
		if e.ID = h.id.Of(e.Value); e.ID == "" {
			return storeFault("returned an item without an id")
		}
	case h.id.Is(e.Value, e.ID):
	case h.id.IsZero(e.Value):
		if err := h.id.SetText(e.Value, e.ID); err != nil {
			return storeFault("returned the id %q, which does not fit the type of the id field", e.ID)
		}
	default:
		return storeFault("returned the id %q for an item with the id field %q", e.ID, h.id.Text(e.Value))
	}
	return nil
}

// foreign reports whether a program with another type of the items has written a document, which may
// lack fields. schemaID is that of the document; empty means the type of this program.
func (c *core) foreign(schemaID string) bool { return schemaID != "" && schemaID != c.schemaID }
