package resource

// Writing items: Create, Put, Patch and Delete for all protocols. Each call is one writeRequest,
// and this file follows it from top to bottom: the idempotency key, the retry loop, the current
// item, preconditions, the new value, hook and policy, and last the store, which compares and
// swaps. It is called by protocols, batches and imports. It calls write_retry.go, write_hooks.go,
// precondition.go, idempotency.go and publish.go.

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"unicode"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// WriteOptions adjust one write. nil is the zero value.
type WriteOptions struct {
	// If are conditions on the item as it is.
	If Preconditions
	// Existing makes Put replace an existing item only: without one, the error is [ErrNotFound] or
	// [ErrGone], also if the collection is an [Inserter].
	Existing bool
	// IgnoreGone makes Delete return an Entry that has the ID alone, instead of [ErrGone].
	// [ErrNotFound] remains an error.
	IgnoreGone bool
	// Lenient ignores members of a document that the schema does not declare, instead of refusing
	// them.
	Lenient bool
	// NewID is the id of a new item if its document names none, in place of one that the store would
	// choose: that of [idempotency.DeriveID], for a creation that may be a retry. If there is an
	// item with this id, it was created by an earlier attempt, and is returned. It requires a
	// collection with client-chosen ids; see [Catalog.Guarantee].
	NewID string
	// Key makes the write take effect once, however often the request is repeated. Nil means no
	// key.
	Key *Key
	// MaxDepth and MaxNames limit a document: its nesting (default 64), and the members of one
	// object (default 1000).
	MaxDepth, MaxNames int

	// merge makes Put change only the members that the document has, each as a whole, in an existing item.
	merge bool
}

// Create stores a new item from a JSON document. If the document names an id the collection must be
// an [Inserter], otherwise a [Creator].
//
// Create, Put, Patch and Delete require an operation for which [Resource.Can] returns true. A
// document that is not JSON is 400, and one that violates the schema 422.
func (r *Resource) Create(ctx context.Context, doc []byte, opts *WriteOptions) (Entry, error) {
	w := writeRequest{r: r, op: OpCreate, doc: doc, opts: opts.orZero()}
	err := w.run(ctx)
	return w.shown(), err
}

// Put stores a JSON document as the item with this id: it replaces the item or, if the collection
// is an [Inserter], creates it. created reports which of the two it was. If the document is equal
// to the item nothing is written, and the Entry has the revision as before.
func (r *Resource) Put(
	ctx context.Context, id string, doc []byte, opts *WriteOptions,
) (e Entry, created bool, err error) {
	w := writeRequest{r: r, op: OpReplace, id: id, doc: doc, opts: opts.orZero()}
	err = w.run(ctx)
	return w.shown(), w.created, err
}

// Patch changes parts of the item with this id. If the patch changes nothing then nothing is
// written, and the Entry has the revision as before.
func (r *Resource) Patch(ctx context.Context, id string, p *patch.Patch, opts *WriteOptions) (Entry, error) {
	w := writeRequest{r: r, op: OpPatch, id: id, patch: p, opts: opts.orZero()}
	err := w.run(ctx)
	return w.shown(), err
}

// Delete removes the item with this id and returns it as it was. If the write is replayed for its
// key, the Entry has the ID alone.
func (r *Resource) Delete(ctx context.Context, id string, opts *WriteOptions) (Entry, error) {
	w := writeRequest{r: r, op: OpDelete, id: id, opts: opts.orZero()}
	err := w.run(ctx)
	return w.shown(), err
}

// writeRequest is one call of Create, Put, Patch, Delete or Restore. It is a [KeyedWrite].
type writeRequest struct {
	r     *Resource
	op    Op
	id    string       // empty for Create
	doc   []byte       // of Create and Put
	patch *patch.Patch // of Patch
	keep  bool         // Put leaves an existing item as it is
	opts  WriteOptions
	new   newItem // of Create

	entry   Entry
	created bool
}

// newItem is what the document of a new item was decoded to.
type newItem struct {
	id      string // empty if the document names none
	derived string // the id to use then; empty if the store chooses it
	value   any    // of the stored type; nil once a hook has been given it
	invalid error  // why there is no value
}

