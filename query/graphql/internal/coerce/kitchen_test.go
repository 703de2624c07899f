package coerce_test

import (
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

// kitchen returns the schema of the kitchen sink with the introspection types.
func kitchen() *model.Schema {
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	return s
}

// definition parses a variable definition with an optional default.
func definition(t testing.TB, typ, literal string) *parser.VariableDefinition {
	t.Helper()
	if literal != "" {
		literal = "=" + literal
	}
	doc, err := parser.Parse("query($v:" + typ + literal + "){x}")
	if err != nil {
		t.Fatalf("%s %s: %v", typ, literal, err)
	}
	return doc.Definitions[0].(*parser.OperationDefinition).VariableDefinitions[0]
}

// TestScalarsIn coerces the same values as literals and as JSON.
func TestScalarsIn(t *testing.T) {
	t.Parallel()
	s := kitchen()
	for _, tt := range graphqltest.Scalars() {
		t.Run(tt.Type+" "+tt.Literal+tt.JSON, func(t *testing.T) {
			t.Parallel()
			if tt.Literal != "" {
				def := definition(t, tt.Type, tt.Literal)
				got, ok := coerce.Value(coerce.TypeOf(s, def.Type), def.DefaultValue, nil)
				compare(t, "literal", tt.Want, got, ok)
			}
			if tt.JSON != "" {
				defs := []*parser.VariableDefinition{definition(t, tt.Type, "")}
				op := &parser.OperationDefinition{VariableDefinitions: defs}
				got, errs := coerce.Variables(coerce.Definitions(s, op),
					map[string]jsontext.Value{"v": jsontext.Value(tt.JSON)}, map[string]any{})
				compare(t, "variable", tt.Want, got["v"], len(errs) == 0)
			}
		})
	}
}

// compare checks a coerced value. A nil want expects an error.
func compare(t *testing.T, way string, want, got any, ok bool) {
	t.Helper()
	if ok != (want != nil) {
		t.Errorf("%s: it fits: %v, as %v", way, ok, got)
		return
	}
	if !ok {
		return
	}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b time.Time) bool {
		return a.Equal(b) && a.Format(time.RFC3339Nano) == b.Format(time.RFC3339Nano)
	})); diff != "" {
		t.Errorf("%s (-want +got):\n%s", way, diff)
	}
}

// TestVariablesInJSON uses variables of each type within a literal of the scalar JSON.
func TestVariablesInJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ literal, want string }{
		{"{a: $int, b: [$text, $none], c: $none}", `{"a":7,"b":["x",null]}`},
		{"[$at, $json, $null, $list]", `["2026-01-02T00:00:00Z",{"k":1.50},null,[1,null]]`},
		{"{a: {b: {c: $object}}}", `{"a":{"b":{"c":{"x":true,"y":"z"}}}}`},
	}
	variables := object{"int": 7, "text": "x", "at": time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), "null": nil,
		"json": jsontext.Value(`{"k":1.50}`), "list": []any{int64(1), nil},
		"object": object{"y": "z", "x": true}}
	s := kitchen()
	for _, tt := range tests {
		t.Run(tt.literal, func(t *testing.T) {
			t.Parallel()
			doc, err := parser.Parse("{things(json: " + tt.literal + ") {id}}")
			if err != nil {
				t.Fatal(err)
			}
			field := doc.Definitions[0].(*parser.OperationDefinition).SelectionSet.Selections[0].(*parser.Field)
			args, err := coerce.Arguments(s.Query.Field("things").Args, field.Arguments, variables, map[string]any{})
			if diff := cmp.Diff(object{"json": jsontext.Value(tt.want)}, args); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestDefaults checks the default values of the input object Settings.
func TestDefaults(t *testing.T) {
	t.Parallel()
	s := kitchen()
	def := definition(t, "Settings", "{}")
	got, ok := coerce.Value(coerce.TypeOf(s, def.Type), def.DefaultValue, nil)
	if !ok {
		t.Fatal("{} does not fit")
	}
	fields := got.(object)
	at := fields["at"].(time.Time)
	if want := "2026-11-21T12:30:00.25+02:00"; at.Format(time.RFC3339Nano) != want {
		t.Errorf("at is %v, want %s", at, want)
	}
	delete(fields, "at")
	want := object{"int": 3, "zero": 0, "long": int64(-9007199254740991), "float": 2.5, "whole": 3.0,
		"big": 1e21, "tiny": 1e-7,
		"yes": true, "text": "\"quoted\"\\ \t\u0007\u0085 é 𝄞\n", "empty": "", "id": "007", "number": "42",
		"color":  "navy",
		"colors": []any{"red", "green"}, "grid": []any{[]any{1, nil}, nil, []any{}},
		"choice": object{"name": "x"},
		"json":   jsontext.Value(`"text"`), "tree": object{"leaf": 1.0, "label": "a",
			"parts": []any{object{"label": "root"}}}}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestConcurrent coerces concurrently with a shared schema, for the race detector.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := kitchen()
	doc, err := parser.Parse(`mutation B($s: Settings!, $c: Color = NAVY) {set(settings: $s) @plain(why: "no") a: set(settings: {color: $c})}
		query A {thing(id: 1, color: BLUE) {...on Thing {color __typename}} __type(name: "Color") {kind}
		__schema {directives {locations}}}`)
	if err != nil {
		t.Fatal(err)
	}
	op := doc.Definitions[0].(*parser.OperationDefinition)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if errs := validate.Document(s, doc, validate.Limits{}); len(errs) > 0 {
				t.Errorf("the document is refused: %v", errs)
			}
			got, errs := coerce.Variables(coerce.Definitions(s, op),
				map[string]jsontext.Value{"s": jsontext.Value(`{"color":"RED","colors":["BLUE"]}`)}, map[string]any{})
			if len(errs) > 0 || got["c"] != "navy" {
				t.Errorf("variables are %v, %v", got, errs)
			}
		})
	}
	all.Wait()
}
