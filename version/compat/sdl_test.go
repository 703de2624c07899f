package compat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version/compat"
)

// sdlSnapshot returns a snapshot with a GraphQL schema.
func sdlSnapshot(t *testing.T, sdl string) *compat.Snapshot {
	t.Helper()
	s, err := compat.Record(t.Context(), compat.Source{Contract: "1.0.0", SDL: sdl})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSDLChanges(t *testing.T) {
	t.Parallel()
	const base = `
		type Query { a(x: Int = 1, y: [Int!]): A! u: U! e: E! i(r: Int!): I in(v: In, f: F): Int }
		type A implements I { id: ID! b: [String] }
		type B { id: ID! }
		interface I { id: ID! }
		union U = A | B
		enum E { ONE TWO }
		enum F { ONE }
		input In { n: Int! = 3, s: String }
		scalar Date @specifiedBy(url: "https://example.com/date")
		directive @cache(age: Int) repeatable on FIELD | QUERY
	`
	tests := []struct {
		name, old, new string
		want           []string // "kind place"
	}{
		{"nothing", "", "", nil},
		{"comment and description", "type B {", "\"\"\"B\"\"\" type B { # x\n", nil},
		{"order of types and members", "union U = A | B", "union U = B | A", nil},
		{"default changed", "x: Int = 1", "x: Int = 2", []string{"argument-default-changed Query.a(x:)"}},
		{"default removed", "x: Int = 1", "x: Int", []string{"argument-default-changed Query.a(x:)"}},
		{"default added", "y: [Int!]", "y: [Int!] = []", []string{"argument-default-changed Query.a(y:)"}},
		{"argument removed", "x: Int = 1, ", "", []string{"argument-removed Query.a(x:)"}},
		{"argument type changed", "y: [Int!]", "y: [ID!]", []string{"argument-type-changed Query.a(y:)"}},
		{"element may be null in requests", "y: [Int!]", "y: [Int]", []string{"argument-type-widened Query.a(y:)"}},
		{"required argument gets a default", "r: Int!", "r: Int! = 1", []string{"argument-type-widened Query.i(r:)"}},
		{"required argument becomes optional with a default", "r: Int!", "r: Int = 1",
			[]string{"argument-type-widened Query.i(r:)"}},
		{"argument loses the default that it needs", "n: Int! = 3", "n: Int!", []string{"input-field-required In.n"}},
		{"required argument with a default", "y: [Int!]", "y: [Int!], z: Int! = 1", []string{"argument-added Query.a(z:)"}},
		{"element is never null", "b: [String]", "b: [String!]", []string{"field-type-narrowed A.b"}},
		{"field of another type", "b: [String]", "b: String", []string{"field-type-changed A.b"}},
		{"interface removed", "type A implements I {", "type A {", []string{"interface-removed A"}},
		{"interface added", "type B {", "type B implements I {", []string{"interface-added B"}},
		{"union member removed", "U = A | B", "U = A", []string{"union-member-removed U"}},
		{"union member added", "type B {", "type C { id: ID } extend union U = C type B {",
			[]string{"union-member-added U", "type-added C"}},
		{"value of an enum in responses added", "ONE TWO", "ONE TWO THREE", []string{"enum-value-added E.THREE"}},
		{"value of an enum in requests added", "F { ONE }", "F { ONE TWO }", []string{"input-enum-value-added F.TWO"}},
		{"enum value removed", "ONE TWO", "ONE", []string{"enum-value-removed E.TWO"}},
		{"enum value deprecated", "ONE TWO", "ONE TWO @deprecated", []string{"field-deprecated E.TWO"}},
		{"input field required", "s: String }", "s: String! }", []string{"input-field-required In.s"}},
		{"input field removed", ", s: String }", "}", []string{"input-field-removed In.s"}},
		{"input field optional", "n: Int! = 3", "n: Int = 3", []string{"input-field-type-widened In.n"}},
		{"input field default", "n: Int! = 3", "n: Int! = 4", []string{"input-field-default-changed In.n"}},
		{"oneOf", "input In {", "input In @oneOf {", []string{"type-changed In"}},
		{"specifiedBy", "com/date", "com/day", []string{"type-changed Date"}},
		{"kind", "scalar Date @specifiedBy(url: \"https://example.com/date\")", "enum Date { D }",
			[]string{"type-changed Date"}},
		{"type removed", "scalar Date @specifiedBy(url: \"https://example.com/date\")", "", []string{"type-removed Date"}},
		{"directive removed", "directive @cache(age: Int) repeatable on FIELD | QUERY", "",
			[]string{"directive-removed @cache"}},
		{"directive location", "FIELD | QUERY", "FIELD", []string{"directive-narrowed @cache"}},
		{"directive is not repeatable", " repeatable", "", []string{"directive-narrowed @cache"}},
		{"directive location added", "FIELD | QUERY", "FIELD | QUERY | MUTATION", []string{"directive-widened @cache"}},
		{"directive added", "type B {", "directive @d on FIELD type B {", []string{"directive-added @d"}},
		{"mutations added", "type B {", "type Mutation { m: Int } type B {",
			[]string{"type-added Mutation", "operation-type-added schema.mutation"}},
		{"query type renamed", "type Query {", "schema { query: Root } type Root {", []string{
			"type-removed Query", "operation-type-removed schema.query", "type-added Root"}},
	}
	before := sdlSnapshot(t, base)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if !strings.Contains(base, tt.old) {
				t.Fatalf("the schema does not contain %q", tt.old)
			}
			after := strings.Replace(base, tt.old, tt.new, 1)
			dump(t, "SDL "+tt.name, "graphql", base, after)
			changes := compat.Compare(before, sdlSnapshot(t, after))
			var got []string
			for _, c := range changes {
				got = append(got, c.Kind+" "+c.Place)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidSDL(t *testing.T) {
	t.Parallel()
	for _, sdl := range []string{"type", "type A {", "type A { a }", "type A { a: [B }", "type A {} type A {}", "x",
		`"""`, `type A { a(x: Int = $v): B }`, "enum E { 1 }", "{ query }", "type A @d(", "directive @d FIELD", "\\",
		"type A { a: " + strings.Repeat("[", 1000) + "B" + strings.Repeat("]", 1000) + " }",
		"input A { a: B = " + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + " }"} {
		if s, err := compat.Record(t.Context(), compat.Source{Contract: "1.0.0", SDL: sdl}); err == nil {
			t.Errorf("%.40q is accepted as %q", sdl, s.SDL)
		}
	}
}
