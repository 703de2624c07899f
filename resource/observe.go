package resource

// Observations of requests. Called by protocols. It calls package observe.

import (
	"context"
	"net/http"
	"strings"

	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/internal/mount"
	"github.com/stoa-go/stoa/resource/observe"
)

// Record begins the observation of a request or an operation. Protocols call it before anything else,
// pass the context to all methods of the catalog and of its resources, and call [observe.Recording.Finish]
// once. Without CatalogOptions.Observe it returns ctx and nil.
func (c *Catalog) Record(ctx context.Context) (context.Context, *observe.Recording) {
	return observe.Begin(ctx, c.opts.Observe)
}

// Route returns the route of an observation. path is the pattern below the mount, such as "/orders/{id}".
// The mount is CatalogOptions.ObserveMount, or what Request.Pattern has for the prefix that a router or
// [http.StripPrefix] has removed: r.Pattern is "/t/{tenant}/" or "/t/:tenant/*". If the pattern does not
// match the whole prefix, the route has no prefix. A version in the path precedes path: "/v1/orders/{id}".
func (c *Catalog) Route(r *http.Request, path string) string {
	marker, _, _ := strings.Cut(contract.From(r.Context()).URL(""), "?")
	path = marker + path
	if c.opts.ObserveMount != "" {
		return c.opts.ObserveMount + path
	}
	return mount.Route(r, marker, path)
}
