package fetch

// Arguments to documents: the core decodes and validates the same JSON as for REST.

import (
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
)

// Input of clients is passed to the catalog as JSON, in the form that other protocols pass it.
// Therefore defaults, constraints, and the difference between null and absent are handled in one
// place.

// document appends an input object as JSON, with members in the order of the model and under their
// JSON names. Absent fields are left out, and null is written as null. Names that inputs does not
// have cannot occur, because package coerce rejects them.
func document(dst []byte, inputs []*model.Input, given map[string]any) ([]byte, error) {
	dst = append(dst, '{')
	for _, in := range inputs {
		value, ok := given[in.Name]
		if !ok {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = jsontext.AppendQuote(dst, jsonName(in)); err != nil {
			return nil, err
		}
		if dst, err = appendInput(append(dst, ':'), in.Type, in.Member, value); err != nil {
			return nil, err
		}
	}
	return append(dst, '}'), nil
}

// jsonName returns the JSON name of the member that an input sets. It may differ from the name of
// the input, because not every JSON name is a name of GraphQL.
func jsonName(in *model.Input) string {
	if in.Member != nil {
		return in.Member.Name
	}
	return in.Name
}

// appendInput appends the value of an input. member may be nil. member is that of the innermost
// element for a list, which decides the form of its scalars.
func appendInput(dst []byte, t *model.Ref, member *schema.Field, value any) ([]byte, error) {
	if value == nil {
		return append(dst, "null"...), nil
	}
	if t.Elem == nil {
		if fields, ok := value.(map[string]any); ok && t.Type.Kind == model.InputObject {
			return document(dst, t.Type.Inputs, fields)
		}
		return appendScalar(dst, member, value)
	}
	list, _ := value.([]any)
	dst = append(dst, '[')
	for i, one := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = appendInput(dst, t.Elem, member, one); err != nil {
			return nil, err
		}
	}
	return append(dst, ']'), nil
}

// appendScalar appends a scalar as the member has it in JSON. An id is a string in GraphQL and may
// be a number in JSON. The Go types are those that package coerce returns. A value of the wrong
// form for the member is written as it is, and the core reports it.
func appendScalar(dst []byte, member *schema.Field, value any) ([]byte, error) {
	switch v := value.(type) {
	case string:
		if member != nil && !member.Quoted && member.Type.Kind == schema.Integer && isInteger(v) {
			return append(dst, v...), nil
		}
		return jsontext.AppendQuote(dst, v)
	case bool:
		return strconv.AppendBool(dst, v), nil
	case int:
		return strconv.AppendInt(dst, int64(v), 10), nil
	case int64:
		return strconv.AppendInt(dst, v, 10), nil
	case float64:
		return strconv.AppendFloat(dst, v, 'g', -1, 64), nil
	// The offset is kept, as in a REST request.
	case time.Time:
		return append(v.AppendFormat(append(dst, '"'), time.RFC3339Nano), '"'), nil
	}
	text, err := json.Marshal(value, json.Deterministic(true)) // the scalar JSON may hold any value
	if err != nil {
		return nil, fmt.Errorf("graphql: encoding an argument of type %T: %w", value, err)
	}
	return append(dst, text...), nil
}

// isInteger reports whether s is an integer in the canonical form of an id: no plus sign and no
// leading zeros. An id such as 01 stays a string, so that the core rejects it and does not read it
// as 1.
func isInteger(s string) bool {
	_, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		_, err = strconv.ParseUint(s, 10, 64)
	}
	digits := s
	if digits != "" && digits[0] == '-' {
		digits = digits[1:]
	}
	return err == nil && digits[0] != '+' && (digits[0] != '0' || s == "0")
}
