package query

// Cursors of pages: values of the sort keys of an item, encoded and bound to their list.

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
	"time"
)

// Cursor is a position between two items of a list, passed to clients as opaque text. It has either
// the values of the sort keys (Query.After) or a token of the store (Query.Token). The zero Cursor
// has neither and means the end of the list, for reading backwards.
type Cursor struct {
	Values []any
	Token  string
}

// Encode returns the cursor as a short text of letters, digits, minus and underscore. The text is
// valid for the given binding only. binding identifies the list: resource, contract, filter and
// sort. The kinds of values are preserved, and times as instants.
//
// A cursor is neither encrypted nor signed: clients can read and forge its values. Authorization
// must not depend on it.
func (c Cursor) Encode(binding string) string {
	var space [256]byte // most cursors fit, so they need no allocation
	packed := c.pack(space[:tagSize])
	tag := tagOf(packed[tagSize:], binding)
	copy(packed, tag[:])
	var text [384]byte
	return string(base64.RawURLEncoding.AppendEncode(text[:0], packed))
}

// DecodeCursor parses the text of [Cursor.Encode]. A text that is damaged, forged or of another
// list returns an *[Error] with the code "invalidCursor" and an empty Parameter.
func DecodeCursor(text, binding string) (Cursor, error) {
	c, ok := decodeCursor(text, binding)
	// Encoding again rejects non-canonical base64 and varints, so a position has a single text.
	if !ok || c.Encode(binding) != text {
		return Cursor{}, &Error{
			Code:   invalidCursor,
			Detail: "the cursor is damaged or belongs to another list",
		}
	}
	return c, nil
}

// decodeCursor checks the tag before it parses the values.
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

// A packed cursor is a tag and a sequence of parts, each a kind byte and its content.
const (
	nullPart     = 'n'
	falsePart    = 'f'
	truePart     = 't'
	stringPart   = 's' // length, bytes
	intPart      = 'i' // signed varint
	uintPart     = 'u' // varint
	floatPart    = 'd' // 8 bytes
	decimalPart  = 'x' // length, bytes
	timePart     = 'c' // seconds since 1970 as a signed varint, nanoseconds as a varint
	durationPart = 'p' // length, bytes
	tokenPart    = 'k' // length, bytes; always the only part
	endPart      = 0   // hashed between parts and binding, not written
)

const tagSize = 8

// tagOf hashes the parts as well, so that a damaged cursor is rejected.
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

// packValue uses a type switch instead of reflection, because each page of a list calls it.
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
		// Seconds and nanoseconds are separate, because an int64 of nanoseconds covers only 1677 to
		// 2262.
		b = binary.AppendVarint(append(b, timePart), v.Unix())
		return binary.AppendUvarint(b, uint64(v.Nanosecond()))
	case Decimal:
		return packString(append(b, decimalPart), v.String())
	case Duration:
		return packString(append(b, durationPart), v.String())
	}
	return append(b, nullPart)
}

// packString writes the length first, so strings may contain any bytes.
func packString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// unpack parses the parts of a cursor. Lengths are checked against the remaining bytes, so memory
// use is proportional to the text.
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

// unpackValue parses a value of the given kind and returns the remaining bytes.
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
	case decimalPart, durationPart:
		text, rest, ok := unpackString(b)
		if !ok {
			return nil, nil, false
		}
		if kind == durationPart {
			v, err := ParseDuration(text)
			return v, rest, err == nil && v.String() == text
		}
		v, err := ParseDecimal(text)
		return v, rest, err == nil && v.String() == text
	}
	return nil, nil, false
}

// unpackTime rejects a second or more of nanoseconds, which would be another text of the same time.
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

// unpackString compares sizes as uint64, so that a huge size cannot become negative.
func unpackString(b []byte) (s string, rest []byte, ok bool) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > uint64(len(b)-n) {
		return "", nil, false
	}
	end := n + int(size)
	return string(b[n:end]), b[end:], true
}
