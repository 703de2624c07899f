package convert_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/ast"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/convert"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/types"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

func ExampleTypes() {
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	types, err := convert.Types(s, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	doc, err := parser.Parse(`{thing(id: 1) {colour} __type(name: "Color") {isOneOf}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range validate.Document(types, doc, validate.Limits{}) {
		fmt.Println(e.Message)
	}
	// Output: Cannot query field "colour" on type "Thing".
}

// kitchen is the kitchen sink for graphql-go.
func kitchen(t testing.TB) *types.Schema {
	t.Helper()
	s := graphqltest.Kitchen()
	introspect.Extend(s)
	converted, err := convert.Types(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	return converted
}

// definition parses the one variable of an operation, with a default or none.
func definition(t testing.TB, typ, literal string) *ast.VariableDefinition {
	t.Helper()
	if literal != "" {
		literal = "=" + literal
	}
	doc, err := parser.Parse("query($v:" + typ + literal + "){x}")
	if err != nil {
		t.Fatalf("%s %s: %v", typ, literal, err)
	}
	return doc.Definitions[0].(*ast.OperationDefinition).VariableDefinitions[0]
}

type object = map[string]any

// scalars are values as literals and as JSON, and what is made of both; none is made of what does not fit.
var scalars = []struct {
	typ, literal, json string // either may be empty: there is no such thing
	want               any
}{
	{"Int", "2147483647", "2147483647", 2147483647},
	{"Int", "2147483648", "2147483648", nil},
	{"Int", `"1"`, `"1"`, nil},
	{"Int", "", "1.0", 1},
	{"Int", "1.0", "", nil},
	{"Int64", "9223372036854775807", "9223372036854775807", int64(math.MaxInt64)},
	{"Int64", "-9223372036854775808", "-9223372036854775808", int64(math.MinInt64)},
	{"Int64", "9223372036854775808", "9223372036854775808", nil},
	{"Int64", `"1"`, `"1"`, nil},
	{"Int64", "1.5", "1.5", nil},
	{"Int64", "true", "true", nil},
	{"Float", "1", "1", 1.0},
	{"Float", "1e3", "1e3", 1000.0},
	{"String", `"é\n"`, `"é\n"`, "é\n"},
	{"String", "1", "1", nil},
	{"Boolean", "true", "true", true},
	{"Boolean", `"true"`, `"true"`, nil},
	{"ID", "12", "12", "12"},
	{"ID", `"a"`, `"a"`, "a"},
	{"ID", "1.5", "1.5", nil},
	{"Color", "NAVY", `"NAVY"`, "navy"},
	{"Color", "PINK", `"PINK"`, nil},
	{"Color", "navy", `"navy"`, nil},
	{"Color", `"NAVY"`, "", nil},
	{"DateTime", `"2026-11-21T10:00:00Z"`, `"2026-11-21T10:00:00Z"`, time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)},
	{"DateTime", `"2026-11-21T10:00:00.123456789Z"`, `"2026-11-21T10:00:00.123456789Z"`,
		time.Date(2026, 11, 21, 10, 0, 0, 123456789, time.UTC)},
	{"DateTime", `"2026-11-21T10:00:00+05:30"`, `"2026-11-21T10:00:00+05:30"`,
		time.Date(2026, 11, 21, 10, 0, 0, 0, time.FixedZone("", 5*3600+1800))},
	{"DateTime", `"2026-11-21"`, `"2026-11-21"`, nil},
	{"DateTime", `"2026-11-21T10:00:00"`, `"2026-11-21T10:00:00"`, nil},
	{"DateTime", `"2026-02-30T10:00:00Z"`, `"2026-02-30T10:00:00Z"`, nil},
	{"DateTime", `"2026-11-21T10:00:00,5Z"`, `"2026-11-21T10:00:00,5Z"`, nil},
	{"DateTime", "1700000000", "1700000000", nil},
	{"DateTime", "NOW", "", nil},
	{"DateTime", "{a: 1}", `{"a":1}`, nil},
	{"JSON", `"a\"b"`, `"a\"b"`, jsontext.Value(`"a\"b"`)},
	{"JSON", "12345678901234567890.50", "12345678901234567890.50", jsontext.Value("12345678901234567890.50")},
	{"JSON", "false", "false", jsontext.Value("false")},
	{"JSON", "RED", "", jsontext.Value(`"RED"`)},
	{"JSON", "[]", "[ ]", jsontext.Value("[]")},
	{"JSON", "{}", "{ }", jsontext.Value("{}")},
	{"JSON", `{b: [1, null, {c: null}], a: """x"""}`, `{"b": [1, null, {"c": null}], "a": "x"}`,
		jsontext.Value(`{"b":[1,null,{"c":null}],"a":"x"}`)},
}

// TestScalarsIn has the same value come in by both ways, each of them as package coerce reads it.
func TestScalarsIn(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	for _, tt := range scalars {
		t.Run(tt.typ+" "+tt.literal+tt.json, func(t *testing.T) {
			t.Parallel()
			if tt.literal != "" {
				def := definition(t, tt.typ, tt.literal)
				got, ok := coerce.Value(s, s.Resolve(def.Type), def.DefaultValue, nil)
				compare(t, "literal", tt.want, got, ok)
			}
			if tt.json != "" {
				op := &ast.OperationDefinition{VariableDefinitions: []*ast.VariableDefinition{definition(t, tt.typ, "")}}
				got, errs := coerce.Variables(s, op, map[string]jsontext.Value{"v": jsontext.Value(tt.json)})
				compare(t, "variable", tt.want, got["v"], len(errs) == 0)
			}
		})
	}
}

// TestCustomScalarsForGraphQLGo has graphql-go's own coercion give the same for the scalars that are not its own.
func TestCustomScalarsForGraphQLGo(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	for _, tt := range scalars {
		scalar, ok := s.Type(tt.typ).(*graphql.Scalar)
		if !ok || tt.typ != "Int64" && tt.typ != "DateTime" && tt.typ != "JSON" {
			continue
		}
		t.Run(tt.typ+" "+tt.literal+tt.json, func(t *testing.T) {
			t.Parallel()
			if tt.literal != "" {
				got := scalar.ParseLiteral(definition(t, tt.typ, tt.literal).DefaultValue)
				compare(t, "ParseLiteral", tt.want, got, got != nil)
			}
			var value any
			if json.Unmarshal([]byte(tt.json), &value) != nil || strings.Contains(tt.json, "1234567890") || strings.HasPrefix(tt.json, "{") {
				return // numbers and the order of members, which encoding/json loses
			}
			if _, ok := value.(float64); ok && len(tt.json) > 15 {
				return
			}
			got := scalar.ParseValue(value)
			compare(t, "ParseValue", tt.want, got, got != nil)
		})
	}
}

// compare wants no value to fit where none is wanted.
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

// TestScalarsOut has what graphql-go serializes.
func TestScalarsOut(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	tests := []struct {
		typ         string
		value, want any
	}{
		{"DateTime", time.Date(2026, 1, 2, 3, 4, 5, 600, time.FixedZone("", -3600)), "2026-01-02T03:04:05.0000006-01:00"},
		{"Int64", int64(math.MinInt64), int64(math.MinInt64)},
		{"Int64", uint64(math.MaxUint64), uint64(math.MaxUint64)},
		{"JSON", jsontext.Value("[1]"), jsontext.Value("[1]")},
		{"Color", "navy", "NAVY"},
		{"Color", "NAVY", nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.typ, tt.value), func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, s.Type(tt.typ).(graphql.Leaf).Serialize(tt.value)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestVariablesInJSON has variables of any type stand in a literal of the scalar JSON.
func TestVariablesInJSON(t *testing.T) {
	t.Parallel()
	tests := []struct{ literal, want string }{
		{"{a: $int, b: [$text, $none], c: $none}", `{"a":7,"b":["x",null]}`},
		{"[$at, $json, $null, $list]", `["2026-01-02T00:00:00Z",{"k":1.50},null,[1,null]]`},
		{"{a: {b: {c: $object}}}", `{"a":{"b":{"c":{"x":true,"y":"z"}}}}`},
	}
	variables := object{"int": 7, "text": "x", "at": time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC), "null": nil,
		"json": jsontext.Value(`{"k":1.50}`), "list": []any{int64(1), nil}, "object": object{"y": "z", "x": true}}
	s := kitchen(t)
	for _, tt := range tests {
		t.Run(tt.literal, func(t *testing.T) {
			t.Parallel()
			doc, err := parser.Parse("{things(json: " + tt.literal + ") {id}}")
			if err != nil {
				t.Fatal(err)
			}
			field := doc.Definitions[0].(*ast.OperationDefinition).SelectionSet.Selections[0].(*ast.Field)
			args, err := coerce.Arguments(s, s.Field(s.Root("query"), "things").Args, field.Arguments, variables)
			if diff := cmp.Diff(object{"json": jsontext.Value(tt.want)}, args); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// TestDefaults has everything that the input Settings leaves to the schema.
func TestDefaults(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	def := definition(t, "Settings", "{}")
	got, ok := coerce.Value(s, s.Resolve(def.Type), def.DefaultValue, nil)
	if !ok {
		t.Fatal("{} does not fit")
	}
	fields := got.(object)
	at := fields["at"].(time.Time)
	if want := "2026-11-21T12:30:00.25+02:00"; at.Format(time.RFC3339Nano) != want {
		t.Errorf("at is %v, want %s", at, want)
	}
	delete(fields, "at")
	want := object{"int": 3, "zero": 0, "long": int64(-9007199254740991), "float": 2.5, "whole": 3.0, "big": 1e21, "tiny": 1e-7,
		"yes": true, "text": "\"quoted\"\\ \t\u0007\u0085 é 𝄞\n", "empty": "", "id": "007", "number": "42", "color": "navy",
		"colors": []any{"red", "green"}, "grid": []any{[]any{1, nil}, nil, []any{}}, "choice": object{"name": "x"},
		"json": jsontext.Value(`"text"`), "tree": object{"leaf": 1.0, "label": "a", "parts": []any{object{"label": "root"}}}}
	if diff := cmp.Diff(want, fields); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestIntrospectionIsOurs has documents ask for what graphql-go's own types do not have, and nothing be asked for that
// ours do not.
func TestIntrospectionIsOurs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, document string
		want           []string
	}{
		{"all", `{__schema {description directives(includeDeprecated: true) {isRepeatable isDeprecated deprecationReason
			args(includeDeprecated: true) {isDeprecated deprecationReason}}} __type(name: "A") {...T}}
			fragment T on __Type {specifiedByURL isOneOf inputFields(includeDeprecated: true) {name} kind}`, nil},
		{"enum in place of an object", `{__type(name: "A") {kind {name}}}`,
			[]string{`Field "kind" must not have a selection since type "__TypeKind!" has no subfields.`}},
		{"no such field", "{__schema {onOperation}}", []string{`Cannot query field "onOperation" on type "__Schema".`}},
		{"no name", "{__type {name}}",
			[]string{`Field "__type" argument "name" of type "String!" is required, but it was not provided.`}},
		{"not at the root", "{thing(id: 1) {__typename __schema {__typename}}}",
			[]string{`Cannot query field "__schema" on type "Thing".`}},
		{"variables in JSON", `query($a: Int, $b: [Color!], $c: Int)
			{things(json: {x: [$a, {y: $b}]}) {id} b: things(json: [{z: $a}]) {id}}`,
			[]string{`Variable "$c" is never used.`}},
		{"oneOf", "{things(choice: {id: 1, name: \"a\"}) {id}}",
			[]string{`OneOf Input Object "Choice" must specify exactly one key.`}},
		{"repeatable", `{thing(id: 1) @tag(name: "a") @tag(name: "b") @plain @plain {id}}`,
			[]string{`The directive "@plain" can only be used once at this location.`}},
	}
	s := kitchen(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			doc, err := parser.Parse(tt.document)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, e := range validate.Document(s, doc, validate.Limits{}) {
				got = append(got, e.Message)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestRefused has models that graphql-go does not accept.
func TestRefused(t *testing.T) {
	t.Parallel()
	text := &model.Type{Kind: model.Scalar, Name: "String"}
	field := func(name string, t *model.Type) *model.Field {
		return &model.Field{Name: name, Type: &model.Ref{Type: t}}
	}
	query := func(fields ...*model.Field) *model.Type {
		return &model.Type{Kind: model.Object, Name: "Query", Fields: fields}
	}
	odd, empty := &model.Type{Kind: model.Scalar, Name: "Odd"}, &model.Type{Kind: model.Object, Name: "Empty"}
	enum := &model.Type{Kind: model.Enum, Name: "Enum"}
	input := &model.Type{Kind: model.InputObject, Name: "Input"}
	tests := []struct {
		name  string
		query *model.Type
		types []*model.Type
		want  string
	}{
		{"unknown scalar", query(field("a", odd)), []*model.Type{odd}, "the scalar Odd"},
		{"object without fields", query(field("a", empty)), []*model.Type{empty}, "Empty fields must be"},
		{"enum without values", query(field("a", enum)), []*model.Type{enum}, "Enum"},
		{"input without fields", query(field("a", text)), []*model.Type{text, input}, "Input fields must be"},
		{"bad name", query(field("a-b", text)), []*model.Type{text}, `"a-b" does not`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := convert.Types(&model.Schema{Query: tt.query, Types: append(tt.types, tt.query)}, nil)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error is %v, want something about %s", err, tt.want)
			}
		})
	}
}

// TestConcurrent has a fresh schema be read by many at once, by every way that graphql-go would write at first use. The
// race detector is the judge.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := kitchen(t)
	doc, err := parser.Parse(`mutation B($s: Settings!, $c: Color = NAVY) {set(settings: $s) @plain(why: "no") a: set(settings: {color: $c})}
		query A {thing(id: 1, color: BLUE) {...on Thing {color __typename}} __type(name: "Color") {kind}
		__schema {directives {locations}}}`)
	if err != nil {
		t.Fatal(err)
	}
	op := doc.Definitions[0].(*ast.OperationDefinition)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if errs := validate.Document(s, doc, validate.Limits{}); len(errs) > 0 {
				t.Errorf("the document is refused: %v", errs)
			}
			got, errs := coerce.Variables(s, op,
				map[string]jsontext.Value{"s": jsontext.Value(`{"color":"RED","colors":["BLUE"]}`)})
			if len(errs) > 0 || got["c"] != "navy" {
				t.Errorf("variables are %v, %v", got, errs)
			}
			for _, named := range s.TypeMap() {
				switch named := named.(type) {
				case *graphql.Enum:
					named.Serialize("navy")
					named.ParseValue("NAVY")
					named.ParseLiteral(&ast.EnumValue{Value: "NAVY"})
				case *graphql.Object:
					named.Fields()
					named.Interfaces()
				case *graphql.InputObject:
					named.Fields()
				}
			}
		})
	}
	all.Wait()
}