// run carries out the request under its key, if it has one. Only a request with a key or in a
// transaction is moved to the heap.
func (w *writeRequest) run(ctx context.Context) error {
	ctx = w.r.inCatalog(ctx)
	if w.opts.Key == nil {
		return w.Do(ctx)
	}
	keyed := *w
	err := keyed.opts.Key.Do(ctx, &keyed)
	*w = keyed
	return w.r.wrap(w.op, w.id, err) // it may be that of the commit of the key's transaction
}

// shown returns the entry as the caller may see it.
func (w *writeRequest) shown() Entry {
	w.r.projection.conceal(&w.entry, false)
	return w.entry
}

// Do carries out the request. It runs again if a transaction is retried.
func (w *writeRequest) Do(ctx context.Context) error {
	var err error
	if w.op == OpCreate {
		err = w.runCreate(ctx)
	} else {
		err = w.r.core.withRetry(ctx, w.id, func() error { return w.transact(ctx) })
	}
	if err == nil {
		return nil
	}
	w.entry, w.created = Entry{}, false
	if w.op == OpDelete && w.opts.IgnoreGone && errors.Is(err, ErrGone) {
		w.entry.ID = w.id
		return nil
	}
	return w.r.wrap(w.op, w.id, err)
}

// transact makes one attempt, in a transaction if hooks take part in it. A restoration always needs one,
// because the policy can decide only about a restored item.
func (w *writeRequest) transact(ctx context.Context) error {
	if w.r.core.hooksInTx || w.op == OpRestore {
		moved := *w // to the heap, as in run
		err := w.r.core.ops.runner.InTx(ctx, moved.attempt)
		*w = moved
		return err
	}
	return w.attempt(ctx)
}

// attempt makes one attempt: it reads the item, checks preconditions and policy, and writes with the
// revision it has read. It runs again after ErrStale, or if its transaction is retried.
func (w *writeRequest) attempt(ctx context.Context) error {
	w.created = false
	switch w.op {
	case OpCreate:
		return w.attemptCreate(ctx)
	case OpDelete:
		return w.attemptDelete(ctx)
	case OpRestore:
		return w.attemptRestore(ctx)
	}
	return w.attemptReplace(ctx)
}

// runCreate is Create, outside of the retry loop: there is no item yet that another request could
// change.
func (w *writeRequest) runCreate(ctx context.Context) error {
	if w.decodeNew(); w.new.invalid != nil {
		return w.new.invalid
	}
	if w.new.id == "" {
		w.new.derived = w.chooseID(ctx)
	}
	held, err := w.r.core.lockNew(ctx, cmp.Or(w.new.id, w.new.derived))
	if err != nil {
		return err
	}
	defer held.Unlock()
	err = w.transact(ctx)
	switch {
	case w.new.derived != "" && errors.Is(err, ErrExists):
		w.entry, err = w.r.current(ctx, w.new.derived) // an earlier attempt has created it
	case w.new.derived == "" && errors.Is(err, ErrGone):
		return w.r.wrap(OpCreate, w.new.id, ErrExists)
	}
	return err
}

// decodeNew decodes the document of a new item, unless that is done.
func (w *writeRequest) decodeNew() {
	if w.new.value == nil && w.new.invalid == nil {
		derived := w.new.derived
		w.new = w.r.readNew(w.doc, &w.opts)
		w.new.derived = derived
	}
}

// attemptCreate is one attempt of Create.
func (w *writeRequest) attemptCreate(ctx context.Context) (err error) {
	w.decodeNew() // a repeated attempt must not get the value that a hook has changed
	id, v := w.new.id, w.new.value
	w.new.value = nil
	w.created = true
	if w.new.derived != "" {
		id = w.new.derived
		if err := w.r.core.id.SetText(v, id); err != nil {
			return err
		}
	}
	w.entry, err = w.r.insertNew(ctx, id, v, false)
	return err
}

