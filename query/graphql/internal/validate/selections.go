package validate

// Operations, fragments and their selection sets. Called by validate.go. Fragments are checked at
// their definition and not where they are spread, so the time is proportional to the document.

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// checkOperation checks an operation. Fragments are checked separately by checkFragment. Without a
// root type (section 5.2.1.1) the selections are still traversed, to record the usages of
// variables.
func (v *validator) checkOperation(op *operation) {
	// recordUsage adds the usages of variables to the current definition.
	v.current = &op.definition
	if op.root == nil {
		v.report("KnownOperationTypes", "The "+op.node.Operation+" operation is not supported by the schema.",
			op.node.Loc)
	}
	v.variableDefinitions(op)
	v.directives(op.node.Directives, operationLocation(op.node.Operation))
	v.selections(op.set, op.root)
	if op.node.Operation == parser.OperationSubscription && op.root != nil {
		v.subscription(op)
	}
}

// checkFragment checks a fragment definition, whether it is used or not (section 5.5.1). The type
// condition must name an existing composite type (sections 5.5.1.2 and 5.5.1.3).
func (v *validator) checkFragment(f *fragment) {
	v.current = &f.definition
	on := f.node.TypeCondition
	if typ := v.knownType(on); typ != nil && f.on == nil {
		v.report("FragmentsOnCompositeTypes", fmt.Sprintf(
			"Fragment %q cannot condition on non composite type %q.",
			f.node.Name.Value, on.Name.Value), on.Loc)
	}
	v.directives(f.node.Directives, "FRAGMENT_DEFINITION")
	v.selections(f.set, f.on)
}

// knownType returns the type with this name. If there is none, it reports an error and returns nil
// (section 5.5.1.2).
func (v *validator) knownType(named *parser.NamedType) *model.Type {
	typ := v.schema.Type(named.Name.Value)
	if typ == nil {
		v.report("KnownTypeNames", `Unknown type "`+named.Name.Value+`".`, named.Loc)
	}
	return typ
}

// selections checks a selection set. parent is the type that it selects from, or nil if an earlier
// error makes it unknown; the existence of fields is then not checked. The recursion is as deep as
// the document nests, which lexer.Guard and measure limit.
func (v *validator) selections(set *parser.SelectionSet, parent *model.Type) {
	for _, s := range set.Selections {
		if v.enough() {
			return
		}
		switch s := s.(type) {
		case *parser.Field:
			v.field(s, parent)
		case *parser.InlineFragment:
			v.inlineFragment(s, parent)
		case *parser.FragmentSpread:
			v.fragmentSpread(s, parent)
		}
	}
}

// field checks a field and its subfields (section 5.3.1). If the schema does not define it, only
// rules that need no definition are checked.
func (v *validator) field(f *parser.Field, parent *model.Type) {
	var def *model.Field
	if parent != nil {
		if def = v.schema.Field(parent, f.Name.Value); def == nil {
			v.reportHint("FieldsOnCorrectType",
				fmt.Sprintf("Cannot query field %q on type %q.", f.Name.Value, parent.Name),
				func() string { return v.fieldHint(parent, f.Name.Value) }, f.Loc)
		}
	}
	v.directives(f.Directives, "FIELD")
	if def == nil {
		// Subfields may use variables and spread fragments, which other rules count.
		v.arguments(f.Arguments, nil)
		if f.SelectionSet != nil {
			v.selections(f.SelectionSet, nil)
		}
		return
	}
	v.fieldArguments(f, def, parent)
	v.leafSelection(f, def)
	if f.SelectionSet == nil {
		return
	}
	// All introspection of types begins at these two fields.
	if def.Name == "__schema" || def.Name == "__type" {
		v.introspectionDepth(f)
	}
	outer := v.in
	v.in = enclosing{parent, def}
	v.selections(f.SelectionSet, selectable(def.Type))
	v.in = outer
}

