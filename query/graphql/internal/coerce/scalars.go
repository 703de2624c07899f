package coerce

import (
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource/schema"
)

// instant is a struct with a time, for what package schema takes for one.
type instant struct {
	At time.Time `json:"at"`
}

// DateTime reads an RFC 3339 date-time as a resource does, with the offset that it has. The error is fit for clients.
func DateTime(text string) (time.Time, error) {
	at, err := schema.For[instant]().Fields[0].Parse(text)
	if err != nil {
		return time.Time{}, complain("DateTime cannot represent value: %s", strconv.Quote(shortened(text)))
	}
	return at.(time.Time), nil
}

// JSON makes JSON of a literal, nulls included, with variables in it replaced: names of enum values are strings there, an
// item whose variable has no value is null, and such a member is left out. Numbers stay as they are written.
func JSON(v parser.Value, variables map[string]any) (jsontext.Value, error) {
	return appendJSON(nil, v, variables)
}

func appendJSON(dst []byte, v parser.Value, variables map[string]any) ([]byte, error) {
	switch v := v.(type) {
	case *parser.Variable:
		raw, err := json.Marshal(variables[v.Name.Value], json.Deterministic(true))
		return append(dst, raw...), err
	case *parser.IntValue:
		return append(dst, v.Value...), nil
	case *parser.FloatValue:
		return append(dst, v.Value...), nil
	case *parser.BooleanValue:
		return strconv.AppendBool(dst, v.Value), nil
	case *parser.StringValue:
		return jsontext.AppendQuote(dst, v.Value)
	case *parser.EnumValue:
		return jsontext.AppendQuote(dst, v.Value)
	case *parser.ListValue:
		return appendItems(dst, v.Values, variables)
	case *parser.ObjectValue:
		return appendMembers(dst, v.Fields, variables)
	}
	return append(dst, "null"...), nil
}

func appendItems(dst []byte, items []parser.Value, variables map[string]any) ([]byte, error) {
	dst = append(dst, '[')
	var err error
	for i, item := range items {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendJSON(dst, item, variables); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

func appendMembers(dst []byte, fields []*parser.ObjectField, variables map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	var err error
	for _, f := range fields {
		if missing(f.Value, variables) {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, f.Name.Value...) // which has nothing to escape
		dst = append(dst, `":`...)
		if dst, err = appendJSON(dst, f.Value, variables); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}
