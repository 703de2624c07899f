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
func (c *call) prepare(w *writeRequest, id string, accepted ...string) error {
	var err error
	w.prefer = c.prefer()
	preference, _ := w.prefer.Get("return")
	// return is read first, because it decides whether there is a body that Accept can apply to.
	w.minimal = preference == "minimal"
	// Without a response body, Accept does not apply.
	if accepted != nil && !w.minimal {
		if err = c.acceptable(); err != nil {
			return err
		}
		if w.enc, err = c.encodings(); err != nil {
			return err
		}
	}
	if accepted != nil {
		if w.media, err = c.checkContent(accepted...); err != nil {
			return err
		}
	}
	w.opts.Lenient = c.lenient(w.prefer)
	if w.selection, err = c.itemSelection(w.opts.Lenient); err != nil {
		return err
	}
	w.opts.MaxDepth, w.opts.MaxNames = c.h.limits.Depth, c.h.limits.Names
	if w.key, err = c.parseKey(); err != nil {
		return err
	}
	// RFC 9110 does not define preconditions on a collection. They are ignored.
	if id == "" {
		return nil
	}
	if conditional(c.r.Header) {
		if w.opts.If, err = parsePreconditions(c.r.Header); err != nil {
			return err
		}
	}
	// net/http sends 100 at the first read of the body. An error before that read saves the client
	// the transfer (RFC 9110 section 10.1.1). The write checks everything again.
	if accepted != nil && w.key == "" && strings.EqualFold(c.r.Header.Get("Expect"), "100-continue") {
		op := resource.OpPatch
		if c.r.Method == http.MethodPut {
			op = resource.OpReplace
		}
		return c.route.resource.Raw().Precheck(c.r.Context(), op, id, &w.opts.If)
	}
	return nil
}

// setKey sets the idempotency key of the write. It is called after the body has been read. Raw
// means that a replay may send the recorded JSON, which has all fields and no relations.
func (c *call) setKey(w *writeRequest, id string) {
	w.opts.Key = c.useKey(w.key, id, w.media)
	if w.opts.Key != nil {
		w.opts.Key.Raw = w.selection.fields == nil && w.selection.links == nil
	}
}

// applyReplay sets the response fields of a replay, and the recorded JSON of the item if there is
// one.
func (c *call) applyReplay(w *writeRequest) {
	if w.opts.Key != nil {
		c.replayed()
		w.selection.whole = w.opts.Key.Item()
	}
}

// post handles POST on a collection: 201 with the URL of the new item in Location (RFC 9110 section
// 9.3.3).
func (c *call) post() error {
	var w writeRequest
	if err := c.prepare(&w, "", c.route.posts...); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := c.readContent(buf); err != nil {
		return err
	}
	w.selection.versionMember = c.versionMember()
	res := c.route.resource
	c.setKey(&w, "")
	e, err := res.Create(c.r.Context(), *buf, &w.opts)
	if err != nil {
		return c.withExistingURL(err)
	}
	c.applyReplay(&w)
	h := c.w.Header()
	h["Location"] = []string{c.href(res.Name(), e.ID, "")}
	if w.minimal {
		c.applied("return=minimal")
		c.setValidators(h, &e)
		c.itemHeaders(h)
		return c.noContent(http.StatusCreated)
	}
	c.applyReturn(&w)
	c.contentLocation(e.ID, &w)
	return c.sendWritten(http.StatusCreated, &e, &w, true)
}

