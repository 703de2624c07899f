package idempotency

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// Operation is one thing that a client wants done once.
type Operation struct {
	Principal   string   // whose it is
	Method      string   // of the request, or the kind of a GraphQL operation
	Target      string   // route and ids, without what names a contract
	Key         string   // as Guard.Key gives it
	Fingerprint [32]byte // of what it means; see Fingerprint
	// Time is how long it may take where Options.Lease and Options.Transaction are too short for it, such as for an upload over
	// a slow line. If the process dies below [ExactlyOnce], copies are told that it is in flight until then. Zero is no longer.
	Time time.Duration
}

// id is what the operation is known by in the store: a hash, so that a store that leaks does not give away keys.
func (op *Operation) id() [32]byte {
	return digest("operation", op.Principal, op.Method, op.Target, op.Key)
}

// owner is what the principal is known by there.
func (op *Operation) owner() [32]byte { return digest("owner", op.Principal) }

// sealed is the fingerprint as it is stored. It is hashed together with the key, which no store knows: else whoever reads a
// store could try what was asked until the hash fits, and find a password or a PIN in a request that is known but for that.
func (op *Operation) sealed() [32]byte {
	return digest("fingerprint", op.Key, string(op.Fingerprint[:]))
}

// digest hashes parts, each with its length in front, so that no two lists are alike. It does not allocate for parts that
// fit: it is on the way of every keyed request.
func digest(parts ...string) [32]byte {
	buf := make([]byte, 0, 512)
	for _, part := range parts {
		buf = binary.AppendUvarint(buf, uint64(len(part)))
		buf = append(buf, part...)
	}
	return sha256.Sum256(buf)
}

// running is the operation that a context belongs to.
type running struct {
	id   [32]byte
	keep atomic.Bool
}

type runningKey struct{}

func operationOf(ctx context.Context) *running {
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}

// DeriveKey returns a key for somebody else's service, which follows from the operation that ctx belongs to and a name: a
// charge or a mail that is sent again with it is known there. It is the same for each attempt at the operation, has 43
// characters of the URL-safe alphabet of base 64, and tells nothing of the client's key. It is "" outside of a keyed
// operation.
func DeriveKey(ctx context.Context, name string) string {
	r := operationOf(ctx)
	if r == nil {
		return ""
	}
	sum := digest("derived", string(r.id[:]), name)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// DeriveID returns an id for what the operation of ctx creates, as a UUID of version 8 (RFC 9562 section 5.8): a repetition
// that creates it again gets the same one, and finds it. The name tells several of one operation apart, such as "orders/0".
// It is "" outside of a keyed operation.
func DeriveID(ctx context.Context, name string) string {
	r := operationOf(ctx)
	if r == nil {
		return ""
	}
	sum := digest("id", string(r.id[:]), name)
	sum[6] = sum[6]&0x0f | 0x80 // version 8
	sum[8] = sum[8]&0x3f | 0x80 // variant of RFC 9562
	text := make([]byte, 0, 36)
	for i, part := range [][]byte{sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16]} {
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, part)
	}
	return string(text)
}

// RecordRefusal asks that the answer to the operation of ctx is kept even though it refuses (4xx): one that a repetition must get
// again, such as 402 for a card that was declined. It does nothing outside of a keyed operation. What is 5xx is never kept.
func RecordRefusal(ctx context.Context) {
	if r := operationOf(ctx); r != nil {
		r.keep.Store(true)
	}
}

// RecordsRefusal reports whether [RecordRefusal] was called, for those who serve requests: they make a [Record] of the refusal then, instead
// of an error.
func RecordsRefusal(ctx context.Context) bool {
	r := operationOf(ctx)
	return r != nil && r.keep.Load()
}
