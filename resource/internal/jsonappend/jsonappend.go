// Package jsonappend appends scalars as JSON. Package schema encodes values with it, and package
// sqltable the columns of rows, so the same value has the same bytes on both ways.
package jsonappend

import (
	"fmt"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// String appends a JSON string in its shortest form (RFC 8785 section 3.2.2.2), without HTML
// escapes, because responses are not embedded in script elements. Strings without escapes are
// copied; package jsontext encodes the others and rejects invalid UTF-8. After an error the result
// is not a valid document.
func String[S ~string | ~[]byte](dst []byte, s S) ([]byte, error) {
	if !IsUnescaped(s) {
		return jsontext.AppendQuote(dst, s)
	}
	dst = append(dst, '"')
	dst = append(dst, s...)
	return append(dst, '"'), nil
}

// IsUnescaped reports whether a string is valid UTF-8 and needs no escapes in JSON. It runs for every
// string of every response, so it examines eight bytes at a time.
func IsUnescaped[S ~string | ~[]byte](s S) bool {
	switch n := len(s); {
	case n >= 8:
		all := uint64(0)
		for i := 0; i < n-8; i += 8 {
			w := eight(s[i:])
			if hasEscapes(w) {
				return false
			}
			all |= w
		}
		w := eight(s[n-8:]) // some of these bytes may have been examined before
		return !hasEscapes(w) && ((all|w)&(ones<<7) == 0 || isValid(s))
	case n >= 4:
		w := uint64(four(s)) | uint64(four(s[n-4:]))<<32
		return !hasEscapes(w) && (w&(ones<<7) == 0 || isValid(s))
	case n > 0:
		// The first, the middle and the last byte are all bytes of one to three. Spaces fill the rest.
		const spaces = ones * ' ' &^ 0xffffff
		w := uint64(s[0]) | uint64(s[n/2])<<8 | uint64(s[n-1])<<16 | spaces
		return !hasEscapes(w) && (w&(ones<<7) == 0 || isValid(s))
	}
	return true
}

// ones has each byte 1, so a product with it has the other factor in each byte.
const ones = 0x0101_0101_0101_0101

// hasEscapes reports whether one of the eight bytes of w needs an escape in JSON. Subtracting n from
// each byte below 0x80 sets its highest bit if the byte is less than n. If a borrow sets the bit of
// another byte, then a lower byte is less than n, too.
func hasEscapes(w uint64) bool {
	return ((w-ones*' ')|((w^ones*'"')-ones)|((w^ones*'\\')-ones))&^w&(ones<<7) != 0
}

// eight returns the first eight bytes of s. The compiler makes one load of it.
func eight[S ~string | ~[]byte](s S) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// four is eight for four bytes.
func four[S ~string | ~[]byte](s S) uint32 {
	_ = s[3]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// isValid reports whether s is valid UTF-8.
func isValid[S ~string | ~[]byte](s S) bool {
	switch s := any(s).(type) {
	case string:
		return utf8.ValidString(s)
	case []byte:
		return utf8.Valid(s)
	}
	return utf8.ValidString(string(s))
}

// Float appends a number of 32 or 64 bits in the format of ECMAScript (RFC 8785 section 3.2.2.3), so
// that clients that decode and encode it again send the same text. NaN and infinities are errors,
// and dst is then unchanged.
func Float(dst []byte, f float64, bits int) ([]byte, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return dst, fmt.Errorf("%v cannot be encoded as JSON", f)
	}
	if bits == 64 {
		if out, ok := appendShortDecimal(dst, f); ok {
			return out, nil
		}
	}
	return jsontext.AppendFloat(dst, f, bits), nil
}

// appendShortDecimal appends f if it is a decimal with at most six decimal places and fifteen
// digits, such as a price or a coordinate. This takes a third of the time of the general algorithm.
//
// The result is the same. Let n be the integer next to f*10^6. If n/10^6, which IEEE 754 rounds
// correctly, equals f, then the decimal n*10^-6 is parsed as f. No shorter decimal is, because two
// decimals of up to fifteen digits are never the same float64.
func appendShortDecimal(dst []byte, f float64) ([]byte, bool) {
	const scale = 1e6
	a := math.Abs(f)
	if !(a >= 1/scale && a < 1e9) {
		return dst, false
	}
	n := uint64(a*scale + 0.5)
	if float64(n)/scale != a {
		return dst, false
	}
	if f < 0 {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, n/scale, 10)
	rest := n % scale
	if rest == 0 {
		return dst, true
	}
	text := [7]byte{0: '.'}
	putTwoDigits(text[1:], uint32(rest/10_000))
	putTwoDigits(text[3:], uint32(rest/100%100))
	putTwoDigits(text[5:], uint32(rest%100))
	end := len(text)
	for text[end-1] == '0' {
		end--
	}
	return append(dst, text[:end]...), true
}
