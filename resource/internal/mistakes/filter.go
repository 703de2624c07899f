package mistakes

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/near"
	"github.com/stoa-go/stoa/resource/schema"
)

// ErrNull is in errors of OfFilter for a null operand, which may be a value that the program does not have
// before the first request.
var ErrNull = errors.New("compares with null")

// OfFilter returns the first mistake of a filter of the program for items of a type: a name that is no
// field, an operator that the field does not have, or an operand of another kind. Such a comparison would
// match nothing, and its negation all items. The text begins with a verb. Operands of decimals and
// durations may be of any kind but null; the caller converts them. Conditions on related items are not
// checked.
//
// OfFilter is called for every request. It does not allocate if there is no mistake.
func OfFilter(f query.Filter, typ *schema.Type) error {
	switch f.Op {
	case query.AndOp, query.OrOp, query.NotOp:
		var null error // only if there is no other mistake
		for i := range f.Filters {
			switch err := OfFilter(f.Filters[i], typ); {
			case errors.Is(err, ErrNull):
				null = err
			case err != nil:
				return err
			}
		}
		return null
	case query.SomeOp:
		return nil
	}
	if f.IsZero() {
		return nil
	}
	field := typ.Field(f.Field)
	if field == nil || !field.Comparable() && !field.ComparableElem() {
		return errors.New(nameMistake(f.Field, typ))
	}
	if !slices.Contains(operatorsOf(field), f.Op) {
		return errors.New(operatorMistake(field, f.Op))
	}
	switch f.Op {
	case query.IsNull:
		if _, ok := f.Value.(bool); !ok {
			return fmt.Errorf("compares %s by query.IsNull with a %T; use true or false", f.Field, f.Value)
		}
		return nil
	case query.In, query.NotIn:
		list, ok := f.Value.([]any)
		if !ok {
			return fmt.Errorf("compares %s by %s with a %T; use query.Where, which accepts a list",
				f.Field, constant(f.Op), f.Value)
		}
		for _, v := range list {
			if err := operandMistake(field, v); err != nil {
				return err
			}
		}
		return nil
	}
	return operandMistake(field, f.Value)
}

// nameMistake returns why a name of a filter is not that of a field with values.
func nameMistake(name string, typ *schema.Type) string {
	of := cmp.Or(typ.Name, typ.GoType.String())
	if typ.Field(name) != nil {
		return fmt.Sprintf("names %q, which is neither a single value nor a list of them in %s", name, of)
	}
	meant := ""
	names := make([]string, len(typ.Fields))
	for i, f := range typ.Fields {
		if names[i] = f.Name; f.GoName == name {
			meant = f.Name
		}
	}
	if meant = cmp.Or(meant, near.Of(name, names)); meant != "" {
		meant = fmt.Sprintf("; did you mean %q?", meant)
	}
	return fmt.Sprintf("names %q, which is no field of %s%s", name, of, meant)
}

// operatorMistake returns why a filter cannot compare a field by an operator.
func operatorMistake(f *schema.Field, op query.Op) string {
	allowed := operatorsOf(f)
	switch {
	case f.Key != nil:
		return fmt.Sprintf("compares the composite id %q with %s; use query.Eq, Ne, In or NotIn, "+
			"or the fields of the id", f.Name, op)
	case f.ComparableElem():
		return fmt.Sprintf("compares the list %q with %s; use query.Contains or query.IsNull", f.Name, op)
	case slices.Contains(textOperators, op):
		return fmt.Sprintf("compares %s with %s, which applies to strings, and the field is a %s",
			f.Name, op, describe(f))
	}
	return fmt.Sprintf("compares %s with the operator %q, which does not exist; use %s",
		f.Name, op, suggest(op, allowed))
}

// operandMistake returns why the values of a field have another kind than an operand.
func operandMistake(f *schema.Field, v any) error {
	v = query.Canonical(v)
	if v == nil {
		return fmt.Errorf("%w: the operand of %s is nil or not a single value; use query.IsNull for null",
			ErrNull, f.Name)
	}
	if f.IsDecimal() || f.IsDuration() {
		return nil
	}
	t := f.Type
	if f.ComparableElem() {
		t = t.Elem
	}
	ok, want := false, ""
	switch {
	case t.Kind == schema.Boolean:
		_, ok = v.(bool)
		want = "a bool"
	case t.Kind == schema.Integer || t.Kind == schema.Number:
		switch v.(type) {
		case int64, uint64, float64, query.Decimal:
			ok = true
		}
		want = "a number"
	case t.Format == "date-time":
		_, ok = v.(time.Time)
		want = "a time.Time"
	default:
		_, ok = v.(string)
		want = "a string"
	}
	if !ok {
		return fmt.Errorf("compares %s with an operand of type %T; use %s", f.Name, v, want)
	}
	return nil
}
