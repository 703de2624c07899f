package exec

import "sync"

// planKey is what a plan is kept under. The text is kept with it: a hash would let one document answer for another.
type planKey struct{ document, operation string }

// cache keeps plans, and forgets those that were not asked for longest when they become too many bytes. Its zero value
// keeps nothing.
//
// One lock guards it all. What is done under it are a look into a map and four pointers, some hundred nanoseconds in all;
// plans are made outside of it, so that a slow one keeps nobody waiting.
type cache struct {
	most int // bytes; whatever is negative keeps nothing, since every plan counts for something

	mu    sync.Mutex
	bytes int // of all plans
	plans map[planKey]*cached
	ends  cached // of the ring of all: ends.next was asked for last, and ends.prev longest ago
}

// cached is a plan in the ring.
type cached struct {
	key        planKey
	plan       *Plan
	prev, next *cached
}

// get returns the plan of a key, or nil.
func (c *cache) get(key planKey) *Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.plans[key]
	if e == nil {
		return nil
	}
	// The plan that is asked for again and again stays where it is.
	if c.ends.next != e {
		c.unlink(e)
		c.link(e)
	}
	return e.plan
}

// put keeps a plan, unless there is one of the key already: somebody may have made it meanwhile. It returns the one that
// is to be used from now on.
func (c *cache) put(key planKey, p *Plan) *Plan {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.plans[key]; e != nil {
		return e.plan
	}
	// What would throw out most of the others is not worth it.
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
	// This plan is at the other end of the ring, and less than all that may be kept, so it is never dropped here.
	for c.bytes > c.most {
		c.drop(c.ends.prev)
	}
	return p
}

// drop forgets a plan. Who runs it meanwhile is not disturbed.
func (c *cache) drop(e *cached) {
	c.unlink(e)
	delete(c.plans, e.key)
	c.bytes -= e.plan.bytes
}

// link puts a plan where the one is that was asked for last.
func (c *cache) link(e *cached) {
	e.prev, e.next = &c.ends, c.ends.next
	e.prev.next, e.next.prev = e, e
}

// unlink takes a plan out of the ring.
func (c *cache) unlink(e *cached) { e.prev.next, e.next.prev = e.next, e.prev }

// counts returns how many plans there are, and their bytes.
func (c *cache) counts() (plans, bytes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.plans), c.bytes
}