// chooseID returns the id that a new item gets if its document names none; empty leaves the choice
// to the store.
func (w *writeRequest) chooseID(ctx context.Context) string {
	if id := w.opts.Key.NewID(ctx, w.r.Name()); id != "" {
		return id
	}
	return w.opts.NewID
}

// readNew decodes the document of a new item.
func (r *Resource) readNew(doc []byte, opts *WriteOptions) (n newItem) {
	c := r.core
	dec := opts.decode(schema.Create, nil)
	if c.id.Key != nil { // the decoder computes it
	} else if c.ops.insert == nil {
		dec.ReadOnly = r.idNames
	} else if c.ops.create != nil {
		dec.Filled = r.idNames
	}
	v, err := r.projection.typ.Decode(doc, dec)
	if err == nil {
		v, err = r.newStored(v)
	}
	if err != nil {
		return newItem{invalid: err}
	}
	if !c.id.IsZero(v) && (c.id.Key == nil || c.ops.insert != nil) {
		n.id = c.id.Text(v)
	}
	if n.id == "" && c.ops.create == nil {
		return newItem{
			invalid: schema.Violations{
				{Pointer: "/" + r.id(), Code: "required", Detail: r.id() + " is required"},
			},
		}
	}
	n.value = v
	return n
}

// decodePut returns the stored value of the document of a PUT, independent of the current item:
// read-only members have the value that the document gives, and a view is converted from nothing.
// It is nil if the document is not valid.
func (r *Resource) decodePut(id string, doc []byte, o *WriteOptions) any {
	// An integer may be written as 3.0, which package json does not accept.
	plain, err := jsontext.AppendFormat(nil, doc, jsontext.CanonicalizeRawInts(false),
		jsontext.CanonicalizeRawFloats(true))
	given := r.projection.typ.New()
	if err != nil || json.Unmarshal(plain, given) != nil {
		return nil
	}
	if f := r.projection.id; f.Key != nil && f.SetText(given, id) != nil {
		return nil
	}
	dec := o.decode(schema.Replace, given)
	dec.ReadOnly = r.idNames
	v, err := r.projection.typ.Decode(doc, dec)
	if f := r.projection.id; err == nil && f.IsZero(v) {
		err = f.SetText(v, id)
	}
	if err == nil {
		v, err = r.newStored(v)
	}
	if err != nil {
		return nil
	}
	return v
}

// newStored converts a new item of this projection to the stored type.
func (r *Resource) newStored(v any) (any, error) {
	if r.projection.up == nil {
		return v, nil
	}
	stored, err := r.projection.toStored(v, nil, false)
	if err != nil || r.projection.id.IsZero(v) {
		return stored, err
	}
	if err := r.core.id.SetText(stored, r.projection.id.Text(v)); err != nil { // up need not set the id
		return nil, schema.Violations{
			{Pointer: pointer.To(r.id()), Code: "range",
				Detail: r.id() + " is out of the range of ids"},
		}
	}
	return stored, nil
}

// insertNew checks a new item and stores it. An empty id is the store's to choose. recreate allows
// the id of a deleted item; otherwise it is refused even if the store would accept it.
func (r *Resource) insertNew(ctx context.Context, id string, v any, recreate bool) (Entry, error) {
	c := r.core
	if err := r.checkNew(ctx, id, v); err != nil {
		return Entry{}, err
	}
	e, err := c.write(ctx, storeChange{kind: feed.Created, id: id, recreate: recreate, after: v})
	if err != nil {
		return Entry{}, r.wrap(OpCreate, id, err)
	}
	c.afterCommit(ctx, OpCreate, nil, e.stored)
	return r.entryOf(e), nil
}

// checkNew validates the id of a new item and authorizes its creation.
func (r *Resource) checkNew(ctx context.Context, id string, v any) error {
	if id != "" {
		if err := checkNewID(id); err != nil {
			return schema.Violations{{Pointer: "/" + r.id(), Code: "format",
				Detail: r.id() + " " + err.Error()}}
		}
		if _, reserved := r.core.reserved.Load(id); reserved {
			return reservedID(pointer.To(r.id()))
		}
	}
	return r.checkWrite(ctx, OpCreate, nil, v)
}

