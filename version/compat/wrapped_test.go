package compat_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
)

// withComponents returns a document with a request and a response of schema A, or of one of them only.
func withComponents(components string, request, response bool) string {
	const schema = `"content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}`
	document := `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"/a":{"post":{`
	if request {
		document += `"requestBody":{` + schema + `},`
	}
	document += `"responses":{"200":{"description":""`
	if response {
		document += "," + schema
	}
	return document + `}}}}},"components":{"schemas":` + components + `}}`
}

// TestWrappedSchemas compares schemas that state their conditions by references, allOf and alternatives.
// Some of them contain themselves, so that a comparison without memory does not end.
func TestWrappedSchemas(t *testing.T) {
	t.Parallel()
	const (
		ref  = `{"$ref":"#/components/schemas/A"}`
		null = `{"type":"null"}`
		b    = `,"B":{"type":"object","properties":{"x":{"type":"string","enum":["a","b"]}}}`
	)
	a := func(parent string) string { return `{"A":{"type":"object","properties":{"p":` + parent + `}}}` }
	x := func(schema string) string { return `{"A":{"properties":{"x":` + schema + `}}` + b + `}` }
	tests := []struct {
		name, before, after string
		request, response   []string
	}{
		{"recursion that may be null no longer", a(`{"anyOf":[` + ref + `,` + null + `]}`), a(ref),
			[]string{"request-type-narrowed"}, []string{"response-type-narrowed"}},
		{"recursion that may be null", a(ref), a(`{"oneOf":[` + null + `,` + ref + `]}`),
			[]string{"request-type-widened"}, []string{"response-type-widened"}},
		{"recursion by items", a(`{"items":{"anyOf":[` + ref + `,` + null + `]}}`), a(`{"items":` + ref + `}`),
			[]string{"request-type-narrowed"}, []string{"response-type-narrowed"}},
		{"recursion by values of a map", a(`{"additionalProperties":{"anyOf":[` + ref + `,` + null + `]}}`),
			a(`{"additionalProperties":` + ref + `}`), []string{"request-type-narrowed"}, []string{"response-type-narrowed"}},
		{"recursion that is written twice", a(ref), a(`{"type":"object","properties":{"p":` + ref + `}}`), nil, nil},
		{"recursion beside a condition", a(`{"allOf":[{"minProperties":1},` + ref + `]}`),
			a(`{"$ref":"#/components/schemas/A","minProperties":1}`), nil, nil},
		{"recursion in turns",
			`{"A":{"properties":{"p":{"$ref":"#/components/schemas/B"}}},"B":{"properties":{"p":` + ref + `}}}`, a(ref),
			[]string{"request-type-narrowed"}, []string{"response-type-narrowed"}},
		{"a condition that contains itself", `{"A":{"allOf":[` + ref + `,{"minProperties":1}]}}`,
			`{"A":{"minProperties":1}}`, nil, nil},
		{"only a reference to itself", `{"A":` + ref + `}`, `{"A":{"anyOf":[` + ref + `]}}`, nil, nil},
		{"no target", `{"A":{"$ref":"#/components/schemas/B"}}`, `{"A":{}}`, nil, nil},

		{"allOf of a reference", x(`{"$ref":"#/components/schemas/B"}`), x(`{"allOf":[{"$ref":"#/components/schemas/B"}]}`),
			nil, nil},
		{"anyOf of a reference", x(`{"$ref":"#/components/schemas/B"}`), x(`{"anyOf":[{"$ref":"#/components/schemas/B"}]}`),
			nil, nil},
		{"allOf with documentation", x(`{"$ref":"#/components/schemas/B"}`),
			x(`{"description":"x","allOf":[{"$ref":"#/components/schemas/B"},{"title":"x"}]}`), nil, nil},
		{"component without a name", x(`{"$ref":"#/components/schemas/B"}`),
			x(`{"type":"object","properties":{"x":{"type":"string","enum":["a","b"]}}}`), nil, nil},
		{"members in allOf", x(`{"properties":{"a":{"type":"string"},"b":{}},"required":["a","b"]}`),
			x(`{"allOf":[{"properties":{"b":{}},"required":["b"]},{"properties":{"a":{"type":"string"}},"required":["a"]}]}`),
			nil, nil},
		{"a member of allOf changed", x(`{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{"maxLength":2}}}]}`),
			x(`{"allOf":[{"properties":{"a":{}}},{"properties":{"b":{"maxLength":3}}}]}`),
			[]string{"request-limit-widened"}, []string{"response-limit-widened"}},
		{"two patterns of allOf", x(`{"allOf":[{"pattern":"a"},{"pattern":"b"}]}`), x(`{"pattern":"a"}`),
			[]string{"request-type-widened"}, []string{"response-type-widened"}},
		{"required beside a reference", x(`{"$ref":"#/components/schemas/B"}`),
			x(`{"$ref":"#/components/schemas/B","required":["x"]}`), []string{"request-member-required"},
			[]string{"response-member-required"}},
		{"a limit beside a reference removed", x(`{"$ref":"#/components/schemas/B","minProperties":1}`),
			x(`{"$ref":"#/components/schemas/B"}`), []string{"request-limit-widened"}, []string{"response-limit-widened"}},
		{"null of an alternative beside an enum", x(`{"anyOf":[{"type":"string","enum":["a"]},` + null + `]}`),
			x(`{"type":"string"}`), []string{"request-type-narrowed", "request-enum-widened"},
			[]string{"response-enum-widened", "response-type-narrowed"}},
		{"a default beside a reference", x(`{"$ref":"#/components/schemas/B","default":{"x":"a"}}`),
			x(`{"$ref":"#/components/schemas/B","default":{"x":"b"}}`), []string{"default-changed"}, nil},
		{"a default beside a reference to any value", `{"A":{"properties":{"x":{"$ref":"#/components/schemas/B"}}},"B":{}}`,
			`{"A":{"properties":{"x":{"$ref":"#/components/schemas/B","default":1}}},"B":{}}`, []string{"default-changed"}, nil},
		{"read-only beside allOf", x(`{"allOf":[{"$ref":"#/components/schemas/B"}]}`),
			x(`{"readOnly":true,"allOf":[{"$ref":"#/components/schemas/B"}]}`), []string{"request-member-removed"}, nil},
		{"keywords beside one of several branches", x(`{"maxLength":5,"anyOf":[{"type":"string"},{"type":"integer"}]}`),
			x(`{"anyOf":[{"type":"string","maxLength":4},{"type":"integer"}]}`), []string{"request-limit-narrowed"},
			[]string{"response-limit-narrowed"}},
		{"renamed branches", `{"A":{"oneOf":[{"$ref":"#/components/schemas/B"},{"$ref":"#/components/schemas/C"}]},
			"B":{"properties":{"b":{}}},"C":{"properties":{"c":{}}}}`,
			`{"A":{"oneOf":[{"$ref":"#/components/schemas/D"},{"$ref":"#/components/schemas/E"}]},
			"D":{"properties":{"b":{}}},"E":{"properties":{"c":{}}}}`, nil, nil},
		{"default of a member that was required", `{"A":{"required":["x"],"properties":{"x":{"type":"integer"}}}}`,
			`{"A":{"properties":{"x":{"type":"integer","default":1}}}}`, []string{"request-member-optional"},
			[]string{"response-member-optional"}},
		{"required without a property", `{"A":{"type":"object"}}`, `{"A":{"type":"object","required":["x"]}}`,
			[]string{"request-member-required"}, []string{"response-member-required"}},
		{"not required without a property", `{"A":{"required":["x","y"]}}`, `{"A":{"required":["x"]}}`,
			[]string{"request-member-optional"}, []string{"response-member-optional"}},
		{"required read-only member", `{"A":{"properties":{"x":{"readOnly":true}}}}`,
			`{"A":{"required":["x"],"properties":{"x":{"readOnly":true}}}}`, nil, []string{"response-member-required"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, response := range []bool{false, true} {
				before := withComponents(tt.before, !response, response)
				after := withComponents(tt.after, !response, response)
				if !strings.Contains(tt.name, "to itself") && tt.name != "no target" { // other tools reject these
					dump(t, map[bool]string{false: "request ", true: "response "}[response]+tt.name, "json", before, after)
				}
				got := kinds(compat.Compare(openAPISnapshot(t, before), openAPISnapshot(t, after)))
				want := map[bool][]string{false: tt.request, true: tt.response}[response]
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("response: %t (-want +got):\n%s", response, diff)
				}
			}
		})
	}
}

