package schema

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

var (
	errNotInteger = errors.New("must be an integer")
	errRange      = errors.New("is out of range")
)

// integer is a whole number of up to 64 bits and its sign: every value of every Go integer type.
type integer struct {
	negative  bool
	magnitude uint64
}

// parseInteger reads a JSON number that is mathematically an integer, such as 12, 1.0 or 1e2, without ever going through
// floating point: 2^53+1 must stay what it is.
func parseInteger(number []byte) (integer, error) {
	var n integer
	digits := number
	if len(digits) > 0 && digits[0] == '-' {
		n.negative, digits = true, digits[1:]
	}
	// So many digits cannot overflow, and most numbers are no more than digits.
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

// scaled reads the digits where they have a fraction or an exponent, or are many.
func (n integer) scaled(digits []byte) (integer, error) {
	exponent := 0
	if e := bytes.IndexAny(digits, "eE"); e >= 0 {
		// Beyond what an int holds, Atoi returns the nearest int, which is as good.
		exponent, _ = strconv.Atoi(string(digits[e+1:]))
		exponent = min(max(exponent, -math.MaxInt32), math.MaxInt32)
		digits = digits[:e]
	}
	// The digits without the point, and the exponent that makes up for it. A number like 1e999999999 is refused by its
	// length before anything of that length is made.
	whole, fraction, _ := bytes.Cut(digits, []byte{'.'})
	digits = bytes.TrimLeft(append(append(make([]byte, 0, len(digits)), whole...), fraction...), "0")
	significant := bytes.TrimRight(digits, "0")
	exponent += len(digits) - len(significant) - len(fraction)
	switch {
	case len(significant) == 0:
		return integer{negative: n.negative}, nil
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

// signed returns the integer as a value of so many bits.
func (n integer) signed(bits int) (int64, bool) {
	limit := uint64(1) << (bits - 1)
	if n.negative {
		// The magnitude of the smallest integer overflows to itself, which its negation is as well.
		return -int64(n.magnitude), n.magnitude <= limit
	}
	return int64(n.magnitude), n.magnitude < limit
}

// unsigned returns the integer as a value of so many bits without a sign. Minus zero is zero.
func (n integer) unsigned(bits int) (uint64, bool) {
	return n.magnitude, (!n.negative || n.magnitude == 0) && (bits == 64 || n.magnitude>>bits == 0)
}

// parseCanonical reads an integer in the one form in which this package writes it.
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

// isNumber reports whether text is a JSON number and nothing else.
func isNumber(text []byte) bool {
	if len(text) == 0 || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return false
	}
	// JSON allows space around a value, and here there must not be any.
	last := text[len(text)-1]
	return last >= '0' && last <= '9' && jsontext.Value(text).IsValid()
}

// bound is a minimum or maximum in the form in which it is compared, which is that of the type.
type bound struct {
	text string
	i    int64
	u    uint64
	f    float64
}

// parseBound reads a bound in the form of the type that it limits, so that comparing takes no conversion and 2^53+1 is
// not the same as 2^53.
func parseBound(t *Type, text string) (*bound, error) {
	if !isNumber([]byte(text)) {
		return nil, fmt.Errorf("%q is not a JSON number", text)
	}
	b := &bound{text: text}
	fits := true
	switch t.op {
	case opInt, opUint:
		n, err := parseInteger([]byte(text))
		if err != nil {
			return nil, fmt.Errorf("%s %w", text, err)
		}
		if t.Unsigned {
			b.u, fits = n.unsigned(t.Bits)
		} else {
			b.i, fits = n.signed(t.Bits)
		}
	case opFloat:
		f, err := strconv.ParseFloat(text, t.Bits)
		b.f, fits = f, err == nil
	default:
		return nil, fmt.Errorf("it is for numbers, and the field is %s", t.describe())
	}
	if !fits {
		return nil, fmt.Errorf("%s is outside of what the Go type can hold", text)
	}
	return b, nil
}

// compare compares two bounds of one type: two of the three members are zero in both.
func (b *bound) compare(other *bound) int {
	return cmp.Or(cmp.Compare(b.i, other.i), cmp.Compare(b.u, other.u), cmp.Compare(b.f, other.f))
}
