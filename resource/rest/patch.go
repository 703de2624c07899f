package rest

// PATCH of an item: the formats of a patch, and the handler. Called by route.go; calls
// Resource.Patch.

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

// patchTypes returns the media types of PATCH. It panics if a format is not valid.
func (o *Options) patchTypes() []string {
	types := []string{patch.MergeType, patch.JSONType}
	if !o.RequirePatchType {
		types = append(types, mediaJSON)
	}
	for i, f := range o.PatchFormats {
		if err := f.Validate(); err != nil {
			panic(fmt.Sprintf("rest: Options.PatchFormats[%d]: %v", i, err))
		}
		if slices.Contains(types, f.MediaType) {
			panic(fmt.Sprintf("rest: Options.PatchFormats has %q twice; use one media type for each format",
				f.MediaType))
		}
		types = append(types, f.MediaType)
	}
	return types
}

// patchFormat returns the format of the application with the media type, or nil.
func (h *Handler) patchFormat(media string) *patch.Format {
	i := slices.IndexFunc(h.opts.PatchFormats, func(f patch.Format) bool { return f.MediaType == media })
	if i < 0 {
		return nil
	}
	return &h.opts.PatchFormats[i]
}

// patch handles PATCH on an item.
func (c *call) patch(id string) error {
	var w writeRequest
	if err := c.prepare(&w, id, c.h.patchTypes...); err != nil {
		return err
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if err := c.readContent(buf); err != nil {
		return err
	}
	p, err := c.parsePatch(w.media, *buf)
	if err != nil {
		// The item is read after the patch was parsed, and errors about the item, such as 404, have
		// precedence over a malformed patch.
		p = patch.Invalid(err)
	}
	// A retry with a key may name a merge patch by its other type.
	if w.media == mediaJSON {
		w.media = patch.MergeType
	}
	c.setKey(&w, id)
	w.selection.versionMember = c.versionMember()
	if w.opts.Key != nil {
		w.opts.Key.Content = *buf
		// The key covers the content of the patch and not its formatting.
		if f := c.h.patchFormat(w.media); f == nil || f.JSON() {
			w.opts.Key.Content = idempotency.CanonicalJSON(*buf)
		}
	}
	e, err := c.route.resource.Patch(c.r.Context(), id, p, &w.opts)
	if err != nil {
		return err
	}
	c.applyReplay(&w)
	h := c.w.Header()
	if w.minimal {
		c.applied("return=minimal")
		c.setValidators(h, &e)
		c.itemHeaders(h)
		return c.noContent(http.StatusNoContent)
	}
	c.applyReturn(&w)
	c.contentLocation(e.ID, &w)
	return c.sendWritten(http.StatusOK, &e, &w, true)
}

// parsePatch parses the request body. application/json is a merge patch.
func (c *call) parsePatch(media string, body []byte) (*patch.Patch, error) {
	limits := patch.Limits{Ops: c.h.limits.Operations, Depth: c.h.limits.Depth}
	if f := c.h.patchFormat(media); f != nil {
		return f.Parse(body, limits)
	}
	if media != mediaJSON {
		return patch.Parse(media, body, limits)
	}
	p, err := patch.ParseMergePatch(body, limits)
	// No item is an array, so the client has probably sent a JSON Patch under the wrong type.
	if err == nil && p.Text()[0] == '[' {
		d := problem.New(problem.Invalid, "A patch with Content-Type application/json must be an object (a "+
			"merge patch); send an array of operations as application/json-patch+json.")
		d.Errors = []problem.Violation{{Code: "type", Detail: "the patch must be an object"}}
		return nil, d
	}
	return p, err
}
