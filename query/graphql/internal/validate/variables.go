package validate

import (
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// usage is a variable at a position.
type usage struct {
	usageKey
	loc *parser.Location
}

// usageKey is what of a usage decides whether it is right. Usages that are alike are kept once, so that many operations
// that share a large fragment do not each go through all of it.
type usageKey struct {
	name       string
	typ        *model.Ref
	hasDefault bool
	oneOf      *model.Type
}

// use notes that the definition at hand uses a variable.
func (v *validator) use(variable *parser.Variable, at position) {
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

// variableDefinitions checks what operations say of their variables themselves (sections 5.8.1 and 5.8.2).
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

// namedNode returns the name in a type as it is written.
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

// operationVariables compares the variables of an operation with their usages in it and in the fragments that it
// reaches, which it marks as used (sections 5.8.3 to 5.8.5).
func (v *validator) operationVariables(op *operation) {
	c := variableChecker{v: v, op: op, defs: map[string]*variable{}}
	for _, def := range op.node.VariableDefinitions {
		c.defs[def.Variable.Name.Value] = &variable{node: def, typ: coerce.TypeOf(v.schema, def.Type)}
	}
	c.all(op.usages)
	v.current = nil // from here on, nobody uses variables any more
	v.reach(&op.definition, v.nextVisit(), func(f *fragment) {
		f.used = true
		c.all(f.usages)
	})
	if v.reached > reachBudget {
		v.report("Limits", fmt.Sprintf("The operations reach more than %d fragments in all.", reachBudget),
			op.node.Loc)
		return
	}
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

// nextVisit returns a number for one traversal of the fragments.
func (v *validator) nextVisit() int {
	v.visits++
	return v.visits
}

type variable struct {
	node *parser.VariableDefinition
	typ  *model.Ref // nil if there is no such type
	used bool
}

// variableChecker holds the usages that one operation has against its variables.
type variableChecker struct {
	v    *validator
	op   *operation
	defs map[string]*variable
}

// all is section 5.8.3 for each usage, and the position of those that are defined.
func (c *variableChecker) all(usages []usage) {
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

// checkPosition is section 5.8.5: a variable that may be absent or null can stand where neither is allowed if a default, its
// own or the position's, steps in.
func (c *variableChecker) checkPosition(def *variable, u usage) {
	if def.typ == nil || u.typ == nil {
		return
	}
	expected := u.typ
	if expected.NonNull && !def.typ.NonNull {
		_, null := def.node.DefaultValue.(*parser.NullValue)
		hasDefault := def.node.DefaultValue != nil && !null
		// A null that is given at run time is caught by coercion.
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
