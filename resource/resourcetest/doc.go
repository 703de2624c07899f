// Package resourcetest tests implementations of [resource.Collection].
//
// One test runs all cases. Values of T are generated from its schema:
//
//	func TestOrders(t *testing.T) {
//		resourcetest.Run(t, func(t *testing.T) resource.Collection[Order] {
//			return NewOrders(openDatabase(t)) // a new, empty collection each time
//		}, nil)
//	}
//
// Each case is a subtest. The kit detects the capabilities of the collection like package resource.
// Cases of absent capabilities are skipped. The subtest "capabilities" lists both, and an absent
// capability in [Options.Require] is a failure. The filters and sort keys are those that
// [Options.Resource] declares, or [Options.Support].
//
// # Failures
//
// A case that builds on a failed case is skipped, because it would fail for the same reason: pages are
// not tested if the order is wrong. Run the test again after each fix.
//
// A failure message has three parts: what happened, the contract with its reason, and the command
// that runs the subtest again with the same random choices:
//
//	Replace with revision "" of an item that has revision "7k2f" returned no error, want "..."
//	    A write names the revision it read. If the item has another one, ...
//	    Seed 42. Replay: RESOURCETEST_SEED=42 go test -C /src -count=1 -run '^TestOrders$/^replace-stale$' .
//
// The environment variable RESOURCETEST_SEED overrides [Options.Seed]. The seed does not determine
// how goroutines are scheduled, so a race may need several replays.
//
// # Requirements
//
// A store returns values as they were sent: the same JSON and the same instants, with nil and empty
// lists treated alike. Times may be in any location and may have a monotonic clock reading. A store may
// set fields tagged readOnly, but not those with the tag set: package resource sends them, and they must
// return as they were sent. Generated times are whole microseconds, the precision of most databases.
// A store may reject text with U+0000, strings of 1 MiB and integers above the largest int64 with an
// error, but must not change them.
//
// A read-only collection is tested with its existing items. Any other must be empty.
//
// A collection with a composite id, tag id, is tested as package resource uses it: without Create, and
// without filters and orders that name the id. The fields of the key hold generated ids, of which
// several share a field, and no extreme values.
//
// # Remote collections
//
// [RunOps] runs the same cases for a [resource.Ops], such as a decorated collection or an HTTP
// client. A client must convert status codes to the errors of package resource, return entity tags as
// revisions, also in lists, and return ErrStale for a Delete with an unknown revision.
//
// # Changes
//
// A feed.Watcher is read while the collection changes, and again from each of its cursors. It
// reports by a Bookmark that no events are pending. A Bookmark that does not arrive within 15
// seconds is a failure.
//
// # Reads without values
//
// The results of resource.JSONLister, RevisionLister and Revisioner are compared with those of List and
// Get: for random queries, after each write, and in transactions. A collection with transactions is also
// served by package rest with a cache, which must not keep an item that was rolled back.
//
// # Blobs
//
// [RunBlobs] tests implementations of [blob.Store].
package resourcetest
