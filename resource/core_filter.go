package resource

// Filters of the program, such as that of Options.Scope, and of clients: checks against the schema, and
// operands in the kinds of the fields. Called by everything that reads, writes or publishes. It calls
// package mistakes.

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/schema"
)

// scopeOf returns the filter of Options.Scope.
func (h *core) scopeOf(ctx context.Context) (query.Filter, error) {
	if h.scope == nil {
		return query.Filter{}, nil
	}
	f, err := h.scope(ctx)
	if err != nil {
		return query.Filter{}, err
	}
	return h.checkScope(f)
}

// checkScope returns the filter for the collection, or why it is a mistake of the program. A comparison
// that cannot be evaluated would be false, and its negation would be true for every item.
func (h *core) checkScope(f query.Filter) (query.Filter, error) {
	f, err := h.withOperands(f)
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
func (h *core) tryScope() string {
	if h.scope == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	found := make(chan error, 1)
	go func() {
		defer close(found)
		_ = safe.Call(func() error {
			f, err := h.scope(ctx)
			if err == nil {
				_, err = h.checkScope(f)
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

// errNoRelation reports a mistake of the program: clients filter through relations of a catalog only.
var errNoRelation = errors.New("the filter has query.Some, but no catalog has a relation of the resource")

// withOperands checks a filter of the program, or of a client, against the schema, and converts the operands
// of decimals and durations to their kinds: a program may write them as text, and a decimal as a float64.
// Protocols reject such filters of clients before, so the error is that of a program. It is no problem that
// is sent to clients, whatever it wraps.
func (h *core) withOperands(f query.Filter) (query.Filter, error) {
	if err := mistakes.OfFilter(f, h.typ); err != nil || !h.hasForms {
		return f, err
	}
	return f.Map(func(c query.Filter) (query.Filter, error) {
		field := h.typ.Field(c.Field)
		if c.Op == query.SomeOp || c.Op == query.IsNull || !field.IsDecimal() && !field.IsDuration() {
			return c, nil
		}
		var err error
		if list, ok := c.Value.([]any); ok {
			list = slices.Clone(list)
			for i := 0; i < len(list) && err == nil; i++ {
				list[i], err = operand(field, list[i])
			}
			c.Value = list
		} else {
			c.Value, err = operand(field, c.Value)
		}
		if err != nil {
			return c, fmt.Errorf("compares %s with an operand that %v", c.Field, err)
		}
		return c, nil
	})
}

// operand converts an operand for a decimal or a duration.
func operand(f *schema.Field, v any) (any, error) {
	v = query.Canonical(v)
	text, isText := v.(string)
	switch v := v.(type) {
	case query.Duration:
		if f.IsDuration() {
			return v, nil
		}
	case query.Decimal, int64, uint64:
		if f.IsDecimal() {
			return v, nil
		}
	case float64:
		text, isText = strconv.FormatFloat(v, 'g', -1, 64), f.IsDecimal()
	}
	if !isText {
		parse := "ParseDecimal"
		if f.IsDuration() {
			parse = "ParseDuration"
		}
		return nil, fmt.Errorf("is of type %T; use a text or the result of query.%s", v, parse)
	}
	if f.IsDuration() {
		return query.ParseDuration(text)
	}
	return query.ParseDecimal(text)
}

// decimalOperand converts an operand for an exact number.
func decimalOperand(v any) (any, error) {
	switch v := query.Canonical(v).(type) {
	case float64:
		return query.ParseDecimal(strconv.FormatFloat(v, 'g', -1, 64))
	case string:
		return query.ParseDecimal(v)
	case query.Decimal, int64, uint64:
		return v, nil
	}
	return nil, fmt.Errorf("is of type %T, and not a number", v)
}

// hasForms reports whether a type has a decimal or a duration.
func hasForms(typ *schema.Type) bool {
	return slices.ContainsFunc(typ.Fields, func(f *schema.Field) bool {
		return f.IsDecimal() || f.IsDuration()
	})
}
