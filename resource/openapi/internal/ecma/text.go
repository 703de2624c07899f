package ecma

import (
	"math"
	"strconv"
	"strings"
)

// Number is the pattern of a JSON number (RFC 8259 section 6).
const Number = `^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`

// Integer returns the pattern of canonical integers of a number of bits, with at most the digits of the
// greatest, and the format of OpenAPI that has their exact range.
func Integer(bits int, unsigned bool) (pattern, format string) {
	digits := len(strconv.FormatUint(math.MaxUint64>>(64-bits), 10))
	if bits == 64 && !unsigned {
		digits-- // of 2^63
	}
	pattern, format = `[1-9][0-9]{0,`+strconv.Itoa(digits-1)+`}`, "int"+strconv.Itoa(bits)
	if unsigned {
		return `^(0|` + pattern + `)$`, "u" + format
	}
	return `^(0|-?` + pattern + `)$`, format
}

// Decimal returns the pattern of a decimal of at most precision digits, of which scale are after the point,
// or of any number of them if precision is 0. JSON Schema has no minimum and no multipleOf for strings.
func Decimal(precision, scale int) string {
	if precision == 0 {
		return `^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`
	}
	whole, fraction := "0", ""
	if before := precision - scale; before > 0 {
		whole = `(0|[1-9][0-9]{0,` + strconv.Itoa(before-1) + `})`
	}
	if scale > 0 {
		fraction = `(\.[0-9]{1,` + strconv.Itoa(scale) + `})?`
	}
	return `^-?` + whole + fraction + `$`
}

// Base64 returns the pattern of n bytes in base64 with padding (RFC 4648 section 4).
func Base64(n int) string {
	padding := (3 - n%3) % 3
	return `^[A-Za-z0-9+/]{` + strconv.Itoa((n+2)/3*4-padding) + `}` + strings.Repeat("=", padding) + `$`
}
