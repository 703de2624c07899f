package query

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"time"
)

// Cursor is a place in a list, between two items, to be given to clients as an opaque text. It holds either the values
// of the sort keys (Query.After) or a store's own token (Query.Token). The zero Cursor holds neither and is a cursor
// too: the end of the list, seen from which its last items are "before".
type Cursor struct {
	Values []any
	Token  string
}

// Encode writes the cursor as a short text of letters, digits, minus and underscore. Binding is everything that makes
// the list the one it is: the resource, the contract, the filter, the sort. The text is valid for that binding only.
// The kinds of the values are kept exactly; of a time, the instant.
//
// A cursor is opaque, but neither secret nor signed: whoever cares to can read its values or make one up. So it must
// never be what decides who may see an item.
func (c Cursor) Encode(binding string) string {
	var space [256]byte // most cursors fit and stay on the stack; those that do not grow out of it
	packed := c.pack(space[:tagSize])
	tag := tagOf(packed[tagSize:], binding)
	copy(packed, tag[:])
	var text [384]byte
	return string(base64.RawURLEncoding.AppendEncode(text[:0], packed))
}

// DecodeCursor reads what Encode wrote. A text that is damaged, was made up, or belongs to another list is an *[Error]
// with the code "invalidCursor", whose Parameter is for the caller to fill in.
func DecodeCursor(text, binding string) (Cursor, error) {
	c, ok := decodeCursor(text, binding)
	// Encoding again refuses what decoders are too kind to: line breaks in the base64, integers longer than need be.
	// One place then has one text, as caches and comparisons like it.
	if !ok || c.Encode(binding) != text {
		return Cursor{}, &Error{Code: invalidCursor, Detail: "the cursor is not one of this list, or is damaged"}
	}
	return c, nil
}

// decodeCursor looks at the parts only once the tag fits.
func decodeCursor(text, binding string) (Cursor, bool) {
	packed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(packed) < tagSize {
		return Cursor{}, false
	}
	if tagOf(packed[tagSize:], binding) != [tagSize]byte(packed) {
		return Cursor{}, false
	}
	return unpack(packed[tagSize:])
}

// A cursor is packed as its tag and a sequence of parts, each a byte for the kind and what that kind needs.
const (
	nullPart   = 'n'
	falsePart  = 'f'
	truePart   = 't'
	stringPart = 's' // length, bytes
	intPart    = 'i' // signed varint
	uintPart   = 'u' // varint
	floatPart  = 'd' // 8 bytes
	timePart   = 'c' // seconds since 1970 as a signed varint, nanoseconds as a varint
	tokenPart  = 'k' // length, bytes; never beside others
	endPart    = 0   // not written, only hashed: the parts end and the binding begins
)

const tagSize = 8

// tagOf covers the parts too, so that a cursor with a typing error is refused instead of pointing elsewhere.
func tagOf(parts []byte, binding string) [tagSize]byte {
	var space [512]byte
	hashed := append(space[:0], parts...)
	hashed = append(hashed, endPart)
	hashed = append(hashed, binding...)
	sum := sha256.Sum256(hashed)
	return [tagSize]byte(sum[:tagSize])
}

// pack appends the parts of c. The zero Cursor has none.
func (c Cursor) pack(b []byte) []byte {
	if c.Token != "" {
		return packString(append(b, tokenPart), c.Token)
	}
	for _, v := range c.Values {
		b = packValue(b, v)
	}
	return b
}

// packValue switches on types instead of asking reflection, since every page of every list comes by here.
func packValue(b []byte, v any) []byte {
	switch v := scalar(v).(type) {
	case bool:
		if v {
			return append(b, truePart)
		}
		return append(b, falsePart)
	case string:
		return packString(append(b, stringPart), v)
	case int64:
		return binary.AppendVarint(append(b, intPart), v)
	case uint64:
		return binary.AppendUvarint(append(b, uintPart), v)
	case float64:
		return binary.BigEndian.AppendUint64(append(b, floatPart), math.Float64bits(v))
	case time.Time:
		// Seconds and the rest apart, because nanoseconds alone reach only from 1677 to 2262.
		b = binary.AppendVarint(append(b, timePart), v.Unix())
		return binary.AppendUvarint(b, uint64(v.Nanosecond()))
	}
	return append(b, nullPart)
}

// packString writes the length in front, so that strings may hold any bytes.
func packString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// unpack reads the parts of a cursor. A part is at least one byte and a string no longer than what is left, so nothing
// is ever larger than the text by more than a constant factor, whatever lengths it claims.
func unpack(b []byte) (c Cursor, ok bool) {
	if len(b) > 0 && b[0] == tokenPart {
		c.Token, b, ok = unpackString(b[1:])
		return c, ok && len(b) == 0
	}
	for len(b) > 0 {
		var v any
		if v, b, ok = unpackValue(b[0], b[1:]); !ok {
			return Cursor{}, false
		}
		c.Values = append(c.Values, v)
	}
	return c, true
}

// unpackValue reads a value of the given kind from the beginning of b and returns what is behind it.
func unpackValue(kind byte, b []byte) (v any, rest []byte, ok bool) {
	switch kind {
	case nullPart:
		return nil, b, true
	case falsePart, truePart:
		return kind == truePart, b, true
	case stringPart:
		return unpackString(b)
	case intPart:
		i, n := binary.Varint(b)
		return i, b[max(n, 0):], n > 0
	case uintPart:
		u, n := binary.Uvarint(b)
		return u, b[max(n, 0):], n > 0
	case floatPart:
		if len(b) < 8 {
			return nil, nil, false
		}
		return math.Float64frombits(binary.BigEndian.Uint64(b)), b[8:], true
	case timePart:
		return unpackTime(b)
	}
	return nil, nil, false
}

// unpackTime refuses a whole second of nanoseconds, which time.Unix would carry over: another text for the same time.
func unpackTime(b []byte) (v any, rest []byte, ok bool) {
	seconds, n := binary.Varint(b)
	if n <= 0 {
		return nil, nil, false
	}
	nanos, m := binary.Uvarint(b[n:])
	if m <= 0 || nanos >= uint64(time.Second) {
		return nil, nil, false
	}
	return time.Unix(seconds, int64(nanos)).UTC(), b[n+m:], true
}

// unpackString compares sizes as uint64, in which an absurd one cannot become negative.
func unpackString(b []byte) (s string, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return "", nil, false
	}
	end := n + int(size)
	return string(b[n:end]), b[end:], true
}
