package coerce

// Coercion of JSON to scalars and enums. variables.go calls Leaf for each leaf of a variable's
// value.

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Leaf coerces JSON other than null to a scalar or enum. Errors have the form of those of
// [Literal]. raw may be part of a buffer that the decoder reuses, so results must not refer to it.
func Leaf(t *model.Type, raw jsontext.Value) (any, error) {
	switch t.Kind {
	case model.Enum:
		return enumLeaf(t, raw)
	case model.Scalar:
		return scalarLeaf(t.Name, raw)
	}
	return nil, errInvalid
}

// shown returns raw as messages show it.
func shown(raw jsontext.Value) string { return shortened(string(raw)) }

// scalarLeaf coerces JSON to a scalar by its name. A scalar that is not listed accepts any JSON.
func scalarLeaf(scalar string, raw jsontext.Value) (any, error) {
	switch scalar {
	case "Int":
		n, err := integer("Int", 32, raw)
		return int(n), err
	case "Int64":
		n, err := integer("Int64", 64, raw)
		if u, tooBig := strconv.ParseUint(string(raw), 10, 64); err != nil && tooBig == nil {
			return u, nil // of a uint64; the resource checks the range of the member
		}
		return n, err
	case "Float":
		return floatLeaf(raw)
	case "String":
		if raw.Kind() != '"' {
			return nil, errorf("String cannot represent a non string value: %s", shown(raw))
		}
		return text(raw)
	case "Boolean":
		if k := raw.Kind(); k != 't' && k != 'f' {
			return nil, errorf("Boolean cannot represent a non boolean value: %s", shown(raw))
		}
		return raw.Kind() == 't', nil
	case "ID":
		return idLeaf(raw)
	case "Decimal":
		return decimalLeaf(raw)
	case "DateTime":
		return dateTimeLeaf(raw)
	case "JSON":
		return jsonLeaf(raw)
	}
	return untypedLeaf(raw)
}

// text returns the value of a JSON string. It rejects unpaired surrogates. Those have no UTF-8
// form.
func text(raw jsontext.Value) (string, error) {
	var short [64]byte
	b, err := jsontext.AppendUnquote(short[:0], raw)
	if err != nil {
		return "", errInvalid
	}
	return string(b), nil
}

// integer accepts numbers without a fractional part in any notation: 1.0 and 1e2 are 1 and 100.
// Clients in languages with a single number type may write integers so. A number with a fraction or
// exponent is read as a float64. It is rejected if that may have rounded it.
func integer(scalar string, bits int, raw jsontext.Value) (int64, error) {
	if raw.Kind() != '0' { // the Kind of all numbers
		return 0, errorf("%s cannot represent non-integer value: %s", scalar, shown(raw))
	}
	// The usual notation of an integer is exact for all 64 bits.
	if n, err := strconv.ParseInt(string(raw), 10, bits); err == nil {
		return n, nil
	}
	// The number has a fraction or an exponent, or it is beyond the range of the type.
	f, err := strconv.ParseFloat(string(raw), 64)
	if err == nil && f != math.Trunc(f) {
		return 0, errorf("%s cannot represent non-integer value: %s", scalar, shown(raw))
	}
	const exact = 1 << 53 // floating-point numbers beyond this are not exact
	// limit is the first number above the range, and -limit the last one within it.
	if limit := math.Ldexp(1, bits-1); err != nil || f < -limit || f >= limit || math.Abs(f) > exact {
		return 0, errorf("%s cannot represent non %d-bit signed integer value: %s", scalar, bits, shown(raw))
	}
	return int64(f), nil
}

// floatLeaf accepts integers too (section 3.5.2). It rejects numbers that exceed the range of a
// float64.
func floatLeaf(raw jsontext.Value) (any, error) {
	if raw.Kind() != '0' {
		return nil, errorf("Float cannot represent non numeric value: %s", shown(raw))
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return nil, errorf("Float cannot represent value beyond its range: %s", shown(raw))
	}
	return f, nil
}

// idLeaf accepts strings, and integers as they are written. It rejects fractions and exponents,
// because the same id would then have several notations. The text of an integer is used as it is,
// so an id of any length is exact.
func idLeaf(raw jsontext.Value) (any, error) {
	switch {
	case raw.Kind() == '"':
		return text(raw)
	case raw.Kind() == '0' && !strings.ContainsAny(string(raw), ".eE"):
		// 0 and -0 are the same number, so they must be the same id.
		if string(raw) == "-0" {
			return "0", nil
		}
		return string(raw), nil
	}
	return nil, errorf("ID cannot represent value: %s", shown(raw))
}

// decimalLeaf accepts strings, and numbers by their digits.
func decimalLeaf(raw jsontext.Value) (any, error) {
	switch raw.Kind() {
	case '0':
		return Decimal(string(raw))
	case '"':
		if s, err := text(raw); err == nil {
			return Decimal(s)
		}
	}
	return nil, errorf("Decimal cannot represent value: %s", shown(raw))
}

// dateTimeLeaf accepts strings only. They have the form that resources accept in JSON.
func dateTimeLeaf(raw jsontext.Value) (any, error) {
	if raw.Kind() != '"' {
		return nil, errorf("DateTime cannot represent value: %s", shown(raw))
	}
	s, err := text(raw)
	if err != nil {
		return nil, err
	}
	return DateTime(s)
}

// jsonLeaf returns a compact copy of raw. It copies because the decoder reuses its buffer. Members
// keep their order.
func jsonLeaf(raw jsontext.Value) (any, error) {
	raw = raw.Clone()
	if err := raw.Compact(); err != nil {
		return nil, errInvalid
	}
	return raw, nil
}

// enumLeaf accepts the name of an enum value as a string (section 3.9). The result is the Go value
// that members of this type have. The search is linear, because enums have few values.
func enumLeaf(t *model.Type, raw jsontext.Value) (any, error) {
	if raw.Kind() != '"' {
		return nil, errorf("Enum %q cannot represent non-string value: %s.", t.Name, shown(raw))
	}
	name, err := text(raw)
	for _, value := range t.Values {
		if err == nil && value.Name == name {
			return value.Go, nil
		}
	}
	return nil, errorf("Value %q does not exist in %q enum.", shortened(name), t.Name)
}

// untypedLeaf accepts any JSON, as the reference implementation does for scalars without coercion
// functions.
func untypedLeaf(raw jsontext.Value) (any, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, errInvalid
	}
	return value, nil
}
