package middleware

// Token buckets in a table of fixed size. ratelimit.go calls take for each request, and attempts.go
// for each attempt.

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// buckets implements the generic cell rate algorithm (ITU-T I.371). For each caller it stores one
// time: when the whole quota will be available again. Callers are identified by a hash with a
// random seed. Memory does not depend on the length of their names, and a caller cannot provoke a
// collision.
type buckets struct {
	interval time.Duration // time until one request is available again
	period   time.Duration // time until the whole quota is available again
	quota    int
	seed     maphash.Seed

	mu        sync.Mutex
	recent    map[uint64]time.Duration // used since the last rotation
	older     map[uint64]time.Duration // used before it
	maxPerMap int                      // capacity of each map
	rotateAt  time.Duration            // time of the next rotation
}

// allowance is the result of one request.
type allowance struct {
	allowed   bool  // the request is within the quota
	remaining int   // requests left
	seconds   int64 // until the next request is allowed; if some are left, until all are
}

// newBuckets returns buckets for this number of callers. The memory is allocated at once.
func newBuckets(rate Rate, callers int) *buckets {
	// rounded up, so that the rate is never exceeded
	every := (rate.Window + time.Duration(rate.Quota) - 1) / time.Duration(rate.Quota)
	whole := every * time.Duration(rate.Quota)
	return &buckets{interval: every, period: whole, quota: rate.Quota, seed: maphash.MakeSeed(),
		recent: map[uint64]time.Duration{}, maxPerMap: max(callers/2, 1), rotateAt: whole}
}

// take takes one request from the quota of a caller. now is monotonic.
func (b *buckets) take(caller uint64, now time.Duration) allowance {
	b.mu.Lock()
	defer b.mu.Unlock()
	full, ok := b.recent[caller]
	if !ok {
		b.rotate(now)
		full = b.older[caller]
	}
	full = max(full, now) + b.interval
	used := full - now
	if used > b.period {
		if !ok {
			b.recent[caller] = full - b.interval // keep the caller in the newer map
		}
		return allowance{seconds: ceilSeconds(used - b.period)}
	}
	b.recent[caller] = full
	l := allowance{allowed: true, remaining: int((b.period - used) / b.interval), seconds: ceilSeconds(used)}
	if l.remaining == 0 {
		l.seconds = ceilSeconds(used + b.interval - b.period)
	}
	return l
}

// restore gives one request back to a caller.
func (b *buckets) restore(caller uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range []map[uint64]time.Duration{b.recent, b.older} {
		if full, ok := m[caller]; ok {
			m[caller] = full - b.interval
			return
		}
	}
}

// rotate discards the older map. A caller that was idle for a whole period has its whole quota, so
// discarding it changes nothing. If there are too many callers, the rotation happens earlier and
// some get their quota back too soon.
func (b *buckets) rotate(now time.Duration) {
	if now < b.rotateAt && len(b.recent) < b.maxPerMap {
		return
	}
	b.older, b.recent = b.recent, make(map[uint64]time.Duration, min(len(b.recent), b.maxPerMap))
	b.rotateAt = now + b.period
}

// hash identifies a caller by name. kind separates principals from other keys.
func (b *buckets) hash(kind byte, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	h.WriteByte(kind)
	h.WriteString(name)
	return h.Sum64()
}

// hashAddr identifies a caller by address. An IPv6 /64 network is one caller, because its owner
// controls all its addresses.
func (b *buckets) hashAddr(addr netip.Addr) uint64 {
	raw := addr.As16()
	n := len(raw)
	if addr.Is6() {
		n = 8
	}
	var h maphash.Hash
	h.SetSeed(b.seed)
	h.WriteByte('a')
	h.Write(raw[:n])
	return h.Sum64()
}

// ceilSeconds rounds up to whole seconds, at least 1.
func ceilSeconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}
