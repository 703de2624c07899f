package resource

import (
	"context"
	"errors"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/schema"
)

// The writes of items, each done at once or under a key.

// create does a POST.
func (x *call) create(w *writeRequest, doc []byte) (Entry, error) {
	res := x.route.resource
	if w.key == "" {
		return res.Create(x.r.Context(), doc, &w.opts)
	}
	id, v, bad := res.readNew(doc, &w.opts)
	k := x.under(w, "", bad == nil && id == "", res.meaningOf(v, doc))
	var e Entry
	before, err := k.once(func(ctx context.Context) (rec idempotency.Record, err error) {
		if v == nil && bad == nil { // not for the first time: hooks have been at what was read
			id, v, bad = res.readNew(doc, &w.opts)
		}
		if bad != nil {
			return rec, res.wrap(OpCreate, "", bad)
		}
		opts := w.opts
		opts.NewID = k.newID(ctx, res.Name())
		e, err = res.createValue(ctx, id, v, &opts)
		if v = nil; err != nil {
			return rec, res.wrap(OpCreate, "", err)
		}
		return x.recordOf(http.StatusCreated, &e, w), nil
	})
	if before != nil {
		return x.again(w, before)
	}
	return e, err
}

// replace does a PUT.
func (x *call) replace(w *writeRequest, id string, doc []byte) (Entry, Outcome, error) {
	res := x.route.resource
	if w.key == "" {
		return res.Put(x.r.Context(), id, doc, &w.opts)
	}
	var e Entry
	var out Outcome
	before, err := x.under(w, id, false, res.meaningOfPut(id, doc, &w.opts)).once(
		func(ctx context.Context) (rec idempotency.Record, err error) {
			if e, out, err = res.Put(ctx, id, doc, &w.opts); err != nil {
				return rec, err
			}
			status := http.StatusOK
			if out == Created {
				status = http.StatusCreated
			}
			return x.recordOf(status, &e, w), nil
		})
	if before == nil {
		return e, out, err
	}
	e, err = x.again(w, before)
	if out = Replaced; before.Status == http.StatusCreated {
		out = Created
	}
	return e, out, err
}

// amend does a PATCH.
func (x *call) amend(w *writeRequest, id string, doc []byte) (Entry, error) {
	res, l := x.route.resource, x.c.opts.Limits
	do := func(ctx context.Context) (Entry, error) {
		p, err := patch.Parse(w.media, doc, patch.Limits{Ops: l.Operations, Depth: l.Depth})
		if err != nil {
			if seen := x.precheck(ctx, w, id); seen != nil { // what is wrong with the target comes first
				return Entry{}, seen
			}
			return Entry{}, err
		}
		e, _, err := res.Patch(ctx, id, p, &w.opts)
		return e, err
	}
	if w.key == "" {
		return do(x.r.Context())
	}
	var e Entry
	before, err := x.under(w, id, false, idempotency.Meaning(mediaJSON, doc)).once(
		func(ctx context.Context) (rec idempotency.Record, err error) {
			if e, err = do(ctx); err != nil {
				return rec, err
			}
			return x.recordOf(http.StatusOK, &e, w), nil
		})
	if before != nil {
		return x.again(w, before)
	}
	return e, err
}

// remove does a DELETE.
func (x *call) remove(w *writeRequest, id string) error {
	res := x.route.resource
	do := func(ctx context.Context) error {
		_, err := res.Delete(ctx, id, &w.opts)
		if res.core.repeatedDelete == http.StatusNoContent && errors.Is(err, ErrGone) {
			return nil
		}
		return err
	}
	if w.key == "" {
		return do(x.r.Context())
	}
	before, err := x.under(w, id, false, nil).once(func(ctx context.Context) (idempotency.Record, error) {
		return idempotency.Record{Status: http.StatusNoContent, Collection: res.Name(), ID: id}, do(ctx)
	})
	if before != nil {
		if _, err = res.core.scopeOf(x.r.Context()); err == nil {
			x.replayed(before)
		}
	}
	return err
}

