package resource

// Hook and policy of a write, and what runs after its commit. Called by write.go, batch.go and
// import.go.

import (
	"context"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// checkWrite sets the stamps, runs the Before hook, validates the value that hook or view have made, and
// authorizes the write. On deletion the policy is first, because the hook cannot change anything and its
// error may reveal the item.
func (r *Resource) checkWrite(ctx context.Context, op Op, before, after any) error {
	c := r.core
	if after == nil {
		if err := c.authorize(ctx, op, before, nil); err != nil || c.ops.before == nil {
			return err
		}
		return c.ops.before(ctx, op, before, nil)
	}
	c.stamp(ctx, before, after)
	if c.ops.before != nil {
		id := c.id.Text(after)
		if err := c.ops.before(ctx, op, before, after); err != nil {
			return err
		}
		if c.id.Key != nil && c.id.Compose(after) != id {
			return fmt.Errorf("%w: Options.Before changed the key of the item %q", errStoreFault, id)
		}
	}
	if c.ops.before != nil || r.projection.up != nil {
		bad := c.typ.Validate(after)
		if c.id.IsZero(after) { // the store will choose it
			bad = slices.DeleteFunc(bad, func(v schema.Violation) bool { return v.Pointer == "/"+c.id.Name })
		}
		if len(bad) > 0 {
			return r.projection.translate(bad)
		}
		if !r.projection.expresses(after) {
			return problem.New(problem.Invalid,
				"The resulting item is not available in this version of the API. Use another version.")
		}
	}
	scope, err := c.scopeOf(ctx)
	if err != nil {
		return err
	}
	if !scope.IsZero() &&
		!query.Match(scope, c.values(after)) { // the caller could not see the item afterwards
		return ErrForbidden
	}
	return c.authorize(ctx, op, before, after)
}

// authorize calls Options.Authorize, if it is set.
func (c *core) authorize(ctx context.Context, op Op, before, after any) error {
	if c.ops.authorize == nil {
		return nil
	}
	return c.ops.authorize(ctx, op, before, after)
}

// afterCommit runs the After hook once the write is committed.
func (c *core) afterCommit(ctx context.Context, op Op, before, after any) {
	if c.ops.after != nil {
		outside := tx.Without(ctx) // the transaction of ctx is over when the hook runs
		tx.AfterCommit(ctx, func() { c.ops.after(outside, op, before, after) })
	}
}
