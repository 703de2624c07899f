package sqlrecords

import (
	"context"
	"database/sql"
	"encoding/binary"
	"hash/fnv"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// mostTries is how often a claim looks again at a row that others change, outside of transactions, between two statements.
const mostTries = 8

// Claim is that of idempotency.Store. The quota is exact for an owner who is near it; see quotas.
func (s *Store) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	for range mostTries {
		if over, err := s.overQuota(ctx, id, c); err != nil || over {
			return idempotency.Prior{State: idempotency.OverQuota}, err
		}
		prior, settled, err := s.try(ctx, id, c)
		if err != nil || settled {
			return prior, err
		}
	}
	return idempotency.Prior{State: idempotency.InFlight}, nil // somebody is at it all the time
}

// row is what the table knows of an id.
type row struct {
	fingerprint    []byte
	lease, expires int64
	status         sql.NullInt64 // null until it is finished
	about          sql.NullString
	result         []byte
}

// prior is what a row says to a claim. Fresh is a row that may be replaced.
func (r *row) prior(c idempotency.Claim) (idempotency.Prior, error) {
	now := moment(c.Now)
	switch {
	case r.expires <= now:
		return idempotency.Prior{State: idempotency.Fresh}, nil
	case string(r.fingerprint) != string(c.Fingerprint[:]):
		return idempotency.Prior{State: idempotency.Mismatch}, nil
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

// look reads the row of an id, or nil.
func (s *Store) look(ctx context.Context, id [32]byte) (*row, error) {
	r := &row{}
	found, err := s.read(ctx, "reading a record", s.sql.look, []any{id[:]},
		&r.fingerprint, &r.lease, &r.expires, &r.status, &r.about, &r.result)
	if err != nil || !found {
		return nil, err
	}
	return r, nil
}

// try claims, or says what is known. It is not settled if others were faster than its two statements.
func (s *Store) try(ctx context.Context, id [32]byte, c idempotency.Claim) (prior idempotency.Prior, settled bool, err error) {
	if s.db.Dialect() == sqltx.PostgreSQL {
		return s.tryPostgres(ctx, id, c)
	}
	n, err := s.run(ctx, "claiming", s.sql.claim, s.claimArgs(id, c)...)
	if err != nil {
		return idempotency.Prior{}, false, err
	}
	if n > 0 {
		s.quotas.used(c)
		return idempotency.Prior{}, true, nil
	}
	return s.again(ctx, id, c)
}

// again looks at what was in the way of a claim.
func (s *Store) again(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, bool, error) {
	known, err := s.look(ctx, id)
	if err != nil || known == nil {
		return idempotency.Prior{}, false, err
	}
	prior, err := known.prior(c)
	return prior, prior.State != idempotency.Fresh, err
}

// tryPostgres does it in one statement, which returns what was known before, and whether the lock was had: null means that
// it was not asked for, as what is known settles it.
func (s *Store) tryPostgres(ctx context.Context, id [32]byte, c idempotency.Claim) (prior idempotency.Prior, settled bool, err error) {
	var held sql.NullBool
	var fresh bool
	var known row
	var lease, expires sql.NullInt64
	args := append(s.claimArgs(id, c), s.lock(id))
	if _, err := s.read(ctx, "claiming", s.sql.claim, args,
		&held, &fresh, &known.fingerprint, &lease, &expires, &known.status, &known.about, &known.result); err != nil {
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
	return s.again(ctx, id, c) // it came, or was replaced, after the statement had looked and before it had the lock
}

func (s *Store) claimArgs(id [32]byte, c idempotency.Claim) []any {
	expires := max(moment(c.Expires), moment(c.Until)) // a claim whose lease lasts is not purged
	return []any{id[:], c.Fingerprint[:], c.Owner[:], c.Token, moment(c.Until), expires, moment(c.Now), c.TakeOver}
}

// lock is the number of an id's advisory lock. Ids are hashes, so it is as good as any hash of them. Two that share one by
// chance, in this table or with other users of such locks, would be told that they are in flight, and come again.
func (s *Store) lock(id [32]byte) int64 {
	h := fnv.New64a()
	h.Write([]byte("stoa sqlrecords " + s.name))
	return int64(h.Sum64() ^ binary.BigEndian.Uint64(id[:8]))
}
