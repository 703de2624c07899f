// Package pgnotify tells all processes that share a log in PostgreSQL when one of them has committed an event, so that they do
// not find out only when they look, which is ten times a second.
//
//	log := pgnotify.New(sqlfeed.New(db, nil), config, nil) // *pgx.ConnConfig of the same database
//	go log.Run(ctx)
//	changes := feed.New(log, nil)
//
// What is told is only that there is something, and it may be lost: everybody goes on looking, as often as before, and reads
// the log as before. So nothing depends on it but how soon a change is seen.
//
// A process holds one connection, on which it listens, and which goes to the database itself: a pooler that hands connections
// out by transaction forgets who listens. It tells with a statement of its own through the pool of the log, after the commit
// and at most once in 10 ms, whatever it appends. A NOTIFY inside of the transactions of the writes would take a lock of the
// whole database at each commit, and halve what it can do.
package pgnotify
