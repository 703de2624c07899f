package validate

// Variables: their definitions, and whether each usage is allowed. Usages are collected per
// operation and fragment while values are checked; operationVariables then compares them with the
// definitions.

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// usage is a usage of a variable.
type usage struct {
	usageKey
	loc *parser.Location
}

// usageKey holds the properties that decide whether a usage is allowed. Usages with equal keys are
// stored once, so that many operations that share a large fragment remain cheap to check. Types are
// compared as pointers: usages of a variable at the same argument or input field are equal.
type usageKey struct {
	name       string
	typ        *model.Ref  // expected type; nil if unknown
	hasDefault bool        // the argument or input field has a default other than null
	oneOf      *model.Type // see position
}

// recordUsage records that the current definition uses a variable. Only the first location of equal
// usages is kept for the message.
func (v *validator) recordUsage(variable *parser.Variable, at position) {
	key := usageKey{name: variable.Name.Value, typ: at.typ, hasDefault: at.hasDefault, oneOf: at.oneOf}
	d := v.current
	if d == nil || d.seen[key] {
		return
	}
	if d.seen == nil {
		d.seen = map[usageKey]bool{}
	}
	d.seen[key] = true
	d.usages = append(d.usages, usage{key, variable.Loc})
}

// variableDefinitions checks the variable definitions of an operation (sections 5.8.1 and 5.8.2).
// The default value of a variable of an unknown or output type is not checked, because there is
// nothing to compare it with.
func (v *validator) variableDefinitions(op *operation) {
	list := op.node.VariableDefinitions
	if len(list) > 1 {
		duplicates(list, func(d *parser.VariableDefinition) *parser.Name { return d.Variable.Name },
			func(name string, at []*parser.Location) {
				v.report("UniqueVariableNames", `There can be only one variable named "$`+name+`".`, at...)
			})
	}
	for _, def := range list {
		v.knownType(namedNode(def.Type))
		typ := coerce.TypeOf(v.schema, def.Type)
		if typ != nil && typ.Named().IsComposite() {
			v.report("VariablesAreInputTypes", fmt.Sprintf("Variable %q cannot be non-input type %q.",
				"$"+def.Variable.Name.Value, parser.PrintType(def.Type)), def.Type.Location())
			typ = nil
		}
		if def.DefaultValue != nil {
			v.value(def.DefaultValue, position{typ: typ})
		}
		v.directives(def.Directives, "VARIABLE_DEFINITION")
	}
}

// namedNode returns the named type within list and non-null types. It is the only part of a type
// reference that may be unknown.
func namedNode(t parser.Type) *parser.NamedType {
	for {
		switch wrapper := t.(type) {
		case *parser.ListType:
			t = wrapper.Type
		case *parser.NonNullType:
			t = wrapper.Type
		case *parser.NamedType:
			return wrapper
		}
	}
}

// operationVariables compares the variable definitions of an operation with the usages in it and in
// the fragments that it reaches (sections 5.8.3 to 5.8.5). It marks these fragments as used.
func (v *validator) operationVariables(op *operation) {
	c := variableChecker{v: v, op: op, defs: map[string]*variable{}}
	for _, def := range op.node.VariableDefinitions {
		c.defs[def.Variable.Name.Value] = &variable{node: def, typ: coerce.TypeOf(v.schema, def.Type)}
	}
	c.checkUsages(op.usages)
	v.current = nil // no more usages are recorded
	// Each operation checks the usages in fragments again, because operations may define the same
	// variable with different types.
	v.reach(&op.definition, v.nextVisit(), func(f *fragment) {
		f.used = true
		c.checkUsages(f.usages)
	})
	if v.reached > reachBudget {
		v.report("Limits", fmt.Sprintf("The operations reach more than %d fragments in all.", reachBudget),
			op.node.Loc)
		return
	}
	// Section 5.8.4. All usages have been compared at this point.
	for _, def := range op.node.VariableDefinitions {
		name := def.Variable.Name.Value
		if c.defs[name].used {
			continue
		}
		message := `Variable "$` + name + `" is never used`
		if op.node.Name != nil {
			message += ` in operation "` + op.node.Name.Value + `"`
		}
		v.report("NoUnusedVariables", message+".", def.Loc)
	}
}

// nextVisit returns a new number for a traversal of fragments. Numbers start at 1, so 0 means that
// a fragment has never been visited.
func (v *validator) nextVisit() int {
	v.visits++
	return v.visits
}

// variable is a variable definition of the operation being checked.
type variable struct {
	node *parser.VariableDefinition
	typ  *model.Ref // nil if the type is unknown
	used bool       // by the operation, or by a fragment that it reaches
}

// variableChecker compares usages with the variable definitions of one operation. defs is indexed
// by name; of several definitions with one name the last is used.
type variableChecker struct {
	v    *validator
	op   *operation
	defs map[string]*variable
}

// checkUsages checks that each usage refers to a defined variable (section 5.8.3) and that its
// position allows it. A usage in a fragment is an error for each operation that does not define the
// variable.
func (c *variableChecker) checkUsages(usages []usage) {
	for _, u := range usages {
		if c.v.enough() {
			return
		}
		if def := c.defs[u.name]; def != nil {
			def.used = true
			c.checkPosition(def, u)
			continue
		}
		message := `Variable "$` + u.name + `" is not defined`
		if c.op.node.Name != nil {
			message += ` by operation "` + c.op.node.Name.Value + `"`
		}
		c.v.report("NoUndefinedVariables", message+".", u.loc, c.op.node.Loc)
	}
}

// checkPosition implements section 5.8.5. A nullable variable is allowed in a non-null position if
// the variable or the position has a default value other than null. In a OneOf input object the
// variable itself must be non-null, because its field must have a value.
func (c *variableChecker) checkPosition(def *variable, u usage) {
	if def.typ == nil || u.typ == nil {
		return
	}
	expected := u.typ
	if expected.NonNull && !def.typ.NonNull {
		_, null := def.node.DefaultValue.(*parser.NullValue)
		hasDefault := def.node.DefaultValue != nil && !null
		// Coercion rejects a null that the request provides.
		if hasDefault || u.hasDefault {
			expected = expected.Nullable()
		}
	}
	if !def.typ.Within(expected) {
		c.v.report("VariablesInAllowedPosition", fmt.Sprintf(
			`Variable "$%s" of type "%s" used in position expecting type "%s".`, u.name, def.typ, u.typ),
			def.node.Loc, u.loc)
	}
	if u.oneOf != nil && !def.typ.NonNull {
		c.v.report("VariablesInAllowedPosition", fmt.Sprintf(
			`Variable "$%s" is of type "%s" but must be non-nullable to be used for OneOf Input Object "%s".`,
			u.name, def.typ, u.oneOf.Name), def.node.Loc, u.loc)
	}
}
