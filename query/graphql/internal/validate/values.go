package validate

// Values of arguments, default values and input fields (section 5.6). Called by arguments.go and
// variables.go. Usages of variables are recorded here and checked in variables.go.

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// position describes the position of a value in the document.
type position struct {
	typ        *model.Ref // expected type; nil if unknown, and the value is only searched for variables
	hasDefault bool
	oneOf      *model.Type // the OneOf input object that contains the value as a field, or nil
	unchecked  bool        // the value is part of one that has been checked as a whole
}

// value checks a value at a position (sections 5.6 and 5.8.5). A variable is only recorded, because
// operations that share a fragment may define it with different types.
func (v *validator) value(value parser.Value, at position) {
	if v.enough() {
		return
	}
	switch value := value.(type) {
	case *parser.Variable:
		v.recordUsage(value, at)
	case *parser.ListValue:
		v.list(value, at)
	case *parser.ObjectValue:
		v.object(value, at)
	case *parser.NullValue:
		if at.typ != nil && at.typ.NonNull && !at.unchecked {
			v.reportMismatch(value, at.typ, "")
		}
	default:
		v.literal(value, at)
	}
}

// reportMismatch reports a value that does not have the expected type. why is an optional reason.
// coerce.Show limits the length of the value in the message.
func (v *validator) reportMismatch(value parser.Value, typ *model.Ref, why string) {
	if why != "" {
		why = "; " + why
	}
	v.report("ValuesOfCorrectType",
		fmt.Sprintf(`Expected value of type "%s", found %s%s.`, typ, coerce.Show(value), why),
		value.Location())
}

// literal checks a value against a scalar or enum. If a list is expected, the value is coerced to a
// list of one item. The coerced value is discarded. Using the function of execution ensures that a
// valid document has no literal that fails there.
func (v *validator) literal(value parser.Value, at position) {
	if at.typ == nil || at.unchecked {
		return
	}
	named := at.typ.Named()
	if !named.IsLeaf() {
		v.reportMismatch(value, at.typ, "")
		return
	}
	// The error of a scalar has a message of its own, or is empty.
	if _, err := coerce.Literal(named, value); err != nil && err.Error() != "" {
		v.report("ValuesOfCorrectType", err.Error(), value.Location())
	} else if err != nil {
		v.reportMismatch(value, at.typ, "")
	}
}

// list checks the items of a list. If no list is expected, the list is checked as a whole, and its
// items are only searched for variables. A scalar such as JSON accepts a list as its value.
func (v *validator) list(value *parser.ListValue, at position) {
	item := position{unchecked: at.unchecked}
	if at.typ != nil && at.typ.Elem != nil {
		item.typ = at.typ.Elem
	} else {
		if at.typ != nil {
			item.typ = at.typ.Nullable()
		}
		v.literal(value, item)
		item.unchecked = true // variables in it still count as used
	}
	for _, element := range value.Values {
		v.value(element, item)
	}
}

// object checks the fields of an input object. If a list is expected, the object is coerced to a
// list of one item. Fields that the type does not have are errors (section 5.6.2). An object in
// place of a scalar is checked as a whole, like a list in place of one.
func (v *validator) object(value *parser.ObjectValue, at position) {
	v.uniqueFields(value)
	var typ *model.Type
	if at.typ != nil {
		typ = at.typ.Named()
	}
	if typ == nil || typ.Kind != model.InputObject {
		v.literal(value, at)
		for _, f := range value.Fields {
			v.value(f.Value, position{unchecked: true})
		}
		return
	}
	if !at.unchecked {
		v.requiredFields(value, typ)
	}
	for _, f := range value.Fields {
		def := typ.Input(f.Name.Value)
		if def == nil {
			if !at.unchecked {
				v.reportHint("ValuesOfCorrectType",
					fmt.Sprintf("Field %q is not defined by type %q.", f.Name.Value, typ.Name),
					func() string { return inputHint(f.Name.Value, typ.Inputs) }, f.Loc)
			}
			v.value(f.Value, position{unchecked: true})
			continue
		}
		inner := position{typ: def.Type, hasDefault: def.Default != nil, unchecked: at.unchecked}
		if typ.OneOf {
			inner.oneOf = typ
		}
		v.value(f.Value, inner)
	}
}

// requiredFields implements section 5.6.4, and section 5.6.1 for OneOf input objects. A OneOf input
// object has no required fields, because each of its fields is nullable (section 3.10.1).
func (v *validator) requiredFields(value *parser.ObjectValue, typ *model.Type) {
	given := make(map[string]parser.Value, len(value.Fields))
	for _, f := range value.Fields {
		given[f.Name.Value] = f.Value
	}
	for _, def := range missing(typ.Inputs, func(name string) bool { return given[name] != nil }) {
		v.report("ValuesOfCorrectType", fmt.Sprintf(`Field "%s.%s" of required type "%s" was not provided.`,
			typ.Name, def.Name, def.Type), value.Loc)
	}
	if !typ.OneOf {
		return
	}
	if len(given) != 1 {
		v.report("ValuesOfCorrectType",
			fmt.Sprintf("OneOf Input Object %q must specify exactly one key.", typ.Name), value.Loc)
		return
	}
	for name, inner := range given {
		if _, null := inner.(*parser.NullValue); null {
			v.report("ValuesOfCorrectType", fmt.Sprintf(`Field "%s.%s" must be non-null.`, typ.Name, name),
				value.Loc)
		}
	}
}

// uniqueFields implements section 5.6.3. It checks objects of any type, because the rule needs no
// definition.
func (v *validator) uniqueFields(value *parser.ObjectValue) {
	if len(value.Fields) < 2 {
		return
	}
	first := make(map[string]*parser.Name, len(value.Fields))
	for _, f := range value.Fields {
		name := f.Name.Value
		if known := first[name]; known != nil {
			v.report("UniqueInputFieldNames", `There can be only one input field named "`+name+`".`,
				known.Loc, f.Name.Loc)
			continue
		}
		first[name] = f.Name
	}
}
