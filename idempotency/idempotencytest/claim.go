package idempotencytest

// Cases about claims: at most one call executes an operation, and a lease that ends can be taken
// over.

import (
	"bytes"
	"context"
	"time"

	"github.com/stoa-go/stoa/idempotency"
)

// claimCases tests Claim, and the states that Finish and Release lead to.
func claimCases() []testCase {
	return []testCase{
		{
			// The token of the claim is no exception: a request that is sent again must not run a
			// second time.
			name: "claim",
			contract: "The first claim of an id is Fresh. Until it is finished or released, further " +
				"claims are InFlight. Other ids are independent.",
			try: func(k *kit) {
				k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
				k.want(idempotency.InFlight, "x", k.claim("t2"), "second claim")
				k.want(idempotency.InFlight, "x", k.claim("t1"), "with the token of the first claim")
				k.want(idempotency.Fresh, "y", k.claim("t3"), "first claim")
			},
		},
		{
			// The claim is repeated, because a store may remove a record when it returns it.
			name:     "finish",
			contract: "A finished operation is Finished for each further claim, with its record.",
			try: func(k *kit) {
				k.done("x", "t1")
				for range 2 {
					if rec := k.want(idempotency.Finished, "x", k.claim("t2"),
						"after Finish"); rec.Status != 201 {
						k.errorf("the record has the status %d, want 201", rec.Status)
					}
				}
			},
		},
		{
			// The Guard releases a claim if the operation had no effect, such as a request that
			// failed validation. The client may then correct the request and use the same key.
			name:     "release",
			contract: "A released id is Fresh again, also with another fingerprint.",
			try: func(k *kit) {
				k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
				k.must(k.store.Release(k.ctx, id("x"), "t1"), "Release")
				other := k.claim("t2")
				other.Fingerprint[0] = 'B'
				k.want(idempotency.Fresh, "x", other, "after Release")
			},
		},
		{
			// A key that is used for a different request is a bug of the client. It must get an
			// error, and neither the record of the first request nor a second effect.
			name: "mismatch",
			contract: "A claim with another fingerprint is a Mismatch, whether the first is in flight, " +
				"abandoned or finished, and has no effect.",
			try: tryMismatch,
		},
		{
			// The Guard compares requests in different contracts by their members.
			name: "members",
			contract: "A Mismatch has the fingerprint and the members of the first claim, whether that " +
				"is in flight, taken over or finished.",
			try: tryMembers,
		},
		{
			// A Finish or Release that reports an error must not take effect later: the caller has
			// already decided what to do.
			name:     "context",
			contract: "A call with a context that is done fails and has no effect.",
			try: func(k *kit) {
				ctx, cancel := context.WithCancel(k.ctx)
				cancel()
				if prior, err := k.store.Claim(ctx, id("x"), k.claim("t1")); err == nil {
					k.errorf("Claim with a canceled context: %s, want an error", prior.State)
				}
				k.want(idempotency.Fresh, "x", k.claim("t2"), "first claim with a context")
				if err := k.finishIn(ctx, "x", "t2", 201); err == nil {
					k.errorf("Finish with a canceled context succeeded")
				}
				if err := k.store.Release(ctx, id("x"), "t2"); err == nil {
					k.errorf("Release with a canceled context succeeded")
				}
				k.want(idempotency.InFlight, "x", k.claim("t3"), "after the rejected calls")
			},
		},
	}
}

// tokenCases tests that only the token of the claim can finish or release it.
func tokenCases() []testCase {
	return []testCase{
		{
			// Without tokens, a slow call that was taken over would overwrite the record of its
			// successor.
			name: "tokens",
			contract: "Finish and Release need the token of the claim. With another token, or without a " +
				"claim, they return ErrLost and have no effect.",
			try: func(k *kit) {
				k.lost(k.finish("x", "t1", 201), "Finish without a claim")
				k.lost(k.store.Release(k.ctx, id("x"), "t1"), "Release without a claim")
				k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
				k.lost(k.finish("x", "t2", 500), "Finish with another token")
				k.lost(k.finish("x", "", 500), "Finish without a token")
				k.lost(k.store.Release(k.ctx, id("x"), "t2"), "Release with another token")
				k.want(idempotency.InFlight, "x", k.claim("t2"), "after the rejected calls")
				k.must(k.finish("x", "t1", 201), "Finish")
			},
		},
		{
			// Clients may have received the record, so every replay must return the same one.
			name:     "finished is final",
			contract: "A record is final: neither its own token nor another changes it.",
			try: func(k *kit) {
				k.done("x", "t1")
				k.lost(k.finish("x", "t1", 500), "the second Finish")
				k.lost(k.store.Release(k.ctx, id("x"), "t1"), "Release of a finished operation")
				rec := k.want(idempotency.Finished, "x", k.claim("t2"), "after the rejected calls")
				if rec.Status != 201 {
					k.errorf("the record has the status %d, want 201", rec.Status)
				}
			},
		},
	}
}

