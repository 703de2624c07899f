package coerce

import (
	"math"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Leaf coerces JSON that is not null to a scalar or an enum, with errors as those of [Literal].
func Leaf(t *model.Type, raw jsontext.Value) (any, error) {
	shown := shortened(string(raw))
	switch t.Kind {
	case model.Enum:
		return enumLeaf(t, raw, shown)
	case model.Scalar:
		return scalarLeaf(t.Name, raw, shown)
	}
	return nil, errInvalid
}

func scalarLeaf(scalar string, raw jsontext.Value, shown string) (any, error) {
	switch scalar {
	case "Int":
		n, err := integer("Int", 32, raw, shown)
		return int(n), err
	case "Int64":
		return integer("Int64", 64, raw, shown)
	case "Float":
		return floatLeaf(raw, shown)
	case "String":
		if raw.Kind() != '"' {
			return nil, complain("String cannot represent a non string value: %s", shown)
		}
		return text(raw)
	case "Boolean":
		if k := raw.Kind(); k != 't' && k != 'f' {
			return nil, complain("Boolean cannot represent a non boolean value: %s", shown)
		}
		return raw.Kind() == 't', nil
	case "ID":
		return idLeaf(raw, shown)
	case "DateTime":
		return dateTimeLeaf(raw, shown)
	case "JSON":
		return jsonLeaf(raw)
	}
	return untypedLeaf(raw)
}

// text takes the quotation marks and escapes off. Half a pair of surrogates is no text.
func text(raw jsontext.Value) (string, error) {
	b, err := jsontext.AppendUnquote(nil, raw)
	if err != nil {
		return "", errInvalid
	}
	return string(b), nil
}

// integer takes numbers without a fraction, however they are written: 1.0 and 1e2 are 1 and 100, as they are to the
// languages that most clients are written in.
func integer(scalar string, bits int, raw jsontext.Value, shown string) (int64, error) {
	if raw.Kind() != '0' {
		return 0, complain("%s cannot represent non-integer value: %s", scalar, shown)
	}
	if n, err := strconv.ParseInt(string(raw), 10, bits); err == nil {
		return n, nil
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err == nil && f != math.Trunc(f) {
		return 0, complain("%s cannot represent non-integer value: %s", scalar, shown)
	}
	const exact = 1 << 53 // beyond it, floats are not the numbers that were written
	if limit := math.Ldexp(1, bits-1); err != nil || f < -limit || f >= limit || math.Abs(f) > exact {
		return 0, complain("%s cannot represent non %d-bit signed integer value: %s", scalar, bits, shown)
	}
	return int64(f), nil
}

// floatLeaf takes integers too (section 3.5.2). What is beyond the range of a float has no value, rather than infinity.
func floatLeaf(raw jsontext.Value, shown string) (any, error) {
	if raw.Kind() != '0' {
		return nil, complain("Float cannot represent non numeric value: %s", shown)
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return nil, complain("Float cannot represent value beyond its range: %s", shown)
	}
	return f, nil
}

// idLeaf takes integers as they are written. With a point or an exponent they could be written in many ways, and ids
// that are the same to a client would not be the same here.
func idLeaf(raw jsontext.Value, shown string) (any, error) {
	switch {
	case raw.Kind() == '"':
		return text(raw)
	case raw.Kind() == '0' && !strings.ContainsAny(string(raw), ".eE"):
		if string(raw) == "-0" {
			return "0", nil
		}
		return string(raw), nil
	}
	return nil, complain("ID cannot represent value: %s", shown)
}

// dateTimeLeaf takes strings alone.
func dateTimeLeaf(raw jsontext.Value, shown string) (any, error) {
	if raw.Kind() != '"' {
		return nil, complain("DateTime cannot represent value: %s", shown)
	}
	s, err := text(raw)
	if err != nil {
		return nil, err
	}
	return DateTime(s)
}

// jsonLeaf keeps everything as it is written, but for blanks. It is a copy: the decoder uses its memory again.
func jsonLeaf(raw jsontext.Value) (any, error) {
	raw = raw.Clone()
	if err := raw.Compact(); err != nil {
		return nil, errInvalid
	}
	return raw, nil
}

// enumLeaf takes names as strings, since JSON has no names (section 3.9).
func enumLeaf(t *model.Type, raw jsontext.Value, shown string) (any, error) {
	if raw.Kind() != '"' {
		return nil, complain("Enum %q cannot represent non-string value: %s.", t.Name, shown)
	}
	name, err := text(raw)
	for _, value := range t.Values {
		if err == nil && value.Name == name {
			return value.Go, nil
		}
	}
	return nil, complain("Value %q does not exist in %q enum.", shortened(name), t.Name)
}

// untypedLeaf is for a scalar that is not known here: any JSON is a value of it, as in the reference implementation.
func untypedLeaf(raw jsontext.Value) (any, error) {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		return nil, errInvalid
	}
	return value, nil
}