// reservedID returns the problem of an id that is the path of a command.
func reservedID(pointer string) error {
	d := problem.New(problem.Conflict, "The id is reserved, because its path is that of a command.")
	d.Errors = []problem.Violation{{Pointer: pointer, Code: "reserved",
		Detail: "the id is the name of a command"}}
	return d
}

// maxID is the size in bytes of the longest id that a client may choose. Escaped it still fits into
// a URL.
const maxID = 1024

var errID = errors.New(
	"must be at most 1024 bytes of UTF-8 without control characters, and not \".\" or \"..\"",
)

// checkNewID refuses ids that no client could request again.
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

// attemptReplace is one attempt of Put or Patch. The store can keep the row that it reads until Replace.
func (w *writeRequest) attemptReplace(ctx context.Context) error {
	r := w.r
	if w.opts.merge { // an earlier attempt may have found an item
		w.op = OpReplace
	}
	defer r.core.keepRow(&ctx, w.id).Release()
	cur, err := r.current(ctx, w.id)
	if w.op == OpReplace && !w.opts.Existing && r.core.ops.insert != nil && r.mayInsert(err) {
		if err := w.opts.If.check(r.entityTags(), nil); err != nil {
			return err
		}
		if w.entry, err = w.putNew(ctx); errors.Is(err, ErrExists) {
			return ErrStale // another request has created it: read it and check again
		}
		w.created = true
		return err
	}
	if w.op == OpReplace && !w.opts.Existing {
		err = r.hiddenAsAbsent(err, &w.opts.If)
	}
	if err != nil {
		return err // and not 412: RFC 9110 section 13.2.1
	}
	if w.keep {
		w.entry = cur
		if !w.opts.If.any() { // nothing is written, so RequireIfMatch does not apply
			return nil
		}
		return w.opts.If.check(r.entityTags(), &cur)
	}
	if err := w.opts.If.check(r.entityTags(), &cur); err != nil {
		return w.orForbidden(ctx, cur, err)
	}
	v, changed, err := w.revise(ctx, cur)
	if err != nil {
		return err
	}
	if !changed {
		w.entry = cur
		return nil
	}
	if w.entry, err = r.replace(ctx, w.op, cur, v); err != nil {
		return r.staleError(ctx, &cur, &w.opts, err)
	}
	return nil
}

// current returns the item in this projection.
func (r *Resource) current(ctx context.Context, id string) (Entry, error) {
	cur, err := r.find(ctx, id, nil)
	if err != nil {
		return Entry{}, err
	}
	return *cur, nil
}

// NotShown returns why an Entry that a write returned has no Value: the store has changed the item
// to one that the projection cannot show. It is nil if the item has a Value, and if the projection
// hides it on purpose.
func (raw Raw) NotShown(e *Entry) error {
	r := raw.r
	if e.Value != nil || e.stored == nil {
		return nil
	}
	if err := r.projection.show(e); err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	return nil
}

// mayInsert reports whether err, from reading the item, allows Put to create it.
func (r *Resource) mayInsert(err error) bool {
	switch {
	case errors.Is(err, errHidden):
		return false
	case errors.Is(err, errRemembered):
		return true
	case errors.Is(err, errHiddenGone) && r.core.keepsDeleted:
		return false // the new item would destroy one that another caller can restore
	case errors.Is(err, ErrGone), errors.Is(err, errHiddenGone):
		return r.core.allowRecreate
	}
	return errors.Is(err, ErrNotFound)
}

