package main

import (
	"context"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
)

// newKeyGuard returns the guard of idempotency keys. Its records are in the shop's database, so the
// record and the write commit in one transaction. Every write to a collection and every command is
// therefore applied exactly once for a key. The content of files is stored outside the database:
// files with assigned names are created once, others at most once.
//
// All contracts share the guard, so a retry may use another contract. Records are kept for 24 hours
// and purged automatically. A retry after that is a new request.
func (c *collections) newKeyGuard(ctx context.Context, s settings) (*idempotency.Guard, error) {
	opts := &idempotency.Options{Now: c.now, WaitTimeout: s.wait, Logger: s.logger}
	if !c.auth {
		opts.Quota = -1 // all callers share one principal
	}
	if c.db.sql == nil {
		return idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: c.db.memory}),
			opts), nil
	}
	records := sqlrecords.New(c.db.sql, nil)
	return idempotency.New(records, opts), records.CreateTable(ctx)
}
