package keys

import (
	"slices"
	"sync"
)

// Join finds which rows follow from which items: the keys of all items are collected, each once;
// rows are looked up for them in one request; and each row is assigned to the items that have its
// key.
//
// The methods are called in this order: for each item Add or [Reader.Read], then EndItem; Distinct;
// for each row Find or [Reader.Find], then Keep; Assign; Ends; Release.
//
// A key is known by its slot, the order in which it came first; items and rows by their indexes. So
// little is allocated for a page. A Join is not safe for concurrent use.
type Join struct {
	limit int      // of the rows of an item
	ask   []string // keys to look up; never reused, because a store may keep it
	names []string // by slot: the key
	// slots has the slots by name. Ascending keys, such as ids on a page, are distinct without it,
	// and rows mostly come in the order of their keys, so it is filled only when it is needed.
	slots  map[string]int32
	mapped bool
	guess  int // the slot of the row before
	// single reports that each item has one key, and that the keys ascend, so that the slot of an item is
	// its index. Ids of a page are mostly so. unsorted reports that rows came in another order.
	single, unsorted bool

	raw  []string // as read, with repetitions; raw[bounds[i]:bounds[i+1]] are those of item i
	text []byte   // of integers, which become strings together
	cuts []int32  // where in text each of them ends

	bounds []int32 // of the items in raw, then in wanted, then in ends
	wanted []int32 // slots
	seen   []int32 // by slot: the last item that had it, counted from 1

	count  []int32 // by slot: the rows that were kept, then where in placed they end
	rows   []int32 // by row: its slot
	placed []int32 // rows, by slot and in the order they came
	ends   []int32 // rows, by item
}

var joins = sync.Pool{New: func() any { return &Join{slots: map[string]int32{}} }}

// NewJoin returns an empty Join for n items from a pool.
func NewJoin(n int) *Join {
	j := joins.Get().(*Join)
	j.bounds = append(slices.Grow(j.bounds, n+1), 0)
	return j
}

// Add adds keys of the current item.
func (j *Join) Add(keys ...string) { j.raw = append(j.raw, keys...) }

// addText adds the end of text as a key.
func (j *Join) addText(text []byte) {
	j.text = text
	j.cuts = append(j.cuts, int32(len(text)))
	j.raw = append(j.raw, "")
}

// EndItem ends the current item. Either all keys of a Join are added as text, or none.
func (j *Join) EndItem() { j.bounds = append(j.bounds, int32(len(j.raw))) }

// Distinct returns the keys that are to be looked up, each once: those for which valid is true, or
// all if it is nil. Of the keys of an item only the first are used, up to limit, which also limits
// the rows of an item: a client may have written the keys, and each costs a read and a place in the
// answer. The caller may keep the result.
func (j *Join) Distinct(limit int, valid func(key string) bool) []string {
	text, begin := string(j.text), int32(0)
	for i, end := range j.cuts {
		j.raw[i], begin = text[begin:end], end
	}
	j.limit = limit
	j.ask = make([]string, 0, min(len(j.raw), (len(j.bounds)-1)*limit))
	if limit > 0 && j.askSingle(valid) {
		return j.ask
	}
	for i := range len(j.bounds) - 1 {
		first := len(j.wanted)
		for _, key := range j.raw[j.bounds[i]:j.bounds[i+1]] {
			if len(j.wanted)-first == limit {
				break
			}
			if slot := j.slotOf(key, valid); j.seen[slot] != int32(i+1) {
				j.seen[slot] = int32(i + 1)
				j.wanted = append(j.wanted, slot)
			}
		}
		j.bounds[i] = int32(first)
	}
	j.bounds[len(j.bounds)-1] = int32(len(j.wanted))
	return j.ask
}

// askSingle is Distinct for items of which each has one key, in ascending order. For others it returns
// false, without an effect.
func (j *Join) askSingle(valid func(key string) bool) bool {
	n := len(j.raw)
	if n != len(j.bounds)-1 {
		return false
	}
	for i, key := range j.raw {
		if j.bounds[i] != int32(i) || i > 0 && j.raw[i-1] >= key {
			return false
		}
	}
	for _, key := range j.raw {
		if valid == nil || valid(key) {
			j.ask = append(j.ask, key)
		}
	}
	j.single = true
	j.names, j.raw = j.raw, j.names // the keys are distinct, so each has a slot
	j.count = slices.Grow(j.count, n)[:n]
	clear(j.count)
	return true
}

// slotOf returns the slot of a key, and a new one for a key that has none. As long as keys ascend,
// each is new or equals the last one, and no map is needed.
func (j *Join) slotOf(key string, valid func(string) bool) int32 {
	if n := len(j.names); n > 0 && !j.mapped {
		switch last := j.names[n-1]; {
		case key == last:
			return int32(n - 1)
		case key < last:
			j.fillSlots()
		}
	}
	slot := int32(len(j.names))
	if j.mapped {
		if known, ok := j.slots[key]; ok {
			return known
		}
		j.slots[key] = slot
	}
	j.names, j.seen, j.count = append(j.names, key), append(j.seen, 0), append(j.count, 0)
	if valid == nil || valid(key) {
		j.ask = append(j.ask, key)
	}
	return slot
}

