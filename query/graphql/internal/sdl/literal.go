package sdl

// Default values as literals. sdl.go prints them, and package introspect returns them as
// defaultValue. The values are those of model.Input, which have the Go types of package coerce.

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Default returns the default value of an argument or input field as a GraphQL literal. ok is false
// if there is none. The SDL shows it after the equals sign, and introspection as defaultValue
// (section 4.2.4). A default of null at a non-null type is none: it could not be used.
func Default(in *model.Input) (string, bool) {
	if !in.HasDefault || in.Default == nil && in.Type.NonNull {
		return "", false
	}
	return Literal(in.Type, in.Default), true
}

// Literal returns value as a GraphQL literal of type t (section 2.10). value has a Go type that
// package coerce produces; a value that does not conform to t is written according to its Go type.
//
// Fields of input objects have the order of the type. Numbers are formatted as in JavaScript, the
// language of the reference implementation: 3 for 3.0. An integer beyond 2^53 is exact, while the
// reference implementation rounds it.
func Literal(t *model.Ref, value any) string {
	return parser.PrintValue(toValue(t, value))
}

// toValue returns the syntax tree of a literal, which the parser's printer writes. Its recursion
// follows the value, which is part of the schema and therefore small and without cycles.
func toValue(t *model.Ref, value any) parser.Value {
	if value == nil {
		return &parser.NullValue{}
	}
	if t.Elem != nil {
		items, ok := value.([]any)
		if !ok {
			return toValue(t.Elem, value) // a single value is coerced to a list of one item (section 3.11)
		}
		list := &parser.ListValue{}
		for _, item := range items {
			list.Values = append(list.Values, toValue(t.Elem, item))
		}
		return list
	}
	switch t.Type.Kind {
	case model.InputObject:
		if fields, ok := value.(map[string]any); ok {
			return object(t.Type, fields)
		}
	case model.Enum:
		for _, v := range t.Type.Values {
			// A value that has no Go value is identified by its name.
			if v.Go == value || v.Go == nil && v.Name == value {
				return &parser.EnumValue{Value: v.Name}
			}
		}
	}
	// An ID that is an integer is written without quotation marks. Both forms are valid (section
	// 3.5.5).
	if s, ok := value.(string); ok && t.Type.Name == "ID" && isInteger(s) {
		return &parser.IntValue{Value: s} // as the reference implementation does
	}
	return untyped(value)
}

// object returns an input object without the absent fields. Fields that the type does not have are
// left out.
func object(t *model.Type, fields map[string]any) parser.Value {
	o := &parser.ObjectValue{}
	for _, in := range t.Inputs {
		if v, ok := fields[in.Name]; ok {
			o.Fields = append(o.Fields, field(in.Name, toValue(in.Type, v)))
		}
	}
	return o
}

// field returns a field of an input object.
func field(name string, value parser.Value) *parser.ObjectField {
	return &parser.ObjectField{Name: &parser.Name{Value: name}, Value: value}
}

// isInteger reports whether s is an integer in canonical form, without plus sign and leading zeros.
// Such a text is an IntValue of the grammar (section 2.10.1).
func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0')
}

// untyped returns a literal for a value by its Go type only. It is used for scalars and for parts
// of JSON. Maps have no order, so their names are sorted to keep the output deterministic.
func untyped(value any) parser.Value {
	switch v := value.(type) {
	case nil:
		return &parser.NullValue{}
	case string:
		return &parser.StringValue{Value: v}
	case bool:
		return &parser.BooleanValue{Value: v}
	// jsontext formats floats as JavaScript does.
	case float64:
		return number(jsontext.Float(v).String())
	case time.Time:
		return &parser.StringValue{Value: v.Format(time.RFC3339Nano)}
	case json.Number:
		return number(v.String())
	// A default of the scalar JSON is raw JSON.
	case jsontext.Value:
		return ofJSON(v)
	case []any:
		list := &parser.ListValue{}
		for _, item := range v {
			list.Values = append(list.Values, untyped(item))
		}
		return list
	case map[string]any:
		o := &parser.ObjectValue{}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			o.Fields = append(o.Fields, field(name, untyped(v[name])))
		}
		return o
	case int:
		return number(strconv.Itoa(v))
	}
	return number(fmt.Sprint(value)) // other integer types
}

// number returns an integer or float literal. Negative zero has no sign, as in JavaScript. text is
// a JSON number, which is also valid in GraphQL.
func number(text string) parser.Value {
	switch {
	case text == "-0":
		return &parser.IntValue{Value: "0"}
	case isInteger(text):
		return &parser.IntValue{Value: text}
	}
	return &parser.FloatValue{Value: text}
}

// ofJSON returns a literal for raw JSON. Numbers keep their text. Invalid JSON becomes null. It
// uses encoding/json, which can keep the text of numbers in an untyped value.
func ofJSON(raw jsontext.Value) parser.Value {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return &parser.NullValue{}
	}
	return untyped(value)
}
