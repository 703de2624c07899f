// Package feed delivers the changes of a catalog, in commit order and without gaps, to any number
// of subscribers.
//
// An [Event] describes one change to one item. A [Cursor] is a position between two events. A [Log]
// stores events, usually in the database that holds the items. A [Feed] reads a log once per
// process and serves all subscribers of that process:
//
//	log := feed.NewMemory(nil) // or sqlfeed.New(db, nil), in the database of the data
//	changes := feed.New(log, nil)
//	defer changes.Close()
//	orders := resource.New("orders", store, nil)
//	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: changes}, orders)
//
// Each write of the catalog then appends an event. If the log and the collection share a
// transaction runner, the event commits in the transaction of the write. REST and GraphQL serve the
// events to their clients. Go code subscribes to a resource:
//
//	for change, err := range orders.Watch(ctx, after, query.Filter{}) { ... }
//
// # Delivery
//
// A subscriber that starts at a cursor receives every event after it. Events of one item arrive in
// the order of their commits. Delivery is at least once: a client that disconnects before it has
// stored the cursor of an event receives the event again. A client that compares cursors can
// discard such duplicates.
//
// If the log cannot continue from a cursor, the subscriber receives [ErrExpired]. This happens if
// the events after the cursor were purged, if the cursor belongs to another log, or if a restored
// backup has lost the position. The subscriber then lists the collection again and continues from
// the cursor of that list.
//
// # Backpressure
//
// A subscriber has a cursor and no queue. The [Feed] keeps recent events in a ring buffer. A
// subscriber that is slower than the buffer reads the log instead; [Options.MaxReads] limits how many
// do so concurrently. Writers never wait for subscribers.
//
// # Several processes
//
// Each process polls the log ten times a second, and immediately after its own writes. Two nested
// modules reduce that load: resource/sql/pgnotify wakes processes that share a log in PostgreSQL,
// and resource/feed/natsfeed lets one process read the log and publish it to NATS JetStream for the
// others. Neither is needed for correctness.
//
// # Implementing a Log
//
// Run the conformance tests of package feedtest. An implementation must meet two requirements: an
// event exists if and only if its change was committed, and [Log.Tail] never returns a position
// before which another event can still commit.
package feed