// meaningOf is what the document of a new item means: v, what has been read of it, and else its JSON, of which nothing can
// be made but a refusal.
func (r *Resource) meaningOf(v any, doc []byte) []byte {
	if v != nil {
		if meaning, err := r.core.typ.AppendFull(make([]byte, 0, len(doc)+128), v); err == nil {
			return meaning
		}
	}
	return idempotency.Meaning(mediaJSON, doc)
}

// meaningOfPut is what the document of a PUT means, whatever is there: members that only the server decides about are taken
// to be as they are said to be, and a view is raised from nothing.
func (r *Resource) meaningOfPut(id string, doc []byte, o *WriteOptions) []byte {
	// An integer may be written as 3.0, which package json does not take.
	plain, err := jsontext.AppendFormat(nil, doc, jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(true))
	said := r.projection.typ.New()
	if err != nil || json.Unmarshal(plain, said) != nil {
		return r.meaningOf(nil, doc)
	}
	dec := o.decode(schema.Replace, said)
	dec.ReadOnly = []string{r.ID()}
	v, err := r.projection.typ.Decode(doc, dec)
	if f := r.projection.id; err == nil && f.IsZero(v) {
		err = f.SetText(v, id)
	}
	if err == nil {
		v, err = r.newStored(v)
	}
	if err != nil {
		v = nil
	}
	return r.meaningOf(v, doc)
}

// recordOf is the record of an item that has been written: what any contract can be shown of it, and so nothing that is
// writeOnly.
func (x *call) recordOf(status int, e *Entry, w *writeRequest) idempotency.Record {
	res := x.route.resource
	rec := idempotency.Record{Status: status, Collection: res.Name(), ID: e.ID, Rev: string(e.Rev), Media: mediaJSON}
	noteModified(&rec, e.Modified)
	var err error
	if rec.Result, err = res.core.typ.Append(make([]byte, 0, 256), e.stored); err != nil { // the write stands
		x.report(err)
		rec.Media = ""
	}
	if res.projection.down == nil {
		w.selection.whole = rec.Result
	}
	return rec
}

// again returns the item of a record, as this request may see it.
func (x *call) again(w *writeRequest, rec *idempotency.Record) (Entry, error) {
	res := x.route.resource
	e := Entry{ID: rec.ID, Rev: Rev(rec.Rev), Modified: notedModified(rec)}
	if res.projection.down == nil && w.selection.fields == nil && w.selection.links == nil && !res.guarded() && rec.Result != nil {
		w.selection.whole = rec.Result // as it is
		x.replayed(rec)
		return e, nil
	}
	if rec.Result != nil {
		e.stored = res.core.typ.New()
		if err := json.Unmarshal(rec.Result, e.stored); err != nil { // it was written when items were built otherwise
			e.stored = nil
			older := *rec
			older.Result = nil
			rec = &older
		}
	}
	if err := res.core.stillVisible(x.r.Context(), &e, res.projection.down != nil); err != nil {
		return e, res.wrap(OpGet, e.ID, err)
	}
	x.replayed(rec)
	if e.stored == nil {
		return e, nil
	}
	e.Value = e.stored
	return res.written(&e), nil
}

// guarded reports whether there is anybody who may not see everything.
func (r *Resource) guarded() bool { return r.core.scope != nil || r.core.ops.authorize != nil }

// stillVisible asks policy about an item of a record: whoever wrote it may have lost the right to see it. It is asked about
// the item as it is, and if that is not there any more about what it was. Where the record holds no content, or is of the very
// revision that is there, the entry becomes the item as it is. whole asks for that where nobody is refused anything, too: views
// may show something of what a record does not hold, such as whether there is a password.
func (h *core) stillVisible(ctx context.Context, e *Entry, whole bool) error {
	guarded := h.scope != nil || h.ops.authorize != nil
	if !guarded && !whole && e.stored != nil {
		return nil
	}
	now, err := h.load(ctx, e.ID, nil)
	switch {
	case err == nil && (e.stored == nil || e.Rev != "" && e.Rev == now.Rev):
		*e = *now
		return nil
	case !guarded && e.stored != nil:
		return nil
	case err == nil, errors.Is(err, errHidden):
		return err
	case !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrGone):
		return err
	case !guarded:
		return nil
	case e.stored == nil:
		return err
	}
	scope, err := h.scopeOf(ctx)
	if err != nil {
		return err
	}
	return h.visible(ctx, e, &scope)
}
