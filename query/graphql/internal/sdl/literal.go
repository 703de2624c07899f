package sdl

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

// Default writes the default of an argument or an input field as a GraphQL literal, and reports false where there is none.
// It is what the SDL has behind the equals sign, and what introspection gives as defaultValue (section 4.2.6).
func Default(in *model.Input) (string, bool) {
	if !in.HasDefault || in.Default == nil && in.Type.NonNull {
		return "", false
	}
	return Literal(in.Type, in.Default), true
}

// Literal writes a value as a GraphQL literal of a type (section 2.9). The value is as package coerce makes them; what
// does not fit the type is written as what it is. Fields of input objects come in the order of the type, and numbers look
// as they do in JavaScript, since the reference implementation is written in it: 3 for 3.0.
//
// An integer beyond 2^53 is exact here, while the reference implementation, to which it is a number of JavaScript,
// prints its nearest neighbour.
func Literal(t *model.Ref, value any) string {
	return parser.PrintValue(literal(t, value))
}

// literal makes the tree of a literal, so that there is one place that knows how to write it.
func literal(t *model.Ref, value any) parser.Value {
	if value == nil {
		return &parser.NullValue{}
	}
	if t.Elem != nil {
		items, ok := value.([]any)
		if !ok {
			return literal(t.Elem, value) // one value stands for a list of one (section 3.11)
		}
		list := &parser.ListValue{}
		for _, item := range items {
			list.Values = append(list.Values, literal(t.Elem, item))
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
			if v.Go == value || v.Go == nil && v.Name == value {
				return &parser.EnumValue{Value: v.Name}
			}
		}
	}
	if s, ok := value.(string); ok && t.Type.Name == "ID" && isInteger(s) {
		return &parser.IntValue{Value: s} // as the reference implementation has it
	}
	return untyped(value)
}

// object leaves out what is absent, which is not the same as null.
func object(t *model.Type, fields map[string]any) parser.Value {
	o := &parser.ObjectValue{}
	for _, in := range t.Inputs {
		if v, ok := fields[in.Name]; ok {
			o.Fields = append(o.Fields, field(in.Name, literal(in.Type, v)))
		}
	}
	return o
}

func field(name string, value parser.Value) *parser.ObjectField {
	return &parser.ObjectField{Name: &parser.Name{Value: name}, Value: value}
}

// isInteger reports whether a text is an integer in the one way to write it: no plus sign, no leading zeros.
func isInteger(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" && (digits == "0" || digits[0] != '0')
}

// untyped writes a value of which no more is known than what Go says: that of a scalar, or of a part of JSON.
func untyped(value any) parser.Value {
	switch v := value.(type) {
	case nil:
		return &parser.NullValue{}
	case string:
		return &parser.StringValue{Value: v}
	case bool:
		return &parser.BooleanValue{Value: v}
	case float64:
		return number(jsontext.Float(v).String())
	case time.Time:
		return &parser.StringValue{Value: v.Format(time.RFC3339Nano)}
	case json.Number:
		return number(v.String())
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
	return number(fmt.Sprint(value)) // the other integers
}

// number tells integers from what has a point or an exponent. The zero has no sign, as in JavaScript.
func number(text string) parser.Value {
	switch {
	case text == "-0":
		return &parser.IntValue{Value: "0"}
	case isInteger(text):
		return &parser.IntValue{Value: text}
	}
	return &parser.FloatValue{Value: text}
}

// ofJSON writes raw JSON with its numbers as they are. What is no JSON is null.
func ofJSON(raw jsontext.Value) parser.Value {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return &parser.NullValue{}
	}
	return untyped(value)
}
