package resource

// Lists from the cache of encoded items: the items of a page, and whole pages. Called by list_cursor.go
// and list.go. It calls package cache.

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/binary"
	"hash"
	"math/rand/v2"
	"sync/atomic"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// keep stores the items of a page in the cache, for the next list.
func (w *pageQuery) keep(rows []Entry) {
	s := w.r.projection
	for i := range rows {
		e := &rows[i]
		if !w.encoded {
			item, err := s.typ.Append(nil, e.Value)
			if err != nil {
				continue // the caller reports it
			}
			e.JSON = item
		}
		w.cache.Put(s.cacheKey(e), e.JSON)
	}
}

// coldLists is how many lists follow without a look into the cache after one for which it had too few
// items. Looking costs a list of revisions.
const coldLists = 15

// fewMissing is the number of items that are read one by one, whatever the size of the page.
const fewMissing = 4

// fromCache sets the JSON of a page of which the revisions have been read: all of it from the cache if
// it has the page, otherwise item by item. It reads the items that the cache does not have. ok is false
// if an item has changed in between, if one has no revision or cannot be encoded, or if the cache lacks a
// quarter of the items. The page then has to be read again.
func (w *pageQuery) fromCache(ctx context.Context, rows []Entry, p *Page) (ok bool, err error) {
	for i := range rows {
		if rows[i].Rev == "" {
			return false, nil
		}
	}
	if w.cachedPage(rows, p) {
		return true, nil
	}
	s := w.r.projection
	var missing []string
	for i := range rows {
		if rows[i].JSON = w.cache.Get(s.cacheKey(&rows[i])); rows[i].JSON == nil {
			missing = append(missing, rows[i].ID)
		}
	}
	if missing == nil {
		w.keepPage(rows)
		return true, nil
	}
	if len(missing) > fewMissing && 4*len(missing) >= len(rows) {
		w.r.core.cold.Store(coldLists)
		return false, nil
	}
	return w.readMissing(ctx, rows, missing)
}

// readMissing reads the items of a page that the cache does not have.
func (w *pageQuery) readMissing(ctx context.Context, rows []Entry, missing []string) (ok bool, err error) {
	c, s := w.r.core, w.r.projection
	found := c.ops.newBuffer()
	defer found.release()
	if err := c.ops.getMany(ctx, missing, found); err != nil {
		return false, err
	}
	byID := make(map[string]*Entry, len(missing))
	for i := range found.entries() {
		e := &found.entries()[i]
		byID[e.ID] = e
	}
	for i := range rows {
		if rows[i].JSON != nil {
			continue
		}
		e := byID[rows[i].ID]
		if e == nil || e.Rev != rows[i].Rev {
			return false, nil
		}
		item, err := s.typ.Append(nil, e.Value)
		if err != nil {
			return false, nil
		}
		w.cache.Put(s.cacheKey(e), item)
		rows[i].JSON = item
	}
	return true, nil
}

// isCold reports whether a list should not look into the cache, and counts it.
func (c *core) isCold() bool { return c.cold.Load() > 0 && c.cold.Add(-1) >= 0 }

// cachedPage sets the JSON of rows and of p if the cache has the page. A page is found by its ids and
// revisions, so any change of an item makes it another one. Then the other items are needed, so they must
// not be discarded while the page is used.
func (w *pageQuery) cachedPage(rows []Entry, p *Page) bool {
	if len(rows) < 2 {
		return false
	}
	text := textOf(rows)
	page, touch := w.cache.GetText(w.r.projection.pageShape, *text)
	texts.Put(text)
	if page == nil {
		return false
	}
	// The items, joined by commas, the end of each item, and the state of the hash of text.
	page, p.hashed = page[:len(page)-hashSize], page[len(page)-hashSize:]
	ends := page[len(page)-endSize*len(rows):]
	start := 0
	for i := range rows {
		end := int(binary.LittleEndian.Uint32(ends[endSize*i:]))
		rows[i].JSON = page[start:end:end]
		start = end + 1 // after the comma
		if touch {
			w.cache.Put(w.r.projection.cacheKey(&rows[i]), rows[i].JSON)
		}
	}
	p.JSON = page[: start-1 : start-1]
	return true
}

