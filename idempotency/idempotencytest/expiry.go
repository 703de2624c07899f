package idempotencytest

// Cases about time: records expire, are purged, and count towards a quota. Time is an argument of
// each call, so no case waits.

import (
	"strconv"
	"time"

	"github.com/stoa-go/stoa/idempotency"
)

// expiryCases tests expiry by the times in claims, and Purge.
func expiryCases() []testCase {
	return []testCase{
		{
			// The Guard purges about once a minute at most, so a record may be present long after
			// it expired. A store that serves it then would replay a response after its retention.
			name: "expiry",
			contract: "From the expires time of Finish on, a record is treated as absent, whether it has " +
				"been purged or not.",
			try: func(k *kit) {
				k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
				until := k.now.Add(2 * kept)
				k.must(
					k.store.Finish(k.ctx, id("x"), "t1", idempotency.Record{Status: 201, Done: k.now}, until),
					"Finish",
				)
				k.want(idempotency.Finished, "x", k.at("t2", until.Add(-time.Second)),
					"a second before it expires")
				other := k.at("t3", until)
				other.Fingerprint[0] = 'B'
				k.want(idempotency.Fresh, "x", other, "when it has expired")
				k.want(idempotency.Mismatch, "x", k.at("t4", until), "with the old fingerprint")
				k.must(
					k.store.Finish(k.ctx, id("x"), "t3", idempotency.Record{Status: 204, Done: until},
						until.Add(kept)),
					"Finish again",
				)
			},
		},
		{
			// A long operation may outlast the retention of its claim. Its id must not become free
			// while it runs.
			name:     "expiry of claims",
			contract: "A claim within its lease is InFlight even after Expires; an abandoned claim expires.",
			try: func(k *kit) {
				long := k.claim("t1")
				long.Until = k.now.Add(2 * kept)
				k.want(idempotency.Fresh, "x", long, "first claim")
				k.want(idempotency.InFlight, "x", k.at("t2", k.now.Add(kept)), "within the lease")
				k.want(idempotency.Fresh, "y", k.claim("t1"), "first claim")
				k.want(idempotency.Abandoned, "y", k.at("t2", k.now.Add(kept-time.Second)),
					"before it expires")
				k.want(idempotency.Fresh, "y", k.at("t3", k.now.Add(kept)), "when it has expired")
			},
		},
		{
			// A purge without a limit blocks other requests on a table with millions of rows.
			name: "purge",
			contract: "Purge removes at most max expired records and returns their number. Other records " +
				"remain, and so do claims within their lease, even after Expires.",
			try: tryPurge,
		},
	}
}

// at returns a claim at the given time. Its lease and its retention start at that time.
func (k *kit) at(token string, now time.Time) idempotency.Claim {
	c := k.claim(token)
	c.Now, c.Until, c.Expires = now, now.Add(lease), now.Add(kept)
	return c
}

// tryPurge purges 25 expired records, with a live record and a long claim beside them. A store with
// expiry of its own may report 0, but must have removed the same records.
func tryPurge(k *kit) {
	const old = 25
	for i := range old {
		k.done("old "+strconv.Itoa(i), "t")
	}
	later := k.now.Add(kept)
	k.want(idempotency.Fresh, "new", k.at("t1", later.Add(-time.Hour)), "first claim")
	k.must(
		k.store.Finish(k.ctx, id("new"), "t1", idempotency.Record{Status: 201, Done: k.now},
			later.Add(time.Hour)),
		"Finish",
	)
	long := k.claim("t1")
	long.Until = later.Add(time.Hour)
	k.want(idempotency.Fresh, "long", long, "first claim")
	purged := 0
	for _, max := range []int{10, 10, 10, 10} {
		n, err := k.store.Purge(k.ctx, later, max)
		k.must(err, "Purge")
		if n > max || n < 0 {
			k.errorf("Purge of at most %d removed %d", max, n)
		}
		purged += n
	}
	if purged != old && !(k.Forgets && purged == 0) {
		k.errorf("Purge removed %d, want %d", purged, old)
	}
	k.want(idempotency.Finished, "new", k.at("t2", later), "after Purge, of a live record")
	k.want(idempotency.InFlight, "long", k.at("t2", later), "after Purge, of a claim within its lease")
	k.want(idempotency.Fresh, "old 0", k.at("t2", later), "after Purge, of an expired record")
	k.must(
		k.store.Finish(k.ctx, id("long"), "t1", idempotency.Record{Status: 201, Done: k.now},
			later.Add(kept)),
		"Finish of the claim within its lease",
	)
}

// quotaCases tests the limit of live records per owner.
func quotaCases() []testCase {
	return []testCase{
		{
			// The quota limits how many records one client can make the store keep. It must not
			// reject replays of operations that are already counted.
			name: "quota",
			contract: "An owner may have Quota live records and claims. Existing operations are not " +
				"affected, and each owner has its own quota.",
			try: func(k *kit) {
				limited := func(token string) idempotency.Claim {
					c := k.claim(token)
					c.Quota = 3
					return c
				}
				k.done("1", "t1")
				k.want(idempotency.Fresh, "2", limited("t2"), "the second one of three")
				k.want(idempotency.Fresh, "3", limited("t3"), "the third one of three")
				k.want(idempotency.OverQuota, "4", limited("t4"), "the fourth one of three")
				k.want(idempotency.Finished, "1", limited("t5"), "of an existing operation")
				k.want(idempotency.InFlight, "2", limited("t6"), "of an existing operation")
				ben := limited("t7")
				ben.Owner[0] = 'b'
				k.want(idempotency.Fresh, "5", ben, "of another owner")
				k.must(k.store.Release(k.ctx, id("3"), "t3"), "Release")
				k.want(idempotency.Fresh, "4", limited("t8"), "after a release")
				k.want(idempotency.OverQuota, "6", limited("t9"), "when it is used up again")
				k.want(idempotency.Fresh, "6", k.claim("t10"), "without a quota")
				fresh := k.at("t11", k.now.Add(kept))
				fresh.Quota = 1
				k.want(idempotency.Fresh, "7", fresh, "when all others have expired")
			},
		},
	}
}
