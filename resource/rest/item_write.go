package rest

import (
	"bytes"
	"errors"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/patch"
)

// writeRequest is a request that changes something, as far as its header says.
type writeRequest struct {
	opts      resource.WriteOptions
	selection selection
	prefer    header.Prefer
	enc       header.Encodings
	media     string
	minimal   bool   // Prefer: return=minimal
	key       string // Idempotency-Key; "" for none
}

// prepare does what can be done before the content is read, in the order of rule 143: Accept, Content-Type, size,
// key, preconditions. With Expect: 100-continue the client waits for it, so the item is looked at, too, unless there is a
// key: then all that may have changed already.
func (x *call) prepare(w *writeRequest, id string, accepted ...string) error {
	var err error
	w.prefer = x.prefer()
	wish, _ := w.prefer.Get("return")
	w.minimal = wish == "minimal"
	if accepted != nil && !w.minimal { // else nothing is sent that Accept could be about
		if err = x.acceptable(); err != nil {
			return err
		}
		if w.enc, err = x.encodings(); err != nil {
			return err
		}
	}
	if accepted != nil {
		if w.media, err = x.checkContent(accepted...); err != nil {
			return err
		}
	}
	w.opts.Lenient = x.lenient(w.prefer)
	if w.selection, err = x.itemSelection(w.opts.Lenient); err != nil {
		return err
	}
	w.opts.MaxDepth, w.opts.MaxNames = x.h.limits.Depth, x.h.limits.Names
	if w.key, err = x.parseKey(); err != nil {
		return err
	}
	if id == "" { // RFC 9110 leaves open what a condition on a collection would mean; here it means nothing
		return nil
	}
	if conditional(x.r.Header) {
		if w.opts.If, err = parsePreconditions(x.r.Header); err != nil {
			return err
		}
	}
	if accepted != nil && w.key == "" && strings.EqualFold(x.r.Header.Get("Expect"), "100-continue") {
		op := resource.OpPatch
		if x.r.Method == http.MethodPut {
			op = resource.OpReplace
		}
		return x.route.resource.Precheck(x.r.Context(), op, id, &w.opts.If)
	}
	return nil
}

// useKeyOf gives the write its key, when the content has been read.
func (x *call) useKeyOf(w *writeRequest, id string) {
	w.opts.Key = x.useKey(w.key, id, w.media)
	if w.opts.Key != nil {
		w.opts.Key.Raw = w.selection.fields == nil && w.selection.links == nil
	}
}

// written sets what a key tells of the write: the fields of a replay, and the item if its record has it as JSON.
func (x *call) written(w *writeRequest) {
	if w.opts.Key != nil {
		x.replayed()
		w.selection.whole = w.opts.Key.Item()
	}
}

// post answers POST on a collection.
func (x *call) post() error {
	var w writeRequest
	if err := x.prepare(&w, "", x.route.posts...); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := x.content(buf); err != nil {
		return err
	}
	w.selection.versionMember = x.versionMember()
	res := x.route.resource
	x.useKeyOf(&w, "")
	e, err := res.Create(x.r.Context(), *buf, &w.opts)
	if err != nil {
		return x.existing(err)
	}
	x.written(&w)
	h := x.w.Header()
	h["Location"] = []string{x.href(res.Name(), e.ID, "")}
	if w.minimal {
		x.applied("return=minimal")
		x.setValidators(h, &e)
		x.itemHeaders(h)
		return x.noContent(http.StatusCreated)
	}
	x.representation(&w)
	x.contentLocation(e.ID, &w)
	return x.sendWritten(http.StatusCreated, &e, &w, true)
}

// existing adds, to the refusal of an id that is in use, the URL of the item with that id.
func (x *call) existing(err error) error {
	href := x.existingURL(err)
	if href == "" {
		return err
	}
	d := resource.Problem(err)
	d.Extensions = map[string]any{"existing": href}
	return d
}

// existingURL returns the URL of the item whose id is in use according to err; empty if err says something else.
func (x *call) existingURL(err error) string {
	var at *resource.Error
	if !errors.Is(err, resource.ErrExists) || !errors.As(err, &at) || at.ID == "" {
		return ""
	}
	return x.href(at.Resource, at.ID, "")
}

// sendWritten answers a write with the item. The write stands whatever happens now: where the item cannot be shown as it
// was asked for, because a relation cannot be followed, that is for the log, and the client gets success without content.
func (x *call) sendWritten(status int, e *resource.Entry, w *writeRequest, tagged bool) error {
	if e.Value != nil || w.selection.whole != nil {
		err := x.sendItem(status, e, &w.selection, w.enc, tagged)
		if err == nil || x.began {
			return err
		}
		x.logError(err)
	} else if err := x.route.resource.NotShown(e); err != nil {
		x.logError(err)
	}
	h := x.w.Header()
	delete(h, "Content-Location")
	x.itemHeaders(h)
	if status == http.StatusOK {
		status = http.StatusNoContent
	}
	return x.noContent(status)
}

