package resource

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/stoa-go/stoa/resource/internal/etag"
)

// Item is a value with what its store knows about it.
type Item[T any] struct {
	// ID identifies the item within its collection. Empty means that the id field of Value holds it. If both are
	// given they must agree; a disagreement is the store's fault and is answered as an internal error.
	ID string
	// Rev changes with every write of the item; see [Rev].
	Rev Rev
	// Modified is when the item was last written, and becomes Last-Modified. Zero if unknown.
	Modified time.Time
	// Next continues a listing after this item. Only stores with a natural order set it (query.Support.Natural).
	Next string
	// Value is the item itself.
	Value T
}

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

// ETag returns the entity tag of something with a single representation, such as a blob: a strong tag with the revision alone.
// The tags of items are those of [Resource.ETag].
func (r Rev) ETag() string { return string(append(etag.AppendRev([]byte{'"'}, string(r)), '"')) }
