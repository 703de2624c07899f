package schema

// Integers and bounds. Numbers are parsed from their text, because float64 holds integers exactly
// only up to 2^53 (RFC 8259 section 6).

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
)

var (
	errNotInteger = errors.New("must be an integer")
	errRange      = errors.New("is out of range")
)

// integer is a value of any Go integer type: up to 64 bits and a sign.
type integer struct {
	negative  bool
	magnitude uint64
}

// parseInteger parses a JSON number with an integer value, such as 12, 1.0 or 1e2. It does not use
// floating point, which would round 2^53+1.
func parseInteger(number []byte) (integer, error) {
	var n integer
	digits := number
	if len(digits) > 0 && digits[0] == '-' {
		n.negative, digits = true, digits[1:]
	}
	// Numbers of up to 19 digits without fraction and exponent cannot overflow.
	if len(digits) > 0 && len(digits) < len("18446744073709551615") {
		for _, c := range digits {
			if c < '0' || c > '9' {
				return n.scaled(digits)
			}
			n.magnitude = 10*n.magnitude + uint64(c-'0')
		}
		return n, nil
	}
	return n.scaled(digits)
}

// scaled parses digits with a fraction or an exponent, and numbers of 20 or more digits.
func (n integer) scaled(digits []byte) (integer, error) {
	exponent := 0
	if e := bytes.IndexAny(digits, "eE"); e >= 0 {
		// If the exponent overflows, Atoi returns the nearest int, which yields the same result.
		exponent, _ = strconv.Atoi(string(digits[e+1:]))
		exponent = min(max(exponent, -math.MaxInt32), math.MaxInt32)
		digits = digits[:e]
	}
	// Remove the point and adjust the exponent. The length check below rejects a number such as
	// 1e999999999 before it is expanded.
	whole, fraction, _ := bytes.Cut(digits, []byte{'.'})
	digits = bytes.TrimLeft(append(append(make([]byte, 0, len(digits)), whole...), fraction...), "0")
	significant := bytes.TrimRight(digits, "0")
	exponent += len(digits) - len(significant) - len(fraction)
	switch {
	case len(significant) == 0:
		return integer{negative: n.negative}, nil
	// A digit other than zero remains after the point.
	case exponent < 0:
		return n, errNotInteger
	case len(significant)+exponent > len("18446744073709551615"):
		return n, errRange
	}
	significant = append(significant, bytes.Repeat([]byte{'0'}, exponent)...)
	magnitude, err := strconv.ParseUint(string(significant), 10, 64)
	if err != nil {
		return n, errRange
	}
	n.magnitude = magnitude
	return n, nil
}

// signed returns the integer as a signed value of the number of bits, and whether it fits.
func (n integer) signed(bits int) (int64, bool) {
	limit := uint64(1) << (bits - 1)
	if n.negative {
		// The magnitude of the minimum int64 overflows to the minimum, which is its own negation.
		return -int64(n.magnitude), n.magnitude <= limit
	}
	return int64(n.magnitude), n.magnitude < limit
}

// unsigned returns the integer as an unsigned value of the number of bits, and whether it fits.
// Minus zero is zero.
func (n integer) unsigned(bits int) (uint64, bool) {
	return n.magnitude, (!n.negative || n.magnitude == 0) && (bits == 64 || n.magnitude>>bits == 0)
}

// parseCanonical parses an integer in canonical form: no plus sign, no leading zeros, no minus
// zero.
func parseCanonical(text string) (integer, error) {
	digits := text
	if len(text) > 1 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || digits[0] == '0' && len(text) > 1 {
		return integer{}, errNotInteger
	}
	for i := range len(digits) {
		if digits[i] < '0' || digits[i] > '9' {
			return integer{}, errNotInteger
		}
	}
	return parseInteger([]byte(text))
}

// isNumber reports whether text is exactly one JSON number.
func isNumber(text []byte) bool {
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	// IsValid accepts white space around the number, so check both ends.
	last := text[len(text)-1]
	return last >= '0' && last <= '9' && jsontext.Value(text).IsValid()
}

// bound is a minimum or maximum in the representation of the type that it limits. Only the member
// for the op of the type is set.
type bound struct {
	text string
	i    int64
	u    uint64
	f    float64
	d    query.Decimal
}

// parseBound parses a limit in the representation of the type t, so that comparisons need no
// conversion and are exact beyond 2^53. isDecimal reports that t is a string with the format decimal.
func parseBound(t *Type, isDecimal bool, text string) (*bound, error) {
	if !isNumber([]byte(text)) {
		return nil, fmt.Errorf("%q is not a JSON number", text)
	}
	b := &bound{text: text}
	fits := true
	switch {
	case isDecimal:
		d, err := query.ParseDecimal(text)
		b.d, fits = d, err == nil
	case t.op == opInt, t.op == opUint:
		n, err := parseInteger([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("%s %w", text, err)
		}
		if t.Unsigned {
			b.u, fits = n.unsigned(t.Bits)
		} else {
			b.i, fits = n.signed(t.Bits)
		}
	case t.op == opFloat:
		f, err := strconv.ParseFloat(text, t.Bits)
		b.f, fits = f, err == nil
	default:
		return nil, fmt.Errorf("it applies to numbers, and the field is %s", t.describe())
	}
	if !fits {
		return nil, fmt.Errorf("%s overflows the Go type", text)
	}
	return b, nil
}

// compare compares two bounds of the same type. Only the member of that type is not zero. Decimals
// are compared only if they differ, because query.Compare takes values of type any.
func (b *bound) compare(other *bound) int {
	switch {
	case b.i != other.i:
		return cmp.Compare(b.i, other.i)
	case b.u != other.u:
		return cmp.Compare(b.u, other.u)
	case b.d != other.d:
		return query.Compare(b.d, other.d)
	}
	return cmp.Compare(b.f, other.f)
}
