package patch

// Numbers by value: 1, 1.0 and 10e-1 are equal in the operation test (RFC 6902, section 4.6).

import (
	"bytes"
	"strconv"
)

// equalNumbers reports whether a and b are numbers of the same value. It returns false if one of
// them is not a number.
func equalNumbers(a, b []byte) bool {
	if !isNumber(a) || !isNumber(b) {
		return false
	}
	x, y := parseDecimal(a), parseDecimal(b)
	return x.negative == y.negative && bytes.Equal(x.digits, y.digits) && x.exponent == y.exponent
}

// isNumber reports whether a canonical text is a number.
func isNumber(text []byte) bool { return text[0] == '-' || '0' <= text[0] && text[0] <= '9' }

// decimal is a number in normal form: 0.digits times ten to the exponent. digits has no zeros at
// either end and is empty for zero. The exponent is a decimal integer in text form, because JSON
// does not limit it: a comparison with 1e1000000000 must not take more time than its length
// requires.
type decimal struct {
	negative bool
	digits   []byte
	exponent string
}

// parseDecimal returns the normal form of a valid JSON number.
func parseDecimal(text []byte) decimal {
	text, negative := bytes.CutPrefix(text, []byte("-"))
	mantissa, exponent := text, []byte(nil)
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], text[e+1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	// 12.30 is 0.123 times 10^2. Zeros removed on the left move the point, those on the right do
	// not.
	digits := append(append(make([]byte, 0, len(mantissa)), whole...), fraction...)
	significant := bytes.TrimLeft(digits, "0")
	if len(significant) == 0 {
		return decimal{} // -0 is 0
	}
	point := len(whole) - (len(digits) - len(significant))
	return decimal{
		negative: negative,
		digits:   bytes.TrimRight(significant, "0"),
		exponent: addExponent(exponent, int64(point)),
	}
}

// exactDigits is a number of decimal digits that fits into an int64 together with a small summand.
const exactDigits = 17

// addExponent adds n to an exponent in the syntax of JSON. n is at most the length of a text.
func addExponent(exponent []byte, n int64) string {
	exponent = bytes.TrimPrefix(exponent, []byte("+"))
	magnitude, negative := bytes.CutPrefix(exponent, []byte("-"))
	magnitude = bytes.TrimLeft(magnitude, "0")
	if len(magnitude) <= exactDigits {
		e, _ := strconv.ParseInt(string(magnitude), 10, 64) // no digits are zero
		if negative {
			e = -e
		}
		return strconv.FormatInt(e+n, 10)
	}
	// The magnitude exceeds n, so the sign does not change.
	if negative {
		return "-" + addDigits(magnitude, -n)
	}
	return addDigits(magnitude, n)
}

// addDigits adds n to a natural number that is larger than -n, digit by digit from the right.
func addDigits(number []byte, n int64) string {
	sum := bytes.Clone(number)
	for i := len(sum) - 1; i >= 0 && n != 0; i-- {
		n += int64(sum[i] - '0')
		// The remainder of a negative number is negative in Go, so borrow from the next digit.
		digit := (n%10 + 10) % 10
		sum[i] = byte('0' + digit)
		n = (n - digit) / 10
	}
	if n > 0 {
		return strconv.FormatInt(n, 10) + string(sum)
	}
	return string(bytes.TrimLeft(sum, "0"))
}
