package sdl_test

import (
	"encoding/json"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/sdl"
)

func ExampleLiteral() {
	color := &model.Type{Kind: model.Enum, Name: "Color", Values: []*model.Value{{Name: "RED", Go: "red"}}}
	colors := &model.Ref{Elem: &model.Ref{Type: color, NonNull: true}}
	fmt.Println(sdl.Literal(colors, []any{"red", "red"}))
	// Output: [RED, RED]
}

type object = map[string]any

// literals has values of each type of the kitchen sink. An entry is marked if parsing the literal
// returns the same value; some types have several notations for a value.
var literals = []struct {
	name, typ string
	value     any
	want      string
}{
	{"null", "Int", nil, "null"},
	{"zero", "Int", 0, "0"},
	{"negative", "Int", -7, "-7"},
	{"Int64", "Int64", int64(math.MinInt64), "-9223372036854775808"},
	{"fraction", "Float", 0.1, "0.1"},
	{"whole float", "Float", 3.0, "3"},
	{"large float", "Float", 1e21, "1e+21"},
	{"just small enough for digits", "Float", 1e20, "100000000000000000000"},
	{"small float", "Float", 1e-7, "1e-7"},
	{"just large enough for digits", "Float", 1e-6, "0.000001"},
	{"minus zero", "Float", math.Copysign(0, -1), "0"},
	{"true", "Boolean", true, "true"},
	{"text", "String", "a\"\\\b\f\n\r\t\x00\x7f\u009f/é\u2028", `"a\"\\\b\f\n\r\t\u0000\u007F\u009F/é` +
		"\u2028\""},
	{"empty", "String", "", `""`},
	{"number as text", "String", "42", `"42"`},
	{"id", "ID", "a", `"a"`},
	{"id that is a number", "ID", "-42", "-42"},
	{"id that is nearly a number", "ID", "042", `"042"`},
	{"id that is a sign", "ID", "-", `"-"`},
	{"long id", "ID", "123456789012345678901234567890", "123456789012345678901234567890"},
	{"enum", "Color", "navy", "NAVY"},
	{"instant", "DateTime", time.Date(2026, 2, 3, 4, 5, 6, 7, time.UTC), `"2026-02-03T04:05:06.000000007Z"`},
	{"list", "[Color!]", []any{"red", "blue"}, "[RED, BLUE]"},
	{"empty list", "[Int]", []any{}, "[]"},
	{"lists", "[[Int]]", []any{[]any{1, nil}, nil}, "[[1, null], null]"},
	{"object in the order of its type", "Settings", object{"color": "red", "int": 3}, "{int: 3, color: RED}"},
	{"object with null", "Tree", object{"leaf": nil, "label": "a"}, `{label: "a", leaf: null}`},
	{"objects", "[Tree!]!", []any{object{"label": "a", "parts": []any{object{"label": "b", "leaf": 1.5}}}},
		`[{label: "a", parts: [{label: "b", leaf: 1.5}]}]`},
	{"JSON", "JSON", jsontext.Value(`{"b":[1.50,null,true],"a":"x"}`), `{a: "x", b: [1.50, null, true]}`},
	{"numbers of JSON", "JSON", jsontext.Value(`[12345678901234567890,1e400]`),
		`[12345678901234567890, 1e400]`},
	{"JSON in Go", "JSON", object{"b": []any{1.5, int64(2)}, "a": json.Number("3")}, `{a: 3, b: [1.5, 2]}`},
	{"no JSON", "JSON", jsontext.Value(`{`), "null"},
	{"no value of the enum", "Color", "pink", `"pink"`},
	{"one for a list of one", "[Int]", 5, "5"},
}

// kitchen returns the kitchen sink schema with introspection.
func kitchen(t *testing.T) *model.Schema {
	t.Helper()
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	return s
}

// ref returns the type reference that text denotes.
func ref(t *testing.T, s *model.Schema, text string) *model.Ref {
	t.Helper()
	doc, err := parser.Parse("query($a:" + text + "){b}")
	if err != nil {
		t.Fatal(err)
	}
	r := coerce.TypeOf(s, doc.Definitions[0].(*parser.OperationDefinition).VariableDefinitions[0].Type)
	if r == nil {
		t.Fatalf("there is no type %s", text)
	}
	return r
}

func TestLiteral(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	for _, tt := range literals {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := sdl.Literal(ref(t, s, tt.typ), tt.value); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestLiteralRoundTrip parses and coerces each literal and compares the result with the original
// value.
func TestLiteralRoundTrip(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	for _, tt := range literals {
		if tt.name == "no JSON" || tt.name == "no value of the enum" {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := parser.Parse("query($a:" + tt.typ + "=" + tt.want + "){b}")
			if err != nil {
				t.Fatal(err)
			}
			def := doc.Definitions[0].(*parser.OperationDefinition).VariableDefinitions[0]
			value, ok := coerce.Value(coerce.TypeOf(s, def.Type), def.DefaultValue, nil)
			if !ok {
				t.Fatalf("%s is not read", tt.want)
			}
			again := sdl.Literal(ref(t, s, tt.typ), value)
			if want := sdl.Literal(ref(t, s, tt.typ), withDefaults(tt.typ, tt.value)); again != want {
				t.Errorf("it is read as %s, and was %s", again, want)
			}
		})
	}
}

// withDefaults returns the value that coercion returns for a value with absent fields.
func withDefaults(typ string, value any) any {
	switch {
	case typ == "Settings":
		all := object{}
		for _, in := range settings().Inputs {
			if in.HasDefault && in.Default != nil {
				all[in.Name] = in.Default
			}
		}
		for name, v := range value.(object) {
			all[name] = v
		}
		return all
	case value == 5:
		return []any{5}
	}
	return value
}

func settings() *model.Type {
	for _, t := range graphqltest.Kitchen().Types {
		if t.Name == "Settings" {
			return t
		}
	}
	return nil
}

func TestDefault(t *testing.T) {
	t.Parallel()
	text := &model.Type{Kind: model.Scalar, Name: "String"}
	tests := []struct {
		name string
		in   model.Input
		want string
		has  bool
	}{
		{"none", model.Input{Type: &model.Ref{Type: text}}, "", false},
		{"value without the flag", model.Input{Type: &model.Ref{Type: text}, Default: "a"}, "", false},
		{"null", model.Input{Type: &model.Ref{Type: text}, HasDefault: true}, "null", true},
		{"null where there is none", model.Input{Type: &model.Ref{Type: text, NonNull: true},
			HasDefault: true}, "", false},
		{"value", model.Input{Type: &model.Ref{Type: text, NonNull: true}, Default: "a", HasDefault: true},
			`"a"`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got, has := sdl.Default(&tt.in); got != tt.want || has != tt.has {
				t.Errorf("got %s, %v", got, has)
			}
		})
	}
}
