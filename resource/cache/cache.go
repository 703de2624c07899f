// Package cache keeps encoded items in a limited amount of memory. An item is encoded once for each of its
// revisions, and its bytes are copied into each response that has it.
//
// Programs pass a [Cache] of [New] to resource.CatalogOptions, and read [Cache.Stats]. Package resource uses
// the other methods, after it has evaluated the policy.
package cache

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"
)

// Shape identifies one encoding of the items of one collection. The zero Shape identifies none.
type Shape uint64

var lastShape atomic.Uint64

// NewShape returns a Shape that no other call returns.
func NewShape() Shape { return Shape(lastShape.Add(1)) }

// Key identifies an encoded item.
type Key struct {
	Shape Shape
	ID    string
	Rev   string // empty for a text
}

// overhead is the memory of an entry beside its texts, in bytes.
const overhead = 160

// shards is the number of parts with a lock of their own.
const shards = 16

// DefaultBytes is the limit of the cache of a catalog without a Cache of its own.
const DefaultBytes = 32 << 20

// Cache maps keys to encoded items, and to pages of lists that are read repeatedly. If they need more than
// its limit, it discards items that were not used since it last looked for one to discard (the algorithm
// CLOCK). It is safe for concurrent use.
//
// Only the items of a resource.Revisioner or a resource.RevisionLister are kept, which declares that their
// JSON depends on the id and the revision alone. Set Options.NoCache of package resource if a method
// MarshalJSON or the function down of a View depends on anything else. With a decorator of Ops.Get or
// Ops.List a collection is neither.
//
// A database that is restored from a backup, or fails over and loses writes, may issue revisions again that
// are counters or system columns. Restart the program then.
//
// Items that are read inside a transaction are neither stored nor taken from the cache, because a revision
// that is rolled back may be issued again.
type Cache struct {
	seed   maphash.Seed
	limit  int // of a shard, in bytes
	shards [shards]shard
}

// shard is a part of a cache. Its padding keeps the locks of two shards out of one cache line.
type shard struct {
	mu     sync.Mutex
	items  map[uint64]*entry // by the hash of the key; of two keys with one hash one is kept
	ring   []*entry          // the same entries
	hand   int               // the index in ring of the next entry that may be discarded
	bytes  int
	hits   int64
	misses int64
	_      [64]byte
}

type entry struct {
	key  Key
	hash uint64
	item []byte

	count int32 // hits that a use counts as
	found uint8 // uses by GetText, modulo 256
	used  bool
}

// New returns a cache of at most limit bytes, of which an item may take a sixteenth. With zero or less it
// keeps nothing.
func New(limit int) *Cache {
	c := &Cache{seed: maphash.MakeSeed(), limit: max(limit, 0) / shards}
	for i := range c.shards {
		c.shards[i].items = map[uint64]*entry{}
	}
	return c
}

func size(k Key, item []byte) int { return len(k.ID) + len(k.Rev) + len(item) + overhead }

// hash returns the hash of a key of which the ID has a hash.
func (c *Cache) hash(shape Shape, id uint64, rev string) uint64 {
	const odd = 0x9e37_79b9_7f4a_7c15
	return (id*odd + maphash.String(c.seed, rev) + uint64(shape)) * odd
}

func (c *Cache) shardOf(hash uint64) *shard { return &c.shards[hash>>60%shards] }

// Get returns an encoded item, and nil if the cache does not have it. The caller must not change it.
func (c *Cache) Get(k Key) []byte {
	hash := c.hash(k.Shape, maphash.String(c.seed, k.ID), k.Rev)
	s := c.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.items[hash]
	if e == nil || e.key != k {
		s.misses++
		return nil
	}
	s.hits++
	e.used = true
	return e.item
}

// GetText returns what PutText keeps of a text, and nil if the cache does not have it, which is no miss. The
// caller must not change it. After each 16th hit touch is set: the items of which it was made are as old as
// if they were not used, and the caller should put them.
func (c *Cache) GetText(shape Shape, text []byte) (item []byte, touch bool) {
	hash := c.hash(shape, maphash.Bytes(c.seed, text), "")
	s := c.shardOf(hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.items[hash]
	if e == nil || e.key.Shape != shape || e.key.ID != string(text) || e.key.Rev != "" {
		return nil, false
	}
	s.hits += int64(e.count)
	e.used = true
	e.found++
	return e.item, e.found%16 == 0
}

// Fits reports whether the cache keeps an item of which the key and the encoding have n bytes together.
func (c *Cache) Fits(n int) bool { return n+overhead <= c.limit }

// Put keeps a copy of an encoded item. Equal keys have equal items, so if the cache has one, it stays and is
// used. A key without a revision is ignored.
func (c *Cache) Put(k Key, item []byte) {
	if k.Rev == "" || !c.Fits(len(k.ID)+len(k.Rev)+len(item)) {
		return
	}
	hash := c.hash(k.Shape, maphash.String(c.seed, k.ID), k.Rev)
	if c.shardOf(hash).has(hash) {
		return
	}
	// The texts may be parts of larger ones, such as the target of a request.
	k.ID, k.Rev = strings.Clone(k.ID), strings.Clone(k.Rev)
	c.add(&entry{key: k, hash: hash, item: append(make([]byte, 0, len(item)), item...), count: 1})
}

// has reports whether there is an entry with a hash, and marks it as used.
func (s *shard) has(hash uint64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.items[hash]
	if e != nil {
		e.used = true
	}
	return e != nil
}

// PutText is Put for count items that a text identifies together, without a revision. It copies the text and
// keeps item itself, so the caller must not change item afterwards.
func (c *Cache) PutText(shape Shape, text, item []byte, count int) {
	if !c.Fits(len(text) + len(item)) {
		return
	}
	hash := c.hash(shape, maphash.Bytes(c.seed, text), "")
	c.add(&entry{key: Key{shape, string(text), ""}, hash: hash, item: item, count: int32(count)})
}

// add keeps an entry unless there is one with its hash.
func (c *Cache) add(e *entry) {
	n := size(e.key, e.item)
	s := c.shardOf(e.hash)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.items[e.hash] != nil {
		return
	}
	for s.bytes+n > c.limit {
		s.discard()
	}
	s.items[e.hash] = e
	s.ring = append(s.ring, e)
	s.bytes += n
}

// discard removes the next entry that was not used since the hand last passed it.
func (s *shard) discard() {
	for {
		if s.hand >= len(s.ring) {
			s.hand = 0
		}
		e := s.ring[s.hand]
		if !e.used {
			last := len(s.ring) - 1
			s.ring[s.hand], s.ring[last] = s.ring[last], nil
			s.ring = s.ring[:last]
			delete(s.items, e.hash)
			s.bytes -= size(e.key, e.item)
			s.hand++ // the entry that was the last is new
			return
		}
		e.used = false
		s.hand++
	}
}

// Stats is what a [Cache] has done since it was made, and what it has now.
type Stats struct {
	// Hits and Misses count items that were found and not found. A page of a list that is found as a whole
	// counts as one hit for each of its items, and one that is not found as no miss.
	Hits, Misses int64
	Items        int // encoded items, and pages, each of which counts as one
	Bytes        int // about, with the memory for keys
}

// Stats returns the current numbers: sums of parts that are read one after the other. They are zero for a
// nil Cache.
func (c *Cache) Stats() (total Stats) {
	if c == nil {
		return Stats{}
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		total.Hits += s.hits
		total.Misses += s.misses
		total.Items += len(s.items)
		total.Bytes += s.bytes
		s.mu.Unlock()
	}
	return total
}
