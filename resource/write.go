package resource

import (
	"context"
	"errors"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// WriteOptions adjust one write. nil is the zero value.
type WriteOptions struct {
	// If are conditions on the item as it is.
	If Preconditions
	// Existing makes Put replace what is there and nothing else: where nothing is, the error is [ErrNotFound] or [ErrGone],
	// also if the collection is an [Inserter].
	Existing bool
	// Lenient ignores members of a document that the schema does not know, instead of refusing them.
	Lenient bool
	// NewID is the id of a new item whose document names none, in place of one that the store would choose: that of
	// [idempotency.DerivedID], for a creation that may be one that has been begun before. If there is an item with this id it
	// is the one that was created then, and is returned. It needs a collection whose ids can be chosen; see
	// [Catalog.Guarantee].
	NewID string
	// MaxDepth and MaxNames bound a document: how deep it nests (64 if zero), and how many members an object of it has
	// (1000 if zero).
	MaxDepth, MaxNames int
}

// Outcome says what a write did.
type Outcome uint8

// The outcomes.
const (
	Unchanged Outcome = iota // there was nothing to change, and nothing was written
	Created                  // there was no such item before
	Replaced                 // the item has a new revision
)

// Create takes in a new item from a JSON document. If the document names an id the collection must be an [Inserter],
// else a [Creator].
func (r *Resource) Create(ctx context.Context, doc []byte, opts *WriteOptions) (Entry, error) {
	e, err := r.create(ctx, doc, opts.orZero())
	if err != nil {
		return Entry{}, r.wrap(OpCreate, "", err)
	}
	return e, nil
}

func (r *Resource) create(ctx context.Context, doc []byte, opts *WriteOptions) (Entry, error) {
	id, v, err := r.readNew(doc, opts)
	if err != nil {
		return Entry{}, err
	}
	return r.createValue(ctx, id, v, opts)
}

// createValue is create for what has been read.
func (r *Resource) createValue(ctx context.Context, id string, v any, opts *WriteOptions) (Entry, error) {
	if id == "" && opts.NewID != "" {
		return r.createDerived(ctx, opts.NewID, v)
	}
	e, err := r.insertLocked(ctx, id, v)
	if errors.Is(err, ErrGone) {
		err = r.wrap(OpCreate, id, ErrExists)
	}
	return e, err
}

// createDerived is create under an id that follows from a key. What is there already is what an attempt before has made.
func (r *Resource) createDerived(ctx context.Context, id string, v any) (Entry, error) {
	if err := r.core.id.SetText(v, id); err != nil {
		return Entry{}, err
	}
	e, err := r.insertLocked(ctx, id, v)
	if !errors.Is(err, ErrExists) {
		return e, err
	}
	return r.Get(ctx, id)
}

// readNew reads the document of a new item into a value of the core. The id is empty if it is the store's to choose.
func (r *Resource) readNew(doc []byte, opts *WriteOptions) (id string, v any, err error) {
	h := r.core
	dec := opts.decode(schema.Create, nil)
	if h.ops.insert == nil {
		dec.ReadOnly = []string{r.ID()}
	} else if h.ops.create != nil {
		dec.Filled = []string{r.ID()}
	}
	if v, err = r.projection.typ.Decode(doc, dec); err != nil {
		return "", nil, err
	}
	if v, err = r.newStored(v); err != nil {
		return "", nil, err
	}
	if !h.id.IsZero(v) {
		id = h.id.Text(v)
	}
	if id == "" && h.ops.create == nil {
		return "", nil, schema.Violations{{Pointer: "/" + r.ID(), Code: "required", Detail: "an id is required"}}
	}
	return id, v, nil
}

// insertNew lets a new item in: policy first, then the store. An empty id is the store's to choose. again is true if an id
// that was deleted may come back; otherwise it is refused even where the store would take it.
func (r *Resource) insertNew(ctx context.Context, id string, v any, again bool) (Entry, error) {
	h := r.core
	if err := r.checkNew(ctx, id, v); err != nil {
		return Entry{}, err
	}
	e, err := h.write(ctx, storeChange{kind: feed.Created, id: id, recreate: again, after: v})
	if err != nil {
		return Entry{}, r.wrap(OpCreate, id, err)
	}
	h.afterCommit(ctx, OpCreate, nil, e.stored)
	return r.written(e), nil
}

// checkNew is the part of insertNew before the store is asked.
func (r *Resource) checkNew(ctx context.Context, id string, v any) error {
	if id != "" {
		if err := checkNewID(id); err != nil {
			return schema.Violations{{Pointer: "/" + r.ID(), Code: "format", Detail: err.Error()}}
		}
		if _, reserved := r.core.reserved.Load(id); reserved {
			return reservedID(pointerTo(r.ID()))
		}
	}
	return r.checkWrite(ctx, OpCreate, nil, v)
}

// insert stores a new item under an id that the client chose. An id that was deleted is ErrGone, unless it may come
// again and the store takes it.
func (h *core) insert(ctx context.Context, id string, v any, again bool) (*Entry, error) {
	if !again && h.ops.deleted != nil {
		switch _, err := h.ops.deleted(ctx, id); {
		case err == nil:
			return nil, ErrGone
		case !errors.Is(err, ErrNotFound):
			return nil, err
		}
	}
	return h.ops.insert(ctx, id, v)
}

// maxID is the size in bytes of the longest id that a client may choose. Escaped it still fits into a URL.
const maxID = 1024

var errID = errors.New("an id is valid UTF-8 without control characters, of at most 1024 bytes, and neither one dot nor two")

// checkNewID refuses ids that no client could ask for again.
func checkNewID(id string) error {
	if id == "." || id == ".." || len(id) > maxID || !utf8.ValidString(id) {
		return errID
	}
	for _, c := range id {
		if unicode.IsControl(c) {
			return errID
		}
	}
	return nil
}

// Put stores a JSON document as the item with this id: in place of what is there, or as a new item if the collection is
// an [Inserter].
func (r *Resource) Put(ctx context.Context, id string, doc []byte, opts *WriteOptions) (Entry, Outcome, error) {
	o := opts.orZero()
	insert := func() (Entry, error) { return r.putNew(ctx, id, doc, o) }
	if o.Existing {
		insert = nil
	}
	return r.change(ctx, OpReplace, id, o, r.nextOf(doc, o), insert)
}

// nextOf returns what makes the new value of the shape from the current entry and the document of a PUT.
func (r *Resource) nextOf(doc []byte, o *WriteOptions) func(cur Entry) (any, error) {
	return func(cur Entry) (any, error) {
		dec := o.decode(schema.Replace, cur.Value)
		dec.ReadOnly = []string{r.ID()}
		return r.projection.typ.Decode(doc, dec)
	}
}

// putNew is Put where nothing is.
func (r *Resource) putNew(ctx context.Context, id string, doc []byte, o *WriteOptions) (Entry, error) {
	s := r.projection
	dec := o.decode(schema.Create, nil)
	dec.Filled = []string{r.ID()}
	v, err := s.typ.Decode(doc, dec)
	if err != nil {
		return Entry{}, err
	}
	f := s.typ.Field(r.ID())
	switch {
	case f.IsZero(v):
		if err := f.SetText(v, id); err != nil {
			return Entry{}, ErrNotFound // no item can ever have this id
		}
	case f.Text(v) != id:
		return Entry{}, schema.Violations{{Pointer: "/" + f.Name, Code: "mismatch",
			Detail: "the id is not the one in the path"}}
	}
	if bad := s.typ.Validate(v); len(bad) > 0 {
		return Entry{}, schema.Violations(bad)
	}
	hubValue, err := r.newStored(v)
	if err != nil {
		return Entry{}, err
	}
	return r.insertNew(ctx, id, hubValue, true) // mayInsert has judged that
}

// newStored makes a new item of the core from a document of this shape.
func (r *Resource) newStored(v any) (any, error) {
	if r.projection.up == nil {
		return v, nil
	}
	hubValue, err := r.projection.toStored(v, nil, false)
	if err != nil || r.projection.id.IsZero(v) {
		return hubValue, err
	}
	if err := r.core.id.SetText(hubValue, r.projection.id.Text(v)); err != nil { // up need not know about ids
		return nil, schema.Violations{{Pointer: pointerTo(r.ID()), Code: "range", Detail: "no item can have this id"}}
	}
	return hubValue, nil
}

// Patch changes parts of the item with this id.
func (r *Resource) Patch(ctx context.Context, id string, p *patch.Patch, opts *WriteOptions) (Entry, Outcome, error) {
	o := opts.orZero()
	return r.change(ctx, OpPatch, id, o, func(cur Entry) (any, error) {
		doc, err := r.projection.typ.AppendFull(nil, cur.Value)
		if err != nil {
			return nil, err
		}
		doc, err = applyPatch(p, r.projection.typ, doc)
		if err != nil {
			return nil, err
		}
		dec := o.decode(schema.Patched, cur.Value)
		dec.ReadOnly = []string{r.ID()}
		return r.projection.typ.Decode(doc, dec)
	}, nil)
}

// change is the write loop of Put and Patch. next makes the new value of the shape from the current entry; insert, if
// the operation may bring an item into being, does so.
func (r *Resource) change(ctx context.Context, op Op, id string, o *WriteOptions,
	next func(cur Entry) (any, error), insert func() (Entry, error)) (e Entry, out Outcome, err error) {
	err = r.core.withRetry(ctx, id, func() error {
		cur, err := r.current(ctx, id)
		if insert != nil && r.core.ops.insert != nil && r.mayInsert(err) {
			if err := o.If.check(r.core, nil); err != nil {
				return err
			}
			e, err = insert()
			if errors.Is(err, ErrExists) {
				return ErrStale // somebody was faster: now it is there, so judge again
			}
			out = Created
			return err
		}
		if err != nil {
			return err // and not 412: RFC 9110 section 13.2.1
		}
		if err := o.If.check(r.core, &cur); err != nil {
			return r.orForbidden(ctx, op, cur, next, err)
		}
		e, out, err = r.replace(ctx, op, cur, next)
		return r.staleError(ctx, id, o, err)
	})
	if err != nil {
		return Entry{}, 0, r.wrap(op, id, err)
	}
	return e, out, nil
}

// orForbidden returns what policy says of a write whose condition failed, if it refuses it, and else the failure: whoever
// may not write is told that, and not which condition would have held (RFC 9110 section 13.2.1). Policy judges values, so
// a document of which none can be made is left at the failure.
func (r *Resource) orForbidden(ctx context.Context, op Op, cur Entry, next func(Entry) (any, error), failed error) error {
	if r.core.ops.authorize == nil {
		return failed
	}
	v, err := r.next(op, cur, next)
	if err != nil {
		return failed
	}
	if err := r.core.authorize(ctx, op, cur.stored, v); err != nil {
		return err
	}
	return failed
}

// tooLate ends the loop for a client that named the revision it wants to change: if that is history, to try again is of
// no use. err is what the write came back with; whatever it is for others, it stays.
func (r *Resource) staleError(ctx context.Context, id string, o *WriteOptions, err error) error {
	if !errors.Is(err, ErrStale) || !o.If.namesRevision() {
		return err
	}
	cur, err := r.current(ctx, id)
	if err != nil {
		return err // gone comes before 412
	}
	if err := o.If.check(r.core, &cur); err != nil {
		return err // with the tag that is current
	}
	return &failedError{field: "If-Match"}
}

// mayInsert reports whether err, from looking for the item, leaves room for a new one.
func (r *Resource) mayInsert(err error) bool {
	switch {
	case errors.Is(err, errHidden):
		return false
	case errors.Is(err, ErrGone), errors.Is(err, errHiddenGone):
		return r.core.allowRecreate
	}
	return errors.Is(err, ErrNotFound)
}

// current returns the item in this shape, as the loop has to judge it.
func (r *Resource) current(ctx context.Context, id string) (Entry, error) {
	cur, err := r.find(ctx, id, nil)
	if err != nil {
		return Entry{}, err
	}
	return *cur, nil
}

// replace writes what next makes of cur, unless that is nothing new.
func (r *Resource) replace(ctx context.Context, op Op, cur Entry, next func(Entry) (any, error)) (Entry, Outcome, error) {
	v, changed, err := r.revise(ctx, op, cur, next)
	if err != nil || !changed {
		return cur, Unchanged, err
	}
	return r.store(ctx, op, cur, v)
}

// revise returns the value of the core that is to take the place of cur, unless that is nothing new. Policy has approved.
func (r *Resource) revise(
	ctx context.Context, op Op, cur Entry, next func(Entry) (any, error),
) (v any, changed bool, err error) {
	h := r.core
	if h.ops.replace == nil { // PUT serves only to insert
		return nil, false, ErrExists
	}
	if v, err = r.next(op, cur, next); err != nil {
		return nil, false, err
	}
	if h.typ.Equal(cur.stored, v) { // policy is asked all the same, or its silence would tell that a writeOnly value was guessed
		return v, false, h.authorize(ctx, op, cur.stored, v)
	}
	return v, true, r.checkWrite(ctx, op, cur.stored, v)
}

// store writes a value that has been approved in place of cur.
func (r *Resource) store(ctx context.Context, op Op, cur Entry, v any) (Entry, Outcome, error) {
	e, err := r.core.write(ctx, storeChange{kind: feed.Updated, id: cur.ID, rev: cur.Rev, before: cur.stored, after: v})
	if err != nil {
		return Entry{}, 0, err
	}
	r.core.afterCommit(ctx, op, cur.stored, e.stored)
	return r.written(e), Replaced, nil
}

// written returns what a write left behind, in this shape. That it cannot be shown there, since the store made something
// of it that this contract has no words for, does not undo the write: then there is no Value.
func (r *Resource) written(e *Entry) Entry {
	if r.projection.show(e) != nil {
		e.Value = nil
	}
	return *e
}

// next returns the value of the core that next makes of cur.
func (r *Resource) next(op Op, cur Entry, next func(Entry) (any, error)) (any, error) {
	v, err := next(cur)
	if err != nil || r.projection.up == nil {
		return v, err
	}
	// Copies, so that up shares nothing a client can write with what policy and hooks are shown.
	base := func() (any, error) { return r.core.clone(cur.stored) }
	return r.projection.toStored(v, base, op == OpReplace && r.projection.reset)
}

// Delete removes the item with this id and returns it as it was.
func (r *Resource) Delete(ctx context.Context, id string, opts *WriteOptions) (Entry, error) {
	o := opts.orZero()
	var e Entry
	err := r.core.withRetry(ctx, id, func() error {
		cur, err := r.current(ctx, id)
		if err != nil {
			return err
		}
		// Policy needs no content here, so it comes before the conditions (RFC 9110 section 13.2.1).
		if err := r.checkWrite(ctx, OpDelete, cur.stored, nil); err != nil {
			return err
		}
		if err := o.If.check(r.core, &cur); err != nil {
			return err
		}
		if _, err := r.core.write(ctx, storeChange{kind: feed.Deleted, id: id, rev: cur.Rev, before: cur.stored}); err != nil {
			return r.staleError(ctx, id, o, err)
		}
		r.core.afterCommit(ctx, OpDelete, cur.stored, nil)
		e = cur
		return nil
	})
	if err != nil {
		return Entry{}, r.wrap(OpDelete, id, err)
	}
	return e, nil
}

// approve asks hook and policy about a write, and checks what the hook or a view made of the value. Of a deletion the hook
// can change nothing, so policy comes first there: what a hook says of an item is not for everybody.
func (r *Resource) checkWrite(ctx context.Context, op Op, before, after any) error {
	h := r.core
	if after == nil {
		if err := h.authorize(ctx, op, before, nil); err != nil || h.ops.before == nil {
			return err
		}
		return h.ops.before(ctx, op, before, nil)
	}
	if h.ops.before != nil {
		if err := h.ops.before(ctx, op, before, after); err != nil {
			return err
		}
	}
	if h.ops.before != nil || r.projection.up != nil {
		bad := h.typ.Validate(after)
		if h.id.IsZero(after) { // the store will choose it
			bad = slices.DeleteFunc(bad, func(v schema.Violation) bool { return v.Pointer == "/"+h.id.Name })
		}
		if len(bad) > 0 {
			return r.projection.translate(bad)
		}
		if !r.projection.expresses(after) {
			return problem.New(problem.Invalid, "The item would be one that this version of the API cannot show.")
		}
	}
	scope, err := h.scopeOf(ctx)
	if err != nil {
		return err
	}
	if !scope.IsZero() && !query.Match(scope, h.values(after)) { // what one could not see afterwards, one may not make
		return ErrForbidden
	}
	return h.authorize(ctx, op, before, after)
}

// permit asks Options.Authorize, if it is there.
func (h *core) authorize(ctx context.Context, op Op, before, after any) error {
	if h.ops.authorize == nil {
		return nil
	}
	return h.ops.authorize(ctx, op, before, after)
}

// announce runs the After hook once the write is sure to stand.
func (h *core) afterCommit(ctx context.Context, op Op, before, after any) {
	if h.ops.after != nil {
		outside := tx.Outside(ctx) // the transaction of ctx is over when the hook runs
		tx.AfterCommit(ctx, func() { h.ops.after(outside, op, before, after) })
	}
}

func (o *WriteOptions) orZero() *WriteOptions {
	if o == nil {
		return &WriteOptions{}
	}
	return o
}

func (o *WriteOptions) decode(mode schema.Mode, base any) *schema.DecodeOptions {
	return &schema.DecodeOptions{Mode: mode, Base: base, AllowUnknown: o.Lenient, MaxDepth: o.MaxDepth,
		MaxNames: o.MaxNames}
}
