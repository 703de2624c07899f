package resource

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// core is what all shapes of a resource share: the collection behind erased types, the policy and the write loop. An
// erased value is a *T in an any, which costs nothing to make.
type core struct {
	name   string
	typ    *schema.Type
	id     *schema.Field
	idKind reflect.Kind // see hasID
	query  query.Support
	ops    erased
	locks  keyedLocks
	// reserved are the ids that no item can have, since a command is at their path: string -> true. A catalog adds to it
	// when it is made, and others may be at work then.
	reserved sync.Map
	// publisher is nil as long as no catalog with a Feed has the core.
	publisher     atomic.Pointer[publisher]
	source        source // of a collection that tells its changes by itself; then there is no publisher
	unpublishable unpublishableEvents

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
	h.id = idField(name, typ, o.ID)
	h.idKind = kindOfID(h.id)
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

// settle checks what a store gave and completes it: the id from the value, or the value's id from the item.
func (h *core) complete(e *Entry) error {
	e.stored = e.Value
	if e.Rev == "" && (h.ops.replace != nil || h.ops.delete != nil) {
		return storeFault("gave item %q without a revision", e.ID)
	}
	switch {
	case e.ID == "":
		if e.ID = h.idOf(e.Value); e.ID == "" {
			return storeFault("gave an item without an id")
		}
	case h.hasID(e.Value, e.ID):
	case h.id.IsZero(e.Value):
		if err := h.id.SetText(e.Value, e.ID); err != nil {
			return storeFault("gave the id %q, which its id field cannot hold", e.ID)
		}
	default:
		return storeFault("gave the id %q for the item whose id field says %q", e.ID, h.id.Text(e.Value))
	}
	return nil
}

// idValue returns the id field in v.
func (h *core) idValue(v any) reflect.Value {
	f := reflect.ValueOf(v).Elem().Field(h.id.Index[0])
	for _, i := range h.id.Index[1:] {
		f = f.Field(i)
	}
	return f
}

// idOf returns what the id field of v says.
func (h *core) idOf(v any) string {
	if h.idKind == reflect.String {
		return h.idValue(v).String()
	}
	return h.id.Text(v)
}

// hasID reports whether the id field of v says id. It is asked for every row of every list, so it builds no strings.
func (h *core) hasID(v any, id string) bool {
	f := h.idValue(v)
	switch h.idKind {
	case reflect.String:
		return f.String() == id
	case reflect.Int64:
		if n := f.Int(); n >= 0 {
			return isDecimal(id, uint64(n))
		}
	case reflect.Uint64:
		return isDecimal(id, f.Uint())
	}
	return h.id.Text(v) == id
}

// isDecimal reports whether s is how strconv would write n.
func isDecimal(s string, n uint64) bool {
	for i := len(s) - 1; i > 0; i-- {
		if s[i] != byte('0'+n%10) {
			return false
		}
		n /= 10
	}
	return len(s) > 0 && n < 10 && s[0] == byte('0'+n) && (n > 0 || len(s) == 1)
}

// kindOfID tells hasID how the id field can be read without building a string; reflect.Invalid if it cannot.
func kindOfID(f *schema.Field) reflect.Kind {
	switch k := f.Type.GoType.Kind(); {
	case f.Type.GoType == reflect.TypeFor[string]():
		return reflect.String
	case f.Type.Kind == schema.Integer && k >= reflect.Int && k <= reflect.Int64:
		return reflect.Int64
	case f.Type.Kind == schema.Integer && k >= reflect.Uint && k <= reflect.Uint64:
		return reflect.Uint64
	}
	return reflect.Invalid
}

// load returns one item that the caller may see. Ids that are not written the one canonical way are no items; the store
// is not asked about them. The entry is in b, and valid until that is released, or, for nil, in memory of its own.
func (h *core) load(ctx context.Context, id string, b buffer) (*Entry, error) {
	var scope query.Filter
	if h.scope != nil { // before all else: its error must not depend on what is there
		var err error
		if scope, err = h.scope(ctx); err != nil {
			return nil, err
		}
	}
	if !h.canonical(id) {
		return nil, ErrNotFound
	}
	e, err := h.ops.get(ctx, id, b)
	if err != nil {
		return nil, h.absent(ctx, id, err)
	}
	if e.ID != id {
		return nil, storeFault("gave item %q when asked for %q", e.ID, id)
	}
	if h.scope == nil && h.ops.authorize == nil {
		return e, nil
	}
	return e, h.visible(ctx, e, &scope)
}

// scopeOf returns what the caller may see at all.
func (h *core) scopeOf(ctx context.Context) (query.Filter, error) {
	if h.scope == nil {
		return query.Filter{}, nil
	}
	return h.scope(ctx)
}

// ValidID reports whether an item of the collection can have this id: an integer is written without sign and leading zeros, so
// 01 and +1 are not the item 1.
func (r *Resource) ValidID(id string) bool { return r.core.canonical(id) }

// canonical reports whether id is spelled as the id field would spell it: 01 and +1 are not the item 1.
func (h *core) canonical(id string) bool {
	if h.id.Type.Kind != schema.Integer {
		return id != ""
	}
	digits := id
	if digits != "" && digits[0] == '-' && !h.id.Type.Unsigned {
		digits = digits[1:]
	}
	if digits == "" || digits[0] == '0' && len(id) > 1 {
		return false
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return false
		}
	}
	if len(digits) <= h.id.Type.Bits*3/10-1 { // fits: a bit is 0.301 digits
		return true
	}
	_, err := h.id.Parse(id)
	return err == nil
}

// absent says why there is no item: it never was, or it was deleted and the caller may know that.
func (h *core) absent(ctx context.Context, id string, err error) error {
	switch {
	case errors.Is(err, ErrGone):
	case errors.Is(err, ErrNotFound) && h.ops.deleted != nil:
		switch _, dead := h.ops.deleted(ctx, id); {
		case errors.Is(dead, ErrNotFound):
			return ErrNotFound
		case dead != nil:
			return dead
		}
	default:
		return err
	}
	if h.authorizeGone != nil && h.authorizeGone(ctx, id) != nil {
		return errHiddenGone
	}
	return ErrGone
}

// What the caller may not know of is not found. Only PUT must tell: the id is not free for a new item.
var (
	errHidden     = fmt.Errorf("%w: it is hidden from the caller", ErrNotFound)
	errHiddenGone = fmt.Errorf("%w: that it is gone is hidden from the caller", ErrNotFound)
)

// visible returns errHidden if the caller may not see the item, so that it looks as if there were none.
func (h *core) visible(ctx context.Context, e *Entry, scope *query.Filter) error {
	if h.scope != nil && !query.Match(*scope, h.values(e.stored)) {
		return errHidden
	}
	return h.readable(ctx, e)
}

// readable is the half of visible that a list has still to ask when it has put the scope into its query.
func (h *core) readable(ctx context.Context, e *Entry) error {
	if h.ops.authorize == nil {
		return nil
	}
	err := h.ops.authorize(ctx, OpGet, e.stored, nil)
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}

// values gives [query.Match] the fields of v.
func (h *core) values(v any) func(string) any {
	return func(name string) any {
		if f := h.typ.Field(name); f != nil {
			return f.Get(v)
		}
		return nil
	}
}
