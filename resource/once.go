package resource

import (
	"context"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// What a key is worth for each part of a catalog. It is found out when the catalog is made.

// Once returns what the catalog keeps keys with; nil if it keeps none, and then an Idempotency-Key means nothing.
func (c *Catalog) Once() *idempotency.Keeper { return c.opts.Once }

// Principal returns who is calling, as CatalogOptions.Principal says, for doors that ask in whose name a key is used; "" is
// nobody.
func (c *Catalog) Principal(ctx context.Context) string {
	if c.opts.Principal == nil {
		return ""
	}
	return c.opts.Principal(ctx)
}

// Guarantees returns what an Idempotency-Key is worth for each part of the catalog that can be written to, in the order in
// which the parts were given. It is nil where no keys are kept.
func (c *Catalog) Guarantees() []idempotency.Guarantee {
	var out []idempotency.Guarantee
	for _, rt := range c.routes {
		if rt.keyed {
			out = append(out, rt.guaranteed)
		}
	}
	return out
}

// Guarantee returns what a key is worth for one kind of write, for doors that call [idempotency.Keeper.Do] themselves: for
// what is in the resource, command or collection of bytes with this name. create asks for what creates an item with an id
// that the store chooses; where that is [idempotency.ByIdentity] the door has to say so in WriteOptions.NewID.
//
// runner is the one in whose transactions it happens, also below [idempotency.ExactlyOnce]; nil for none. What the catalog
// does not have, and everything in a catalog that keeps no keys, is AtMostOnce.
func (c *Catalog) Guarantee(name string, create bool) (level idempotency.Level, runner tx.Runner) {
	rt := c.routeOf(name)
	if rt == nil {
		return idempotency.AtMostOnce, nil
	}
	if create {
		return rt.guaranteed.Create, rt.runner()
	}
	return rt.guaranteed.Others, rt.runner()
}

// routeOf returns the route of a part by its name; nil if there is none.
func (c *Catalog) routeOf(name string) *route {
	if area, action, ok := strings.Cut(name, "/"); ok {
		return c.commands[area][action]
	}
	return c.table[name]
}

// runner is that of the transactions in which what is written here is written; nil for none. What a command with Jobs does
// for its request is to note a job.
func (rt *route) runner() tx.Runner {
	switch {
	case rt.jobs != nil:
		return rt.jobs.core.ops.runner
	case rt.command != nil && rt.command.into != nil:
		return rt.command.into.core.ops.runner
	case rt.command != nil:
		return rt.command.transactions
	case rt.resource != nil && rt.lookup == nil:
		return rt.resource.core.ops.runner
	}
	return nil
}

// writable reports whether anything can be written on a route.
func (rt *route) writable() bool {
	switch {
	case rt.lookup != nil:
		return false
	case rt.command != nil:
		return !rt.command.secret
	case rt.blobs != nil:
		return !rt.blobs.opts.ReadOnly
	}
	r := rt.resource
	return r.Can(OpCreate) || r.Can(OpReplace) || r.Can(OpDelete)
}

// guarantee returns what a key is worth on a route where something can be written.
func (c *Catalog) guarantee(rt *route) (g idempotency.Guarantee) {
	runner := rt.runner()
	level := c.opts.Once.LevelFor(runner)
	g = idempotency.Guarantee{Name: rt.name, Create: level, Others: level, Reason: rt.reason(level, runner)}
	derived := false
	switch {
	case rt.command != nil:
		if rt.command.into != nil && level > idempotency.AtMostOnce { // without atomic=true
			g.Others = idempotency.AtMostOnce
			g.Reason = "with atomic=true " + g.Reason + "; else lines are stored piece by piece"
		}
	case rt.blobs != nil:
		derived = rt.blobs.opts.NewID == nil
	default:
		derived = rt.resource.derivesIDs()
	}
	if derived && level < idempotency.ByIdentity {
		g.Create = idempotency.ByIdentity
		g.Reason = "the id of what is created follows from the key; for all else, " + g.Reason
	}
	return g
}

// reason says why a key is worth no more and no less.
func (rt *route) reason(level idempotency.Level, runner tx.Runner) string {
	switch {
	case level == idempotency.ExactlyOnce:
		return "it shares its transactions with the records"
	case runner != nil:
		return "its transactions are not those of the records"
	case rt.command != nil && rt.command.jobs == nil && rt.command.into == nil:
		return "it does not say in whose transactions it happens"
	}
	return "it has no transactions"
}

// sampleID is an id as it would follow from a key.
const sampleID = "01234567-89ab-8def-8123-456789abcdef"

// derivesIDs reports whether an item whose id the store would choose can have one that follows from a key instead.
func (r *Resource) derivesIDs() bool {
	h := r.core
	if h.ops.create == nil || h.ops.insert == nil || h.id.Type.Kind != schema.String {
		return false
	}
	v := h.typ.New()
	if h.id.SetText(v, sampleID) != nil {
		return false
	}
	return !slices.ContainsFunc(h.typ.Validate(v), func(bad schema.Violation) bool { return bad.Pointer == pointerTo(h.id.Name) })
}
