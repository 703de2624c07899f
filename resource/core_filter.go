package resource

// Filters of the program, such as that of Options.Scope, and of clients. Called by everything that reads,
// writes or publishes. It calls packages mistakes and operand.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/internal/operand"
	"github.com/stoa-go/stoa/resource/internal/safe"
)

// scopeOf returns the filter of Options.Scope.
func (c *core) scopeOf(ctx context.Context) (query.Filter, error) {
	if c.scope == nil {
		return query.Filter{}, nil
	}
	f, err := c.scope(ctx)
	if err != nil {
		return query.Filter{}, err
	}
	return c.checkScope(f)
}

// fixedScope returns the fields that Options.Scope compares with one value each, such as a tenant, with the
// values. Keys are bound to them, because a caller of several tenants may use a key in each. Other
// conditions, such as a time, may differ between two attempts.
func (c *core) fixedScope(ctx context.Context) (string, error) {
	f, err := c.scopeOf(ctx)
	var fixed []byte
	var add func(f query.Filter)
	add = func(f query.Filter) {
		switch f.Op {
		case query.AndOp:
			for _, f := range f.Filters {
				add(f)
			}
		case query.Eq:
			fixed = fmt.Appendf(fixed, "%q=%q ", f.Field, fmt.Sprint(f.Value))
		}
	}
	add(f)
	return string(fixed), err
}

// checkScope returns the filter for the collection, or why it is a mistake of the program. A comparison
// that cannot be evaluated would be false, and its negation would be true for every item.
func (c *core) checkScope(f query.Filter) (query.Filter, error) {
	f, err := c.withOperands(f)
	if err == nil && hasRelation(f) {
		err = errRelation
	}
	if err != nil {
		//lint:ignore ST1005 Scope is the name of the option.
		return query.Filter{}, fmt.Errorf("Scope %w", err)
	}
	return f, nil
}

// tryScope calls Options.Scope without a caller, and returns the mistake of its filter, or "". Without a
// caller it may fail, panic, wait, or compare with null: all of these are ignored.
func (c *core) tryScope() string {
	if c.scope == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	found := make(chan error, 1)
	go func() {
		defer close(found)
		_ = safe.Call(func() error {
			f, err := c.scope(ctx)
			if err == nil {
				_, err = c.checkScope(f)
				found <- err
			}
			return err
		})
	}()
	select {
	case err := <-found:
		if err != nil && !errors.Is(err, mistakes.ErrNull) {
			return "Options." + err.Error()
		}
	case <-ctx.Done():
	}
	return ""
}

// errRelation reports a mistake in Options.Scope or ViewOptions.Where. Single items and events are compared
// with both by their own fields.
var errRelation = errors.New("has query.Some; it can only use fields of the item")

// hasRelation reports whether f has a condition on related items.
func hasRelation(f query.Filter) bool {
	return f.Op == query.SomeOp || slices.ContainsFunc(f.Filters, hasRelation)
}

// withOperands checks a filter of the program, or of a client, against the schema, and converts the operands
// of decimals and durations to their kinds: a program may write them as text, and a decimal as a float64.
// Protocols reject such filters of clients before, so the error is that of a program. It is no problem that
// is sent to clients, whatever it wraps.
func (c *core) withOperands(f query.Filter) (query.Filter, error) {
	if err := mistakes.OfFilter(f, c.typ); err != nil || !c.hasForms {
		return f, err
	}
	return operand.Convert(f, c.typ)
}
