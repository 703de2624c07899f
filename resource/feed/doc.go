// Package feed tells what changed, in the order in which it changed, so that nobody who listens misses anything.
//
// Its nouns are an [Event], one change to one item; a [Cursor], a place between two events; a [Log], which keeps events
// beside the data they are about; and a [Feed], which reads the log once for a process and lets any number listen:
//
//	log := feed.NewMemory(nil) // or sqlfeed.New(db, nil), in the database of the data
//	changes := feed.New(log, nil)
//	defer changes.Close()
//	orders := resource.New("orders", store, nil)
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: changes}, orders)
//
// Every write of the catalog is then an event, appended in the transaction of the change where log and collection share
// one. Those who serve a catalog need no more: its doors listen for their clients. In Go one listens to a resource:
//
//	for change, err := range orders.Watch(ctx, after, query.Filter{}) { ... }
//
// # What listening promises
//
// Whoever listens from a cursor on is given every event behind it, each with its cursor, those of one item in the order of
// their commits. That is at least once by itself: a client that breaks off between an event and remembering it gets
// the event again when it comes back. With the cursor on every event it can tell, so its view is exactly once.
//
// A cursor that the log cannot go on from, as what comes behind it was purged, or as it is of another log or of a
// future that was lost with a restored backup, is [ErrExpired]: told, and never passed over in silence. The listener then
// lists anew and goes on from the cursor that it took before.
//
// # Who waits for whom
//
// Nobody. A listener is a cursor and not a queue: a [Feed] holds the newest events in a ring, and whoever is slower than
// that reads the log itself, a few at a time. Writers never wait for listeners.
//
// # Many processes
//
// Each reads the log ten times a second, and sooner when it has written itself. Two modules of their own do better: with
// resource/feed/pgnotify, processes that share a log in PostgreSQL tell each other when there is something; and with
// resource/feed/natsfeed one of them reads the log, and all others a stream of NATS. No event depends on either.
//
// # If you implement a log
//
// Run the kit of package feedtest. The two things to get right are that an event is there if, and only if, its change
// was committed, and that [Log.Tail] never passes a place at which an event may still turn up.
package feed
