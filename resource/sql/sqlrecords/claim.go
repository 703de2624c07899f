package sqlrecords

// Claims of keys. One statement decides between a new claim, a running one and a record.

import (
	"context"
	"database/sql"
	"encoding/binary"
	"hash/fnv"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// maxTries limits how often a claim reads a row again that changes between two statements outside
// a transaction.
const maxTries = 8

// Claim implements [idempotency.Store]. The quota is exact for an owner near it; see quotaCache.
func (s *Store) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	ctx = sqltx.WithoutSession(ctx)
	for range maxTries {
		if over, err := s.overQuota(ctx, id, c); err != nil || over {
			return idempotency.Prior{State: idempotency.OverQuota}, err
		}
		prior, settled, err := s.try(ctx, id, c)
		if err != nil || settled {
			return prior, err
		}
	}
	return idempotency.Prior{State: idempotency.InFlight}, nil // the row keeps changing
}

// row is a row of the table.
type row struct {
	fingerprint    []byte
	members        []byte
	lease, expires int64
	status         sql.NullInt64 // null until the operation is finished
	about          sql.NullString
	result         []byte
}

// prior returns the state of a row for a claim. Fresh means that the row may be replaced.
func (r *row) prior(c idempotency.Claim) (idempotency.Prior, error) {
	now := micros(c.Now)
	switch {
	case r.expires <= now:
		return idempotency.Prior{State: idempotency.Fresh}, nil
	case string(r.fingerprint) != string(c.Fingerprint[:]):
		prior := idempotency.Prior{State: idempotency.Mismatch, Members: r.members}
		copy(prior.Fingerprint[:], r.fingerprint)
		return prior, nil
	case r.status.Valid:
		rec, err := idempotency.DecodeRecord([]byte(r.about.String))
		rec.Status, rec.Result = int(r.status.Int64), r.result
		return idempotency.Prior{State: idempotency.Finished, Record: rec}, err
	case r.lease > now:
		return idempotency.Prior{State: idempotency.InFlight}, nil
	case c.TakeOver:
		return idempotency.Prior{State: idempotency.Fresh}, nil
	}
	return idempotency.Prior{State: idempotency.Abandoned}, nil
}

// readRow returns the row of an id, or nil.
func (s *Store) readRow(ctx context.Context, id [32]byte) (*row, error) {
	r := &row{}
	found, err := s.read(ctx, "read record", s.sql.readRow, []any{id[:]},
		&r.fingerprint, &r.members, &r.lease, &r.expires, &r.status, &r.about, &r.result)
	if err != nil || !found {
		return nil, err
	}
	return r, nil
}

// try claims an id, or returns its state. settled is false if the row changed between its
// statements.
func (s *Store) try(ctx context.Context, id [32]byte,
	c idempotency.Claim) (prior idempotency.Prior, settled bool, err error) {
	if s.db.Dialect() == sqltx.PostgreSQL {
		return s.tryPostgres(ctx, id, c)
	}
	n, err := s.run(ctx, "claim", s.sql.claim, s.claimArgs(id, c)...)
	if err != nil {
		return idempotency.Prior{}, false, err
	}
	if n > 0 {
		s.quotas.used(c)
		return idempotency.Prior{}, true, nil
	}
	return s.again(ctx, id, c)
}

// again reads the row that has prevented a claim.
func (s *Store) again(ctx context.Context, id [32]byte,
	c idempotency.Claim) (idempotency.Prior, bool, error) {
	known, err := s.readRow(ctx, id)
	if err != nil || known == nil {
		return idempotency.Prior{}, false, err
	}
	prior, err := known.prior(c)
	return prior, prior.State != idempotency.Fresh, err
}

// tryPostgres claims an id in one statement. The statement returns the previous row and whether the
// advisory lock was acquired; null means that the row made the lock unnecessary.
func (s *Store) tryPostgres(ctx context.Context, id [32]byte,
	c idempotency.Claim) (prior idempotency.Prior, settled bool, err error) {
	var held sql.NullBool
	var fresh bool
	var known row
	var lease, expires sql.NullInt64
	args := append(s.claimArgs(id, c), s.lock(id))
	if _, err := s.read(ctx, "claim", s.sql.claim, args, &held, &fresh, &known.fingerprint, &known.members,
		&lease, &expires, &known.status, &known.about, &known.result); err != nil {
		return idempotency.Prior{}, false, err
	}
	if fresh {
		s.quotas.used(c)
		return idempotency.Prior{}, true, nil
	}
	if held.Valid && !held.Bool {
		return idempotency.Prior{State: idempotency.InFlight}, true, nil
	}
	if expires.Valid {
		known.lease, known.expires = lease.Int64, expires.Int64
		if prior, err = known.prior(c); err != nil || prior.State != idempotency.Fresh {
			return prior, true, err
		}
	}
	return s.again(ctx, id, c) // the row was inserted or replaced between the snapshot and the lock
}

// claimArgs returns the parameters of the claim statement, in its order.
func (s *Store) claimArgs(id [32]byte, c idempotency.Claim) []any {
	expires := max(micros(c.Expires), micros(c.Until)) // a claim is not purged within its lease
	return []any{
		id[:],
		c.Fingerprint[:],
		c.Members,
		c.Owner[:],
		c.Token,
		micros(c.Until),
		expires,
		micros(c.Now),
		c.TakeOver,
	}
}

// lock returns the advisory lock number of an id. A collision, with another id or another user of
// such locks, is reported as InFlight and retried by the client.
func (s *Store) lock(id [32]byte) int64 {
	h := fnv.New64a()
	h.Write([]byte("stoa sqlrecords " + s.name))
	return int64(h.Sum64() ^ binary.BigEndian.Uint64(id[:8]))
}
