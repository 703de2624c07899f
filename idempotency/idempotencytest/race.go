package idempotencytest

// Cases with concurrent claims. Exactly one of them may win, however the store schedules them.

import (
	"strconv"
	"sync"

	"github.com/stoa-go/stoa/idempotency"
)

// raceCases tests concurrent claims and Finish calls.
func raceCases() []testCase {
	return []testCase{
		{
			// A client that retries after a timeout sends copies of one request, often to different
			// servers. A store that reads first and then writes lets several of them pass.
			name: "concurrent claims",
			contract: "Of many concurrent claims of one id exactly one is Fresh, and only its token can " +
				"finish.",
			try: func(k *kit) {
				for round := range 4 {
					k.race("copy "+strconv.Itoa(round),
						func(token string) idempotency.Claim { return k.claim(token) })
				}
			},
		},
		{
			// The copies find the same abandoned claim. Replacing it must be one atomic step as
			// well, for example an update with the old token in its condition.
			name:     "concurrent takeovers",
			contract: "Of many concurrent claims with TakeOver, exactly one takes over an abandoned claim.",
			try: func(k *kit) {
				for round := range 4 {
					name := "abandoned " + strconv.Itoa(round)
					k.want(idempotency.Fresh, name, k.claim("first"), "first claim")
					k.race(name, func(token string) idempotency.Claim {
						c := k.at(token, k.now.Add(lease))
						c.TakeOver = true
						return c
					})
					k.lost(k.finish(name, "first", 500), "Finish with the previous token")
				}
			},
		},
		{
			// The retries of one Finish may overlap if the response of the database was lost.
			name: "concurrent Finish",
			contract: "Of many concurrent Finish calls of one claim exactly one succeeds, and all later " +
				"claims return its record.",
			try: func(k *kit) {
				k.want(idempotency.Fresh, "x", k.claim("t1"), "first claim")
				var mu sync.Mutex
				var won []int
				k.together(func(n int) {
					if k.finish("x", "t1", 200+n) == nil {
						mu.Lock()
						defer mu.Unlock()
						won = append(won, 200+n)
					}
				})
				rec := k.want(idempotency.Finished, "x", k.claim("t2"), "after Finish")
				if len(won) != 1 || rec.Status != won[0] {
					k.errorf("Finish succeeded for %v, and the record has %d", won, rec.Status)
				}
			},
		},
	}
}

// together runs fn concurrently in Copies goroutines. They start at the same moment, so that the
// window between a read and a write is hit.
func (k *kit) together(fn func(n int)) {
	start := make(chan struct{})
	var wg sync.WaitGroup
	for n := range k.Copies {
		wg.Go(func() {
			<-start
			fn(n)
		})
	}
	close(start)
	wg.Wait()
}

// race claims one id concurrently. One claim must be Fresh and all others InFlight. Afterwards only
// the token of the Fresh claim may finish, so a store that returned Fresh once but stored the token
// of another claim fails.
func (k *kit) race(name string, claim func(token string) idempotency.Claim) {
	var mu sync.Mutex
	var fresh []string
	k.together(func(n int) {
		token := "t" + strconv.Itoa(n)
		prior, err := k.store.Claim(k.ctx, id(name), claim(token))
		switch {
		case err != nil:
			k.errorf("Claim of %s during %d others failed: %v", name, k.Copies-1, err)
		case prior.State == idempotency.Fresh:
			mu.Lock()
			defer mu.Unlock()
			fresh = append(fresh, token)
		case prior.State != idempotency.InFlight:
			k.errorf("Claim of %s during %d others returned %s, want Fresh once and otherwise InFlight", name,
				k.Copies-1, prior.State)
		}
	})
	if len(fresh) != 1 {
		k.errorf("of %d claims of %s %d were Fresh, want 1", k.Copies, name, len(fresh))
		return
	}
	k.lost(k.finish(name, fresh[0]+"x", 500), "Finish with another token")
	k.must(k.finish(name, fresh[0], 201), "Finish with the token of the Fresh claim")
}
