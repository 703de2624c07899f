package memory

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

// chooseNewID returns what makes the ids of created items, and panics if the id field can hold none.
func (s *Store[T]) chooseNewID() func() string {
	kind := s.id.Type.Kind
	switch {
	case s.id.Nullable || kind != schema.Integer && kind != schema.String || s.id.Type.Format == "date-time":
		panic(fmt.Sprintf("memory: the id field %q of %v must be an integer or a string", s.id.Name,
			s.typ.GoType))
	case s.opts.NewID != nil:
		return s.opts.NewID
	case kind == schema.Integer:
		return func() string { return strconv.FormatUint(s.lastID.Add(1), 10) }
	}
	return new(uuids).next
}

// countOn makes sure that integer ids continue above this one. Create counts before it has the lock, so the two can
// meet; then Create takes another number.
func (s *Store[T]) countOn(id any) {
	var n uint64
	switch id := id.(type) {
	case int64:
		n = uint64(max(id, 0))
	case uint64:
		n = id
	}
	for { // Create counts at the same time
		last := s.lastID.Load()
		if n <= last || s.lastID.CompareAndSwap(last, n) {
			return
		}
	}
}

// uuids makes UUIDs of version 7 (RFC 9562 section 5.7) that sort in the order in which they are made.
type uuids struct {
	mu   sync.Mutex
	last uint64
}

// next returns another one. The twelve bits behind the milliseconds hold the fraction (section 6.2, method 3), and a
// clock that stands still is helped on by one.
func (u *uuids) next() string {
	now := time.Now()
	t := uint64(now.UnixMilli())<<12 | uint64(now.Nanosecond()%1e6)<<12/1e6

	u.mu.Lock()
	t = max(t, u.last+1)
	u.last = t
	u.mu.Unlock()

	var id [16]byte
	rand.Read(id[8:]) // never fails
	binary.BigEndian.PutUint64(id[:], t>>12<<16|7<<12|t&0xfff)
	// The variant in the top two bits; 62 random bits remain.
	id[8] = id[8]&0x3f | 0x80
	text := make([]byte, 0, 36)
	text = append(hex.AppendEncode(text, id[:4]), '-')
	text = append(hex.AppendEncode(text, id[4:6]), '-')
	text = append(hex.AppendEncode(text, id[6:8]), '-')
	text = append(hex.AppendEncode(text, id[8:10]), '-')
	return string(hex.AppendEncode(text, id[10:]))
}

// newRevPrefix returns what begins the revisions of one store. Half of a NewRev holds the microsecond at which the
// store was made and two random bytes; the counter behind it does the rest.
func newRevPrefix() string { return string(resource.NewRev()[:12]) }

// newRev returns a revision that no item has had, and none will have after a rollback.
func (s *Store[T]) newRev() resource.Rev {
	var b [32]byte
	return resource.Rev(strconv.AppendUint(append(b[:0], s.revPrefix...), s.revs.Add(1), 36))
}
