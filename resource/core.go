package resource

import (
	"context"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/keylock"
	"github.com/stoa-go/stoa/resource/internal/keys"
	"github.com/stoa-go/stoa/resource/internal/recent"
	"github.com/stoa-go/stoa/resource/internal/sharedfeed"
	"github.com/stoa-go/stoa/resource/schema"
)

// core is what all shapes of a resource share: the collection behind erased types, the policy and the write loop. An
// erased value is a *T in an any, which costs nothing to make.
type core struct {
	name    string
	typ     *schema.Type
	id      *keys.ID
	validID func(id string) bool // id.Canonical
	query   query.Support
	ops     erased
	locks   keylock.Locks
	// reserved are the ids that no item can have, since a command is at their path: string -> true. A catalog adds to it
	// when it is made, and others may be at work then.
	reserved sync.Map
	// publisher is nil as long as no catalog with a Feed has the core.
	publisher     atomic.Pointer[publisher]
	source        sharedfeed.Source              // of a collection that tells its changes by itself; then there is no publisher
	unpublishable recent.Set[unpublishableEvent] // the newest, which have been logged

	scope         func(ctx context.Context) (query.Filter, error)
	authorizeGone func(ctx context.Context, id string) error
	relations     []*relation
	samples       []any         // *T
	projections   []*projection // every shape it is served in; the first is the stored

	public, noEvents, requireIfMatch, allowRecreate bool
	hideGone                                        bool // authorizeGone was not given and says no to everybody

	pageSize, maxPageSize int
}

// Entry is an [Item] with its type erased.
type Entry struct {
	ID       string
	Rev      Rev
	Modified time.Time // zero if unknown
	Next     string    // only from stores of natural order
	Value    any       // a pointer to the Go type of the shape

	stored any // the *T behind Value, which is Value itself where the shape is the stored
}

func newCore[T any](name string, typ *schema.Type, ops Ops[T], o *Options[T]) *core {
	h := &core{
		name: name, typ: typ, query: o.Query, scope: o.Scope, authorizeGone: o.AuthorizeGone, public: o.Public,
		noEvents: o.NoEvents, requireIfMatch: o.RequireIfMatch, allowRecreate: o.AllowRecreate,
		pageSize: o.PageSize, maxPageSize: o.MaxPageSize,
	}
	h.id = keys.NewID(idField(name, typ, o.ID))
	h.validID = h.id.Canonical
	if h.authorizeGone == nil && (o.Authorize != nil || o.Scope != nil) {
		h.hideGone = true
		h.authorizeGone = func(context.Context, string) error { return ErrNotFound }
	}
	for i := range o.Samples {
		sample := o.Samples[i]
		h.samples = append(h.samples, &sample)
	}
	h.checkSamples()
	for _, rel := range o.Relations {
		h.relations = append(h.relations, eraseRelation(h, rel))
	}
	h.ops = erase(h, ops, o)
	return h
}

// idField returns the field that Options.ID names, and panics if it cannot be one.
func idField(name string, typ *schema.Type, id string) *schema.Field {
	f := typ.Field(id)
	if f == nil {
		panic("resource: " + name + ": " + typ.GoType.String() + " has no field with the JSON name " +
			strconv.Quote(id) + "; say in Options.ID which one identifies an item")
	}
	if k := f.Type.Kind; f.Nullable || k != schema.String && k != schema.Integer {
		panic("resource: " + name + ": the id field " + strconv.Quote(id) + " must be a string or an integer")
	}
	return f
}

// complete checks what a store gave and completes it: the id from the value, or the value's id from the item.
func (h *core) complete(e *Entry) error {
	e.stored = e.Value
	if e.Rev == "" && (h.ops.replace != nil || h.ops.delete != nil) {
		return storeFault("gave item %q without a revision", e.ID)
	}
	switch {
	case e.ID == "":
		if e.ID = h.id.Of(e.Value); e.ID == "" {
			return storeFault("gave an item without an id")
		}
	case h.id.Is(e.Value, e.ID):
	case h.id.IsZero(e.Value):
		if err := h.id.SetText(e.Value, e.ID); err != nil {
			return storeFault("gave the id %q, which its id field cannot hold", e.ID)
		}
	default:
		return storeFault("gave the id %q for the item whose id field says %q", e.ID, h.id.Text(e.Value))
	}
	return nil
}
