package idempotency

// Operations: the identity and the fingerprint of what was sent. do.go uses both.

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// Operation identifies what a client requests once.
type Operation struct {
	Principal   string   // the owner of the key; only Wrap and catalogs require one
	Method      string   // of the request, or the kind of a GraphQL operation
	Target      string   // route and ids, without the name of a contract
	Key         string   // as returned by Guard.Key
	Fingerprint [32]byte // of the content; see Fingerprint
	// Contract and Members compare the request with one in another contract, which has another
	// Fingerprint although it may write the same. Both write the same if each Member that one of them
	// has sent has the same value in both. Members is called at most once, before the operation runs.
	// If it is nil or returns nil, only the Fingerprint is compared.
	Contract string
	Members  func() []Member
	// Time extends Options.Lease and Options.TransactionTimeout for a long operation, such as an
	// upload over a slow connection. Below [ExactlyOnce], if the process crashes, repetitions
	// receive 409 request-in-flight until then. Zero extends nothing.
	Time time.Duration
}

// idOf returns the key of the operation in the store. It is a hash, so a leaked store reveals no
// client keys.
func (g *Guard) idOf(op *Operation) [32]byte {
	if s := g.opts.Service; s != "" {
		return digest("operation of a service", s, op.Principal, op.Method, op.Target, op.Key)
	}
	return digest("operation", op.Principal, op.Method, op.Target, op.Key)
}

// ownerOf returns the hash of the principal, for quotas.
func (g *Guard) ownerOf(op *Operation) [32]byte {
	if s := g.opts.Service; s != "" {
		return digest("owner of a service", s, op.Principal)
	}
	return digest("owner", op.Principal)
}

// storedFingerprint returns the fingerprint as it is stored. It is hashed with the client's key,
// which the store does not have. Otherwise a reader of the store could guess a password or PIN by
// hashing candidate requests.
func (op *Operation) storedFingerprint() [32]byte {
	return digest("fingerprint", op.Key, string(op.Fingerprint[:]))
}

// digest hashes parts with their lengths, so different lists have different hashes. It avoids
// allocations for short parts, because each keyed request calls it.
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
	id          [32]byte
	fingerprint [32]byte // of the claim, which a request in another contract may have made
	keep        atomic.Bool
}

type runningKey struct{}

// operationOf returns the operation that ctx belongs to, or nil.
func operationOf(ctx context.Context) *running {
	r, _ := ctx.Value(runningKey{}).(*running)
	return r
}

// DeriveKey returns an idempotency key for another service, such as a payment provider. It is
// derived from the operation of ctx and a name, so each attempt at the operation returns the same
// key. It has 43 characters of URL-safe base64 and does not reveal the client's key. It is "" if
// ctx does not belong to a keyed operation.
func DeriveKey(ctx context.Context, name string) string {
	r := operationOf(ctx)
	if r == nil {
		return ""
	}
	sum := digest("derived", string(r.id[:]), name)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// DeriveID returns an id for an item that the operation of ctx creates, a UUID of version 8 (RFC
// 9562 section 5.8). A repetition returns the same id, and so finds the item. name distinguishes
// several items of one operation, such as "orders/0". The id does not depend on the content of the
// request: put [ContentHash] into name if the client may use the key again after its record has
// expired. It is "" if ctx does not belong to a keyed operation.
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

// ContentHash returns a hash of the content of the operation of ctx, as its first request sent it.
// It has 64 hexadecimal digits and does not reveal the content. It is "" if ctx does not belong to a
// keyed operation.
func ContentHash(ctx context.Context) string {
	r := operationOf(ctx)
	if r == nil {
		return ""
	}
	return hex.EncodeToString(r.fingerprint[:])
}

// RecordRefusal records the response to the operation of ctx even if it is a refusal (4xx), so that
// a repetition receives it again. An example is 402 for a declined card. It has no effect if ctx
// does not belong to a keyed operation. Responses with 5xx are never recorded. A hook or a command
// then returns its error as usual. At ExactlyOnce the transaction commits, with everything that was
// written before.
func RecordRefusal(ctx context.Context) {
	if r := operationOf(ctx); r != nil {
		r.keep.Store(true)
	}
}

// RecordsRefusal reports whether [RecordRefusal] was called. A protocol implementation then returns
// a [Record] of the refusal instead of an error.
func RecordsRefusal(ctx context.Context) bool {
	r := operationOf(ctx)
	return r != nil && r.keep.Load()
}