// withExistingURL adds the URL of the existing item to an error about a duplicate id.
func (c *call) withExistingURL(err error) error {
	href := c.existingURL(err)
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
func (c *call) existingURL(err error) string {
	var at *resource.Error
	if !errors.Is(err, resource.ErrExists) || !errors.As(err, &at) || at.ID == "" {
		return ""
	}
	for _, r := range c.h.catalog.Resources() {
		if r.Name() == at.Resource && r.Raw().Recall(c.r.Context(), at.ID, nil) != nil {
			return ""
		}
	}
	return c.href(at.Resource, at.ID, "")
}

// sendWritten sends the item after a successful write. The write is committed, so an item that
// cannot be rendered, for example because a relation fails, must not become an error status. The
// error is logged and the client receives success without a body.
func (c *call) sendWritten(status int, e *resource.Entry, w *writeRequest, tagged bool) error {
	if e.Value != nil || w.selection.whole != nil {
		// After the header was sent, an error has to abort the connection. Before that, a response
		// without a body is still possible.
		err := c.sendItem(status, e, &w.selection, w.enc, tagged)
		if err == nil || c.started {
			return err
		}
		c.logError(err)
	} else if err := c.route.resource.Raw().NotShown(e); err != nil {
		c.logError(err)
	}
	h := c.w.Header()
	delete(h, "Content-Location")
	c.itemHeaders(h)
	if status == http.StatusOK {
		status = http.StatusNoContent
	}
	return c.noContent(status)
}

// put handles PUT on an item. It replaces the item, or creates it if clients choose the ids.
func (c *call) put(id string) error {
	var w writeRequest
	if err := c.prepare(&w, id, mediaJSON); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := c.readContent(buf); err != nil {
		return err
	}
	w.selection.versionMember = c.versionMember()
	c.setKey(&w, id)
	e, created, err := c.route.resource.Put(c.r.Context(), id, *buf, &w.opts)
	if err != nil {
		return c.withExistingURL(err)
	}
	c.applyReplay(&w)
	return c.respondPut(&w, &e, created, *buf)
}

// respondPut sends the response to a PUT. It sends a validator only if the request body equals the
// body of the next GET, or if AlwaysETagOnPut is set (RFC 9110 section 9.3.4).
func (c *call) respondPut(w *writeRequest, e *resource.Entry, created bool, sent []byte) error {
	h, status := c.w.Header(), http.StatusOK
	if created {
		status = http.StatusCreated
		h["Location"] = []string{c.href(c.route.name, e.ID, "")}
	}
	// An entity tag promises that the next GET returns the same bytes. Defaults, members that the
	// server sets and another order of members break the promise.
	tagged := c.route.etagOnPut
	// A member that selected the contract is in the request body but is not stored.
	if !tagged && (e.Value != nil || w.selection.whole != nil) && w.selection.versionMember == nil {
		buf := buffers.Get()
		defer buffers.Put(buf)
		// The comparison is with the whole item, whatever the client selects for this response. An
		// item that cannot be rendered has no tag; it is stored, so this is no error of the request.
		doc, err := c.render(*buf, e, &selection{whole: w.selection.whole})
		if err == nil {
			*buf, tagged = doc, bytes.Equal(doc, sent)
			w.selection.whole = doc // the response copies it
		}
	}
	if w.minimal {
		c.applied("return=minimal")
		if tagged {
			c.setValidators(h, e)
		}
		c.itemHeaders(h)
		if !created {
			status = http.StatusNoContent
		}
		return c.noContent(status)
	}
	c.applyReturn(w)
	c.contentLocation(e.ID, w)
	return c.sendWritten(status, e, w, tagged)
}

// setValidators sets the validators of the representation that a plain GET returns.
func (c *call) setValidators(h http.Header, e *resource.Entry) {
	validators{
		r:        c.route.resource,
		rev:      e.Rev,
		suffix:   c.contractTag,
		modified: e.Modified,
		length:   -1,
	}.set(h)
}

// contentLocation sets Content-Location to the URL at which GET returns the same body. If the body
// repeats the version member, there is no such URL.
func (c *call) contentLocation(id string, w *writeRequest) {
	if w.selection.versionMember != nil {
		return
	}
	h, params := c.w.Header(), w.selection.query()
	if location := h["Location"]; location != nil && params == "" { // the same URL
		h["Content-Location"] = []string{location[0]}
		return
	}
	h["Content-Location"] = []string{c.href(c.route.name, id, params)}
}

// applyReturn confirms return=representation if the client prefers it.
func (c *call) applyReturn(w *writeRequest) {
	if v, _ := w.prefer.Get("return"); v == "representation" {
		c.applied("return=representation")
	}
}

// delete handles DELETE on an item. A request body has no meaning (RFC 9110 section 9.3.5) and is
// not read.
func (c *call) delete(id string) error {
	var w writeRequest
	if err := c.prepare(&w, id); err != nil {
		return err
	}
	// A repeated DELETE has the same effect as the first one, but its status may differ (RFC 9110
	// section 9.2.2). Which one it is, is an option.
	w.opts.IgnoreGone = c.route.ignoreGone
	c.setKey(&w, id)
	if _, err := c.route.resource.Delete(c.r.Context(), id, &w.opts); err != nil {
		return err
	}
	c.replayed()
	h := c.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, c.route.varyItem)
	return c.noContent(http.StatusNoContent)
}