// endSize is the size of the end of an item in a cached page, in bytes.
const endSize = 4

// keepPage stores a page of which the cache had all items, if the page was read recently and is not too
// large. Pages that are read once need no memory then.
func (w *pageQuery) keepPage(rows []Entry) {
	if len(rows) < 2 {
		return
	}
	text := textOf(rows)
	defer texts.Put(text)
	size := (1+endSize)*len(rows) + hashSize
	for i := range rows {
		size += len(rows[i].JSON)
	}
	if !w.cache.Fits(len(*text) + size) {
		return
	}
	h := sha256.New()
	h.Write(*text)
	if !w.r.projection.pages.seen(h.Sum(nil)) {
		return
	}
	page := make([]byte, 0, size)
	for i := range rows {
		if i > 0 {
			page = append(page, ',')
		}
		page = append(page, rows[i].JSON...)
	}
	end := 0
	for i := range rows {
		end += len(rows[i].JSON)
		page = binary.LittleEndian.AppendUint32(page, uint32(end))
		end++ // the comma
	}
	w.cache.PutText(w.r.projection.pageShape, *text, append(page, stateOf(h)...), len(rows))
}

// hashSize is the size of the state of a hash, in bytes.
var hashSize = len(stateOf(sha256.New()))

// stateOf returns the state of a hash of package sha256.
func stateOf(h hash.Hash) []byte {
	state, err := h.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		panic(err) // the hashes of package sha256 return none
	}
	return state
}

// textOf returns the ids and revisions of rows, in memory of the pool texts. A zero byte follows each. If one
// of them has a zero byte itself, the text begins with a zero byte, the number of rows and all lengths.
// Otherwise different rows could have the same text.
func textOf(rows []Entry) *[]byte {
	text := texts.Get()
	*text = appendRevisions(*text, rows)
	const eachRow = 2 // zero bytes
	if b := *text; len(b) > 0 && (b[0] == 0 || bytes.Count(b, []byte{0}) != eachRow*len(rows)) {
		b = binary.AppendUvarint(append(b[:0], 0), uint64(len(rows)))
		for i := range rows {
			b = binary.AppendUvarint(b, uint64(len(rows[i].ID)))
			b = binary.AppendUvarint(b, uint64(len(rows[i].Rev)))
		}
		*text = appendRevisions(b, rows)
	}
	return text
}

func appendRevisions(dst []byte, rows []Entry) []byte {
	for i := range rows {
		e := &rows[i]
		dst = append(append(append(append(dst, e.ID...), 0), e.Rev...), 0)
	}
	return dst
}

// texts has memory for textOf and contentRev.
var texts = httpbody.NewBuffers(4096, 64<<10)

// Digest returns the SHA-256 hash of the ids and revisions of the entries, in their order, and of suffix. ok
// is false if an entry has no revision.
func (p *Page) Digest(suffix []byte) (digest [sha256.Size]byte, ok bool) {
	h := sha256.New()
	if p.hashed == nil || h.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.hashed) != nil {
		for i := range p.Entries {
			if p.Entries[i].Rev == "" {
				return digest, false
			}
		}
		text := textOf(p.Entries)
		h.Write(*text)
		texts.Put(text)
	}
	h.Write(suffix)
	h.Sum(digest[:0])
	return digest, true
}

// recentPages has parts of the hashes of pages that were read recently, in sets. The zero value is empty. It
// is safe for concurrent use.
type recentPages [64][4]atomic.Uint64

// seen reports whether the page with this hash was read recently, and remembers it. It replaces a random
// page of its set. The oldest one would be wrong: of pages that are read in turn and are more than a set can
// have, none would be found.
func (p *recentPages) seen(hash []byte) bool {
	part, set := binary.LittleEndian.Uint64(hash), &p[hash[8]%uint8(len(p))]
	for i := range set {
		if set[i].Load() == part {
			return true
		}
	}
	set[rand.IntN(len(set))].Store(part)
	return false
}