// leafSelection checks that a field has a selection set exactly if its type is composite (section 5.3.3).
func (v *validator) leafSelection(f *parser.Field, def *model.Field) {
	leaf := def.Type.Named().IsLeaf()
	switch name := f.Name.Value; {
	case leaf && f.SelectionSet != nil:
		v.report("ScalarLeafs",
			fmt.Sprintf("Field %q must not have a selection since type %q has no subfields.",
				name, def.Type), f.SelectionSet.Loc)
	case !leaf && f.SelectionSet == nil:
		v.report("ScalarLeafs", fmt.Sprintf(
			`Field "%s" of type "%s" must have a selection of subfields. Did you mean "%s { ... }"?`, name,
			def.Type, name),
			f.Loc)
	}
}

// inlineFragment checks that the type condition exists and can apply to parent (sections 5.5.1.3
// and 5.5.2.3). Without a type condition the fragment selects from parent.
func (v *validator) inlineFragment(f *parser.InlineFragment, parent *model.Type) {
	on := parent
	if f.TypeCondition != nil {
		typ := v.knownType(f.TypeCondition)
		on = nil
		if typ != nil && typ.IsComposite() {
			on = typ
		}
		switch {
		case typ != nil && on == nil:
			v.report("FragmentsOnCompositeTypes",
				fmt.Sprintf("Fragment cannot condition on non composite type %q.", typ.Name),
				f.TypeCondition.Loc)
		case on != nil && parent != nil && !model.Overlap(on, parent):
			v.report("PossibleFragmentSpreads", fmt.Sprintf(
				"Fragment cannot be spread here as objects of type %q can never be of type %q.", parent.Name,
				on.Name), f.Loc)
		}
	}
	v.directives(f.Directives, "INLINE_FRAGMENT")
	v.selections(f.SelectionSet, on)
}

// fragmentSpread checks that the fragment exists and can apply to parent (sections 5.5.2.1 and
// 5.5.2.3). It does not enter the fragment.
func (v *validator) fragmentSpread(s *parser.FragmentSpread, parent *model.Type) {
	name := s.Name.Value
	f := v.byName[name]
	switch {
	case f == nil:
		v.report("KnownFragmentNames", `Unknown fragment "`+name+`".`, s.Name.Loc)
	case f.on != nil && parent != nil && !model.Overlap(f.on, parent):
		v.report("PossibleFragmentSpreads", fmt.Sprintf(
			"Fragment %q cannot be spread here as objects of type %q can never be of type %q.", name,
			parent.Name, f.on.Name), s.Loc)
	}
	// The selections of the fragment are checked by checkFragment.
	v.directives(s.Directives, "FRAGMENT_SPREAD")
}

// introspectionDepth rejects lists of introspection fields that nest more than two deep, because
// the size of the response grows exponentially with their depth. The rule is not part of the
// specification. The limit and the message are those of the reference implementation.
func (v *validator) introspectionDepth(f *parser.Field) {
	const most = 2
	if v.introspectionLists(f.SelectionSet, map[*fragment]int{}) > most {
		v.report("MaxIntrospectionDepth", "Maximum introspection depth exceeded", f.Loc)
	}
}

// introspectionLists returns the maximum depth of nested introspection lists in a selection set.
// known has the depth of fragments that have been searched, so each is searched once for an
// introspection field. The counted names are those of the reference implementation.
func (v *validator) introspectionLists(set *parser.SelectionSet, known map[*fragment]int) int {
	deepest := 0
	if set == nil {
		return 0
	}
	for _, s := range set.Selections {
		n := 0
		switch s := s.(type) {
		case *parser.Field:
			n = v.introspectionLists(s.SelectionSet, known)
			switch s.Name.Value {
			case "fields", "interfaces", "possibleTypes", "inputFields":
				n++
			}
		case *parser.InlineFragment:
			n = v.introspectionLists(s.SelectionSet, known)
		case *parser.FragmentSpread:
			f := v.byName[s.Name.Value]
			if f == nil {
				continue
			}
			if _, ok := known[f]; !ok {
				known[f] = v.introspectionLists(f.set, known)
			}
			n = known[f]
		}
		deepest = max(deepest, n)
	}
	return deepest
}
