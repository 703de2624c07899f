package query

// Exact decimal numbers, the values of fields such as prices.

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"
)

// Decimal is an exact decimal number of any size, the canonical value of a string with the format
// decimal. The zero value is 0. Equal numbers are equal by ==, in all spellings. [Compare] orders
// decimals among all numbers.
type Decimal struct {
	// text is the normal form: no plus sign, no exponent, no leading zeros but one before the point,
	// no trailing zeros after it, and no minus zero. Empty is 0.
	text string
}

// maxExponent limits the exponent of a decimal. Without it, a short text could need gigabytes.
const maxExponent = 1000

var errDecimal = errors.New("must be a decimal number, such as 12.5")

// ParseDecimal parses a number as in JSON (RFC 8259, section 6), such as -12.50 or 1e3. The
// magnitude of an exponent is at most 1000. The text of the error is a predicate for the name of a
// field, which can be sent to clients.
func ParseDecimal(text string) (Decimal, error) {
	digits, exponent, ok := cutExponent(text)
	if !ok {
		return Decimal{}, errDecimal
	}
	whole, fraction, hasPoint := strings.Cut(strings.TrimPrefix(digits, "-"), ".")
	if !isDigits(whole) || len(whole) > 1 && whole[0] == '0' || hasPoint && !isDigits(fraction) {
		return Decimal{}, errDecimal
	}
	if exponent == 0 && isNormal(whole, fraction) {
		return Decimal{digits}, nil // a common case that needs no allocation
	}
	if exponent > 0 {
		fraction += strings.Repeat("0", max(exponent-len(fraction), 0))
		whole, fraction = whole+fraction[:exponent], fraction[exponent:]
	} else if exponent < 0 {
		whole = strings.Repeat("0", max(-exponent-len(whole), 0)) + whole
		point := len(whole) + exponent
		whole, fraction = whole[:point], whole[point:]+fraction
	}
	return normalDecimal(digits[0] == '-', whole, fraction), nil
}

// cutExponent returns the digits before the exponent. Without an exponent it is 0.
func cutExponent(text string) (digits string, exponent int, ok bool) {
	e := strings.IndexAny(text, "eE")
	if e < 0 {
		return text, 0, true
	}
	unsigned := text[e+1:]
	if unsigned != "" && (unsigned[0] == '+' || unsigned[0] == '-') {
		unsigned = unsigned[1:]
	}
	exponent, err := strconv.Atoi(text[e+1:])
	return text[:e], exponent, isDigits(unsigned) && err == nil && max(exponent, -exponent) <= maxExponent
}

// isDigits reports whether s has one or more digits and nothing else.
func isDigits(s string) bool {
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return false
		}
	}
	return s != ""
}

// isNormal reports whether the decimal with these digits is in normal form.
func isNormal(whole, fraction string) bool {
	if fraction == "" {
		return whole != "0"
	}
	return fraction[len(fraction)-1] != '0'
}

// normalDecimal returns the decimal of digits before and after the point.
func normalDecimal(negative bool, whole, fraction string) Decimal {
	whole = strings.TrimLeft(whole, "0")
	fraction = strings.TrimRight(fraction, "0")
	text := cmp.Or(whole, "0")
	if fraction != "" {
		text += "." + fraction
	}
	switch {
	case text == "0":
		return Decimal{}
	case negative:
		text = "-" + text
	}
	return Decimal{text}
}

// String returns the normal form: the shortest text without an exponent. [ParseDecimal] returns d
// for it.
func (d Decimal) String() string { return cmp.Or(d.text, "0") }

// Equal reports whether d and other are the same number, as == does.
func (d Decimal) Equal(other Decimal) bool { return d == other }

// compareDecimals compares the normal forms of two decimals.
func compareDecimals(a, b string) int {
	negative := strings.HasPrefix(a, "-")
	switch {
	case negative != strings.HasPrefix(b, "-"):
		return cmp.Compare(sign(a), sign(b))
	case negative:
		a, b = b[1:], a[1:]
	}
	// Of two numbers with as many digits before the point, the order is that of the texts.
	if c := cmp.Compare(wholeDigits(a), wholeDigits(b)); c != 0 {
		return c
	}
	return cmp.Compare(a, b) // strings.Compare would let a and b escape
}

// sign returns -1 for the text of a negative decimal, and 1 for others.
func sign(text string) int {
	if text[0] == '-' {
		return -1
	}
	return 1
}

// wholeDigits returns the number of digits before the point.
func wholeDigits(text string) int {
	if point := strings.IndexByte(text, '.'); point >= 0 {
		return point
	}
	return len(text)
}

// compareDecimal compares a decimal with a number of any type by exact value: a float64 is the
// binary fraction that it stores, not its shortest text.
func compareDecimal(d Decimal, number any) int {
	var space [20]byte // the digits of each int64 and uint64 fit
	switch n := number.(type) {
	case Decimal:
		return compareDecimals(d.String(), n.String())
	case int64:
		return compareDecimals(d.String(), string(strconv.AppendInt(space[:0], n, 10)))
	case uint64:
		return compareDecimals(d.String(), string(strconv.AppendUint(space[:0], n, 10)))
	case float64:
		switch {
		case math.IsNaN(n) || math.IsInf(n, -1):
			return 1
		case math.IsInf(n, 1):
			return -1
		}
		// No float64 has more digits after the point.
		text := strconv.FormatFloat(math.Abs(n), 'f', 1074, 64)
		exact := normalDecimal(n < 0, text[:len(text)-1075], text[len(text)-1074:])
		return compareDecimals(d.String(), exact.String())
	}
	return 0
}
