package oracle

// Documents with one mistake that every executor must report before execution. document.go calls
// breakField while it selects fields, then breakVariables, and breakDocument last. Only one of
// them makes a mistake in a document.
//
// Tests check that validation rejects each document with a defect in the text, so no mistake may
// become valid by chance.

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// breakField returns a field with a mistake, or "" if the chosen mistake does not apply to the
// field. Fields with arguments or a directive get a unique alias, so that the rule of field merging
// is not broken as well.
func (g *generator) breakField(sc *scope) string {
	f := g.choose(sc)
	if f == nil {
		return ""
	}
	kind := g.IntN(8)
	args := ""
	// the other kinds drop the arguments, so a variable in them would be unused
	if kind < 2 || kind == 3 || kind == 7 {
		// A variable that the text does not use would be a second mistake.
		args = g.arguments(f)
	}
	// Each mistake breaks one rule of section 5, and nothing else in the document does.
	switch kind {
	case 0:
		// FieldsOnCorrectType (section 5.3.1).
		g.defect = "a field that is not there"
		return f.Name + "X" + args
	case 1:
		// ScalarLeafs (section 5.3.3).
		g.defect = "a selection set where none can be, or none where one must be"
		if f.Type.Named().IsComposite() {
			return g.name("a") + ": " + f.Name + args
		}
		return g.name("a") + ": " + f.Name + args + " { __typename }"
	case 2:
		// KnownArgumentNames (section 5.4.1).
		g.defect = "an argument that is not there"
		return g.name("a") + ": " + f.Name + "(nothing: 1)" + g.below(f, sc.depth)
	case 3:
		// KnownDirectives (section 5.7.1).
		g.defect = "a directive that is not there"
		return g.name("a") + ": " + f.Name + args + " @skipp(if: true)" + g.below(f, sc.depth)
	case 4:
		// KnownFragmentNames (section 5.5.2.1).
		g.defect = "a fragment that is not there"
		return "...Nowhere"
	case 5:
		// PossibleFragmentSpreads (section 5.5.2.3). At least one of the types
		// differs from the parent.
		g.defect = "a fragment on a type that does not fit"
		return "... on PageInfo { hasNextPage } ... on Mutation { __typename }"
	case 6:
		return g.breakArgument(f, sc)
	}
	// NoUndefinedVariables (section 5.8.3).
	g.defect = "a variable that is not there"
	return g.name("a") + ": " + f.Name + args + " @include(if: $nowhere)" + g.below(f, sc.depth)
}

// breakArgument returns a field with a literal of another type, or without a required argument. It
// breaks the rules ProvidedRequiredArguments (section 5.4.3) or ValuesOfCorrectType (section
// 5.6.1). The other arguments are only the required ones.
func (g *generator) breakArgument(f *model.Field, sc *scope) string {
	if len(f.Args) == 0 {
		return ""
	}
	defect := pick(g, f.Args)
	var parts []string
	for _, a := range f.Args {
		switch {
		case a != defect && required(a):
			parts = append(parts, a.Name+": "+g.value(a, 0))
		case a != defect:
		case required(a) && g.chance(2):
			g.defect = "an argument that is required is not given"
		default:
			g.defect = "a literal of another type"
			parts = append(parts, a.Name+": "+wrongLiteral(a.Type.Named()))
		}
	}
	text := g.name("a") + ": " + f.Name
	if len(parts) > 0 {
		text += "(" + strings.Join(parts, ", ") + ")"
	}
	return text + g.below(f, sc.depth)
}

// wrongLiteral returns a literal that is invalid for a type.
func wrongLiteral(t *model.Type) string {
	switch {
	// An unknown field (section 5.6.2), and an unknown enum value (section 5.6.1).
	case t.Kind == model.InputObject:
		return "{nothing: 1}"
	case t.Kind == model.Enum:
		return "NOTHING"
	}
	switch t.Name {
	case "Int", "Int64", "Float", "Boolean":
		return `"12"`
	case "DateTime":
		return `"yesterday"`
	case "JSON":
		return "NAME" // an enum value, which is not valid JSON
	}
	// String and ID accept no fraction.
	return "1.5"
}

