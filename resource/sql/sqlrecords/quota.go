package sqlrecords

import (
	"context"
	"sync"

	"github.com/stoa-go/stoa/idempotency"
)

// quotas knows how many claims an owner may still make before his records are counted again. To count some thousands takes
// longer than everything else in a claim, and nobody who has a hundred of ten thousand is over by the next one.
//
// An eighth of what was free at the last count is claimed without another. So eight processes that count at the same time
// do not exceed the quota together, and an owner who is near it is counted each time. Records that have expired or were
// rolled back since only make it earlier.
type quotas struct {
	mu   sync.Mutex
	free map[account]int
}

// account is one of quotas.
type account struct {
	owner [32]byte
	quota int // in case that it changes
}

const (
	freeShare    = 8
	mostAccounts = 10_000 // of 40 bytes and the map's; then all are counted anew
)

// counted notes how many records the owner of a claim has.
func (q *quotas) counted(c idempotency.Claim, n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.free == nil || len(q.free) >= mostAccounts {
		q.free = map[account]int{}
	}
	q.free[account{c.Owner, c.Quota}] = (c.Quota - n) / freeShare
}

// known reports whether a claim needs no count.
func (q *quotas) known(c idempotency.Claim) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.free[account{c.Owner, c.Quota}] > 0
}

// used notes a claim that was made.
func (q *quotas) used(c idempotency.Claim) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if a := (account{c.Owner, c.Quota}); q.free[a] > 0 {
		q.free[a]--
	}
}

// overQuota reports whether a claim is too many. What is known is answered whatever the owner has, and counts nothing.
func (s *Store) overQuota(ctx context.Context, id [32]byte, c idempotency.Claim) (bool, error) {
	if c.Quota <= 0 || s.quotas.known(c) {
		return false, nil
	}
	known, err := s.look(ctx, id)
	if err != nil || known != nil && known.expires > moment(c.Now) {
		return false, err
	}
	var n int
	if _, err := s.read(ctx, "counting records", s.sql.count, []any{c.Owner[:], moment(c.Now), c.Quota}, &n); err != nil {
		return false, err
	}
	s.quotas.counted(c, n)
	return n >= c.Quota, nil
}