// put answers PUT on an item.
func (x *call) put(id string) error {
	var w writeRequest
	if err := x.prepare(&w, id, mediaJSON); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := x.content(buf); err != nil {
		return err
	}
	w.selection.versionMember = x.versionMember()
	x.useKeyOf(&w, id)
	e, created, err := x.route.resource.Put(x.r.Context(), id, *buf, &w.opts)
	if err != nil {
		return x.existing(err)
	}
	x.written(&w)
	return x.respondPut(&w, &e, created, *buf)
}

// respondPut answers a PUT. A validator goes out only if the client holds the very octets that the next GET would show it,
// or if that is switched off (RFC 9110 section 9.3.4).
func (x *call) respondPut(w *writeRequest, e *resource.Entry, created bool, sent []byte) error {
	h, status := x.w.Header(), http.StatusOK
	if created {
		status = http.StatusCreated
		h["Location"] = []string{x.href(x.route.name, e.ID, "")}
	}
	tagged := x.route.etagOnPut
	if !tagged && (e.Value != nil || w.selection.whole != nil) && w.selection.versionMember == nil { // a member that named the contract is not stored
		buf := buffers.Get()
		defer buffers.Put(buf)
		var err error
		if *buf, err = x.render(*buf, e, &selection{whole: w.selection.whole}); err != nil {
			return err
		}
		tagged = bytes.Equal(*buf, sent)
	}
	if w.minimal {
		x.applied("return=minimal")
		if tagged {
			x.setValidators(h, e)
		}
		x.itemHeaders(h)
		if !created {
			status = http.StatusNoContent
		}
		return x.noContent(status)
	}
	x.representation(w)
	x.contentLocation(e.ID, w)
	return x.sendWritten(status, e, w, tagged)
}

// setValidators sets those of the representation that a plain GET would select.
func (x *call) setValidators(h http.Header, e *resource.Entry) {
	validators{r: x.route.resource, rev: e.Rev, suffix: x.contractTag, modified: e.Modified, length: -1}.set(h)
}

// contentLocation says where the content of the answer can be had again. With an echo in it that is nowhere.
func (x *call) contentLocation(id string, w *writeRequest) {
	if w.selection.versionMember != nil {
		return
	}
	h, params := x.w.Header(), w.selection.query()
	if location := h["Location"]; location != nil && params == "" { // the same
		h["Content-Location"] = []string{location[0]}
		return
	}
	h["Content-Location"] = []string{x.href(x.route.name, id, params)}
}

// representation says that the client gets the item as it asked.
func (x *call) representation(w *writeRequest) {
	if v, _ := w.prefer.Get("return"); v == "representation" {
		x.applied("return=representation")
	}
}

// patch answers PATCH on an item.
func (x *call) patch(id string) error {
	var w writeRequest
	if err := x.prepare(&w, id, patch.MergeType, patch.JSONType); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := x.content(buf); err != nil {
		return err
	}
	x.useKeyOf(&w, id)
	if w.opts.Key != nil {
		w.opts.Key.Content = idempotency.CanonicalContent(mediaJSON, *buf)
	}
	p, err := patch.Parse(w.media, *buf, patch.Limits{Ops: x.h.limits.Operations, Depth: x.h.limits.Depth})
	if err != nil {
		p = patch.Invalid(err) // problems of the item come first
	}
	e, err := x.route.resource.Patch(x.r.Context(), id, p, &w.opts)
	if err != nil {
		return err
	}
	x.written(&w)
	h := x.w.Header()
	if w.minimal {
		x.applied("return=minimal")
		x.setValidators(h, &e)
		x.itemHeaders(h)
		return x.noContent(http.StatusNoContent)
	}
	x.representation(&w)
	x.contentLocation(e.ID, &w)
	return x.sendWritten(http.StatusOK, &e, &w, true)
}

// delete answers DELETE on an item. Content has no meaning there and is not looked at.
func (x *call) delete(id string) error {
	var w writeRequest
	if err := x.prepare(&w, id); err != nil {
		return err
	}
	w.opts.IgnoreGone = x.route.ignoreGone
	x.useKeyOf(&w, id)
	if _, err := x.route.resource.Delete(x.r.Context(), id, &w.opts); err != nil {
		return err
	}
	x.replayed()
	h := x.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, x.route.varyItem)
	return x.noContent(http.StatusNoContent)
}
