// Package pgnotify notifies all processes that share an event log in PostgreSQL when one of them
// commits an event, by NOTIFY and LISTEN. Without it a process finds events of other processes when
// it polls the log, ten times a second.
//
//	log := pgnotify.New(sqlfeed.New(db, nil), config, nil) // *pgx.ConnConfig of the same database
//	go log.Run(ctx)
//	changes := feed.New(log, nil)
//
// A notification carries no event and may be lost. Each process polls the log as before, so only
// the latency of events depends on notifications.
//
// A process holds one connection for LISTEN. It must connect to the server directly, because a
// pooler in transaction mode drops the subscription. NOTIFY is sent through the pool of the log,
// after the commit and at most every 10ms, independent of the number of events. Inside the
// transactions of the writes it would take a lock of the whole database at each commit, which
// halves the rate of commits.
package pgnotify
