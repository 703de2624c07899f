package openapi

// Constructors of JSON values and of small schemas, for all other files.

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// quote returns s as a JSON string.
func quote(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, s) // replaces invalid UTF-8
	return b
}

// jsonStrings returns JSON strings.
func jsonStrings(list ...string) []jsontext.Value {
	out := make([]jsontext.Value, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return out
}

// jsonOf returns a canonical value of package schema as JSON; nil for nil. Values of uint64 and
// int64 keep all digits, because they are written as text and never converted to float64.
func jsonOf(v any) jsontext.Value {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil { // not a canonical value
		return nil
	}
	return b
}

// text, textOf, integer and array return new schemas, which callers may modify.
func text() *schemaObject { return &schemaObject{Type: typeNames{"string"}} }

func textOf(description string) *schemaObject {
	return &schemaObject{Type: typeNames{"string"}, Description: description}
}

func integer(min, max int) *schemaObject {
	return &schemaObject{Type: typeNames{"integer"}, Minimum: jsonOf(min), Maximum: jsonOf(max)}
}

func array(of *schemaObject) *schemaObject {
	return &schemaObject{Type: typeNames{"array"}, Items: of}
}

// schemaRef returns a new reference for each use, because callers add a description to it. Keywords
// beside $ref apply in JSON Schema 2020-12; OpenAPI 3.0 ignored them.
func schemaRef(name string) *schemaObject { return &schemaObject{Ref: "#/components/schemas/" + name} }

// orNull returns a schema that also allows null. It may modify s. A reference is wrapped, because
// adding null to its target would allow null in every other use. An enumeration must list null too:
// enum and type both apply.
func orNull(s *schemaObject) *schemaObject {
	switch {
	case s.Ref != "":
		return &schemaObject{AnyOf: []*schemaObject{s, {Type: typeNames{"null"}}}}
	case len(s.AnyOf) > 0 || len(s.Type) == 0 || len(s.Type) > 1: // already allows null, or any type
		return s
	}
	s.Type = append(s.Type, "null")
	if s.Enum != nil {
		s.Enum = append(s.Enum, jsontext.Value("null"))
	}
	return s
}
