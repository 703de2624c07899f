package coerce

// Conversion of DateTime and Decimal values, and of literals to JSON. Called by coerce.go, literal.go and
// leaf.go.

import (
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource/schema"
)

// instant gives access to the parser of package schema for time.Time. A field is needed, because
// schema.Field.Parse implements the parser.
type instant struct {
	At time.Time `json:"at"`
}

// DateTime parses an RFC 3339 date-time as resources do. It keeps the time zone offset. The error
// may be sent to clients. schema caches the type, so a call costs one map access and the parsing.
func DateTime(text string) (time.Time, error) {
	at, err := schema.For[instant]().Fields[0].Parse(text)
	if err != nil {
		return time.Time{}, errorf("DateTime cannot represent value: %s", strconv.Quote(shortened(text)))
	}
	return at.(time.Time), nil
}

// Decimal checks a decimal number, and returns its text without an exponent. The error may be sent to
// clients.
func Decimal(text string) (string, error) {
	d, err := query.ParseDecimal(text)
	if err != nil {
		return "", errorf("Decimal cannot represent value: %s", strconv.Quote(shortened(text)))
	}
	if strings.ContainsAny(text, "eE") {
		return d.String(), nil
	}
	return text, nil
}

// JSON converts a literal to JSON. It replaces variables by their values. Enum values become
// strings, and numbers keep their source text. A variable without a value is null in a list and
// omits a member of an object. Object literals have no duplicate names: validate rejects them
// (section 5.6.3).
func JSON(v parser.Value, variables map[string]any) (jsontext.Value, error) {
	return appendJSON(nil, v, variables)
}

// appendJSON appends v as JSON. After an error, the content of dst is undefined.
func appendJSON(dst []byte, v parser.Value, variables map[string]any) ([]byte, error) {
	switch v := v.(type) {
	// Values of variables are Go values. Deterministic order keeps equal requests equal.
	case *parser.Variable:
		raw, err := json.Marshal(variables[v.Name.Value], json.Deterministic(true))
		return append(dst, raw...), err
	// The notations of numbers are valid in JSON (sections 2.10.1 and 2.10.2).
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

// appendItems appends a JSON array. A variable without a value has the zero value of the map, which
// is written as null.
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

// appendMembers appends a JSON object. A member is omitted if its value is a variable without a
// value (section 3.10).
func appendMembers(dst []byte, fields []*parser.ObjectField, variables map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	var err error
	for _, f := range fields {
		if missing(f.Value, variables) {
			continue
		}
		// No JSON value ends in an opening brace, so dst ends in one only before the first member.
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = append(dst, f.Name.Value...) // names need no escapes
		dst = append(dst, `":`...)
		if dst, err = appendJSON(dst, f.Value, variables); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}
