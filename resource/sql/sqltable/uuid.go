package sqltable

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"time"
)

// newUUID returns a UUID of version 7 (RFC 9562 section 5.7). Ids sort by their creation, so new
// ones are added at the end of an index. The twelve bits after the milliseconds are their fraction
// (section 6.2, method 3). Two processes may create ids in the same order as their clocks, which is
// good enough for an index.
func newUUID() string {
	now := time.Now()
	var id [16]byte
	rand.Read(id[8:]) // never fails
	fraction := uint64(now.Nanosecond()%1e6) << 12 / 1e6
	binary.BigEndian.PutUint64(id[:], uint64(now.UnixMilli())<<16|7<<12|fraction)
	id[8] = id[8]&0x3f | 0x80 // the variant
	text := make([]byte, 0, 36)
	for i, end := range []int{4, 6, 8, 10, 16} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, id[[]int{0, 4, 6, 8, 10}[i]:end])
	}
	return string(text)
}

// isUUID reports whether s is a UUID as in RFC 9562 section 4, in upper or lower case. uuid columns
// also accept braces and other spellings, which they would change.
func isUUID(s string) bool {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return false
	}
	_, err := hex.DecodeString(s[:8] + s[9:13] + s[14:18] + s[19:23] + s[24:])
	return err == nil
}
