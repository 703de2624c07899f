package resource

import (
	"crypto/rand"
	"encoding/base64"
	"time"
)

// Rev is the revision of an item: any bytes, compared for equality only. It changes with every write, and for one id no
// value is ever used twice, not even after the item has been deleted and created again, so that an entity tag from an
// earlier life never matches. A store that counts revisions begins each life with [NewRev] or counts on.
//
// An empty Rev is fine on a collection without [Replacer] and [Deleter]: the library then takes a hash of the content.
type Rev string

// NewRev returns a Rev that has never been used before: 24 characters of the URL-safe base64 alphabet, of which the
// first hold the time and the rest are random.
func NewRev() Rev {
	var b [18]byte
	now := uint64(time.Now().UnixMicro())
	for i := range 7 {
		b[i] = byte(now >> (8 * (6 - i)))
	}
	rand.Read(b[7:]) // never fails: crypto/rand
	return Rev(base64.RawURLEncoding.EncodeToString(b[:]))
}
