package resource

// The cache of encoded items. Called by programs; core.go attaches it to resources. It calls package
// itemcache.

import "github.com/stoa-go/stoa/resource/internal/itemcache"

// Cache keeps items as JSON, so that an item is encoded once for each of its revisions, and pages of lists
// that are read repeatedly. Its memory is limited, and what was not used for the longest time is
// discarded. In CatalogOptions, nil means a cache of [DefaultCacheBytes], and NewCache(0) none.
// A Cache is safe for concurrent use.
//
// Only the items of a [Revisioner] or a [RevisionLister] are kept, which declares that their JSON depends on
// the id and the revision alone. Set Options.NoCache if a method MarshalJSON or the function down of a
// [View] depends on anything else. With a decorator of Ops.Get or
// Ops.List a collection is neither.
//
// A database that is restored from a backup, or fails over and loses writes, may issue revisions again that
// are counters or system columns. Restart the program then.
//
// Policy is evaluated before the cache is used. Items that are read inside a transaction are neither
// stored nor taken from the cache, because a revision that is rolled back may be issued again.
type Cache struct{ items *itemcache.Cache }

// DefaultCacheBytes is the limit of the cache of a [Catalog] without CatalogOptions.Cache.
const DefaultCacheBytes = 32 << 20

// NewCache returns a cache of at most bytes. With zero or less it keeps nothing.
func NewCache(bytes int) *Cache {
	if bytes <= 0 {
		return &Cache{}
	}
	return &Cache{itemcache.New(bytes)}
}

// CacheStats is what a [Cache] has done since it was made, and what it has now.
type CacheStats struct {
	// Hits and Misses count items that were found and not found. A page of a list that is found as a whole
	// counts as one hit for each of its items, and one that is not found as no miss.
	Hits, Misses int64
	Items        int // encoded items, and pages, each of which counts as one
	Bytes        int // about, with the memory for keys
}

// Stats returns the current numbers.
func (c *Cache) Stats() CacheStats {
	if c == nil || c.items == nil {
		return CacheStats{}
	}
	s := c.items.Stats()
	return CacheStats{Hits: s.Hits, Misses: s.Misses, Items: s.Items, Bytes: s.Bytes}
}
