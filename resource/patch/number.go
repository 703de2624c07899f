package patch

import (
	"bytes"
	"strconv"
)

// equalNumbers reports whether a and b are numbers of the same value. Strings and literals that are not the same bytes
// are not equal, and neither is anything to a number but a number.
func equalNumbers(a, b []byte) bool {
	if !isNumber(a) || !isNumber(b) {
		return false
	}
	x, y := parseDecimal(a), parseDecimal(b)
	return x.negative == y.negative && bytes.Equal(x.digits, y.digits) && x.exponent == y.exponent
}

func isNumber(text []byte) bool { return text[0] == '-' || '0' <= text[0] && text[0] <= '9' }

// decimal is a number in its one normal form, 0.digits times ten to the exponent. Neither end of digits is a zero, and
// zero has no digits. The exponent is the text of an integer, because JSON puts no bound on it: 1e1000000000 costs
// no more than the bytes it is written with.
type decimal struct {
	negative bool
	digits   []byte
	exponent string
}

func parseDecimal(text []byte) decimal {
	text, negative := bytes.CutPrefix(text, []byte("-"))
	mantissa, exponent := text, []byte(nil)
	if e := bytes.IndexAny(text, "eE"); e >= 0 {
		mantissa, exponent = text[:e], text[e+1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	// 12.30 is 0.123 times ten squared: what goes on the left moves the point, what goes on the right does not.
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

// exactDigits is how many decimal digits fit into an int64 with room for a small summand.
const exactDigits = 17

// addExponent adds n, which is no larger than a text is long, to the exponent as a number has it.
func addExponent(exponent []byte, n int64) string {
	exponent = bytes.TrimPrefix(exponent, []byte("+"))
	magnitude, negative := bytes.CutPrefix(exponent, []byte("-"))
	magnitude = bytes.TrimLeft(magnitude, "0")
	if len(magnitude) <= exactDigits {
		e, _ := strconv.ParseInt(string(magnitude), 10, 64) // digits, few enough; none is zero
		if negative {
			e = -e
		}
		return strconv.FormatInt(e+n, 10)
	}
	// So long an exponent is further from zero than n, and keeps its sign.
	if negative {
		return "-" + addDigits(magnitude, -n)
	}
	return addDigits(magnitude, n)
}

// addDigits adds n to a natural number larger than it, digit by digit from the right.
func addDigits(number []byte, n int64) string {
	sum := bytes.Clone(number)
	for i := len(sum) - 1; i >= 0 && n != 0; i-- {
		n += int64(sum[i] - '0')
		// The remainder of a negative number is negative in Go; a digit is not, so the next place lends.
		digit := (n%10 + 10) % 10
		sum[i] = byte('0' + digit)
		n = (n - digit) / 10
	}
	if n > 0 {
		return strconv.FormatInt(n, 10) + string(sum)
	}
	return string(bytes.TrimLeft(sum, "0"))
}
