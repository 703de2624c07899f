package rest

// PUT and DELETE of the link between two items, /products/{id}/categories/{target}, for relations with
// Relation.Through. Called by route.go. It calls Resource.Link and Resource.Unlink.

import (
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
)

// linkMethods returns the methods of the links of a relation, and nil if it has none.
func linkMethods(c *resource.Catalog, r *resource.Resource, relation string) []string {
	join, _ := r.LinkedBy(relation)
	if join == nil {
		return nil
	}
	var methods []string
	if join.Describe().TakesIDs {
		methods = append(methods, http.MethodPut)
	}
	if join.Can(resource.OpDelete) {
		methods = append(methods, http.MethodDelete)
	}
	if methods == nil {
		return nil
	}
	return append(methods, http.MethodOptions)
}

// serveLink serves the path of a link below an item. rest is the path after the name of the resource.
func (c *call) serveLink(rest string) error {
	parts := strings.Split(strings.TrimSuffix(rest, "/"), "/")
	var l *link
	if len(parts) > 1 && parts[0] != "" {
		l = find(c.route.links, parts[1])
	}
	switch {
	case l != nil && len(parts) == 2:
		return c.noRelation(l)
	case l == nil || l.allow == nil || len(parts) != 3 || parts[2] == "":
		return problem.New(problem.NotFound, "There is no resource at this path.")
	}
	c.r.Pattern = c.route.linkPattern(l)
	if strings.HasSuffix(rest, "/") {
		return c.redirect(strings.TrimSuffix(c.path(), "/"))
	}
	id, err := unescapeID(parts[0])
	if err != nil {
		return err
	}
	target, err := unescapeID(parts[2])
	if err != nil {
		return err
	}
	switch {
	case c.r.Method == http.MethodOptions:
		h := c.w.Header()
		h["Allow"], h["Cache-Control"] = l.allow, noStore
		return c.noContent(http.StatusNoContent)
	case c.r.Method == http.MethodPut && strings.Contains(l.allow[0], http.MethodPut),
		c.r.Method == http.MethodDelete && strings.Contains(l.allow[0], http.MethodDelete):
		return c.changeLink(l, id, target)
	}
	return notAllowed(l.allow)
}

// noRelation is the error for the path of a relation, such as /products/{id}/categories. The path has no
// list: expand has the pages of related items, with their filters and order.
func (c *call) noRelation(l *link) error {
	detail := "There is no list at this path. The related items are in the item with ?expand=" + l.name
	if l.allow != nil {
		changes := strings.ReplaceAll(strings.TrimSuffix(l.allow[0], ", OPTIONS"), ", ", " and ")
		detail += ", and their links are changed by " + changes + " of this path followed by the id of one"
	}
	return problem.New(problem.NotFound, detail+".")
}

// linkPattern returns the pattern of the path of a link.
func (rt *route) linkPattern(l *link) string { return rt.patternItem + "/" + l.name + "/{target}" }

// changeLink makes or removes a link. The response has no body: a link has no representation of its
// own. Location is the item of Relation.Through.
func (c *call) changeLink(l *link, id, target string) error {
	if c.r.ContentLength > 0 || c.r.ContentLength < 0 && c.hasContent() {
		return problem.New(problem.BadRequest, "A link has no content; send the request without a body.")
	}
	source, join := c.route.resource, l.join
	if c.route = find(c.h.table, join.Name()); c.route == nil {
		return problem.New(problem.NotFound, "There is no resource at this path.")
	}
	var w writeRequest
	c.onItem = true // for the target of a key
	at := source.Name() + "/" + url.PathEscape(id) + "/" + l.name + "/" + url.PathEscape(target)
	if err := c.prepare(&w, at); err != nil {
		return err
	}
	c.setKey(&w, at)
	h := c.w.Header()
	if c.r.Method == http.MethodDelete {
		if err := source.Unlink(c.r.Context(), l.name, id, target, &w.opts); err != nil {
			return err
		}
	} else {
		e, made, err := source.Link(c.r.Context(), l.name, id, target, &w.opts)
		if err != nil {
			return err
		}
		if made {
			h["Location"] = []string{c.href(join.Name(), e.ID, "")}
			return c.sendLink(http.StatusCreated)
		}
	}
	return c.sendLink(http.StatusNoContent)
}

// hasContent reports whether a request of unknown length has a body that is not empty.
func (c *call) hasContent() bool {
	n, _ := io.ReadFull(c.r.Body, make([]byte, 1))
	return n > 0
}

// sendLink sends the response to a change of a link.
func (c *call) sendLink(status int) error {
	c.replayed()
	h := c.w.Header()
	h["Cache-Control"] = noStore
	header.AddVary(h, c.route.varyItem)
	return c.noContent(status)
}
