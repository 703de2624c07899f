package idempotency

// Comparing requests in different contracts by what they write. do.go and wait.go use it.

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
)

// Member is a member of what a request writes, such as the price of an order.
type Member struct {
	Name  string
	Value []byte // JSON
	// Sent reports that the request has the member. Otherwise Value is a default.
	Sent bool
}

// Members are stored as hashes of 16 bytes, in any order, after one of the contract. The first half
// is of the name; its last bit is set if the member was sent. The second half is of the value and
// the client's key: see storedFingerprint.
const (
	memberSize = 16
	sentBit    = 1
)

// storedMembers returns the members as they are stored. It is nil if the operation has none.
func (op *Operation) storedMembers() []byte {
	if op.Members == nil {
		return nil
	}
	all := op.Members()
	if all == nil {
		return nil
	}
	contract := digest("contract", op.Key, op.Contract)
	out := append(make([]byte, 0, (len(all)+1)*memberSize), contract[:memberSize]...)
	buf := make([]byte, 0, 256)
	for i := range all {
		m := &all[i]
		sum := hashName(m.Name) &^ sentBit
		if m.Sent {
			sum |= sentBit
		}
		out = binary.BigEndian.AppendUint64(out, sum)
		buf = binary.AppendUvarint(buf[:0], uint64(len(op.Key)))
		buf = binary.AppendUvarint(append(buf, op.Key...), uint64(len(m.Name)))
		buf = append(append(buf, m.Name...), m.Value...)
		value := sha256.Sum256(buf)
		out = append(out, value[:memberSize/2]...)
	}
	return out
}

// hashName returns the hash FNV-1a of a name.
func hashName(name string) uint64 {
	sum := uint64(14695981039346656037)
	for i := range len(name) {
		sum = (sum ^ uint64(name[i])) * 1099511628211
	}
	return sum
}

// comparable reports whether two operations with different fingerprints may write the same.
func (op *Operation) comparable(other *Operation) bool {
	return op.Contract != other.Contract && op.Members != nil && other.Members != nil
}

// sameMembers reports whether two requests in different contracts write the same: each member that
// one of them has sent has the same value in both. For requests in one contract it is false, because
// their fingerprints have decided.
func sameMembers(a, b []byte) bool {
	if len(a) < memberSize || len(b) < memberSize || bytes.Equal(a[:memberSize], b[:memberSize]) {
		return false
	}
	return hasSent(a, b) && hasSent(b, a)
}

// hasSent reports whether a has each member that was sent in b, with the same value.
func hasSent(a, b []byte) bool {
	values := make(map[uint64]string, len(a)/memberSize)
	for m := range slices.Chunk(a[memberSize:], memberSize) {
		values[memberName(m)&^sentBit] = string(m[memberSize/2:])
	}
	for m := range slices.Chunk(b[memberSize:], memberSize) {
		name := memberName(m)
		value, ok := values[name&^sentBit]
		if name&sentBit != 0 && (!ok || value != string(m[memberSize/2:])) {
			return false
		}
	}
	return true
}

// memberName returns the hash of the name of a stored member.
func memberName(m []byte) uint64 { return binary.BigEndian.Uint64(m) }
