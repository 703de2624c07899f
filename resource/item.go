package resource

// Items as stores return them, and their revisions. Called by stores and applications.

import (
	"crypto/rand"
	"encoding/base64"
	"time"

	"github.com/stoa-go/stoa/resource/internal/etag"
)

// Item is a value with the metadata that its store keeps.
type Item[T any] struct {
	// ID identifies the item within its collection. Empty means that the id field of Value holds
	// it, and a zero id field is set from ID. If the two differ otherwise, the client gets an
	// internal error.
	ID string
	// Rev changes with every write of the item; see [Rev].
	Rev Rev
	// Modified is when the item was last written. It becomes Last-Modified, in whole seconds. It must not
	// decrease if the clock is set back, and two values should not have the same second, because
	// clients compare it. The stores of Stoa give a later one the next second. Zero if unknown.
	Modified time.Time
	// Next is the token that continues a list after this item. Only stores with a natural order set
	// it (query.Support.Natural).
	Next string
	// Keys has the values of the keys of query.Query.Sort that are not fields of Value, in their order:
	// a float64 that is not NaN for [query.Rank], and the value of the field for a query.JoinedField. With
	// query.Query.Links the key of the item follows. It is nil if there is no such key.
	Keys []any
	// Value is the item itself.
	Value T
}

// Revision is an [Item] without its value.
type Revision struct {
	ID       string // not empty
	Rev      Rev
	Modified time.Time
	Next     string
}

// ItemJSON is an item that its collection has encoded. The fields other than JSON are those of [Item].
type ItemJSON struct {
	// ID must not be empty.
	ID       string
	Rev      Rev
	Modified time.Time
	Next     string
	// JSON is an object without white space between tokens. It is valid until the iterator of
	// [JSONLister] continues.
	JSON []byte
}

// Rev is the revision of an item: any bytes, compared for equality only. It changes with every
// write. A store never uses a value twice for one id, not even after the item was deleted and
// created again; otherwise an old entity tag could match the new item. A store that counts
// revisions must therefore remember the count of a deleted item, or use [NewRev].
//
// An empty Rev is allowed if the collection has neither [Replacer] nor [Deleter]. The library then
// uses a hash of the content.
type Rev string

// NewRev returns a Rev that has never been used: 24 characters of the URL-safe base64 alphabet. The
// first characters encode the time, the others are random.
func NewRev() Rev {
	var b [18]byte
	now := uint64(time.Now().UnixMicro())
	for i := range 7 {
		b[i] = byte(now >> (8 * (6 - i)))
	}
	rand.Read(b[7:]) // never fails: crypto/rand
	return Rev(base64.RawURLEncoding.EncodeToString(b[:]))
}

// ETag returns the entity tag of a resource with a single representation, such as a blob: a strong
// tag of the revision alone. For items see [Resource.ETag].
func (r Rev) ETag() string { return string(append(etag.AppendRev([]byte{'"'}, string(r)), '"')) }
