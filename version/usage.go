package version

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync/atomic"
	"time"
)

// Usage counts the requests to a contract since the start of the program. It shows whether a
// contract can be retired.
type Usage struct {
	// Contract is the full name of the contract.
	Contract string
	// Requests counts requests that were passed to the contract, or rejected because it is retired
	// or in a brownout. CORS preflights do not count.
	Requests int64
	// Last is the time of the last of these requests; zero if there was none.
	Last time.Time
	// Sources counts the requests by Source of contract.Selection; "" counts those that used the default.
	Sources map[string]int64
	// Principals counts the requests by caller. At most 10,000 callers are counted separately; ""
	// counts all others.
	Principals map[string]int64
}

// Usage returns the counts of all contracts, newest first.
func (n *Negotiator) Usage() []Usage {
	all := make([]Usage, len(n.contracts))
	for i, c := range n.contracts {
		all[i] = c.usage.snapshot(c.Name, n.places)
	}
	return all
}

// maxPrincipals limits the callers that are counted separately per contract.
const maxPrincipals = 10_000

// shards is the number of maps of callers. Adding a caller copies one of them.
const shards = 64

// counters counts the requests of one contract. It is lock-free; a new caller copies one shard.
type counters struct {
	requests   atomic.Int64
	last       atomic.Int64   // Unix time in nanoseconds; 0 is never
	sources    []atomic.Int64 // by place; the remainder of requests used the default
	known      atomic.Int64   // number of callers
	seed       maphash.Seed
	principals [shards]atomic.Pointer[map[string]*atomic.Int64]
}

// count adds a request. It increments the total first, so that a concurrent report is never below
// the sum of its parts.
func (u *counters) count(place int, principal string, now time.Time) {
	u.requests.Add(1)
	u.last.Store(now.UnixNano())
	if place >= 0 {
		u.sources[place].Add(1)
	}
	if principal == "" {
		return
	}
	if counter := u.counter(principal); counter != nil {
		counter.Add(1)
	}
}

// counter returns the counter of a caller; nil if maxPrincipals is reached.
func (u *counters) counter(principal string) *atomic.Int64 {
	shard := &u.principals[maphash.String(u.seed, principal)%shards]
	for {
		old := shard.Load()
		if old != nil {
			if counter := (*old)[principal]; counter != nil {
				return counter
			}
		}
		if u.known.Add(1) > maxPrincipals {
			u.known.Add(-1)
			return nil
		}
		more, counter := map[string]*atomic.Int64{}, new(atomic.Int64)
		if old != nil {
			more = maps.Clone(*old)
		}
		more[strings.Clone(principal)] = counter // cloned, because it may be part of a larger string
		if shard.CompareAndSwap(old, &more) {
			return counter
		}
		u.known.Add(-1) // lost to a concurrent update; try again
	}
}

// snapshot returns the counts. The remainders are computed from the total.
func (u *counters) snapshot(contract string, places []place) Usage {
	r := Usage{Contract: contract, Sources: map[string]int64{}, Principals: map[string]int64{}}
	var named, called int64
	for i := range u.sources {
		if count := u.sources[i].Load(); count > 0 {
			r.Sources[places[i].source] += count
			named += count
		}
	}
	for i := range u.principals {
		shard := u.principals[i].Load()
		if shard == nil {
			continue
		}
		for principal, counter := range *shard {
			r.Principals[principal] = counter.Load()
			called += r.Principals[principal]
		}
	}
	r.Requests = u.requests.Load()
	if rest := r.Requests - named; rest > 0 {
		r.Sources[""] = rest
	}
	if rest := r.Requests - called; rest > 0 {
		r.Principals[""] = rest
	}
	if last := u.last.Load(); last != 0 {
		r.Last = time.Unix(0, last)
	}
	return r
}