// putNew is Put if there is no item.
func (w *writeRequest) putNew(ctx context.Context) (Entry, error) {
	r, p, f := w.r, w.r.projection, w.r.projection.id
	dec := w.opts.decode(schema.Create, nil)
	dec.Filled = r.idNames
	if f.Key != nil {
		dec.Key = p.typ.New()
		if f.SetText(dec.Key, w.id) != nil {
			return Entry{}, ErrNotFound
		}
	}
	v, err := p.typ.Decode(w.doc, dec)
	if err != nil {
		return Entry{}, err
	}
	switch {
	case f.Spell(w.id) != w.id:
		return Entry{}, schema.Violations{{Pointer: "/" + f.Name, Code: "format",
			Detail: f.Name + " must have its UUIDs in lower case"}}
	case f.IsZero(v):
		if err := f.SetText(v, w.id); err != nil {
			return Entry{}, ErrNotFound // no item can ever have this id
		}
	case f.Text(v) != w.id:
		return Entry{}, schema.Violations{{Pointer: "/" + f.Name, Code: "mismatch",
			Detail: f.Name + " must be equal to the id in the path"}}
	}
	if bad := p.typ.Validate(v); len(bad) > 0 {
		return Entry{}, schema.Violations(bad)
	}
	stored, err := r.newStored(v)
	if err != nil {
		return Entry{}, err
	}
	return r.insertNew(ctx, w.id, stored, true) // mayInsert has checked that
}

// orForbidden returns the error of the policy if it refuses a write after a failed precondition, and
// otherwise failed: a caller that may not write must not learn which condition would hold (RFC 9110
// section 13.2.1). The policy needs a value, so a document without one gets failed.
func (w *writeRequest) orForbidden(ctx context.Context, cur Entry, failed error) error {
	if w.r.core.ops.authorize == nil {
		return failed
	}
	v, err := w.newValue(cur)
	if err != nil {
		return failed
	}
	w.r.core.stamp(ctx, cur.stored, v)
	if err := w.r.core.authorize(ctx, w.op, cur.stored, v); err != nil {
		return err
	}
	return failed
}

// revise returns the stored value that replaces cur, if it differs. Hook and policy have accepted
// it.
func (w *writeRequest) revise(ctx context.Context, cur Entry) (v any, changed bool, err error) {
	c := w.r.core
	if c.ops.replace == nil { // Put can only create
		return nil, false, ErrExists
	}
	if v, err = w.newValue(cur); err != nil {
		return nil, false, err
	}
	if c.typ.Equal(cur.stored, v) {
		// Authorize an unchanged value too: an accepted guess would reveal a writeOnly value.
		return v, false, c.authorize(ctx, w.op, cur.stored, v)
	}
	return v, true, w.r.checkWrite(ctx, w.op, cur.stored, v)
}

// newValue returns the stored value that the document or the patch makes of cur. It leaves cur as it
// is, because hooks, policy and event get cur.stored as the item before the write.
func (w *writeRequest) newValue(cur Entry) (any, error) {
	r := w.r
	v, err := w.decodeChange(r.projection.typ, cur.Value)
	if err != nil || r.projection.up == nil { // the tag set makes a field readOnly, so Decode keeps it
		return v, err
	}
	copied := func() (any, error) { return r.core.clone(cur.stored) }
	if v, err = r.projection.toStored(v, copied, w.op == OpReplace && r.projection.reset); err != nil {
		return nil, err
	}
	if r.core.id.Key != nil { // up need not set the key
		if err := r.core.id.SetText(v, cur.ID); err != nil {
			return nil, err
		}
	}
	if err := r.projection.keepUnchanged(v, cur.stored, copied); err != nil {
		return nil, err
	}
	r.core.stamps.Keep(cur.stored, v)
	return v, nil
}

// replace writes a checked value in place of cur.
func (r *Resource) replace(ctx context.Context, op Op, cur Entry, v any) (Entry, error) {
	e, err := r.core.write(ctx,
		storeChange{kind: feed.Updated, id: cur.ID, rev: cur.Rev, before: cur.stored, after: v})
	if err != nil {
		return Entry{}, err
	}
	r.core.afterCommit(ctx, op, cur.stored, e.stored)
	return r.entryOf(e), nil
}

// entryOf returns the written item in this projection. If the store has changed it to a value that
// the projection cannot show, the write is not undone and the Entry has no Value.
func (r *Resource) entryOf(e *Entry) Entry {
	if r.projection.show(e) != nil {
		e.Value = nil
	}
	return *e
}

