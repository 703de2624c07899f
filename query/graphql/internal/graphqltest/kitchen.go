package graphqltest

// The schema Kitchen, and functions to build schemas by hand. Reflection cannot produce some of
// their features, which printers and introspection must handle all the same. Tests of sdl,
// introspect, coerce and validate use it. The golden files of sdl and introspect show the result.

import (
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// models are the types of a schema by name.
type models map[string]*model.Type

// ref returns the type for a type reference in SDL, such as [Int!]. All names must be in m already.
func (m models) ref(text string) *model.Ref {
	if inner, ok := strings.CutSuffix(text, "!"); ok {
		// The copy keeps the shared reference nullable.
		r := *m.ref(inner)
		r.NonNull = true
		return &r
	}
	if strings.HasPrefix(text, "[") {
		return &model.Ref{Elem: m.ref(text[1 : len(text)-1])}
	}
	return &model.Ref{Type: m[text]}
}

// in returns an argument or an input field without a default.
func (m models) in(name, typ, doc string) *model.Input {
	return &model.Input{Name: name, Type: m.ref(typ), Doc: doc}
}

// with returns an argument or an input field with a default. A nil value is a default of null.
func (m models) with(name, typ string, value any) *model.Input {
	return &model.Input{Name: name, Type: m.ref(typ), Default: value, HasDefault: true}
}

// field returns a field that cannot be executed, because the schema has no catalog. Source has its
// zero value, Member, without a member.
func (m models) field(name, typ, doc string, args ...*model.Input) *model.Field {
	return &model.Field{Name: name, Type: m.ref(typ), Doc: doc, Args: args}
}

// Kitchen returns a schema with every kind of type, default, description and deprecation, including
// unusual ones, for the tests of SDL and introspection. It has no catalog and no introspection
// types. Package introspect adds these types in the tests that need them.
func Kitchen() *model.Schema {
	m := models{}
	for name, kind := range map[string]model.Kind{"Int": model.Scalar, "Float": model.Scalar,
		"String":  model.Scalar,
		"Boolean": model.Scalar, "ID": model.Scalar, "DateTime": model.Scalar, "Int64": model.Scalar,
		"JSON": model.Scalar, "Decimal": model.Scalar,
		"Color": model.Enum, "Choice": model.InputObject, "Settings": model.InputObject,
		"Tree":  model.InputObject,
		"Query": model.Object, "Change": model.Object, "Thing": model.Object} {
		m[name] = &model.Type{Kind: kind, Name: name}
	}
	m["DateTime"].SpecifiedBy = "https://www.rfc-editor.org/rfc/rfc3339#section-5.6"
	m["DateTime"].Doc = "An instant."
	// The descriptions end or begin with the characters that block strings have to escape.
	m["JSON"].Doc = "Ends with a quote: \"JSON\""
	m["Color"].Doc = "Lines:\n\n  indented,\n\nand not."
	// The Go values differ from the names, so a test detects which of the two is printed or
	// coerced.
	m["Color"].Values = []*model.Value{{Name: "RED", Go: "red"},
		{Name: "GREEN", Go: "green", Doc: "Like grass."},
		{Name: "BLUE", Go: "blue", Deprecated: `Use "NAVY".`}, {Name: "NAVY", Go: "navy", Doc: "Dark."}}
	// Choice prints the directive @oneOf.
	m["Choice"].OneOf = true
	m["Choice"].Inputs = []*model.Input{m.in("id", "ID", ""), m.in("name", "String", "By name.")}
	m.inputs()
	m.objects()
	s := &model.Schema{Doc: "The kitchen sink.", Query: m["Query"], Mutation: m["Change"]}
	for _, t := range m {
		s.Types = append(s.Types, t)
	}
	s.Directives = []*model.Directive{
		// Directives of the application, which the SDL has to define.
		{Name: "tag", Repeatable: true, Locations: []string{"FIELD", "QUERY"},
			Args: []*model.Input{m.in("name", "String!", "")}},
		{Name: "plain", Doc: "Does nothing.", Locations: []string{"FIELD"},
			Args: []*model.Input{m.in("why", "String", "The reason."), m.with("n", "Int", 1)}}}
	return s
}

// inputs fills input objects with defaults of every kind. Package sdl prints them as literals, and
// introspection has the same text.
func (m models) inputs() {
	// The default keeps its offset and its fraction of a second.
	at := time.Date(2026, 11, 21, 12, 30, 0, 250_000_000, time.FixedZone("", 7200))
	old := m.with("old", "Int", nil)
	old.Deprecated = "No longer supported"
	m["Settings"].Inputs = []*model.Input{
		// Defaults of every kind follow: the limits of integers, floats that need an exponent,
		// strings that need escapes, enums, null, lists and objects.
		m.with("int", "Int!", 3), m.with("zero", "Int", 0), m.with("long", "Int64", int64(-9007199254740991)),
		m.with("float", "Float", 2.5), m.with("whole", "Float", 3.0), m.with("big", "Float", 1e21),
		m.with("tiny", "Float", 1e-7),
		m.with("yes", "Boolean", true), m.with("text", "String", "\"quoted\"\\ \t\u0007\u0085 é 𝄞\n"),
		m.with("empty", "String", ""), m.with("id", "ID", "007"), m.with("number", "ID", "42"),
		m.with("color", "Color", "navy"),
		m.with("at", "DateTime", at), m.with("none", "String", nil),
		m.with("colors", "[Color!]!", []any{"red", "green"}),
		m.with("grid", "[[Int]]", []any{[]any{1, nil}, nil, []any{}}),
		m.with("choice", "Choice", map[string]any{"name": "x"}),
		m.with("json", "JSON", jsontext.Value(`"text"`)),
		m.with("tree", "Tree", map[string]any{"leaf": 1.0, "label": "a",
			"parts": []any{map[string]any{"label": "root"}}}),
		old, m.in("plain", "String", ""), m.in("long_description", "[ID!]",
			strings.Repeat("word ", 14)+"more.")}
	// Tree refers to itself in a list, and the default of Settings.tree has such a list.
	m["Tree"].Inputs = []*model.Input{m.with("label", "String!", "root"), m.in("leaf", "Float", ""),
		m.in("parts", "[Tree!]", "")}
}

// objects fills objects with descriptions and deprecations of every kind.
func (m models) objects() {
	// Deprecations: of an argument, with the default reason, which the SDL omits, and with a reason
	// of several lines.
	old := m.in("old", "Int", "Not any more.")
	old.Deprecated = "use new"
	gone := m.field("gone", "String", "")
	gone.Deprecated = "No longer supported"
	reason := m.field("why", "String!", "")
	reason.Deprecated = "line one\nline two"
	// The descriptions of the fields of Thing have leading blanks, control characters and quotation
	// marks, which decide between a block string and a string in single quotation marks.
	m["Thing"].Doc = "A thing; \"\"\"quoted\"\"\" three times."
	m["Thing"].Fields = []*model.Field{m.field("id", "ID!", ""),
		m.field("color", "Color!", "Backslash at the end: \\"),
		m.field("at", "DateTime", " blank in front"), m.field("size", "Int64", "bell \u0007"),
		m.field("data", "JSON", "x\r\ny"),
		m.field("things", "[[Thing!]!]!", "ends with three \"\"\"", m.in("a", "Int", ""),
			m.with("b", "[Int!]", []any{1, 2})),
		gone, reason, m.field("flag", "Boolean", "  all\n  indented")}
	m["Query"].Fields = []*model.Field{
		m.field("thing", "Thing", "One.", m.in("id", "ID!", "Which."), m.with("color", "Color", "blue"), old),
		m.field("things", "[Thing]", "", m.in("choice", "Choice", ""), m.in("tree", "Tree", ""),
			m.in("json", "JSON", "")),
		m.field("float", "Float", "\nnew line in front")}
	// The root type of mutations is not called Mutation, so the SDL needs a schema definition
	// (section 3.3.1).
	m["Change"].Doc = "Écrit en français, 𝄞 included: " + strings.Repeat("é", 40)
	// The default of the scalar JSON is a Go value here, and JSON text in Settings.
	m["Change"].Fields = []*model.Field{m.field("set", "Boolean!", "",
		m.in("settings", "Settings!", "All of them.")),
		m.field("with", "String", "", m.with("json", "JSON", "in Go"))}
}
