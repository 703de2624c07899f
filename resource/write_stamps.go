package resource

// Fields with the tag set: the times and principals of the creation and of the last write. Called by
// write.go, write_hooks.go and catalog.go. It calls package stamps.

import (
	"context"
	"fmt"
	"slices"
)

// stamp sets the fields of after, which is about to be written. before is nil for a new item.
func (c *core) stamp(ctx context.Context, before, after any) {
	if len(c.stamps) > 0 {
		c.stamps.Set(before, after, c.now(), func() string { return c.callerName(ctx) })
	}
}

// attachPrincipal adds CatalogOptions.Principal, for fields such as createdBy. It panics if such a field
// needs it and it is nil. Contracts of one API may each have a function.
func (c *core) attachPrincipal(catalog any, principal func(context.Context) string) {
	f := c.stamps.OfPrincipal()
	if f == nil || c.ops.create == nil && c.ops.insert == nil && c.ops.replace == nil {
		return
	}
	if principal == nil {
		panic(fmt.Sprintf("resource: %s: the field %q has the tag set:%q; set CatalogOptions.Principal",
			c.name, f.Name, f.Set))
	}
	own := principalOf{catalog, principal}
	for {
		old := c.principals.Load()
		var all []principalOf
		if old != nil {
			all = slices.Clip(*old)
		}
		all = append(all, own)
		if c.principals.CompareAndSwap(old, &all) {
			return
		}
	}
}

// catalogKey is the key of the context for the *Catalog that calls a hook or a command.
type catalogKey struct{}

// callerName returns the name that the catalog of ctx has for the caller. Without one, it is the first
// name of any catalog of the resource. It is empty for an anonymous caller, and if the resource is
// in no catalog.
func (c *core) callerName(ctx context.Context) string {
	all := c.principals.Load()
	if all == nil {
		return ""
	}
	if serving := ctx.Value(catalogKey{}); serving != nil {
		for _, p := range *all {
			if p.catalog == serving {
				return p.name(ctx)
			}
		}
	}
	for _, p := range *all {
		if name := p.name(ctx); name != "" {
			return name
		}
	}
	return ""
}