// leaseCases tests abandoned claims and takeovers. The times are those of the claims, so no case
// waits for a lease.
func leaseCases() []testCase {
	return []testCase{
		{
			// A process that crashed leaves its claim. After the lease the outcome is unknown, and
			// the Guard reports that in place of a conflict. A process that was only slow may still
			// finish.
			name: "abandoned",
			contract: "From Until on the claim is Abandoned. Its token can still finish, because a late " +
				"outcome is better than an unknown one.",
			try: func(k *kit) {
				k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
				late := k.claim("t2")
				late.Now = k.now.Add(lease - time.Second)
				k.want(idempotency.InFlight, "x", late, "a second before the lease ends")
				late.Now = k.now.Add(lease)
				k.want(idempotency.Abandoned, "x", late, "when the lease ends")
				k.want(idempotency.Abandoned, "x", late, "again")
				k.must(k.finish("x", "t1", 201), "Finish after the lease")
				k.want(idempotency.Finished, "x", late, "after Finish")
			},
		},
		{
			// Only an operation that may be repeated is claimed with TakeOver. Without the check of
			// the lease, it would run twice at the same time.
			name: "takeover",
			contract: "A claim with TakeOver is Fresh if the existing one is Abandoned, and only then. " +
				"The previous token is then invalid.",
			try: func(k *kit) {
				k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
				over := k.claim("t2")
				over.TakeOver = true
				k.want(idempotency.InFlight, "x", over, "with TakeOver, within the lease")
				over.Now, over.Until = k.now.Add(lease), k.now.Add(2*lease)
				k.want(idempotency.Fresh, "x", over, "with TakeOver, after the lease")
				k.lost(k.finish("x", "t1", 500), "Finish with the previous token")
				k.lost(k.store.Release(k.ctx, id("x"), "t1"), "Release with the previous token")
				again := over
				again.Token = "t3"
				k.want(idempotency.InFlight, "x", again, "within the lease of the second")
				k.must(k.finish("x", "t2", 201), "Finish with the new token")
				again.Now = k.now.Add(3 * lease)
				k.want(idempotency.Finished, "x", again, "with TakeOver, of a finished operation")
			},
		},
	}
}

// tryMembers compares what a Mismatch returns with the first claim.
func tryMembers(k *kit) {
	first, other := k.claim("t1"), k.claim("t2")
	first.Members, other.Members = []byte("\x00a"), []byte("\xffb")
	other.Fingerprint[0] = 'B'
	check := func(when string) {
		prior, err := k.store.Claim(k.ctx, id("x"), other)
		k.must(err, "Claim")
		if prior.State != idempotency.Mismatch || prior.Fingerprint != first.Fingerprint ||
			!bytes.Equal(prior.Members, first.Members) {
			k.errorf("%s another claim is %s with the fingerprint %x and the members %q, "+
				"want Mismatch, %x and %q", when, prior.State, prior.Fingerprint, prior.Members,
				first.Fingerprint, first.Members)
		}
	}
	k.want(idempotency.Fresh, "x", first, "first claim")
	check("while the first is in flight,")
	first.Token, first.Now, first.TakeOver = "t3", k.now.Add(lease), true
	first.Until = first.Now.Add(lease)
	k.want(idempotency.Fresh, "x", first, "with TakeOver")
	check("after it was taken over,")
	k.must(k.finish("x", "t3", 201), "Finish")
	check("after it is finished,")
}

// tryMismatch claims with another fingerprint in each state, and shows that the first claim can
// still finish.
func tryMismatch(k *kit) {
	other := k.claim("t2")
	other.Fingerprint[31] = 1
	k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
	k.want(idempotency.Mismatch, "x", other, "while the first is in flight")
	k.must(k.finish("x", "t1", 201), "Finish")
	k.want(idempotency.Mismatch, "x", other, "after the first is finished")
	k.want(idempotency.Finished, "x", k.claim("t3"), "with the right fingerprint")

	k.want(idempotency.Fresh, "y", k.claim("t1"), "first claim")
	other.Now, other.TakeOver = k.now.Add(lease), true
	k.want(idempotency.Mismatch, "y", other, "with TakeOver, after the first is abandoned")
	if err := k.finish("y", "t1", 201); err != nil {
		k.errorf("after a Mismatch the first cannot finish: %v", err)
	}
}
