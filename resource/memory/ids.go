package memory

// New ids: integers that increase, or random strings, by the type of the id.

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// chooseNewID returns the function that creates ids. It panics if the id field has an unsuitable
// type.
func (s *store) chooseNewID() func() string {
	kind := s.id.Type.Kind
	switch {
	case s.id.Nullable || kind != schema.Integer && kind != schema.String || s.id.Type.Format == "date-time":
		panic(fmt.Sprintf("memory: the id field %q of %v must be an integer or a string", s.id.Name,
			s.typ.GoType))
	case s.id.Key != nil && s.opts.NewID != nil:
		panic(fmt.Sprintf("memory: Options.NewID is set, but the id of %v is computed from other fields",
			s.typ.GoType))
	case s.opts.NewID != nil:
		return s.opts.NewID
	case kind == schema.Integer:
		return func() string { return strconv.FormatUint(s.lastID.Add(1), 10) }
	}
	return new(uuids).next
}

// lastRaise is the largest chosen id after which new ids continue. The numbers up to 2^53 remain, which
// JavaScript represents exactly.
const lastRaise = 1 << 52

// raiseLastID ensures that new integer ids are greater than id. Create takes a number before it has
// the lock; if an insert uses it in between, Create takes another one. An id in the upper half of the
// range, or above lastRaise, has no effect: a client that chooses the largest one would otherwise leave no
// numbers for new items. Create skips such ids when it reaches them.
func (s *store) raiseLastID(id any) {
	var n uint64
	switch id := id.(type) {
	case int64:
		n = uint64(max(id, 0))
	case uint64:
		n = id
	}
	if n == 0 { // a string, or a number below 1
		return
	}
	half := uint64(1) << (s.id.Type.Bits - 1)
	if !s.id.Type.Unsigned {
		half /= 2
	}
	if n > min(half, lastRaise) {
		return
	}
	for { // retry, because Create changes lastID concurrently
		last := s.lastID.Load()
		if n <= last || s.lastID.CompareAndSwap(last, n) {
			return
		}
	}
}

// uuids creates UUIDs of version 7 (RFC 9562 section 5.7) in ascending order.
type uuids struct {
	mu   sync.Mutex
	last uint64
}

// next returns a new UUID. The 12 bits after the milliseconds are their fraction (section 6.2,
// method 3), incremented if the clock has not advanced.
func (u *uuids) next() string {
	now := time.Now()
	t := uint64(now.UnixMilli())<<12 | uint64(now.Nanosecond()%1e6)<<12/1e6

	u.mu.Lock()
	t = max(t, u.last+1)
	u.last = t
	u.mu.Unlock()

	var id [16]byte
	rand.Read(id[8:]) // never returns an error
	binary.BigEndian.PutUint64(id[:], t>>12<<16|7<<12|t&0xfff)
	// the variant in the top two bits; 62 random bits remain
	id[8] = id[8]&0x3f | 0x80
	text := make([]byte, 0, 36)
	text = append(hex.AppendEncode(text, id[:4]), '-')
	text = append(hex.AppendEncode(text, id[4:6]), '-')
	text = append(hex.AppendEncode(text, id[6:8]), '-')
	text = append(hex.AppendEncode(text, id[8:10]), '-')
	return string(hex.AppendEncode(text, id[10:]))
}

// newRevPrefix returns the prefix of the revisions of one store. It has the microsecond at which
// the store was created and two random bytes; a counter follows it.
func newRevPrefix() string { return string(resource.NewRev()[:12]) }

// newRev returns a new revision. Revisions are not reused after a rollback.
func (s *store) newRev() resource.Rev {
	var b [32]byte
	return resource.Rev(strconv.AppendUint(append(b[:0], s.revPrefix...), s.revs.Add(1), 36))
}
