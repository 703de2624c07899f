package main

import (
	"context"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
)

// newKeeper keeps the keys of requests in the shop's own database, so that what is done and that it was done are written in
// one transaction: every collection and every command of the shop is done exactly once for a key. Bytes of files are beside
// the database, and so are the exception: those that the shop names itself are created once, others at most once.
//
// All contracts share it: a key that came through one of them is known in the others. Records are kept for a day, and the
// keeper purges them as it goes.
func (c *collections) newKeeper(ctx context.Context, s settings) (*idempotency.Guard, error) {
	opts := &idempotency.Options{Now: c.now, WaitTimeout: s.wait, Logger: s.logger}
	if c.db.sql == nil {
		return idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: c.db.memory}), opts), nil
	}
	records := sqlrecords.New(c.db.sql, nil)
	return idempotency.New(records, opts), records.CreateTable(ctx)
}
