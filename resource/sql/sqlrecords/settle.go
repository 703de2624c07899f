package sqlrecords

import (
	"context"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// Finish implements [idempotency.Store].
func (s *Store) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record,
	expires time.Time) error {
	ctx = sqltx.WithoutSession(ctx)
	about := r
	about.Status, about.Result = 0, nil // stored in columns of their own
	n, err := s.run(ctx, "finish", s.sql.finish, id[:], token, r.Status,
		string(idempotency.EncodeRecord(about)), r.Result, micros(expires))
	return heldBy(n, err)
}

// Release implements [idempotency.Store].
func (s *Store) Release(ctx context.Context, id [32]byte, token string) error {
	ctx = sqltx.WithoutSession(ctx)
	n, err := s.run(ctx, "release", s.sql.release, id[:], token)
	return heldBy(n, err)
}

// heldBy returns ErrLost if no row was changed.
func heldBy(rows int, err error) error {
	if err == nil && rows == 0 {
		return idempotency.ErrLost
	}
	return err
}

// Purge implements [idempotency.Store]. On PostgreSQL it skips rows that are locked.
func (s *Store) Purge(ctx context.Context, now time.Time, max int) (int, error) {
	ctx = sqltx.WithoutSession(ctx)
	if max <= 0 {
		return 0, ctx.Err()
	}
	return s.run(ctx, "purge", s.sql.purge, micros(now), max)
}
