package exec

// The plan cache. Engine.Plan calls get and put for each request. Only valid documents are stored,
// so invalid ones cannot evict others.

import "sync"

// planKey is the key of a cached plan. It contains the whole text, because with a hash a collision
// would execute the wrong document.
type planKey struct{ document, operation string }

// cache is a least-recently-used cache of plans, limited by their size. The zero value keeps
// nothing.
//
// One mutex guards it. It is held for a map lookup and four pointers, a few hundred nanoseconds.
// Plans are compiled without it.
type cache struct {
	most int // maximum size in bytes; negative keeps nothing

	mu    sync.Mutex
	bytes int // size of all plans
	plans map[planKey]*cached
	ends  cached // list header: next is the most recently used plan, prev the least recently used
}

// cached is an entry of the list.
type cached struct {
	key        planKey
	plan       *Plan
	prev, next *cached
}

// get returns the plan for a key, or nil.
func (c *cache) get(key planKey) *Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.plans[key]
	if e == nil {
		return nil
	}
	// The most recently used plan need not move.
	if c.ends.next != e {
		c.unlink(e)
		c.link(e)
	}
	return e.plan
}

// put stores a plan and returns the plan to use, which is the stored one if another goroutine was
// faster. All requests then share one plan, with the durations that it has recorded.
func (c *cache) put(key planKey, p *Plan) *Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.plans[key]; e != nil {
		return e.plan
	}
	// A plan that would evict most others is not stored.
	if p.bytes > c.most/4 {
		return p
	}
	if c.plans == nil {
		c.plans = map[planKey]*cached{}
		c.ends.next, c.ends.prev = &c.ends, &c.ends
	}
	e := &cached{key: key, plan: p}
	c.plans[key] = e
	c.link(e)
	c.bytes += p.bytes
	// This plan is the most recently used one and smaller than the limit, so it is not dropped
	// here.
	for c.bytes > c.most {
		c.drop(c.ends.prev)
	}
	return p
}

// drop removes a plan. Runs of it are not affected. They have a reference to the plan of their own.
func (c *cache) drop(e *cached) {
	c.unlink(e)
	delete(c.plans, e.key)
	c.bytes -= e.plan.bytes
}

// link inserts an entry as the most recently used one.
func (c *cache) link(e *cached) {
	e.prev, e.next = &c.ends, c.ends.next
	e.prev.next, e.next.prev = e, e
}

// unlink removes an entry from the list.
func (c *cache) unlink(e *cached) { e.prev.next, e.next.prev = e.next, e.prev }

// counts returns the number of plans and their size.
func (c *cache) counts() (plans, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.plans), c.bytes
}
