package version

import (
	"hash/maphash"
	"maps"
	"strings"
	"sync/atomic"
	"time"
)

// Usage tells how much a contract is used, since a contract can be retired only when it is not.
type Usage struct {
	Contract string
	// Requests counts those that were handed to the contract, or refused because it is retired. CORS preflights are none.
	Requests int64
	// Last is when the last of them came; zero if none did.
	Last time.Time
	// Sources counts them by where the contract was named; "" is for those to which it is the default.
	Sources map[string]int64
	// Principals counts them by caller. Only so many callers are remembered; those beyond are counted under "".
	Principals map[string]int64
}

// Usage returns the counts since the start of the program, newest contract first.
func (n *Negotiator) Usage() []Usage {
	all := make([]Usage, len(n.contracts))
	for i, c := range n.contracts {
		all[i] = c.used.report(c.Name, n.places)
	}
	return all
}

// maxPrincipals is how many callers of one contract are remembered.
const maxPrincipals = 10_000

// shards divide the callers, so that to remember one more copies few of the others.
const shards = 64

// usage counts. No request waits for another one to be counted, but where a caller comes for the first time.
type usage struct {
	requests   atomic.Int64
	last       atomic.Int64   // in nanoseconds since 1970; 0 is never
	sources    []atomic.Int64 // by place; what they leave over is the default's
	known      atomic.Int64   // how many callers there are
	seed       maphash.Seed
	principals [shards]atomic.Pointer[map[string]*atomic.Int64]
}

// count adds a request. The whole is counted before its parts, so that a report never has less than the sum of them.
func (u *usage) count(place int, principal string, now time.Time) {
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

// counter returns that of a caller; nil if there is no room for another one.
func (u *usage) counter(principal string) *atomic.Int64 {
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
		more[strings.Clone(principal)] = counter // it may be a piece of something large
		if shard.CompareAndSwap(old, &more) {
			return counter
		}
		u.known.Add(-1) // somebody else came at the same time
	}
}

// report sums up. What is not counted by its own is what the others leave over.
func (u *usage) report(contract string, places []place) Usage {
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
