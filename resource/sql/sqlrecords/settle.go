package sqlrecords

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/idempotency"
)

// Finish is that of idempotency.Store.
func (s *Store) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	about := r
	about.Status, about.Result = 0, nil // which have columns of their own
	n, err := s.run(ctx, "finishing", s.sql.finish, id[:], token, r.Status, string(idempotency.EncodeRecord(about)), r.Result, moment(expires))
	return heldBy(n, err)
}

// Release is that of idempotency.Store.
func (s *Store) Release(ctx context.Context, id [32]byte, token string) error {
	n, err := s.run(ctx, "releasing", s.sql.release, id[:], token)
	return heldBy(n, err)
}

// heldBy tells by the number of rows whether the claim was there.
func heldBy(rows int, err error) error {
	if err == nil && rows == 0 {
		return idempotency.ErrLost
	}
	return err
}

// Purge is that of idempotency.Store. Rows that somebody else is at are left for the next time.
func (s *Store) Purge(ctx context.Context, now time.Time, max int) (int, error) {
	if max <= 0 {
		return 0, ctx.Err()
	}
	return s.run(ctx, "purging", s.sql.purge, moment(now), max)
}
