package rest

// POST on the path of an item followed by /restore, which restores a deleted item. Called by route.go;
// calls Resource.Restore. The path is its own resource, so the methods of the item stay those of the
// collection.

import (
	"net/http"
	"net/url"
	"strings"
)

// restoreSuffix ends the path that restores an item.
const restoreSuffix = "/restore"

// isRestore reports whether rest, the escaped path after that of the collection, restores an item.
func (rt *route) isRestore(rest string) bool {
	if rt.allowRestore == nil {
		return false
	}
	_, action, deeper := strings.Cut(rest, "/")
	if strings.Contains(action, "%") { // %72 is equivalent to r (RFC 9110 section 4.2.3)
		action, _ = url.PathUnescape(action)
	}
	return deeper && "/"+action == restoreSuffix
}

// serveRestore serves the path. segment is that of the id.
func (c *call) serveRestore(segment string) error {
	id, err := unescapeID(segment)
	if err != nil {
		return err
	}
	c.restores = true
	switch c.r.Method {
	case http.MethodPost:
		return c.restore(id)
	case http.MethodOptions:
		return c.options(c.route.allowRestore)
	}
	return notAllowed(c.route.allowRestore)
}

// restore handles POST. The request has no body, and preconditions do not apply, because a deleted item
// has no representation. The response is that of PATCH.
func (c *call) restore(id string) error {
	var w writeRequest
	if err := c.prepare(&w, ""); err != nil {
		return err
	}
	if !w.minimal { // without a response body, Accept does not apply
		if err := c.acceptable(); err != nil {
			return err
		}
		var err error
		if w.enc, err = c.encodings(); err != nil {
			return err
		}
	}
	c.setKey(&w, id)
	e, err := c.route.resource.Restore(c.r.Context(), id, &w.opts)
	if err != nil {
		return c.withExistingURL(err)
	}
	c.applyReplay(&w)
	if w.minimal {
		c.applied("return=minimal")
		h := c.w.Header()
		c.setValidators(h, &e)
		c.itemHeaders(h)
		return c.noContent(http.StatusNoContent)
	}
	c.applyReturn(&w)
	c.contentLocation(e.ID, &w)
	return c.sendWritten(http.StatusOK, &e, &w, true)
}
