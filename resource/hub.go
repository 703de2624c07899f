package resource

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// hub is what all shapes of a resource share: the collection behind erased types, the policy and the write loop. An
// erased value is a *T in an any, which costs nothing to make.
type hub struct {
	name   string
	typ    *schema.Type
	id     *schema.Field
	idKind reflect.Kind // see hasID
	query  query.Support
	ops    erased
	locks  keyedLocks

	scope         func(ctx context.Context) (query.Filter, error)
	authorizeGone func(ctx context.Context, id string) error
	relations     []*relation
	shapes        []*shape // every shape it is served in; the first is the hub's own

	public, requireIfMatch, allowRecreate, etagOnPut bool
	hideGone                                         bool // authorizeGone was not given and says no to everybody

	repeatedDelete        int
	cache                 []string // a header value
	pageSize, maxPageSize int
}

// erased are the operations and hooks of a collection with T taken out of their types. nil is absent.
type erased struct {
	get     func(ctx context.Context, id string, b batch) (*Entry, error) // in b, or in memory of its own for nil
	list    func(ctx context.Context, q query.Query, b batch) error
	create  func(ctx context.Context, v any) (*Entry, error)
	insert  func(ctx context.Context, id string, v any) (*Entry, error)
	replace func(ctx context.Context, id string, expect Rev, v any) (*Entry, error)
	delete  func(ctx context.Context, id string, expect Rev) error
	deleted func(ctx context.Context, id string) (time.Time, error)
	count   func(ctx context.Context, q query.Query) (int, error)
	getMany func(ctx context.Context, ids []string, b batch) error
	listBy  func(ctx context.Context, field string, keys []string, q query.Query, b batch) error
	runner  tx.Runner

	authorize func(ctx context.Context, op Op, before, after any) error
	before    func(ctx context.Context, op Op, before, after any) error
	after     func(ctx context.Context, op Op, before, after any)

	newBatch func() batch
}

// Entry is an [Item] with its type erased.
type Entry struct {
	ID       string
	Rev      Rev
	Modified time.Time // zero if unknown
	Next     string    // only from stores of natural order
	Value    any       // a pointer to the Go type of the shape

	hub any // the *T behind Value, which is Value itself where the shape is the hub's own
}

// batch is a reusable buffer for the items of one page. It is drained before user code runs, so that a hook may call
// the store again.
type batch interface {
	entries() []Entry
	release()
}

