package validate

// Arguments and directives (sections 5.4 and 5.7). Called by selections.go and variables.go.
// values.go checks the values.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// fieldArguments checks the arguments of a field that the schema defines (section 5.4). A name that
// the definition does not have is reported at the argument (section 5.4.1).
func (v *validator) fieldArguments(f *parser.Field, def *model.Field, parent *model.Type) {
	for _, arg := range f.Arguments {
		if argument(def.Args, arg.Name.Value) == nil {
			v.reportHint("KnownArgumentNames",
				fmt.Sprintf(`Unknown argument %q on field "%s.%s".`, arg.Name.Value, parent.Name, def.Name),
				func() string { return inputHint(arg.Name.Value, def.Args) }, arg.Loc)
		}
	}
	// Section 5.4.3. The error is reported at the field, because the argument has no location.
	for _, arg := range missing(def.Args, givenNames(f.Arguments)) {
		v.report("ProvidedRequiredArguments", fmt.Sprintf(
			"Field %q argument %q of type %q is required, but it was not provided.", def.Name, arg.Name,
			arg.Type), f.Loc)
	}
	v.arguments(f.Arguments, def.Args)
}

// arguments checks that the arguments of a field or directive are unique and that their values are
// valid. An argument without a definition has been reported by the caller; its value is searched
// for variables only. The variables of an unknown argument count as used, so that one misspelled
// name causes one error.
func (v *validator) arguments(list []*parser.Argument, defs []*model.Input) {
	v.uniqueArguments(list)
	for _, arg := range list {
		at := position{}
		if def := argument(defs, arg.Name.Value); def != nil {
			at = position{typ: def.Type, hasDefault: def.Default != nil}
		}
		v.value(arg.Value, at)
	}
}

// argument returns the definition with this name, or nil. The search is linear: a definition has
// few arguments.
func argument(defs []*model.Input, name string) *model.Input {
	for _, def := range defs {
		if def.Name == name {
			return def
		}
	}
	return nil
}

// missing returns the required arguments or input fields for which given returns false, sorted by
// name. The order is that of coerce.Variables, so errors of literals and of variables have the same
// order. An explicit null counts as given: value checks whether the type allows it.
func missing(defs []*model.Input, given func(name string) bool) []*model.Input {
	var list []*model.Input
	for _, def := range defs {
		if def.Required() && !given(def.Name) {
			list = append(list, def)
		}
	}
	slices.SortFunc(list, func(a, b *model.Input) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// givenNames returns a function that reports whether an argument is given.
func givenNames(given []*parser.Argument) func(name string) bool {
	return func(name string) bool {
		return slices.ContainsFunc(given, func(a *parser.Argument) bool { return a.Name.Value == name })
	}
}

// uniqueArguments implements section 5.4.2.
func (v *validator) uniqueArguments(list []*parser.Argument) {
	if len(list) < 2 {
		return
	}
	duplicates(list, func(a *parser.Argument) *parser.Name { return a.Name },
		func(name string, at []*parser.Location) {
			v.report("UniqueArgumentNames", `There can be only one argument named "`+name+`".`, at...)
		})
}

// duplicates calls fn for each name that several items of list have, with the locations of all of
// them. Each name is reported once, at its first occurrence.
func duplicates[T any](list []T, nameOf func(T) *parser.Name, fn func(name string, at []*parser.Location)) {
	// Most lists have no duplicates, so only the number of names is compared first.
	at := make(map[string][]*parser.Location, len(list))
	for _, item := range list {
		name := nameOf(item)
		at[name.Value] = append(at[name.Value], name.Loc)
	}
	if len(at) == len(list) {
		return
	}
	for _, item := range list {
		name := nameOf(item).Value
		if len(at[name]) > 1 {
			fn(name, at[name])
		}
		// The remaining items with this name find no locations and are not reported again.
		delete(at, name)
	}
}

// operationLocation returns the ExecutableDirectiveLocation of an operation. The names are those of
// __DirectiveLocation (section 4.2.6).
func operationLocation(operation string) string {
	switch operation {
	case parser.OperationMutation:
		return "MUTATION"
	case parser.OperationSubscription:
		return "SUBSCRIPTION"
	}
	return "QUERY"
}

// directives checks the directives at one location (section 5.7). It checks that each is defined,
// allowed at the location, and unique unless it is repeatable.
func (v *validator) directives(list []*parser.Directive, location string) {
	for i, d := range list {
		name := d.Name.Value
		def := v.schema.Directive(name)
		if def == nil {
			v.report("KnownDirectives", `Unknown directive "@`+name+`".`, d.Loc)
			// Variables in the arguments of an unknown directive still count as used.
			v.arguments(d.Arguments, nil)
			continue
		}
		if !slices.Contains(def.Locations, location) {
			v.report("KnownDirectives", `Directive "@`+name+`" may not be used on `+location+".", d.Loc)
		}
		// The search makes this loop quadratic. lexer.Guard limits the directives of a document, by
		// default to 50.
		first := slices.IndexFunc(list, func(o *parser.Directive) bool { return o.Name.Value == name })
		if first < i && !def.Repeatable {
			v.report("UniqueDirectivesPerLocation",
				`The directive "@`+name+`" can only be used once at this location.`,
				list[first].Loc, d.Loc)
		}
		v.directiveArguments(d, def)
	}
}

// directiveArguments checks the arguments of a directive that the schema defines, as fieldArguments
// does for fields. Only the messages differ: the reference implementation has texts of its own for
// directives.
func (v *validator) directiveArguments(d *parser.Directive, def *model.Directive) {
	for _, arg := range d.Arguments {
		if argument(def.Args, arg.Name.Value) == nil {
			v.report("KnownArgumentNames",
				fmt.Sprintf(`Unknown argument %q on directive "@%s".`, arg.Name.Value, def.Name), arg.Loc)
		}
	}
	for _, arg := range missing(def.Args, givenNames(d.Arguments)) {
		v.report("ProvidedRequiredArguments", fmt.Sprintf(
			`Directive "@%s" argument %q of type %q is required, but it was not provided.`, def.Name,
			arg.Name, arg.Type),
			d.Loc)
	}
	v.arguments(d.Arguments, def.Args)
}
