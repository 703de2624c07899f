package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Requests to /graphql are not rejected before execution, so this test sends every mutation of
// every contract without a token. It reads the mutations from the schema, so new ones are included.
func TestGraphQLMutationsNeedAToken(t *testing.T) {
	t.Parallel()
	s, tokens := openGuarded(t)
	public := map[string]bool{"authLogin": true}
	for _, path := range []string{"/graphql", "/v1.0/graphql", "/v1.1/graphql"} {
		schema := introspected(t, s, path)
		before, _ := asks(t, s, path, everythingQuery, "Authorization: Bearer "+tokens["ann"])
		for _, field := range schema["Mutation"].Fields {
			arguments := schema.arguments(field.Args)
			if strings.HasSuffix(field.Name, "Place") {
				arguments = strings.Replace(arguments, "id: 1", `id: "264371"`, 1) // an existing place
			}
			answer, body := asks(t, s, path,
				"mutation { "+field.Name+arguments+schema.selection(field.Type)+" }")
			got := answer.codes()
			if got != "UNAUTHENTICATED" || public[field.Name] && !strings.Contains(body, "password is wrong") {
				t.Errorf("%s, %s: %s", path, field.Name, body)
			}
		}
		after, _ := asks(t, s, path, everythingQuery, "Authorization: Bearer "+tokens["ann"])
		if diff := cmp.Diff(before, after); diff != "" || len(before.Errors) > 0 {
			t.Errorf("%s: something has changed (-before +after):\n%s", path, diff)
		}
		if len(schema["Mutation"].Fields) < 12 {
			t.Errorf("%s: there are %d mutations", path, len(schema["Mutation"].Fields))
		}
	}
}

// everythingQuery selects all data that a mutation could change, or its count.
const everythingQuery = `{ orders { nodes { id etag } totalCount } users { nodes { id etag } }
	places(first: 200) { nodes { id etag } totalCount } }`

// known has the types of a schema, by name.
type known map[string]*knownType

type knownType struct {
	Name, Kind  string
	Fields      []knownField
	InputFields []knownInput
	EnumValues  []struct{ Name string }
}

type knownField struct {
	Name string
	Args []knownInput
	Type knownRef
}

type knownInput struct {
	Name string
	Type knownRef
}

type knownRef struct {
	Kind, Name string
	OfType     *knownRef
}

// introspected returns the types of the schema.
func introspected(t *testing.T, s *opened, path string) known {
	t.Helper()
	const ref = `type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`
	answer, body := asks(
		t,
		s,
		path,
		`{ __schema { types { name kind enumValues { name } inputFields { name `+ref+` }
		fields { name args { name `+ref+` } `+ref+` } } } }`,
	)
	var schema struct{ Types []*knownType }
	if err := json.Unmarshal(answer.Data["__schema"], &schema); err != nil {
		t.Fatalf("%v: %s", err, body)
	}
	types := known{}
	for _, typ := range schema.Types {
		types[typ.Name] = typ
	}
	return types
}

// arguments returns minimal valid values of the required arguments.
func (k known) arguments(args []knownInput) string {
	var out []string
	for _, arg := range args {
		if arg.Type.Kind == "NON_NULL" {
			value, ok := valid[arg.Name]
			if !ok {
				value = k.value(arg.Type)
			}
			out = append(out, arg.Name+": "+value)
		}
	}
	if out == nil {
		return ""
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// valid has values of members that do not accept every string.
var valid = map[string]string{"email": `"eve@example.com"`, "country": `"XX"`, "olderThan": `"1h"`}

// value returns a valid value of a type.
func (k known) value(ref knownRef) string {
	switch ref.Kind {
	case "NON_NULL":
		return k.value(*ref.OfType)
	case "LIST":
		return "[" + k.value(*ref.OfType) + "]"
	case "ENUM":
		return k[ref.Name].EnumValues[0].Name
	case "INPUT_OBJECT":
		fields := k.arguments(k[ref.Name].InputFields)
		return "{" + strings.Trim(fields, "()") + "}"
	}
	switch ref.Name {
	case "String":
		return `"x"`
	case "Boolean":
		return "true"
	}
	return "1" // an ID, too
}

// selection returns a selection set for a type.
func (k known) selection(ref knownRef) string {
	for ref.OfType != nil {
		ref = *ref.OfType
	}
	if ref.Kind != "OBJECT" {
		return ""
	}
	return " { __typename }"
}