func newHub[T any](name string, typ *schema.Type, ops Ops[T], o *Options[T]) *hub {
	h := &hub{
		name: name, typ: typ, query: o.Query, scope: o.Scope, authorizeGone: o.AuthorizeGone, public: o.Public,
		requireIfMatch: o.RequireIfMatch, allowRecreate: o.AllowRecreate, etagOnPut: o.AlwaysETagOnPut,
		repeatedDelete: o.RepeatedDelete, cache: []string{o.Cache}, pageSize: o.PageSize, maxPageSize: o.MaxPageSize,
	}
	h.id = idField(name, typ, o.ID)
	h.idKind = kindOfID(h.id)
	if h.authorizeGone == nil && (o.Authorize != nil || o.Scope != nil) {
		h.hideGone = true
		h.authorizeGone = func(context.Context, string) error { return ErrNotFound }
	}
	for _, rel := range o.Relations {
		h.relations = append(h.relations, eraseRelation(rel))
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

// erase takes T out of the types. It is the only place where the two worlds meet.
func erase[T any](h *hub, ops Ops[T], o *Options[T]) erased {
	pool := newBatchPool[T](h)
	e := erased{newBatch: pool.get, deleted: ops.Deleted, delete: ops.Delete, count: ops.Count}
	e.get = func(ctx context.Context, id string, b batch) (*Entry, error) {
		item, err := ops.Get(ctx, id)
		if b == nil || err != nil {
			return entryOf(h, id, &item, err)
		}
		return b.(*pageBuffer[T]).put(id, &item)
	}
	e.list = func(ctx context.Context, q query.Query, b batch) error {
		return drain(ctx, b.(*pageBuffer[T]), ops.List(ctx, q), q.Limit)
	}
	if ops.Create != nil {
		e.create = func(ctx context.Context, v any) (*Entry, error) {
			item, err := ops.Create(ctx, *v.(*T))
			return entryOf(h, "", &item, err)
		}
	}
	if ops.Insert != nil {
		e.insert = func(ctx context.Context, id string, v any) (*Entry, error) {
			item, err := ops.Insert(ctx, id, *v.(*T))
			return entryOf(h, id, &item, err)
		}
	}
	if ops.Replace != nil {
		e.replace = func(ctx context.Context, id string, expect Rev, v any) (*Entry, error) {
			item, err := ops.Replace(ctx, id, expect, *v.(*T))
			return entryOf(h, id, &item, err)
		}
	}
	if ops.GetMany != nil {
		e.getMany = func(ctx context.Context, ids []string, b batch) error {
			return drain(ctx, b.(*pageBuffer[T]), ops.GetMany(ctx, ids), len(ids))
		}
	}
	if ops.ListBy != nil {
		e.listBy = func(ctx context.Context, field string, keys []string, q query.Query, b batch) error {
			return drain(ctx, b.(*pageBuffer[T]), ops.ListBy(ctx, field, keys, q), len(keys)*q.Limit)
		}
	}
	if ops.Transactions != nil {
		e.runner = ops.Transactions()
	}
	eraseHooks(&e, o)
	return e
}

// entryOf erases the type of an item that a store gave. Value and entry lie in one piece of memory. id is the one that was
// asked for, so that a store need not say it again.
func entryOf[T any](h *hub, id string, item *Item[T], err error) (*Entry, error) {
	if err != nil {
		return nil, err
	}
	if item.ID == "" {
		item.ID = id
	}
	held := &struct {
		Entry
		value T
	}{Entry{ID: item.ID, Rev: item.Rev, Modified: item.Modified, Next: item.Next}, item.Value}
	held.Value = &held.value
	return &held.Entry, h.settle(&held.Entry)
}

func eraseHooks[T any](e *erased, o *Options[T]) {
	ptr := func(v any) *T { p, _ := v.(*T); return p }
	if fn := o.Authorize; fn != nil {
		e.authorize = func(ctx context.Context, op Op, before, after any) error {
			return fn(ctx, op, ptr(before), ptr(after))
		}
	}
	if fn := o.Before; fn != nil {
		e.before = func(ctx context.Context, op Op, before, after any) error {
			return fn(ctx, op, ptr(before), ptr(after))
		}
	}
	if fn := o.After; fn != nil {
		e.after = func(ctx context.Context, op Op, before, after any) { fn(ctx, op, ptr(before), ptr(after)) }
	}
}

// settle checks what a store gave and completes it: the id from the value, or the value's id from the item.
func (h *hub) settle(e *Entry) error {
	e.hub = e.Value
	if e.Rev == "" && (h.ops.replace != nil || h.ops.delete != nil) {
		return storeFault("gave item %q without a revision", e.ID)
	}
	switch {
	case e.ID == "":
		if e.ID = h.id.Text(e.Value); e.ID == "" {
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

// hasID reports whether the id field of v says id. It is asked for every row of every list, so it builds no strings.
func (h *hub) hasID(v any, id string) bool {
	f := reflect.ValueOf(v).Elem().Field(h.id.Index[0])
	for _, i := range h.id.Index[1:] {
		f = f.Field(i)
	}
	var buf [20]byte
	switch h.idKind {
	case reflect.String:
		return f.String() == id
	case reflect.Int64:
		return string(strconv.AppendInt(buf[:0], f.Int(), 10)) == id
	case reflect.Uint64:
		return string(strconv.AppendUint(buf[:0], f.Uint(), 10)) == id
	}
	return h.id.Text(v) == id
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
func (h *hub) load(ctx context.Context, id string, b batch) (*Entry, error) {
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
	if e.Rev == "" {
		e.Rev = h.contentRev(e.Value)
	}
	return e, h.visible(ctx, e)
}

// canonical reports whether id is spelled as the id field would spell it: 01 and +1 are not the item 1.
func (h *hub) canonical(id string) bool {
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
func (h *hub) absent(ctx context.Context, id string, err error) error {
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
func (h *hub) visible(ctx context.Context, e *Entry) error {
	if h.scope != nil {
		scope, err := h.scope(ctx)
		if err != nil {
			return err
		}
		if !query.Match(scope, h.values(e.hub)) {
			return errHidden
		}
	}
	return h.readable(ctx, e)
}

// readable is the half of visible that a list has still to ask when it has put the scope into its query.
func (h *hub) readable(ctx context.Context, e *Entry) error {
	if h.ops.authorize == nil {
		return nil
	}
	err := h.ops.authorize(ctx, OpGet, e.hub, nil)
	if err == nil || errors.Is(err, ErrUnauthenticated) || isContextError(err) {
		return err
	}
	if errors.Is(err, ErrForbidden) || errors.Is(err, ErrNotFound) {
		return errHidden
	}
	return err
}

// values gives [query.Match] the fields of v.
func (h *hub) values(v any) func(string) any {
	return func(name string) any {
		if f := h.typ.Field(name); f != nil {
			return f.Get(v)
		}
		return nil
	}
}

func isContextError(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// batchPool and pageBuffer keep the items of a page in one piece of memory that is used again.
type batchPool[T any] struct {
	hub  *hub
	pool sync.Pool
}

type pageBuffer[T any] struct {
	pool   *batchPool[T]
	values []T
	rows   []Entry
}

func newBatchPool[T any](h *hub) *batchPool[T] {
	p := &batchPool[T]{hub: h}
	p.pool.New = func() any { return &pageBuffer[T]{pool: p} }
	return p
}

func (p *batchPool[T]) get() batch { return p.pool.Get().(*pageBuffer[T]) }

func (b *pageBuffer[T]) entries() []Entry { return b.rows }

// put adds one item, which was asked for by id.
func (b *pageBuffer[T]) put(id string, item *Item[T]) (*Entry, error) {
	if cap(b.rows) == len(b.rows) || cap(b.values) == len(b.values) {
		b.grow(2*len(b.rows) + 1)
	}
	if item.ID == "" {
		item.ID = id
	}
	b.values = append(b.values, item.Value)
	b.rows = append(b.rows, Entry{ID: item.ID, Rev: item.Rev, Modified: item.Modified, Next: item.Next})
	e := &b.rows[len(b.rows)-1]
	e.Value = &b.values[len(b.values)-1]
	return e, b.pool.hub.settle(e)
}

// release gives the buffer back. What it holds is forgotten, so that a rare large page is not kept alive.
func (b *pageBuffer[T]) release() {
	clear(b.values)
	clear(b.rows)
	b.values, b.rows = b.values[:0], b.rows[:0]
	if cap(b.values) <= 1024 {
		b.pool.pool.Put(b)
	}
}

// drain reads seq into b, max items at most if max is not zero. Only then may anything else be done: a store with one
// connection holds it as long as the iterator runs.
func drain[T any](ctx context.Context, b *pageBuffer[T], seq iter.Seq2[Item[T], error], max int) error {
	b.grow(max)
	for item, err := range seq {
		if err != nil {
			return err
		}
		if _, err := b.put("", &item); err != nil {
			return err
		}
		if len(b.rows) == max {
			break // whatever the store thinks, more was not asked for
		}
	}
	return ctx.Err()
}

// grow makes room for n items. Those that are there may move, and the rows with them.
func (b *pageBuffer[T]) grow(n int) {
	n = min(n, 1024+len(b.rows))
	b.rows = slices.Grow(b.rows, max(0, n-len(b.rows)))
	b.values = slices.Grow(b.values, max(0, n-len(b.values)))
	for i := range b.rows {
		b.rows[i].Value, b.rows[i].hub = &b.values[i], &b.values[i]
	}
}
