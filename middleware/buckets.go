package middleware

import (
	"hash/maphash"
	"net/netip"
	"sync"
	"time"
)

// buckets count who did how much, by the generic cell rate algorithm (ITU-T I.371): of each caller one number is kept, the
// time at which all of its quota will be back. Callers are known by a hash whose seed nobody knows, so that the size of their
// names costs nothing and nobody can make two of them meet.
type buckets struct {
	every time.Duration // in which one comes back
	whole time.Duration // in which all come back
	quota int
	seed  maphash.Seed

	mu     sync.Mutex
	recent map[uint64]time.Duration // since the last turn
	older  map[uint64]time.Duration // before it
	half   int                      // how many there may be in either
	turn   time.Duration            // when recent becomes older
}

// left is what a caller still has.
type left struct {
	ok        bool  // this one was let through
	remaining int   // further ones
	seconds   int64 // until one more is, or where some remain, until all are
}

func newBuckets(rate Rate, callers int) *buckets {
	// rounded up: never more than promised
	every := (rate.Window + time.Duration(rate.Quota) - 1) / time.Duration(rate.Quota)
	whole := every * time.Duration(rate.Quota)
	return &buckets{every: every, whole: whole, quota: rate.Quota, seed: maphash.MakeSeed(),
		recent: map[uint64]time.Duration{}, half: max(callers/2, 1), turn: whole}
}

// take takes one from a caller's quota, if there is one. now never goes back far.
func (b *buckets) take(caller uint64, now time.Duration) left {
	b.mu.Lock()
	defer b.mu.Unlock()
	back, ok := b.recent[caller]
	if !ok {
		b.age(now)
		back = b.older[caller]
	}
	back = max(back, now) + b.every
	used := back - now
	if used > b.whole {
		if !ok {
			b.recent[caller] = back - b.every // it is not to be forgotten for being refused
		}
		return left{seconds: ceilSeconds(used - b.whole)}
	}
	b.recent[caller] = back
	l := left{ok: true, remaining: int((b.whole - used) / b.every), seconds: ceilSeconds(used)}
	if l.remaining == 0 {
		l.seconds = ceilSeconds(used + b.every - b.whole)
	}
	return l
}

// age forgets. Who was not seen for the time in which all comes back is like one that was never seen, so that forgetting it
// changes nothing; only if there are too many is somebody forgotten who would have had to wait.
func (b *buckets) age(now time.Duration) {
	if now < b.turn && len(b.recent) < b.half {
		return
	}
	b.older, b.recent = b.recent, make(map[uint64]time.Duration, min(len(b.recent), b.half))
	b.turn = now + b.whole
}

// hash knows a caller by its name. The kind keeps principals and other names apart.
func (b *buckets) hash(kind byte, name string) uint64 {
	var h maphash.Hash
	h.SetSeed(b.seed)
	h.WriteByte(kind)
	h.WriteString(name)
	return h.Sum64()
}

// hashAddr knows a caller by its address. An IPv6 network of 64 bits is one caller, since whoever has one address of it
// has all.
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

// ceilSeconds rounds up: earlier would be too early. It is at least 1.
func ceilSeconds(d time.Duration) int64 {
	return max(1, int64((d+time.Second-1)/time.Second))
}
