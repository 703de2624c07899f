package compat_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/version"
	"github.com/stoa-go/stoa/version/compat"
)

// openAPISnapshot returns a snapshot with an OpenAPI document.
func openAPISnapshot(t *testing.T, document string) *compat.Snapshot {
	t.Helper()
	s, err := compat.Record(t.Context(), compat.Source{Contract: "1.0.0", OpenAPI: []byte(document)})
	if err != nil {
		t.Fatalf("%v\n%s", err, document)
	}
	return s
}

// TestSchemaChanges compares schemas of a request and of a response, which have opposite rules.
func TestSchemaChanges(t *testing.T) {
	t.Parallel()
	const (
		narrowed = "narrowed" // request-*-narrowed breaks, response-*-narrowed does not
		widened  = "widened"
		both     = "both" // breaks in both directions
	)
	tests := []struct {
		name, before, after string
		aspect, want        string // want "" means no change
	}{
		{"nothing", `{"type":"string"}`, `{"type":"string"}`, "", ""},
		{"documentation", `{"type":"string"}`, `{"type":"string","description":"x","examples":["a"],"title":"T"}`, "", ""},
		{"integer to number", `{"type":"integer"}`, `{"type":"number"}`, "type", widened},
		{"number to integer", `{"type":"number"}`, `{"type":"integer"}`, "type", narrowed},
		{"other type", `{"type":"string"}`, `{"type":"boolean"}`, "type", both},
		{"null allowed", `{"type":"string"}`, `{"type":["string","null"]}`, "type", widened},
		{"null excluded", `{"type":["string","null"]}`, `{"type":"string"}`, "type", narrowed},
		{"null in another form", `{"type":["string","null"]}`, `{"anyOf":[{"type":"string"},{"type":"null"}]}`, "", ""},
		{"any type", `{"type":"string"}`, `{}`, "type", widened},
		{"null beside any type", `{"type":["string","null"]}`, `{}`, "type", widened},
		{"any values of a map", `{"additionalProperties":{"type":"integer"}}`, `{}`, "type", widened},
		{"typed values of a map", `{"additionalProperties":true}`, `{"additionalProperties":{"type":"integer"}}`, "type", narrowed},
		{"values of a map of any type", `{"additionalProperties":{}}`, `{}`, "", ""},
		{"several constants in another order", `{"oneOf":[
			{"properties":{"a":{"const":1},"b":{"const":1}}},{"properties":{"a":{"const":1},"b":{"const":2}}}]}`, `{"oneOf":[
			{"properties":{"a":{"const":1},"b":{"const":2}}},{"properties":{"a":{"const":1},"b":{"const":1}}}]}`, "", ""},
		{"true", `{}`, `true`, "", ""},
		{"enum removed", `{"enum":["a","b"]}`, `{}`, "enum", widened},
		{"enum added", `{}`, `{"enum":["a","b"]}`, "enum", narrowed},
		{"enum value added", `{"enum":["a","b"]}`, `{"enum":["b","c","a"]}`, "enum", widened},
		{"constant to enum", `{"const":"a"}`, `{"enum":["a","b"]}`, "enum", widened},
		{"minimum raised", `{"minimum":1}`, `{"minimum":2}`, "limit", narrowed},
		{"minimum lowered", `{"minimum":1}`, `{"minimum":0.5}`, "limit", widened},
		{"equal numbers", `{"minimum":1.0}`, `{"minimum":1}`, "", ""},
		{"large numbers", `{"maximum":9223372036854775807}`, `{"maximum":9223372036854775806}`, "limit", narrowed},
		{"maximum added", `{}`, `{"maxLength":5}`, "limit", narrowed},
		{"maximum removed", `{"maxItems":5}`, `{}`, "limit", widened},
		{"minimum of zero", `{}`, `{"minLength":0}`, "", ""},
		{"pattern added", `{}`, `{"pattern":"a"}`, "syntax", narrowed},
		{"pattern removed", `{"pattern":"a"}`, `{}`, "syntax", widened},
		{"pattern changed", `{"pattern":"a"}`, `{"pattern":"b"}`, "syntax", both},
		{"format changed", `{"format":"date"}`, `{"format":"date-time"}`, "syntax", both},
		{"repeated items", `{"uniqueItems":true}`, `{}`, "syntax", widened},
		{"items", `{"items":{"type":"number"}}`, `{"items":{"type":"integer"}}`, "type", narrowed},
		{"items added", `{}`, `{"items":{"type":"integer"}}`, "type", narrowed},
		{"not added", `{}`, `{"not":{"const":1}}`, "type", narrowed},
		{"not changed", `{"not":{"const":2}}`, `{"not":{"const":1}}`, "type", both},
		{"branch added", `{"oneOf":[{"type":"string"},{"type":"boolean"}]}`,
			`{"oneOf":[{"type":"string"},{"type":"boolean"},{"type":"integer"}]}`, "type", widened},
		{"branch removed", `{"anyOf":[{"type":"string"},{"type":"boolean"}]}`, `{"type":"string"}`, "type", narrowed},
		{"branch changed", `{"anyOf":[{"const":"a"},{"type":"integer"}]}`,
			`{"anyOf":[{"const":"a"},{"type":"number"}]}`, "type", widened},
		{"beside branches", `{"maxLength":5,"anyOf":[{"const":"a"},{"const":"b"}]}`,
			`{"maxLength":6,"anyOf":[{"const":"a"},{"const":"b"}]}`, "limit", widened},
		{"order of branches", `{"anyOf":[{"const":"a"},{"type":"integer"}]}`,
			`{"anyOf":[{"type":"integer"},{"const":"a"}]}`, "", ""},
		{"allOf", `{"allOf":[{"maxLength":5}]}`, `{"allOf":[{"maxLength":4}]}`, "limit", narrowed},
		{"allOf added", `{}`, `{"allOf":[{"maxLength":4}]}`, "limit", narrowed},
		{"null leaves an enum", `{"type":["string","null"],"enum":["a",null]}`, `{"type":["string","null"],"enum":["a"]}`,
			"enum", narrowed},
		{"null enters an enum", `{"enum":["a"]}`, `{"enum":["a",null]}`, "enum", widened},
		{"null leaves an enum and its type", `{"type":["string","null"],"enum":["a",null]}`,
			`{"type":"string","enum":["a"]}`, "type", narrowed},
		{"null of an enum without its type", `{"type":"string","enum":["a",null]}`, `{"type":"string","enum":["a"]}`,
			"", ""},
		{"null of a type without its enum", `{"type":["string","null"],"enum":["a"]}`, `{"type":"string","enum":["a"]}`,
			"", ""},
		{"constant null", `{"const":null}`, `{"enum":["a",null]}`, "enum", widened},
		{"type of an enum", `{"enum":["a","b"]}`, `{"type":"string","enum":["a","b"]}`, "", ""},
		{"enum of a type", `{"type":"string"}`, `{"type":"string","enum":["a"]}`, "enum", narrowed},
		{"equal numbers of an enum", `{"enum":[1,20,-0]}`, `{"enum":[1.0,2e1,0]}`, "", ""},
		{"equal constants", `{"const":1e40}`, `{"const":10.0e39}`, "", ""},
		{"large constants", `{"const":9007199254740993}`, `{"enum":[9007199254740992,9007199254740993]}`, "enum",
			widened},
		{"equal factors", `{"multipleOf":0.10}`, `{"multipleOf":0.1}`, "", ""},
		{"items of any type", `{}`, `{"items":{}}`, "", ""},
		{"items without a condition", `{"items":true}`, `{}`, "", ""},
		{"no items", `{}`, `{"items":false}`, "type", narrowed},
		{"contains anything", `{}`, `{"contains":{}}`, "type", narrowed},
		{"patternProperties without a pattern", `{"patternProperties":{}}`, `{}`, "", ""},
		{"not anything", `{}`, `{"not":{}}`, "type", narrowed},
		{"exclusive to inclusive", `{"exclusiveMinimum":0}`, `{"minimum":0}`, "limit", widened},
		{"inclusive to exclusive", `{"type":"number","maximum":9}`, `{"type":"number","exclusiveMaximum":9}`, "limit",
			narrowed},
		{"exclusive to lower inclusive", `{"exclusiveMinimum":0}`, `{"minimum":-1}`, "limit", widened},
		{"equal limits of integers", `{"type":"integer","exclusiveMinimum":0,"exclusiveMaximum":9}`,
			`{"type":"integer","minimum":1,"maximum":8}`, "", ""},
		{"both limits", `{"minimum":0,"exclusiveMinimum":0}`, `{"exclusiveMinimum":0}`, "", ""},
		{"types and alternatives", `{"type":["string","integer"]}`, `{"oneOf":[{"type":"integer"},{"type":"string"}]}`,
			"", ""},
		{"types with null and alternatives", `{"type":["string","integer","null"],"maxLength":5,"minimum":1}`,
			`{"anyOf":[{"type":"integer","minimum":1},{"type":"string","maxLength":5},{"type":"null"}]}`, "", ""},
		{"null in one alternative", `{"anyOf":[{"type":["string","null"]},{"type":"integer"}]}`,
			`{"anyOf":[{"type":"string"},{"type":["integer","null"]}]}`, "", ""},
		{"types and fewer alternatives", `{"type":["string","integer","boolean"]}`,
			`{"oneOf":[{"type":"integer"},{"type":"string"}]}`, "type", narrowed},
		{"alternative of a type changed", `{"type":["string","integer"],"maxLength":5}`,
			`{"oneOf":[{"type":"integer"},{"type":"string","maxLength":6}]}`, "limit", widened},
		{"alternatives to any value", `{"oneOf":[{"type":"integer"},{"type":"string"}]}`, `{}`, "type", widened},
		{"values of a map", `{"additionalProperties":{"type":"integer"}}`, `{"additionalProperties":{"type":"number"}}`,
			"type", widened},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			source := func(request, response string) string {
				return `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"/a":{"post":{
					"requestBody":{"content":{"application/json":{"schema":` + request + `}}},
					"responses":{"200":{"description":"","content":{"application/json":{"schema":` + response + `}}}}}}}}`
			}
			document := func(request, response string) *compat.Snapshot {
				return openAPISnapshot(t, source(request, response))
			}
			dump(t, "request "+tt.name, "json", source(tt.before, "{}"), source(tt.after, "{}"))
			dump(t, "response "+tt.name, "json", source("{}", tt.before), source("{}", tt.after))
			want := func(direction string, breaks string) []string {
				if tt.want == "" {
					return nil
				}
				suffix := tt.want
				if suffix == both {
					suffix = breaks
				}
				return []string{direction + "-" + tt.aspect + "-" + suffix}
			}
			requests := kinds(compat.Compare(document(tt.before, "{}"), document(tt.after, "{}")))
			if diff := cmp.Diff(want("request", narrowed), requests); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			responses := kinds(compat.Compare(document("{}", tt.before), document("{}", tt.after)))
			if diff := cmp.Diff(want("response", widened), responses); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
		})
	}
}

