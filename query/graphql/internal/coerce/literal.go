package coerce

// Coercion of literals to scalars and enums. Called by coerce.go during execution and by package
// validate, so that both accept the same literals. leaf.go does the same for JSON.

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// errInvalid reports a value that does not conform to a type, without a message of its own. Callers
// add a message that names the type. It is shared and never modified.
var errInvalid = &leafError{}

// leafError reports a scalar or enum value that cannot be coerced, with the message of the
// reference implementation. Package validate uses the message as it is. An empty one asks for a
// message about the type.
type leafError struct{ message string }

// Error returns the message, which may be empty.
func (e *leafError) Error() string { return e.message }

// errorf returns a leafError with a formatted message.
func errorf(format string, args ...any) error { return &leafError{fmt.Sprintf(format, args...)} }

// Literal coerces a literal without variables to a scalar or enum. The result is as described for
// the package. If the message of the error is empty, callers use a message of their own.
//
// The scalars of the specification, Int64, Decimal, DateTime and JSON are recognized by name and strict
// (section 3.5). Any other scalar accepts each literal, as in the reference implementation.
func Literal(t *model.Type, v parser.Value) (any, error) {
	switch t.Kind {
	case model.Enum:
		return enumLiteral(t, v)
	case model.Scalar:
		return scalarLiteral(t.Name, v)
	}
	return nil, errInvalid
}

// scalarLiteral coerces a literal to a scalar by its name. The names are those of scalarLeaf, so
// that each scalar has the same rules in documents and in variables.
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
	case "Decimal":
		return decimalLiteral(v)
	case "DateTime":
		return dateTimeLiteral(v)
	case "JSON":
		return jsonLiteral(v)
	}
	return untypedLiteral(v), nil
}

// untypedLiteral returns the Go value of any literal. Numbers become float64. A variable becomes
// null, because Literal has no values of variables.
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
	// An enum value has no type here, so its name becomes a string.
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

// intLiteral implements section 3.5.1. It rejects a fraction or exponent even if the value is an
// integer. JSON is treated with more tolerance, because clients may have no notation for integers;
// see integer.
func intLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.IntValue)
	if !ok {
		return nil, errorf("Int cannot represent non-integer value: %s", Show(v))
	}
	n, err := strconv.ParseInt(lit.Value, 10, 32)
	if err != nil {
		return nil, errorf("Int cannot represent non 32-bit signed integer value: %s", Show(v))
	}
	return int(n), nil
}

// int64Literal is intLiteral for 64-bit integers, signed or unsigned. The resource checks the range of
// the member.
func int64Literal(v parser.Value) (any, error) {
	lit, ok := v.(*parser.IntValue)
	if !ok {
		return nil, errorf("Int64 cannot represent non-integer value: %s", Show(v))
	}
	n, err := strconv.ParseInt(lit.Value, 10, 64)
	if u, tooBig := strconv.ParseUint(lit.Value, 10, 64); err != nil && tooBig == nil {
		return u, nil
	}
	if err != nil {
		return nil, errorf("Int64 cannot represent non 64-bit signed integer value: %s", Show(v))
	}
	return n, nil
}

// floatLiteral implements section 3.5.2. It accepts integers. It rejects a number beyond the range
// of a float64, which would become infinity.
func floatLiteral(v parser.Value) (any, error) {
	var text string
	switch v := v.(type) {
	case *parser.IntValue:
		text = v.Value
	case *parser.FloatValue:
		text = v.Value
	default:
		return nil, errorf("Float cannot represent non numeric value: %s", Show(v))
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) {
		return nil, errorf("Float cannot represent value beyond its range: %s", Show(v))
	}
	return f, nil
}

// stringLiteral implements section 3.5.3. It rejects numbers, because their notation is ambiguous.
func stringLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.StringValue)
	if !ok {
		return nil, errorf("String cannot represent a non string value: %s", Show(v))
	}
	return lit.Value, nil
}

// booleanLiteral implements section 3.5.4.
func booleanLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.BooleanValue)
	if !ok {
		return nil, errorf("Boolean cannot represent a non boolean value: %s", Show(v))
	}
	return lit.Value, nil
}

// idLiteral implements section 3.5.5. An integer keeps its source text. The conversion of the text
// to the type of the id is left to the resource.
func idLiteral(v parser.Value) (any, error) {
	switch v := v.(type) {
	case *parser.StringValue:
		return v.Value, nil
	case *parser.IntValue:
		return v.Value, nil
	}
	return nil, errorf("ID cannot represent a non-string and non-integer value: %s", Show(v))
}

// decimalLiteral accepts strings, and numbers by their digits.
func decimalLiteral(v parser.Value) (any, error) {
	switch v := v.(type) {
	case *parser.IntValue:
		return Decimal(v.Value)
	case *parser.FloatValue:
		return Decimal(v.Value)
	case *parser.StringValue:
		return Decimal(v.Value)
	}
	return nil, errorf("Decimal cannot represent value: %s", Show(v))
}

// dateTimeLiteral accepts strings only, because a number would have no defined unit.
func dateTimeLiteral(v parser.Value) (any, error) {
	lit, ok := v.(*parser.StringValue)
	if !ok {
		return nil, errorf("DateTime cannot represent value: %s", Show(v))
	}
	return DateTime(lit.Value)
}

// jsonLiteral accepts any literal. Package validate calls it without variables. Value calls JSON,
// which replaces them.
func jsonLiteral(v parser.Value) (any, error) {
	raw, err := JSON(v, nil)
	if err != nil {
		return nil, errInvalid
	}
	return raw, nil
}

// enumLiteral implements section 3.9: a literal is the name of an enum value. A string is rejected,
// although the same value is a string in JSON.
func enumLiteral(t *model.Type, v parser.Value) (any, error) {
	lit, ok := v.(*parser.EnumValue)
	if !ok {
		return nil, errorf("Enum %q cannot represent non-enum value: %s.", t.Name, Show(v))
	}
	for _, value := range t.Values {
		if value.Name == lit.Value {
			return value.Go, nil
		}
	}
	return nil, errorf("Value %q does not exist in %q enum.", lit.Value, t.Name)
}

// Show returns a value as error messages show it, shortened to about 200 bytes. Only the outermost
// list is cut before it is printed.
func Show(v parser.Value) string {
	// Printing a long list in full, to cut it afterwards, would cost as much as the attack.
	if list, ok := v.(*parser.ListValue); ok && len(list.Values) > 40 {
		v = &parser.ListValue{Values: list.Values[:40]}
	}
	return shortened(parser.PrintValue(v))
}

// shortened returns at most the first 200 bytes of s, so that an error message cannot return a
// large request to the client. The cut may split a character, so incomplete UTF-8 at the end is
// removed.
func shortened(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
