package coerce_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

func operation(t testing.TB, text string) *parser.OperationDefinition {
	t.Helper()
	doc, err := parser.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return doc.Definitions[0].(*parser.OperationDefinition)
}

// variables coerces variables a and b, given as JSON or "" for absent. It returns the values, or
// the errors as text.
func variables(t testing.TB, definitions, a, b string) any {
	t.Helper()
	given := map[string]jsontext.Value{"other": jsontext.Value("1")}
	for name, raw := range map[string]string{"a": a, "b": b} {
		if raw != "" {
			given[name] = jsontext.Value(raw)
		}
	}
	values, errs := coerce.Variables(coerce.Definitions(graphqltest.New(),
		operation(t, "query("+definitions+"){x}")), given, map[string]any{})
	if len(errs) == 0 {
		return values
	}
	var all []string
	for _, err := range errs {
		all = append(all, err.Error())
	}
	return strings.Join(all, "\n")
}

type object = map[string]any

func TestVariables(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, definitions, a, b string
		want                    any
	}{
		{"absent", "$a:Int $b:Int", "", "", object{}},
		{"null", "$a:Int $b:[Int]", "null", "[null]", object{"a": nil, "b": []any{nil}}},
		{"default", "$a:Int=3 $b:Int=null", "", "", object{"a": 3, "b": nil}},
		{"null in place of a default", "$a:Int=3", "null", "", object{"a": nil}},
		{"absent but required", "$a:Int!", "", "",
			`variable $a: A value of type "Int!" is required, but none was provided.`},
		{"null but required", "$a:Int!=1", "null", "",
			`variable $a: Expected non-nullable type "Int!" not to be null.`},
		{"scalars", "$a:[Any] $b:[Float]", `[1,"x",true,{"a":[null]}]`, "[1,2.5,1e3]",
			object{"a": []any{1.0, "x", true, object{"a": []any{nil}}}, "b": []any{1.0, 2.5, 1000.0}}},
		{"integers", "$a:[Int]", "[1,-0,1.0,1e2,2147483647,-2147483648]", "",
			object{"a": []any{1, 0, 1, 100, 2147483647, -2147483648}}},
		{"no integers", "$a:[Int]", `["12",1.5,true,2147483648,1e400]`, "",
			"variable $a at [0]: Int cannot represent non-integer value: \"12\"\n" +
				"variable $a at [1]: Int cannot represent non-integer value: 1.5\n" +
				"variable $a at [2]: Int cannot represent non-integer value: true\n" +
				"variable $a at [3]: Int cannot represent non 32-bit signed integer value: 2147483648\n" +
				"variable $a at [4]: Int cannot represent non 32-bit signed integer value: 1e400"},
		{"ids", "$a:[ID]", `["a",7,-0,12345678901234567890,"1e+10"]`, "",
			object{"a": []any{"a", "7", "0", "12345678901234567890", "1e+10"}}},
		{"no ids", "$a:[ID]", `[1e+10,1.0,true]`, "",
			"variable $a at [0]: ID cannot represent value: 1e+10\n" +
				"variable $a at [1]: ID cannot represent value: 1.0\nvariable $a at [2]: ID cannot represent " +
				"value: true"},
		{"others", "$a:String $b:Boolean", "1", `"true"`,
			"variable $a: String cannot represent a non string value: 1\n" +
				`variable $b: Boolean cannot represent a non boolean value: "true"`},
		{"enum", "$a:[Color] $b:Color", `["RED","PINK",1]`, `"BLUE"`,
			"variable $a at [1]: Value \"PINK\" does not exist in \"Color\" enum.\n" +
				`variable $a at [2]: Enum "Color" cannot represent non-string value: 1.`},
		{"one for a list", "$a:[[Int]] $b:[Int!]", "7", "7", object{"a": []any{[]any{7}}, "b": []any{7}}},
		{"objects", "$a:Note", `{"text":"x","color":null}`, "",
			object{"a": object{"text": "x", "color": nil, "stars": 3}}},
		{"paths", "$a:Filter",
			`{"nested":{"pick":{"note":{"text":1,"more":[{"text":"x"},{"stars":null,"x":1}]}}}}`, "",
			"variable $a at nested.pick.note.text: String cannot represent a non string value: 1\n" +
				"variable $a at nested.pick.note.more[1].stars: Expected non-nullable type \"Int!\" not " +
				"to be null.\n" +
				"variable $a at nested.pick.note.more[1]: Field \"x\" is not defined by type \"Note\".\n" +
				`variable $a at nested.pick.note.more[1]: Field "text" of required type "String!" was ` +
				`not provided.`},
		{"no object", "$a:Note $b:Note", "[]", `"x"`,
			"variable $a: Expected type \"Note\" to be an object.\n" +
				`variable $b: Expected type "Note" to be an object.`},
		{"one of", "$a:Pick $b:Pick", `{"id":"x","name":"y"}`, `{"id":null}`,
			"variable $a: Exactly one key must be specified for OneOf type \"Pick\".\n" +
				`variable $b at id: Field "id" must be non-null.`},
		{"no JSON", "$a:Note $b:[Int]", `{"text":`, `[1,`, "variable $a at text: It is not valid JSON.\n" +
			"variable $b: It is not valid JSON."},
		{"deep", "$a:Filter", strings.Repeat(`{"nested":`, 20_000), "",
			"variable $a: It nests deeper than 100 levels."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := variables(t, tt.definitions, tt.a, tt.b)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// field returns the first field of a query and its definition.
func field(t testing.TB, s *model.Schema, text string) (*parser.Field, *model.Field) {
	t.Helper()
	f := operation(t, text).SelectionSet.Selections[0].(*parser.Field)
	return f, s.Field(s.Query, f.Name.Value)
}

func TestArguments(t *testing.T) {
	t.Parallel()
	given := object{"one": 1, "null": nil, "id": "x"}
	tests := []struct {
		text string
		want any
	}{
		{"{count(required:1)}", object{"required": 1}},
		{"{count(required:$one int:null text:$absent)}", object{"required": 1, "int": nil}},
		{"{count(required:1 ints:[1,null,$absent,$null,$one])}",
			object{"required": 1, "ints": []any{1, nil, nil, nil, 1}}},
		{"{count(required:1 ints:$one float:1 id:7 flag:true text:\"\"\"x\"\"\")}",
			object{"required": 1, "ints": 1, "float": 1.0,
				"id": "7", "flag": true, "text": "x"}},
		{"{count(required:$absent)}",
			`argument required: A value of type "Int!" is required, but the variable "$absent" has none.`},
		{"{count}", `argument required: A value of type "Int!" is required, but none was provided.`},
		{"{count(required:$null)}",
			`argument required: A value of type "Int!" must not be null, as the variable "$null" is.`},
		{"{animals(colors:[$null])}", `argument colors: Expected value of type "[Color!]", found [$null].`},
		{"{animals(filter:{ids:7 open:$absent near:null} colors:RED)}", object{"colors": []any{"RED"},
			"filter": object{"ids": []any{"7"}, "open": true, "near": nil}}},
		{"{thing(color:RED pick:{id:$id})}", object{"color": "RED", "pick": object{"id": "x"}}},
		{"{thing(color:RED pick:{id:$absent})}",
			`argument pick: Expected value of type "Pick", found {id: $absent}.`},
		{"{human(note:{text:\"x\" stars:$absent})}", object{"note": object{"text": "x", "stars": 3}}},
	}
	s := graphqltest.New()
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			f, def := field(t, s, tt.text)
			values, err := coerce.Arguments(def.Args, f.Arguments, given, map[string]any{})
			got := any(values)
			if err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLiteralInt64(t *testing.T) {
	t.Parallel()
	int64s := &model.Type{Kind: model.Scalar, Name: "Int64"}
	tests := []struct{ literal, want string }{
		{"9223372036854775807", "9223372036854775807 <nil>"},
		{"-9223372036854775808", "-9223372036854775808 <nil>"},
		{"9223372036854775808", "9223372036854775808 <nil>"},
		{"18446744073709551616",
			"<nil> Int64 cannot represent non 64-bit signed integer value: 18446744073709551616"},
		{"1.0", "<nil> Int64 cannot represent non-integer value: 1.0"},
	}
	for _, tt := range tests {
		t.Run(tt.literal, func(t *testing.T) {
			t.Parallel()
			v := operation(t, "query($a:X="+tt.literal+"){a}").VariableDefinitions[0].DefaultValue
			got, err := coerce.Literal(int64s, v)
			if diff := cmp.Diff(tt.want, fmt.Sprint(got, err)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzVariables checks that coercion does not panic and returns either values or errors.
func FuzzVariables(f *testing.F) {
	for _, raw := range []string{"1", "null", `{"ids":["a",1],"nested":{"pick":{"id":"x"}}}`, `[[1],{"a":`,
		`"\ud83d"`} {
		f.Add(raw)
	}
	defs := coerce.Definitions(graphqltest.New(),
		operation(f, "query($a:Filter $b:[[Int!]] $c:Any! $d:[Note]){x}"))
	f.Fuzz(func(t *testing.T, raw string) {
		given := map[string]jsontext.Value{}
		for _, name := range []string{"a", "b", "c", "d"} {
			given[name] = jsontext.Value(raw)
		}
		values, errs := coerce.Variables(defs, given, map[string]any{})
		if (values == nil) == (len(errs) == 0) || len(errs) > 20 {
			t.Fatalf("%v and %v", values, errs)
		}
	})
}
