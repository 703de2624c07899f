package idempotency

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/header"
)

// Fingerprint returns a hash of the parts that determine the meaning of a request. Each part is
// hashed with its length, so different lists have different hashes.
func Fingerprint(parts ...[]byte) [32]byte {
	h := sha256.New()
	var length [binary.MaxVarintLen64]byte
	for _, part := range parts {
		h.Write(length[:binary.PutUvarint(length[:], uint64(len(part)))])
		h.Write(part)
	}
	var sum [32]byte
	h.Sum(sum[:0])
	return sum
}

// MediaTypeEssence returns the type and subtype of a Content-Type in lower case, without
// parameters. It returns an invalid value unchanged.
func MediaTypeEssence(contentType string) string {
	m, err := header.ParseMediaType(contentType)
	if err != nil {
		return contentType
	}
	return m.Type
}

// CanonicalJSON returns a JSON document in a form that is the same for documents with equal values:
// without white space, with members in order of their names, and with one spelling of each string
// and number. 1, 1.0 and 1e0 are equal, and numbers keep all their digits. A document that is not
// well-formed is returned unchanged. doc is not modified.
func CanonicalJSON(doc []byte) []byte {
	canonical, err := sortMembers(doc)
	if err != nil {
		return doc
	}
	return canonicalNumbers(canonical)
}

// sortMembers returns a document in the form of CanonicalJSON, but with its own spelling of numbers.
func sortMembers(doc []byte) ([]byte, error) {
	return jsontext.AppendFormat(make([]byte, 0, len(doc)), doc, jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false))
}

// canonicalNumbers returns a formatted document with canonical numbers. Most documents have only
// integers, which are canonical.
func canonicalNumbers(doc []byte) []byte {
	var out []byte
	done := 0 // the position in doc up to which out has been written
	for i := 0; i < len(doc); {
		start := i
		switch c := doc[i]; {
		case c == '"':
			for i++; doc[i] != '"'; i++ {
				if doc[i] == '\\' {
					i++
				}
			}
			i++
		case c == '-' || c >= '0' && c <= '9':
			for i < len(doc) && strings.IndexByte("+-.0123456789eE", doc[i]) >= 0 {
				i++
			}
			number := doc[start:i]
			if len(number) > maxZeros || bytes.ContainsAny(number, ".eE") || string(number) == "-0" {
				out = appendNumber(append(out, doc[done:start]...), number)
				done = i
			}
		default:
			i++
		}
	}
	if done == 0 {
		return doc
	}
	return append(out, doc[done:]...)
}

// appendNumber appends the canonical form of a number: an integer with at most maxZeros zeros at its
// end, or the digits up to such zeros and an exponent. A number with an exponent beyond 32 bits is
// appended unchanged.
func appendNumber(dst, number []byte) []byte {
	mantissa, exponent := number, int64(0)
	if i := bytes.IndexAny(number, "eE"); i >= 0 {
		e, err := strconv.ParseInt(string(number[i+1:]), 10, 32)
		if err != nil {
			return append(dst, number...)
		}
		mantissa, exponent = number[:i], e
	}
	mantissa, negative := bytes.CutPrefix(mantissa, []byte("-"))
	whole, fraction, _ := bytes.Cut(mantissa, []byte("."))
	digits := slices.Concat(whole, fraction)
	exponent -= int64(len(fraction))
	significant := bytes.TrimRight(digits, "0")
	exponent += int64(len(digits) - len(significant))
	significant = bytes.TrimLeft(significant, "0")
	if len(significant) == 0 {
		return append(dst, '0') // also for -0
	}
	if negative {
		dst = append(dst, '-')
	}
	dst = append(dst, significant...)
	if exponent >= 0 && exponent <= maxZeros {
		return append(dst, "00000000000000000000"[:exponent]...)
	}
	return strconv.AppendInt(append(dst, 'e'), exponent, 10)
}

// maxZeros is the number of zeros that are written at the end of an integer. A number of as many
// bytes needs no exponent.
const maxZeros = 20
