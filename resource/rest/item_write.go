package rest

// POST, PUT and DELETE of one item; PATCH is in patch.go. Called by route.go. Each handler calls
// prepare for the header, reads the body, calls one method of Resource, and sends the entry that the
// method returns. The order of the checks is rule 143.

import (
	"bytes"
	"errors"
	"maps"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
)

// writeRequest is the parsed header of a request that writes.
type writeRequest struct {
	opts      resource.WriteOptions
	selection selection
	prefer    header.Prefer
	enc       header.Encodings
	media     string
	minimal   bool   // Prefer: return=minimal
	key       string // Idempotency-Key, or ""
}

// prepare checks what does not depend on the request body, in the order of rule 143: Accept,
// Content-Type, size, key, preconditions. With Expect: 100-continue it also checks the stored item,
// so that the client need not send a body that will be rejected. It does not with a key, because
// the first request may have changed the item already.
func (x *call) prepare(w *writeRequest, id string, accepted ...string) error {
	var err error
	w.prefer = x.prefer()
	preference, _ := w.prefer.Get("return")
	// return is read first, because it decides whether there is a body that Accept can apply to.
	w.minimal = preference == "minimal"
	// Without a response body, Accept does not apply.
	if accepted != nil && !w.minimal {
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
	// RFC 9110 does not define preconditions on a collection. They are ignored.
	if id == "" {
		return nil
	}
	if conditional(x.r.Header) {
		if w.opts.If, err = parsePreconditions(x.r.Header); err != nil {
			return err
		}
	}
	// net/http sends 100 at the first read of the body. An error before that read saves the client
	// the transfer (RFC 9110 section 10.1.1). The write checks everything again.
	if accepted != nil && w.key == "" && strings.EqualFold(x.r.Header.Get("Expect"), "100-continue") {
		op := resource.OpPatch
		if x.r.Method == http.MethodPut {
			op = resource.OpReplace
		}
		return x.route.resource.Precheck(x.r.Context(), op, id, &w.opts.If)
	}
	return nil
}

// setKey sets the idempotency key of the write. It is called after the body has been read. Raw
// means that a replay may send the recorded JSON, which has all fields and no relations.
func (x *call) setKey(w *writeRequest, id string) {
	w.opts.Key = x.useKey(w.key, id, w.media)
	if w.opts.Key != nil {
		w.opts.Key.Raw = w.selection.fields == nil && w.selection.links == nil
	}
}

// applyReplay sets the response fields of a replay, and the recorded JSON of the item if there is
// one.
func (x *call) applyReplay(w *writeRequest) {
	if w.opts.Key != nil {
		x.replayed()
		w.selection.whole = w.opts.Key.Item()
	}
}

// post handles POST on a collection: 201 with the URL of the new item in Location (RFC 9110 section
// 9.3.3).
func (x *call) post() error {
	var w writeRequest
	if err := x.prepare(&w, "", x.route.posts...); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := x.readContent(buf); err != nil {
		return err
	}
	w.selection.versionMember = x.versionMember()
	res := x.route.resource
	x.setKey(&w, "")
	e, err := res.Create(x.r.Context(), *buf, &w.opts)
	if err != nil {
		return x.withExistingURL(err)
	}
	x.applyReplay(&w)
	h := x.w.Header()
	h["Location"] = []string{x.href(res.Name(), e.ID, "")}
	if w.minimal {
		x.applied("return=minimal")
		x.setValidators(h, &e)
		x.itemHeaders(h)
		return x.noContent(http.StatusCreated)
	}
	x.applyReturn(&w)
	x.contentLocation(e.ID, &w)
	return x.sendWritten(http.StatusCreated, &e, &w, true)
}

// withExistingURL adds the URL of the existing item to an error about a duplicate id.
func (x *call) withExistingURL(err error) error {
	href := x.existingURL(err)
	if href == "" {
		return err
	}
	d := *resource.Problem(err) // a copy, because a hook may return the same problem to all requests
	if d.Extensions = maps.Clone(d.Extensions); d.Extensions == nil {
		d.Extensions = map[string]any{}
	}
	d.Extensions["existing"] = href
	return &d
}

// existingURL returns the URL of the item if err reports a duplicate id and the caller may see the item, and
// otherwise "".
func (x *call) existingURL(err error) string {
	var at *resource.Error
	if !errors.Is(err, resource.ErrExists) || !errors.As(err, &at) || at.ID == "" {
		return ""
	}
	for _, r := range x.h.catalog.Resources() {
		if r.Name() == at.Resource && r.Recall(x.r.Context(), at.ID, nil) != nil {
			return ""
		}
	}
	return x.href(at.Resource, at.ID, "")
}

// sendWritten sends the item after a successful write. The write is committed, so an item that
// cannot be rendered, for example because a relation fails, must not become an error status. The
// error is logged and the client receives success without a body.
func (x *call) sendWritten(status int, e *resource.Entry, w *writeRequest, tagged bool) error {
	if e.Value != nil || w.selection.whole != nil {
		// After the header was sent, an error has to abort the connection. Before that, a response
		// without a body is still possible.
		err := x.sendItem(status, e, &w.selection, w.enc, tagged)
		if err == nil || x.started {
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

// put handles PUT on an item. It replaces the item, or creates it if clients choose the ids.
func (x *call) put(id string) error {
	var w writeRequest
	if err := x.prepare(&w, id, mediaJSON); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := x.readContent(buf); err != nil {
		return err
	}
	w.selection.versionMember = x.versionMember()
	x.setKey(&w, id)
	e, created, err := x.route.resource.Put(x.r.Context(), id, *buf, &w.opts)
	if err != nil {
		return x.withExistingURL(err)
	}
	x.applyReplay(&w)
	return x.respondPut(&w, &e, created, *buf)
}

// respondPut sends the response to a PUT. It sends a validator only if the request body equals the
// body of the next GET, or if AlwaysETagOnPut is set (RFC 9110 section 9.3.4).
func (x *call) respondPut(w *writeRequest, e *resource.Entry, created bool, sent []byte) error {
	h, status := x.w.Header(), http.StatusOK
	if created {
		status = http.StatusCreated
		h["Location"] = []string{x.href(x.route.name, e.ID, "")}
	}
	// An entity tag promises that the next GET returns the same bytes. Defaults, members that the
	// server sets and another order of members break the promise.
	tagged := x.route.etagOnPut
	// A member that selected the contract is in the request body but is not stored.
	if !tagged && (e.Value != nil || w.selection.whole != nil) && w.selection.versionMember == nil {
		buf := buffers.Get()
		defer buffers.Put(buf)
		// The comparison is with the whole item, whatever the client selects for this response. An
		// item that cannot be rendered has no tag; it is stored, so this is no error of the request.
		doc, err := x.render(*buf, e, &selection{whole: w.selection.whole})
		if err == nil {
			*buf, tagged = doc, bytes.Equal(doc, sent)
			w.selection.whole = doc // the response copies it
		}
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
	x.applyReturn(w)
	x.contentLocation(e.ID, w)
	return x.sendWritten(status, e, w, tagged)
}

// setValidators sets the validators of the representation that a plain GET returns.
func (x *call) setValidators(h http.Header, e *resource.Entry) {
	validators{
		r:        x.route.resource,
		rev:      e.Rev,
		suffix:   x.contractTag,
		modified: e.Modified,
		length:   -1,
	}.set(h)
}

// contentLocation sets Content-Location to the URL at which GET returns the same body. If the body
// repeats the version member, there is no such URL.
func (x *call) contentLocation(id string, w *writeRequest) {
	if w.selection.versionMember != nil {
		return
	}
	h, params := x.w.Header(), w.selection.query()
	if location := h["Location"]; location != nil && params == "" { // the same URL
		h["Content-Location"] = []string{location[0]}
		return
	}
	h["Content-Location"] = []string{x.href(x.route.name, id, params)}
}

// applyReturn confirms return=representation if the client prefers it.
func (x *call) applyReturn(w *writeRequest) {
	if v, _ := w.prefer.Get("return"); v == "representation" {
		x.applied("return=representation")
	}
}

// delete handles DELETE on an item. A request body has no meaning (RFC 9110 section 9.3.5) and is
// not read.
func (x *call) delete(id string) error {
	var w writeRequest
	if err := x.prepare(&w, id); err != nil {
		return err
	}
	// A repeated DELETE has the same effect as the first one, but its status may differ (RFC 9110
	// section 9.2.2). Which one it is, is an option.
	w.opts.IgnoreGone = x.route.ignoreGone
	x.setKey(&w, id)
	if _, err := x.route.resource.Delete(x.r.Context(), id, &w.opts); err != nil {
		return err
	}
	x.replayed()
	h := x.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, x.route.varyItem)
	return x.noContent(http.StatusNoContent)
}