// fillSlots makes the map of the keys so far. From then on slotOf maintains it.
func (j *Join) fillSlots() {
	for slot, name := range j.names {
		j.slots[name] = int32(slot)
	}
	j.mapped = true
}

// Find returns the slot of a key of a row: mostly that of the row before, or the next one.
func (j *Join) Find(key string) (slot int32, ok bool) {
	for _, slot := range [...]int{j.guess, j.guess + 1} {
		if slot < len(j.names) && j.names[slot] == key {
			j.guess = slot
			return int32(slot), true
		}
	}
	if !j.mapped {
		j.fillSlots()
	}
	if slot, ok = j.slots[key]; ok {
		j.guess = int(slot)
	}
	return slot, ok
}

// findText is Find without making a string of the key. The conversion in a comparison and in an
// index expression does not allocate.
func (j *Join) findText(key []byte) (slot int32, ok bool) {
	for _, slot := range [...]int{j.guess, j.guess + 1} {
		if slot < len(j.names) && j.names[slot] == string(key) {
			j.guess = slot
			return int32(slot), true
		}
	}
	if !j.mapped {
		j.fillSlots()
	}
	if slot, ok = j.slots[string(key)]; ok {
		j.guess = int(slot)
	}
	return slot, ok
}

// Len returns the number of slots.
func (j *Join) Len() int { return len(j.names) }

// Name returns the key of a slot.
func (j *Join) Name(slot int32) string { return j.names[slot] }

// Slots returns the slots of the keys of the item at index i, as Distinct has used them, in their order. It
// must not be called after Assign.
func (j *Join) Slots(i int) []int32 {
	if !j.single {
		return j.wanted[j.bounds[i]:j.bounds[i+1]]
	}
	for len(j.wanted) <= i { // an item has the slot of its index
		j.wanted = append(j.wanted, int32(len(j.wanted)))
	}
	return j.wanted[i : i+1]
}

// HasRoom reports whether fewer than max rows of a slot have been kept.
func (j *Join) HasRoom(slot int32, max int) bool { return int(j.count[slot]) < max }

// Keep adds the next row to a slot.
func (j *Join) Keep(slot int32) {
	if n := len(j.rows); n > 0 && slot < j.rows[n-1] {
		j.unsorted = true
	}
	j.rows = append(j.rows, slot)
	j.count[slot]++
}

// Assign assigns the rows to the items, not more than the limit to each.
func (j *Join) Assign() {
	if j.single && !j.unsorted && j.assignSorted() {
		return
	}
	if j.single {
		for slot := range j.names {
			j.wanted = append(j.wanted, int32(slot))
		}
	}
	sum := int32(0)
	for slot, n := range j.count { // the place of the first row, and after the loop the place after the last
		j.count[slot] = sum
		sum += n
	}
	j.placed = append(j.placed[:0], j.rows...)
	for row, slot := range j.rows {
		j.placed[j.count[slot]] = int32(row)
		j.count[slot]++
	}
	for i := range len(j.bounds) - 1 {
		first := len(j.ends)
		for _, slot := range j.wanted[j.bounds[i]:j.bounds[i+1]] {
			begin := int32(0)
			if slot > 0 {
				begin = j.count[slot-1]
			}
			free := j.limit - (len(j.ends) - first)
			of := j.placed[begin:j.count[slot]]
			j.ends = append(j.ends, of[:min(len(of), free)]...)
		}
		j.bounds[i] = int32(first)
	}
	j.bounds[len(j.bounds)-1] = int32(len(j.ends))
}

// assignSorted is Assign for rows in the order of the items. It reports false, without an effect, if an
// item has more rows than the limit.
func (j *Join) assignSorted() bool {
	for _, n := range j.count {
		if int(n) > j.limit {
			return false
		}
	}
	sum := int32(0)
	for i, n := range j.count {
		j.bounds[i] = sum
		sum += n
	}
	j.bounds[len(j.count)] = sum
	j.ends = slices.Grow(j.ends, int(sum))[:sum]
	for row := range j.ends {
		j.ends[row] = int32(row)
	}
	return true
}

// Ends returns the rows of the item at index i, in the order of its keys. The result is valid until
// Release.
func (j *Join) Ends(i int) []int32 {
	return j.ends[j.bounds[i]:j.bounds[i+1]:j.bounds[i+1]]
}

// Release returns the memory to the pool, without the strings in it. That of a rare large page is
// left to the garbage collector.
func (j *Join) Release() {
	if max(cap(j.raw), cap(j.names)) > 4096 || cap(j.ends) > 16384 {
		return
	}
	clear(j.raw)
	clear(j.names)
	clear(j.slots)
	*j = Join{names: j.names[:0], slots: j.slots, raw: j.raw[:0], text: j.text[:0], cuts: j.cuts[:0],
		bounds: j.bounds[:0], wanted: j.wanted[:0], seen: j.seen[:0], count: j.count[:0], rows: j.rows[:0],
		placed: j.placed[:0], ends: j.ends[:0]}
	joins.Put(j)
}
