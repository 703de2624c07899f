package coerce

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// errInvalid says that a value does not fit where there is no better word for why. Callers say of which type it is not.
var errInvalid = &leafError{}

// leafError is the complaint about one scalar or enum value, in the words of the reference implementation.
type leafError struct{ message string }

// Error returns the complaint, or nothing where the caller is to find the words.
func (e *leafError) Error() string { return e.message }

func complain(format string, args ...any) error { return &leafError{fmt.Sprintf(format, args...)} }

// Literal coerces a literal without variables to a scalar or an enum. A value is as [Value] returns it. An error whose
// message is empty says no more than that the value does not fit.
//
// The scalars of the specification, Int64, DateTime and JSON are known by their names and strict (section 3.5). Any
// literal is a value of another scalar, as in the reference implementation.
func Literal(t *model.Type, v parser.Value) (any, error) {
	switch t.Kind {
	case model.Enum:
		return enumLiteral(t, v)
	case model.Scalar:
		return scalarLiteral(t.Name, v)
	}
	return nil, errInvalid
}

func scalarLiteral(scalar string, v parser.Value) (any, error) {
	switch scalar {
	case "Int":
		return intLiteral(v)
	case "Int64":
		return int64Literal(v)
	case "Float":
		return floatLiteral(v)
	case "String":
		return stringLiteral(v)
	case "Boolean":
		return booleanLiteral(v)
	case "ID":
		return idLiteral(v)
	case "DateTime":
		return dateTimeLiteral(v)
	case "JSON":
		return jsonLiteral(v)
	}
	return untypedLiteral(v), nil
}

// untypedLiteral is for a scalar that is not known here: any literal is a value of it.
func untypedLiteral(v parser.Value) any {
	switch v := v.(type) {
	case *parser.IntValue:
		n, _ := strconv.ParseFloat(v.Value, 64)
		return n
	case *parser.FloatValue:
		n, _ := strconv.ParseFloat(v.Value, 64)
		return n
	case *parser.StringValue:
		return v.Value
	case *parser.BooleanValue:
		return v.Value
	case *parser.EnumValue:
		return v.Value
	case *parser.ListValue:
		list := make([]any, len(v.Values))
		for i, item := range v.Values {
			list[i] = untypedLiteral(item)
		}
		return list
	case *parser.ObjectValue:
		object := make(map[string]any, len(v.Fields))
		for _, f := range v.Fields {
			object[f.Name.Value] = untypedLiteral(f.Value)
		}
		return object
	}
	return nil
}

// intLiteral is section 3.5.1: what has a point or an exponent is a Float, whatever its value.
func intLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.IntValue)
	if !ok {
		return nil, complain("Int cannot represent non-integer value: %s", Show(v))
	}
	n, err := strconv.ParseInt(lit.Value, 10, 32)
	if err != nil {
		return nil, complain("Int cannot represent non 32-bit signed integer value: %s", Show(v))
	}
	return int(n), nil
}

// int64Literal is intLiteral for the whole range of an int64.
func int64Literal(v parser.Value) (any, error) {
	lit, ok := v.(*parser.IntValue)
	if !ok {
		return nil, complain("Int64 cannot represent non-integer value: %s", Show(v))
	}
	n, err := strconv.ParseInt(lit.Value, 10, 64)
	if err != nil {
		return nil, complain("Int64 cannot represent non 64-bit signed integer value: %s", Show(v))
	}
	return n, nil
}

// floatLiteral is section 3.5.2, which takes integers too.
func floatLiteral(v parser.Value) (any, error) {
	var text string
	switch v := v.(type) {
	case *parser.IntValue:
		text = v.Value
	case *parser.FloatValue:
		text = v.Value
	default:
		return nil, complain("Float cannot represent non numeric value: %s", Show(v))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, complain("Float cannot represent value beyond its range: %s", Show(v))
	}
	return f, nil
}

// stringLiteral is section 3.5.3: numbers are not made strings, since nobody could tell how they were written.
func stringLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.StringValue)
	if !ok {
		return nil, complain("String cannot represent a non string value: %s", Show(v))
	}
	return lit.Value, nil
}

// booleanLiteral is section 3.5.4.
func booleanLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.BooleanValue)
	if !ok {
		return nil, complain("Boolean cannot represent a non boolean value: %s", Show(v))
	}
	return lit.Value, nil
}

// idLiteral is section 3.5.5: an id is kept as it is written, and never becomes a float in between.
func idLiteral(v parser.Value) (any, error) {
	switch v := v.(type) {
	case *parser.StringValue:
		return v.Value, nil
	case *parser.IntValue:
		return v.Value, nil
	}
	return nil, complain("ID cannot represent a non-string and non-integer value: %s", Show(v))
}

// dateTimeLiteral takes strings alone: a number could count seconds as well as anything else.
func dateTimeLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.StringValue)
	if !ok {
		return nil, complain("DateTime cannot represent value: %s", Show(v))
	}
	return DateTime(lit.Value)
}

// jsonLiteral takes everything.
func jsonLiteral(v parser.Value) (any, error) {
	raw, err := JSON(v, nil)
	if err != nil {
		return nil, errInvalid
	}
	return raw, nil
}

// enumLiteral is section 3.9: the name of a value.
func enumLiteral(t *model.Type, v parser.Value) (any, error) {
	lit, ok := v.(*parser.EnumValue)
	if !ok {
		return nil, complain("Enum %q cannot represent non-enum value: %s.", t.Name, Show(v))
	}
	for _, value := range t.Values {
		if value.Name == lit.Value {
			return value.Go, nil
		}
	}
	return nil, complain("Value %q does not exist in %q enum.", lit.Value, t.Name)
}

// Show writes a value for a message, shortened where it is long: what a client sent need not come back in full.
func Show(v parser.Value) string {
	if list, ok := v.(*parser.ListValue); ok && len(list.Values) > 40 {
		v = &parser.ListValue{Values: list.Values[:40]}
	}
	return shortened(parser.PrintValue(v))
}

// shortened keeps what a client sent from coming back to it in full.
func shortened(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
