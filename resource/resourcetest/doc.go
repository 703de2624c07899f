// Package resourcetest checks that a [resource.Collection] keeps the promises on which package resource builds.
//
// It is for whoever writes a store. One test is the whole of it; T's values are made up from its schema:
//
//	func TestOrders(t *testing.T) {
//		resourcetest.Run(t, func(t *testing.T) resource.Collection[Order] {
//			return NewOrders(openDatabase(t)) // a new, empty collection each time
//		}, nil)
//	}
//
// Each promise is a subtest. What a collection can do is found out as package resource finds it out, and what it cannot
// do is not tested, so the subtest "capabilities" says which is which and [Options.Require] makes an absence a failure.
// What it claims to filter and sort by is stated in [Options.Support].
//
// # Failures
//
// A failure says what happened, then the promise that was broken and why it matters, then how to run that one subtest
// again with the same random choices:
//
//	Replace that named an older revision returned <nil>, want "the item has been changed meanwhile"
//	    A write names the revision it read. If the item has another one by now ...
//	    Seed 42. Replay: RESOURCETEST_SEED=42 go test -C /src/orders -count=1 -run '^TestOrders$/^replace-stale$' .
//
// The environment variable RESOURCETEST_SEED overrides [Options.Seed]. The order in which goroutines run is not part of
// the seed; a race that was caught once may need several replays.
//
// # What is asked of a store
//
// Values come back as they were sent: the same JSON, the same instants, nil and empty lists alike. Fields tagged readOnly
// are the store's own business. Times that the kit makes up are whole microseconds, which is what most databases keep.
// Text with U+0000, strings of a mebibyte and integers above the largest int64 may be refused with an error; they may
// not be stored as something else.
//
// A collection that takes in nothing is tested with the items it has from the start. Every other must be empty.
//
// # Collections behind something else
//
// [RunOps] runs the same cases against a [resource.Ops], whatever its functions do: a decorated collection, or a client
// that asks a server over HTTP. [Over] makes such a client for what a Catalog serves. Any other maps statuses back to the
// errors of package resource, too, gives entity tags as revisions, in lists as well, and answers Delete of an unknown
// revision like any other stale one.
//
// # What is told
//
// A feed.Watcher is listened to while it is written to, and again from each place that it gave. It says by a Bookmark when it
// has told all that it had to; where that does not come within a quarter of a minute, something is missing.
//
// # Bytes
//
// [RunBlobs] does the same for a [blob.Store].
package resourcetest
