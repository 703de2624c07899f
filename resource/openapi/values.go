package openapi

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// quote writes a JSON string.
func quote(s string) jsontext.Value {
	b, _ := jsontext.AppendQuote(nil, s) // bytes that are no UTF-8 are replaced
	return b
}

// jsonStrings writes strings as values of an enumeration.
func jsonStrings(list ...string) []jsontext.Value {
	out := make([]jsontext.Value, len(list))
	for i, s := range list {
		out[i] = quote(s)
	}
	return out
}

// jsonOf writes a canonical value of package schema; nil for nil.
func jsonOf(v any) jsontext.Value {
	if v == nil {
		return nil
	}
	b, err := json.Marshal(v)
	if err != nil { // no canonical value
		return nil
	}
	return b
}

// text, textOf, integer and array are schemas that are needed often. Each call makes a new one, since some are added to.
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

func schemaRef(name string) *schemaObject { return &schemaObject{Ref: "#/components/schemas/" + name} }

// orNull adds null to what a schema admits.
func orNull(s *schemaObject) *schemaObject {
	switch {
	case s.Ref != "":
		return &schemaObject{AnyOf: []*schemaObject{s, {Type: typeNames{"null"}}}}
	case len(s.AnyOf) > 0 || len(s.Type) == 0 || len(s.Type) > 1: // has it already, or admits anything
		return s
	}
	s.Type = append(s.Type, "null")
	if s.Enum != nil {
		s.Enum = append(s.Enum, jsontext.Value("null"))
	}
	return s
}
