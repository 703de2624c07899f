package sqlrecords

// The number of records of each owner, counted when it is near the quota.

import (
	"context"
	"sync"

	"github.com/stoa-go/stoa/idempotency"
)

// quotaCache caches how many claims an owner may make before the records are counted again.
// Counting thousands of rows is slower than the rest of a claim, and unnecessary for an owner far
// below the quota.
//
// After a count, an eighth of the free quota may be claimed without another. So up to eight
// processes that count at the same time do not exceed the quota together, and an owner near the
// quota is counted each time. Records that expire or roll back in between only cause an earlier
// count.
type quotaCache struct {
	mu   sync.Mutex
	free map[account]int
}

// account is the key of quotaCache.
type account struct {
	owner [32]byte
	quota int // in case it changes
}

const (
	freeShare    = 8
	mostAccounts = 10_000 // of about 40 bytes; beyond that the cache is emptied
)

// counted records the number of records of a claim's owner.
func (q *quotaCache) counted(c idempotency.Claim, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free == nil || len(q.free) >= mostAccounts {
		q.free = map[account]int{}
	}
	q.free[account{c.Owner, c.Quota}] = (c.Quota - n) / freeShare
}

// known reports whether a claim needs no count.
func (q *quotaCache) known(c idempotency.Claim) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.free[account{c.Owner, c.Quota}] > 0
}

// used records a claim.
func (q *quotaCache) used(c idempotency.Claim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a := (account{c.Owner, c.Quota}); q.free[a] > 0 {
		q.free[a]--
	}
}

// overQuota reports whether a claim exceeds the quota. A claim of an existing record does not
// count.
func (s *Store) overQuota(ctx context.Context, id [32]byte, c idempotency.Claim) (bool, error) {
	if c.Quota <= 0 || s.quotas.known(c) {
		return false, nil
	}
	known, err := s.readRow(ctx, id)
	if err != nil || known != nil && known.expires > micros(c.Now) {
		return false, err
	}
	var n int
	if _, err := s.read(ctx, "count records", s.sql.count, []any{c.Owner[:], micros(c.Now), c.Quota},
		&n); err != nil {
		return false, err
	}
	s.quotas.counted(c, n)
	return n >= c.Quota, nil
}
