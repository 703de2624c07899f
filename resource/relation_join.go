package resource

import (
	"slices"
	"sync"
)

// gathered are the keys of a relation for some entries, each once, and in the end what they lead to. A key is known by
// its slot, the place at which it first came; entries and rows are known by their indexes. So nothing of it is made anew
// for a page.
type gathered struct {
	ask   []string // the keys that the target is asked for; never used again, since a store may keep it
	names []string // by slot: the key
	// slots are the names turned round. Keys that ascend, as ids on a page do, are told apart without it, and rows mostly
	// come in the order of their keys: it is filled only when it is needed.
	slots  map[string]int32
	mapped bool
	guess  int // the slot of the row before

	raw  []string // as read, with repetitions; raw[bounds[i]:bounds[i+1]] are those of entry i
	text []byte   // of integers, which become keys together
	cuts []int32  // where in text each of them ends

	bounds []int32 // of the entries in raw, then in wanted, then in ends
	wanted []int32 // slots
	seen   []int32 // by slot: the last entry that had it, counted from 1

	count  []int32 // by slot: the rows that were kept, then where in placed they end
	rows   []int32 // by row: its slot
	placed []int32 // rows, by slot and in the order they came
	ends   []int32 // rows, by entry
}

var gatherers = sync.Pool{New: func() any { return &gathered{slots: map[string]int32{}} }}

// gather reads the keys of all entries.
func gather(l *link, from []Entry) *gathered {
	g := gatherers.Get().(*gathered)
	g.bounds = append(slices.Grow(g.bounds, len(from)+1), 0)
	for i := range from {
		switch {
		case l.field != nil:
			l.field.read(g, from[i].stored)
		case l.keys != nil:
			g.raw = append(g.raw, l.keys(from[i].stored)...)
		default:
			g.raw = append(g.raw, from[i].ID)
		}
		g.bounds = append(g.bounds, int32(len(g.raw)))
	}
	text, begin := string(g.text), int32(0)
	for i, end := range g.cuts {
		g.raw[i], begin = text[begin:end], end
	}
	g.distinguish(l)
	return g
}

// add adds a key. An empty text is none.
func (g *gathered) add(key string) {
	if key != "" {
		g.raw = append(g.raw, key)
	}
}

// addText adds the end of text as a key.
func (g *gathered) addText(text []byte) {
	g.text = text
	g.cuts = append(g.cuts, int32(len(text)))
	g.raw = append(g.raw, "")
}

// distinguish finds the slots of the keys, each once for an entry. There are no more of them than the limit: a client may
// have written them, and each costs a read and a place in the answer.
func (g *gathered) distinguish(l *link) {
	g.ask = make([]string, 0, min(len(g.raw), (len(g.bounds)-1)*l.Limit))
	for i := range len(g.bounds) - 1 {
		first := len(g.wanted)
		for _, key := range g.raw[g.bounds[i]:g.bounds[i+1]] {
			if len(g.wanted)-first == l.Limit {
				break
			}
			if slot := g.slotOf(key, l); g.seen[slot] != int32(i+1) {
				g.seen[slot] = int32(i + 1)
				g.wanted = append(g.wanted, slot)
			}
		}
		g.bounds[i] = int32(first)
	}
	g.bounds[len(g.bounds)-1] = int32(len(g.wanted))
}

func (g *gathered) slotOf(key string, l *link) int32 {
	if n := len(g.names); n > 0 && !g.mapped {
		switch last := g.names[n-1]; {
		case key == last:
			return int32(n - 1)
		case key < last:
			g.turnRound()
		}
	}
	slot := int32(len(g.names))
	if g.mapped {
		if known, ok := g.slots[key]; ok {
			return known
		}
		g.slots[key] = slot
	}
	g.names, g.seen, g.count = append(g.names, key), append(g.seen, 0), append(g.count, 0)
	if l.By != "" || l.target.core.canonical(key) {
		g.ask = append(g.ask, key)
	}
	return slot
}

// turnRound fills slots.
func (g *gathered) turnRound() {
	for slot, name := range g.names {
		g.slots[name] = int32(slot)
	}
	g.mapped = true
}

// find returns the slot of a key of a row: mostly that of the row before, or the next one.
func (g *gathered) find(key string) (int32, bool) {
	for _, slot := range [...]int{g.guess, g.guess + 1} {
		if slot < len(g.names) && g.names[slot] == key {
			g.guess = slot
			return int32(slot), true
		}
	}
	if !g.mapped {
		g.turnRound()
	}
	slot, ok := g.slots[key]
	if ok {
		g.guess = int(slot)
	}
	return slot, ok
}

// findText is find for a key that is no string yet, and need not become one.
func (g *gathered) findText(key []byte) (int32, bool) {
	for _, slot := range [...]int{g.guess, g.guess + 1} {
		if slot < len(g.names) && g.names[slot] == string(key) {
			g.guess = slot
			return int32(slot), true
		}
	}
	if !g.mapped {
		g.turnRound()
	}
	slot, ok := g.slots[string(key)]
	if ok {
		g.guess = int(slot)
	}
	return slot, ok
}

// hasRoom reports whether less than most rows of a slot have been kept.
func (g *gathered) hasRoom(slot int32, most int) bool { return int(g.count[slot]) < most }

// keep says that the next row is one of the slot.
func (g *gathered) keep(slot int32) {
	g.rows = append(g.rows, slot)
	g.count[slot]++
}

// join puts the rows to the entries, no more than the limit to each.
func (g *gathered) join(l *link) {
	sum := int32(0)
	for slot, n := range g.count { // where the first one goes, and after the loop behind the last one
		g.count[slot] = sum
		sum += n
	}
	g.placed = append(g.placed[:0], g.rows...)
	for row, slot := range g.rows {
		g.placed[g.count[slot]] = int32(row)
		g.count[slot]++
	}
	for i := range len(g.bounds) - 1 {
		first := len(g.ends)
		for _, slot := range g.wanted[g.bounds[i]:g.bounds[i+1]] {
			begin := int32(0)
			if slot > 0 {
				begin = g.count[slot-1]
			}
			room := l.Limit - (len(g.ends) - first)
			of := g.placed[begin:g.count[slot]]
			g.ends = append(g.ends, of[:min(len(of), room)]...)
		}
		g.bounds[i] = int32(first)
	}
	g.bounds[len(g.bounds)-1] = int32(len(g.ends))
}

// release gives the memory back, and forgets the texts in it. That of a rare large page is not kept.
func (g *gathered) release() {
	if cap(g.raw) > 4096 || cap(g.ends) > 16384 {
		return
	}
	clear(g.raw)
	clear(g.names)
	clear(g.slots)
	*g = gathered{names: g.names[:0], slots: g.slots, raw: g.raw[:0], text: g.text[:0], cuts: g.cuts[:0], bounds: g.bounds[:0],
		wanted: g.wanted[:0], seen: g.seen[:0], count: g.count[:0], rows: g.rows[:0], placed: g.placed[:0], ends: g.ends[:0]}
	gatherers.Put(g)
}

// Ends returns which of Entries follow from the item at index i of those that [Catalog.Follow] was given: indexes, in the
// order of the item's keys, and no more than the limit of the relation. It is valid until Release; the caller must not
// change it. A page that does not come from Follow has none.
func (p *Page) Ends(i int) []int32 {
	if p.ends == nil {
		return nil
	}
	return p.ends.ends[p.ends.bounds[i]:p.ends.bounds[i+1]:p.ends.bounds[i+1]]
}