func kinds(changes []version.Change) (all []string) {
	for _, c := range changes {
		all = append(all, c.Kind)
	}
	return all
}

// TestMemberChanges compares members of objects, and checks the places.
func TestMemberChanges(t *testing.T) {
	t.Parallel()
	const base = `{"type":"object","required":["a"],"properties":{
		"a":{"type":"string"},"b":{"type":"string"},"title":{"type":"string"}}}`
	tests := []struct {
		name, old, new    string
		request, response []string
	}{
		{"added", `"b":`, `"c":{},"b":`, []string{"request-member-added body.c"}, []string{"response-member-added body.c"}},
		{"required added", `"required":["a"],"properties":{`, `"required":["a","c"],"properties":{"c":{},`,
			[]string{"request-member-required body.c"}, []string{"response-member-added body.c"}},
		{"removed", `"b":{"type":"string"},`, ``, []string{"request-member-removed body.b"},
			[]string{"response-member-removed body.b"}},
		{"named like a keyword", `,"title":{"type":"string"}`, ``, []string{"request-member-removed body.title"},
			[]string{"response-member-removed body.title"}},
		{"required", `["a"]`, `["a","b"]`, []string{"request-member-required body.b"},
			[]string{"response-member-required body.b"}},
		{"optional", `["a"]`, `[]`, []string{"request-member-optional body.a"}, []string{"response-member-optional body.a"}},
		{"read-only", `"b":{`, `"b":{"readOnly":true,`, []string{"request-member-removed body.b"}, nil},
		{"write-only", `"b":{`, `"b":{"writeOnly":true,`, nil, []string{"response-member-removed body.b"}},
		{"closed", `{"type":"object",`, `{"additionalProperties":false,"type":"object",`,
			[]string{"request-type-narrowed body"}, []string{"response-type-narrowed body"}},
		{"default", `"b":{`, `"b":{"default":"x",`, []string{"default-changed body.b"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			after := strings.Replace(base, tt.old, tt.new, 1)
			if after == base {
				t.Fatalf("the schema does not contain %q", tt.old)
			}
			document := func(schema string, response bool) string {
				body := `"content":{"application/json":{"schema":` + schema + `}}}`
				start := `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"/a":{`
				if response {
					return start + `"get":{"responses":{"200":{"description":"",` + body + `}}}}}`
				}
				return start + `"post":{"requestBody":{` + body + `,"responses":{"200":{"description":""}}}}}}`
			}
			for _, response := range []bool{false, true} {
				var got []string
				before, after := document(base, response), document(after, response)
				dump(t, map[bool]string{false: "request", true: "response"}[response]+" member "+tt.name, "json", before,
					after)
				for _, c := range compat.Compare(openAPISnapshot(t, before), openAPISnapshot(t, after)) {
					place := strings.Replace(strings.TrimPrefix(c.Place, "POST /a: "), "GET /a: 200 body", "body", 1)
					got = append(got, c.Kind+" "+place)
				}
				want := map[bool][]string{false: tt.request, true: tt.response}[response]
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("response: %t (-want +got):\n%s", response, diff)
				}
			}
		})
	}
}