// TestChangesOfComponents checks that the difference of a component is reported once, at the component,
// however its uses are written.
func TestChangesOfComponents(t *testing.T) {
	t.Parallel()
	const ref = `"$ref":"#/components/schemas/B"`
	document := func(maxLength int) *compat.Snapshot {
		return openAPISnapshot(t, withComponents(fmt.Sprintf(`{
			"A":{"properties":{"a":{%[1]s},"b":{%[1]s,"not":{"required":["y"]}},"c":{"items":{%[1]s,"minProperties":1}},
				"d":{"anyOf":[{%[1]s,"not":{"required":["z"]}},{"type":"null"}]},"e":{"$ref":"#/components/schemas/C"},
				"f":{"oneOf":[{%[1]s,"maxProperties":2},{"type":"string"}]},"g":{"allOf":[{"required":["x"]},{%[1]s}]}}},
			"B":{"type":"object","properties":{"x":{"maxLength":%[2]d}}},
			"C":{"properties":{"b":{%[1]s,"required":["x"]}}}}`, ref, maxLength), true, false))
	}
	want := []version.Change{{Kind: "request-limit-narrowed", Breaking: true, Place: "B.x", Before: "3", After: "2",
		Text: "In requests, maxLength changed from 3 to 2."}}
	if diff := cmp.Diff(want, compat.Compare(document(3), document(2))); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// randomSchema returns a schema with references to the components A to D, and one for the same values in
// another form.
func randomSchema(r *rand.Rand, depth int) (schema, same any) {
	type object = map[string]any
	ref := func() any { return object{"$ref": "#/components/schemas/" + string("ABCD"[r.IntN(4)])} }
	if depth > 3 {
		v := ref()
		return v, v
	}
	switch r.IntN(9) {
	case 0:
		v := ref()
		return v, object{"allOf": []any{v}}
	case 1:
		v := ref()
		return v, object{"anyOf": []any{v}, "description": "x"}
	case 2:
		v := ref()
		return object{"anyOf": []any{v, object{"type": "null"}}}, object{"oneOf": []any{object{"type": "null"}, v}}
	case 3:
		x, y := randomSchema(r, depth+1)
		return object{"type": "array", "items": x, "minItems": 1}, object{"allOf": []any{object{"minItems": 1.0},
			object{"type": "array", "items": y}}}
	case 4:
		x, y := randomSchema(r, depth+1)
		return object{"type": "object", "additionalProperties": x}, object{"type": []any{"object"}, "additionalProperties": y}
	case 5:
		return object{"type": []any{"string", "integer"}, "maxLength": 5},
			object{"oneOf": []any{object{"type": "string", "maxLength": 5}, object{"type": "integer"}}}
	case 6:
		return object{"type": "integer", "exclusiveMinimum": 0}, object{"type": "integer", "minimum": 1}
	case 7:
		v := ref()
		return object{"allOf": []any{v, object{"minProperties": 1}}}, object{"$ref": v.(object)["$ref"], "minProperties": 1}
	}
	a, b := object{}, object{}
	for _, name := range []string{"p", "q", "r"}[:1+r.IntN(3)] {
		a[name], b[name] = randomSchema(r, depth+1)
	}
	return object{"type": "object", "properties": a, "required": []any{"p"}},
		object{"allOf": []any{object{"type": "object", "properties": b}, object{"required": []any{"p"}}}}
}

// TestRandomSchemas compares recursive schemas with themselves, with other forms of themselves and with
// each other. Each comparison ends, and only different schemas have changes.
func TestRandomSchemas(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var last *compat.Snapshot
	for i := range 300 {
		plain, other := map[string]any{}, map[string]any{}
		for _, name := range strings.Split("ABCD", "") {
			plain[name], other[name] = randomSchema(r, 0)
		}
		document := func(components map[string]any) *compat.Snapshot {
			text, err := json.Marshal(components)
			if err != nil {
				t.Fatal(err)
			}
			return openAPISnapshot(t, withComponents(string(text), true, true))
		}
		a, b := document(plain), document(other)
		for _, pair := range [][2]*compat.Snapshot{{a, a}, {a, b}, {b, a}} {
			if changes := compat.Compare(pair[0], pair[1]); len(changes) > 0 {
				t.Fatalf("%d: changes %v, want none:\n%s\n%s", i, changes, pair[0].OpenAPI, pair[1].OpenAPI)
			}
		}
		if last != nil {
			if text := fmt.Sprint(compat.Compare(last, b)); text != fmt.Sprint(compat.Compare(last, b)) {
				t.Fatalf("%d: two comparisons differ", i)
			}
		}
		last = a
	}
}
