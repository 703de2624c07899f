// Package operand converts operands of filters of programs to the kinds of their fields.
package operand

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// Convert returns f with the operands for decimals and durations as [query.Decimal] or an integer, and as
// [query.Duration]. Those of f may be texts, and a decimal may be a float64. f has fields of typ.
func Convert(f query.Filter, typ *schema.Type) (query.Filter, error) {
	return f.Map(func(c query.Filter) (query.Filter, error) {
		field := typ.Field(c.Field)
		if c.Op == query.SomeOp || c.Op == query.IsNull || !field.IsDecimal() && !field.IsDuration() {
			return c, nil
		}
		var err error
		if list, ok := c.Value.([]any); ok {
			list = slices.Clone(list)
			for i := 0; i < len(list) && err == nil; i++ {
				list[i], err = convert(field, list[i])
			}
			c.Value = list
		} else {
			c.Value, err = convert(field, c.Value)
		}
		if err != nil {
			return c, fmt.Errorf("compares %s with an operand that %v", c.Field, err)
		}
		return c, nil
	})
}

// convert converts an operand for a decimal or a duration.
func convert(f *schema.Field, v any) (any, error) {
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

// Decimal converts an operand for an exact number.
func Decimal(v any) (any, error) {
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

// NeedsConversion reports whether a type has a decimal or a duration.
func NeedsConversion(typ *schema.Type) bool {
	return slices.ContainsFunc(typ.Fields, func(f *schema.Field) bool {
		return f.IsDecimal() || f.IsDuration()
	})
}