// TestRecursiveSchemas ends, and reports a difference of a schema that is used several times once.
func TestRecursiveSchemas(t *testing.T) {
	t.Parallel()
	document := func(name, extra string) string {
		return `{"paths":{"/a":{"get":{"responses":{"200":{"content":{"application/json":{"schema":
			{"$ref":"#/components/schemas/` + name + `"}}}},"201":{"content":{"application/json":{"schema":
			{"$ref":"#/components/schemas/` + name + `"}}}}}}}},"components":{"schemas":{"` + name + `":{"properties":{
			"parent":{"$ref":"#/components/schemas/` + name + `"},"loop":{"$ref":"#/components/schemas/Loop"}` + extra +
			`}},"Loop":{"$ref":"#/components/schemas/Loop"}}}}`
	}
	before := openAPISnapshot(t, document("Node", ""))
	if changes := compat.Compare(before, openAPISnapshot(t, document("Element", ""))); len(changes) > 0 {
		t.Errorf("a schema was renamed: %v", changes)
	}
	changes := compat.Compare(before, openAPISnapshot(t, document("Node", `,"x":{}`)))
	if len(changes) != 1 || changes[0].Place != "Node.x" {
		t.Errorf("changes %v, want one at Node.x", changes)
	}
}

// TestOwnName checks that a document may contain the name of its contract, which differs.
func TestOwnName(t *testing.T) {
	t.Parallel()
	document := func(name string) *compat.Snapshot {
		escaped := strings.ReplaceAll(name, ".", `\\.`)
		s, err := compat.Record(t.Context(), compat.Source{Contract: name, OpenAPI: []byte(`{"paths":{"/a":{"get":{
			"deprecated":true,"parameters":[{"in":"query","name":"version","schema":{"pattern":"^v?(1|` + escaped + `)$"}}],
			"responses":{"200":{"headers":{"Sunset":{}},"content":{"application/vnd.shop.` + name + `.order+json":{}}},
			"410":{"content":{"application/problem+json":{"examples":{"a":{"value":
			{"type":"https://example.com/problems/version-retired"}}}}}}}}}}}`)})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	if changes := compat.Compare(document("1.0.0"), document("1.0.1")); len(changes) > 0 {
		t.Errorf("changes %v, want none", changes)
	}
}

// TestPathParameters renames path parameters, which clients do not see.
func TestPathParameters(t *testing.T) {
	t.Parallel()
	document := func(first, second, typ string) *compat.Snapshot {
		return openAPISnapshot(t, `{"paths":{"/a/{`+first+`}/b/{`+second+`}":{"get":{"parameters":[
			{"in":"path","name":"`+first+`","required":true,"schema":{"type":"string"}},
			{"in":"path","name":"`+second+`","required":true,"schema":{"type":"`+typ+`"}}],"responses":{}}}}}`)
	}
	before := document("a", "b", "string")
	if changes := compat.Compare(before, document("b", "c", "string")); len(changes) > 0 {
		t.Errorf("renamed: %v, want none", changes)
	}
	got := kinds(compat.Compare(before, document("b", "c", "integer")))
	if diff := cmp.Diff([]string{"request-type-narrowed"}, got); diff != "" {
		t.Errorf("another type (-want +got):\n%s", diff)
	}
}

// TestDates compares a contract with itself after it was deprecated and has brownouts. The response 410
// is one of the operation or a component.
func TestDates(t *testing.T) {
	t.Parallel()
	document := func(link, retry string) string {
		gone := `{"headers":{"ETag":{}` + retry + `},"content":{"application/problem+json":{}}}`
		return `{"paths":{"/a":{"get":{"responses":{"200":{"headers":{"ETag":{}` + link + `}},"410":` + gone + `}},
			"put":{"responses":{"410":{"$ref":"#/components/responses/Gone"},"503":{"$ref":"#/components/responses/Busy"}}}}},
			"components":{"responses":{"Gone":` + gone + `,"Busy":{"headers":{"Retry-After":{}}}}}}`
	}
	before := openAPISnapshot(t, document("", ""))
	after := openAPISnapshot(t, document(`,"Link":{}`, `,"Retry-After":{}`))
	for _, s := range [][2]*compat.Snapshot{{before, after}, {after, before}} {
		if changes := compat.Compare(s[0], s[1]); len(changes) > 0 {
			t.Errorf("changes %v, want none", changes)
		}
	}
	if !strings.Contains(string(after.OpenAPI), `"Busy":{"headers":{"Retry-After":{}}}`) {
		t.Errorf("the Retry-After of 503 was removed: %s", after.OpenAPI)
	}
}

// compareOperations compares two operations, and checks the kinds of the changes. The operations are
// members of a document without the braces at its end.
func compareOperations(t *testing.T, name, before, after string, want []string) {
	t.Helper()
	document := func(operation string) string {
		text := `{"openapi":"3.1.0","info":{"title":"A","version":"1"},"paths":{"/a":{"post":{` + operation
		return text + strings.Repeat("}", strings.Count(text, "{")-strings.Count(text, "}"))
	}
	before, after = document(before), document(after)
	dump(t, name, "json", before, after)
	got := kinds(compat.Compare(openAPISnapshot(t, before), openAPISnapshot(t, after)))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// TestSecurityChanges compares what an operation requires of its client.
func TestSecurityChanges(t *testing.T) {
	t.Parallel()
	secured := func(security, schemes string) string {
		return `"security":[` + security + `],"responses":{"200":{"description":""}}}}},
			"components":{"securitySchemes":{` + schemes
	}
	oauth := func(security, flow, scopes string) string {
		return secured(security, `"o":{"type":"oauth2","flows":{`+flow+`"clientCredentials":{"tokenUrl":"https://a.example/t",
			"scopes":{`+scopes+`}}}},"k":{"type":"apiKey","in":"header","name":"X-Key"}`)
	}
	const (
		read = `"r":"Read"`
		both = `"r":"Read","w":"Write"`
		code = `"authorizationCode":{"authorizationUrl":"https://a.example/a","tokenUrl":"https://a.example/t","scopes":{}},`
	)
	tests := []struct {
		name, before, after string
		want                []string
	}{
		{"text of a scope", oauth(`{"o":["r"]}`, "", read), oauth(`{"o":["r"]}`, "", `"r":"Read all"`), nil},
		{"further scope on offer", oauth(`{"o":["r"]}`, "", read), oauth(`{"o":["r"]}`, "", both), []string{"security-removed"}},
		{"scope no longer on offer", oauth(`{"o":["r"]}`, "", both), oauth(`{"o":["r"]}`, "", read),
			[]string{"security-added"}},
		{"order of scopes", oauth(`{"o":["r","w"]}`, "", both), oauth(`{"o":["w","r"]}`, "", both), nil},
		{"fewer required scopes", oauth(`{"o":["r","w"]}`, "", both), oauth(`{"o":["r"]}`, "", both),
			[]string{"security-removed"}},
		{"more required scopes", oauth(`{"o":["r"]}`, "", both), oauth(`{"o":["w","r"]}`, "", both),
			[]string{"security-added"}},
		{"further flow", oauth(`{"o":["r"]}`, "", read), oauth(`{"o":["r"]}`, code, read), []string{"security-removed"}},
		{"flow removed", oauth(`{"o":["r"]}`, code, read), oauth(`{"o":["r"]}`, "", read), []string{"security-added"}},
		{"alternative that needs a subset", oauth(`{"o":["r"],"k":[]}`, "", read), oauth(`{"o":["r"]}`, "", read),
			[]string{"security-removed"}},
		{"alternative that needs more", oauth(`{"o":["r"]}`, "", read), oauth(`{"o":["r"],"k":[]}`, "", read),
			[]string{"security-added"}},
		{"alternative removed", oauth(`{"o":["r"]},{"k":[]}`, "", read), oauth(`{"k":[]}`, "", read),
			[]string{"security-added"}},
		{"alternative without authentication", oauth(`{"k":[]}`, "", read), oauth(`{"k":[]},{}`, "", read),
			[]string{"security-removed"}},
		{"authentication required of all", oauth(`{"k":[]},{}`, "", read), oauth(`{"k":[]}`, "", read),
			[]string{"security-added"}},
		{"bearerFormat", secured(`{"b":[]}`, `"b":{"type":"http","scheme":"bearer"}`),
			secured(`{"b":[]}`, `"b":{"type":"http","scheme":"Bearer","bearerFormat":"JWT"}`), nil},
		{"scheme renamed", secured(`{"b":[]}`, `"b":{"type":"apiKey","in":"header","name":"X-Key"}`),
			secured(`{"c":[]}`, `"c":{"type":"apiKey","in":"header","name":"x-key"}`), nil},
		{"key in a cookie", secured(`{"b":[]}`, `"b":{"type":"apiKey","in":"cookie","name":"Key"}`),
			secured(`{"b":[]}`, `"b":{"type":"apiKey","in":"cookie","name":"key"}`),
			[]string{"security-added", "security-removed"}},
		{"another scheme", secured(`{"b":[]}`, `"b":{"type":"http","scheme":"bearer"}`),
			secured(`{"b":[]}`, `"b":{"type":"http","scheme":"basic"}`), []string{"security-added", "security-removed"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			compareOperations(t, tt.name, tt.before, tt.after, tt.want)
		})
	}
}

// TestOperationChanges compares parameters and bodies of two operations.
func TestOperationChanges(t *testing.T) {
	t.Parallel()
	parameter := func(text string) string {
		return `"parameters":[{"name":"p","in":"query",` + text + `}],"responses":{"200":{"description":""}}}}}`
	}
	request := func(content string) string {
		return `"requestBody":{"content":{` + content + `}},"responses":{"200":{"description":""}}}}}`
	}
	response := func(content string) string {
		return `"responses":{"200":{"description":"","content":{` + content + `}}}}}}`
	}
	scalar, list := `"schema":{"type":"string"}`, `"schema":{"type":["array","string"],"items":{"type":"string"}}`
	tests := []struct {
		name, before, after string
		want                []string
	}{

		{"explode of a scalar", parameter(scalar), parameter(`"explode":false,` + scalar), nil},
		{"explode of a list", parameter(list), parameter(`"explode":false,` + list), []string{"parameter-encoding-changed"}},
		{"reserved characters allowed", parameter(scalar), parameter(`"allowReserved":true,` + scalar),
			[]string{"request-syntax-widened"}},
		{"reserved characters not allowed", parameter(`"allowReserved":true,` + scalar), parameter(scalar),
			[]string{"request-syntax-narrowed"}},
		{"schema of a parameter", parameter(`"schema":{}`), parameter(scalar), []string{"request-type-narrowed"}},
		{"default of a required parameter", parameter(`"required":true,` + scalar),
			parameter(`"schema":{"type":"string","default":"x"}`), []string{"parameter-optional"}},
		{"default of an optional parameter", parameter(scalar), parameter(`"schema":{"type":"string","default":"x"}`),
			[]string{"default-changed"}},

		{"schema gained by a request", request(`"application/json":{}`), request(`"application/json":{` + scalar + `}`),
			[]string{"request-type-narrowed"}},
		{"schema lost by a request", request(`"application/json":{` + scalar + `}`), request(`"application/json":{}`),
			[]string{"request-type-widened"}},
		{"schema gained by a response", response(`"application/json":{}`), response(`"application/json":{` + scalar + `}`),
			[]string{"response-type-narrowed"}},
		{"schema lost by a response", response(`"application/json":{` + scalar + `}`), response(`"application/json":{}`),
			[]string{"response-type-widened"}},
		{"charset of a response", response(`"application/json":{}`), response(`"Application/JSON; charset=UTF-8":{}`), nil},
		{"charset of a request", request(`"text/csv; charset=utf-8; header=present":{}`),
			request(`"text/csv;header=present":{}`), nil},
		{"another charset", request(`"text/csv":{}`), request(`"text/csv; charset=iso-8859-1":{}`),
			[]string{"request-media-type-removed", "request-media-type-added"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			compareOperations(t, tt.name, tt.before, tt.after, tt.want)
		})
	}
}