// attemptDelete is one attempt of Delete.
func (w *writeRequest) attemptDelete(ctx context.Context) error {
	r := w.r
	cur, err := r.current(ctx, w.id)
	if err != nil {
		return err
	}
	// The policy needs no document here, so it precedes the preconditions (RFC 9110 section
	// 13.2.1).
	if err := r.checkWrite(ctx, OpDelete, cur.stored, nil); err != nil {
		return err
	}
	if err := w.opts.If.check(r.entityTags(), &cur); err != nil {
		return err
	}
	if err := r.core.remove(ctx, &cur); err != nil {
		return r.staleError(ctx, &cur, &w.opts, err)
	}
	r.core.afterCommit(ctx, OpDelete, cur.stored, nil)
	w.entry = cur
	return nil
}

// staleError ends the retry loop if the client named a revision that is no longer current: a retry
// could not succeed. It can if the client named a content, and only what a view hides has changed.
// tried is the item as it was read, and stale the error of the write; any but ErrStale is returned as
// it is.
func (r *Resource) staleError(ctx context.Context, tried *Entry, o *WriteOptions, stale error) error {
	if !errors.Is(stale, ErrStale) || !o.If.namesRevision() {
		return stale
	}
	cur, err := r.current(ctx, tried.ID)
	if err != nil {
		return err // gone precedes 412
	}
	if err := o.If.check(r.entityTags(), &cur); err != nil {
		return err // with the tag that is current
	}
	if r.projection.hides || cur.Rev != tried.Rev {
		return stale
	}
	return &failedError{field: "If-Match"}
}

// Content returns what the request is compared by with others that have its key.
func (w *writeRequest) Content(ctx context.Context) KeyedContent {
	switch w.op {
	case OpCreate:
		w.new = w.r.readNew(w.doc, &w.opts)
	case OpReplace:
	case OpPatch:
		if w.opts.Key.Content == nil {
			sent := w.patch.Text()
			if f := w.patch.Format(); f == nil || f.JSON() {
				sent = idempotency.CanonicalJSON(sent)
			}
			return KeyedContent{Sent: sent}
		}
		fallthrough
	default:
		return KeyedContent{Sent: w.opts.Key.Content}
	}
	return KeyedContent{
		Sent:     idempotency.CanonicalJSON(w.doc),
		Contract: w.r.projection.contract(ctx),
		Members:  w.members,
	}
}

// members returns the members of what the document is decoded to.
func (w *writeRequest) members() []idempotency.Member {
	v := w.new.value
	if w.op == OpReplace {
		v = w.r.decodePut(w.id, w.doc, &w.opts)
	}
	if v == nil { // not valid, so it is compared as it was sent
		return nil
	}
	return w.r.projection.members(w.doc, v, "")
}

// Creates reports whether the store chooses the id of a new item.
func (w *writeRequest) Creates() bool {
	return w.op == OpCreate && w.new.invalid == nil && w.new.id == ""
}

// Record returns the record of the write.
func (w *writeRequest) Record() (idempotency.Record, error) {
	status := http.StatusOK
	switch {
	case w.op == OpDelete:
		return idempotency.Record{Status: http.StatusNoContent, Collection: w.r.Name(), ID: w.id}, nil
	case w.created:
		status = http.StatusCreated
	}
	return w.r.recordOf(status, &w.entry, w.opts.Key), nil
}

// Replay returns the item of an earlier request with the same key, if the caller may still see it.
func (w *writeRequest) Replay(ctx context.Context, rec *idempotency.Record) (err error) {
	if w.op == OpDelete {
		w.entry.ID = rec.ID
		_, err = w.r.core.scopeOf(ctx)
		return err
	}
	w.created = rec.Status == http.StatusCreated
	w.entry, err = w.r.replayItem(ctx, rec, w.opts.Key)
	return err
}

func (o *WriteOptions) orZero() WriteOptions {
	if o == nil {
		return WriteOptions{}
	}
	return *o
}

func (o *WriteOptions) decode(mode schema.Mode, base any) *schema.DecodeOptions {
	return &schema.DecodeOptions{Mode: mode, Base: base, AllowUnknown: o.Lenient, MaxDepth: o.MaxDepth,
		MaxNames: o.MaxNames}
}