// breakVariables gives a variable an invalid value if the document has no mistake yet. The document
// itself remains valid: the coercion of variables (section 6.1.2) has to reject it.
func (g *generator) breakVariables() {
	if g.defect != "" || len(g.variables) == 0 || g.chance(5) {
		return
	}
	name := pick(g, sortedKeys(g.variables))
	for _, def := range g.definition {
		// Definitions are text, so the type of the variable is taken from it.
		rest, ok := strings.CutPrefix(def, "$"+name+": ")
		if !ok {
			continue
		}
		// A default value follows the type after a blank.
		t, _, _ := strings.Cut(rest, " ")
		if text := g.wrongJSON(strings.TrimRight(t, "!")); text != "" {
			g.variables[name] = jsontext.Value(text)
			g.defect = "a variable of another type"
		}
	}
}

// wrongJSON returns a JSON value that is invalid for a type, or "". A value with a feature is one
// that some executors accept. Those without one must be rejected by all of them.
func (g *generator) wrongJSON(t string) string {
	type wrong struct{ text, feature string }
	var list []wrong
	switch t {
	case "Int":
		list = []wrong{{`"many"`, ""}, {`"12"`, "variable: text of digits for a number"},
			{"1.5", "variable: fraction for an Int"},
			{"true", "variable: Boolean for a number"}, {"1e300", ""}, {"[1]", ""}, {"{}", ""}}
	case "Int64":
		list = []wrong{{`"many"`, ""}, {`"12"`, ""}, {"1.5", ""}, {"true", ""}, {"1e300", ""}, {"[1]", ""},
			{"{}", ""}}
	case "Float":
		list = []wrong{{`"many"`, ""}, {`"1.5"`, "variable: text of digits for a number"},
			{"true", "variable: Boolean for a number"}, {"[1]", ""}, {"{}", ""}}
	case "Boolean":
		list = []wrong{{`"many"`, "variable: text for a Boolean"}, {"1", "variable: number for a Boolean"},
			{"[true]", "variable: list for a Boolean"}}
	case "String":
		list = []wrong{{"12", "variable: number for a String"}, {"true", "variable: Boolean for a text"},
			{`["x"]`, "variable: list for a text"}, {"{}", "variable: object for a text"}}
	case "ID":
		list = []wrong{{"1.5", "variable: fraction for an ID"}, {"true", "variable: Boolean for a text"},
			{`["x"]`, "variable: list for a text"}, {"{}", "variable: object for a text"}}
	case "DateTime":
		list = []wrong{{`"yesterday"`, ""}, {"12", ""}}
	case "JSON":
		return ""
	default:
		// The others are enums and input objects. Their names depend on the schema.
		list = []wrong{{`{"nothing":1}`, ""}, {`"NOTHING"`, ""}, {"12", ""}}
		if strings.HasPrefix(t, "[") {
			return "" // list coercion accepts a single element, so the value would depend on the element type
		}
	}
	w := pick(g, list)
	if w.feature != "" && !g.may(w.feature) {
		return ""
	}
	return w.text
}

// breakDocument makes a mistake in the operations or fragments of a document. It applies to every
// document, so it is called last. It may replace the document.
func (g *generator) breakDocument(parts []string, operation string) ([]string, string) {
	switch g.IntN(6) {
	case 0:
		// The request names an operation that the document lacks (section 6.1).
		g.defect = "an operation that is not there"
		return parts, "Nowhere"
	case 1:
		g.defect = "one of two operations, not selected"
		// The request does not select one of two operations (section 6.1).
		return []string{"query A { __typename }", "query B { __typename }"}, ""
	case 2:
		// NoUnusedFragments (section 5.5.1.4).
		g.defect = "an unused fragment"
		return append(parts, "fragment Unused on PageInfo { hasNextPage }"), operation
	case 3:
		// UniqueFragmentNames (section 5.5.1.1).
		g.defect = "a fragment that is there twice"
		// The fragment is spread, so that it is not unused as well.
		twice := "fragment Twice on Query { __typename }"
		return []string{"{ ...Twice }", twice, twice}, ""
	case 4:
		// OverlappingFieldsCanBeMerged (section 5.3.2).
		g.defect = "two fields with one key"
		return []string{"{ a: __typename a: vault(id: 1) { id } }"}, ""
	}
	// LoneAnonymousOperation (section 5.2.3.1).
	g.defect = "an operation without a name beside another"
	return append(parts, "{ __typename }", "query Other2 { __typename }"), operation
}
