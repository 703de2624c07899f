package history

import (
	"fmt"
	"slices"
	"sync"

	"github.com/stoa-go/stoa/ci/e2e/client"
)

// Item is the known state of one item whose version each write increments. It is safe for concurrent use.
type Item struct {
	ID   string
	Lane int

	mu  sync.Mutex
	n   int    // the newest version that is known to be committed
	tag string // the ETag of n
	// removed is the version whose deletion was acknowledged. doubtful has the versions whose deletion has an unknown outcome.
	removed  int
	doubtful []int
}

// NewItem returns an item of which version n was seen.
func NewItem(id string, lane, n int, tag string) *Item {
	return &Item{ID: id, Lane: lane, n: n, tag: tag}
}

// Known returns the newest known version and its ETag.
func (it *Item) Known() (n int, tag string) {
	it.mu.Lock()
	defer it.mu.Unlock()
	return it.n, it.tag
}

// Saw records a version that exists or has existed.
func (it *Item) Saw(n int, tag string) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if n > it.n {
		it.n, it.tag = n, tag
	}
}

// Deleted records the deletion of a version.
func (it *Item) Deleted(n int, acknowledged bool) {
	it.mu.Lock()
	defer it.mu.Unlock()
	if acknowledged {
		it.removed = n
		return
	}
	it.doubtful = append(it.doubtful, n)
}

// Life is everything that happened to an item: it was created as version 1, changed up to version N, and possibly deleted.
type Life struct {
	ID      string
	Lane, N int
	Deleted bool
	// Others are versions of which one may be the last instead of N, because the outcomes of the deletions are unknown.
	Others []int
}

// Settle returns the life of an item. left is the version in the table after all writes, or 0 if it is not there. An error means
// that a write was lost.
func (it *Item) Settle(left int) (Life, error) {
	it.mu.Lock()
	defer it.mu.Unlock()
	l := Life{ID: it.ID, Lane: it.Lane, N: left}
	switch {
	case left > 0 && it.removed > 0:
		return l, fmt.Errorf("item %s was deleted and exists", it.ID)
	case left > 0 && left < it.n:
		return l, fmt.Errorf("item %s has version %d, and had %d", it.ID, left, it.n)
	case left > 0:
		return l, nil
	}
	l.Deleted = true
	last := []int{it.removed}
	if it.removed == 0 {
		last = slices.DeleteFunc(slices.Clone(it.doubtful), func(n int) bool { return n < it.n })
		slices.Sort(last)
		last = slices.Compact(last)
	}
	if len(last) == 0 || last[0] < it.n {
		return l, fmt.Errorf("item %s had version %d, does not exist, and that version was not deleted", it.ID, it.n)
	}
	l.N, l.Others = last[0], last[1:]
	return l, nil
}

// Change is one event that a subscriber has to receive of an item. Deletions carry no version: their N counts the deletions
// before.
type Change struct {
	Kind string
	N    int
}

// Expected returns the events of an item in a view.
func (l Life) Expected(v client.View) []Change {
	if v.Lane != 0 && v.Lane != l.Lane {
		return nil
	}
	var changes []Change
	if !v.Open {
		changes = append(changes, Change{client.Created, 1})
		for n := 2; n <= l.N; n++ {
			changes = append(changes, Change{client.Updated, n})
		}
		if l.Deleted {
			changes = append(changes, Change{client.Deleted, 0})
		}
		return changes
	}
	left := 0
	for n := 1; n <= l.N; n++ { // odd versions are open
		if n%2 == 1 {
			changes = append(changes, Change{client.Created, n})
			continue
		}
		changes = append(changes, Change{client.Deleted, left})
		left++
	}
	if l.Deleted && l.N%2 == 1 {
		changes = append(changes, Change{client.Deleted, left})
	}
	return changes
}

// Deliveries counts the events that subscribers had to receive, and those that they did.
type Deliveries struct {
	Expected, Delivered int
	Violations
}

// AddAll adds the deliveries of another subscriber.
func (d *Deliveries) AddAll(other *Deliveries) {
	d.Expected += other.Expected
	d.Delivered += other.Delivered
	d.Merge(&other.Violations)
}

// CheckDeliveries compares the events that a subscriber has received with the lives of all items.
func CheckDeliveries(subscriber string, v client.View, lives map[string]Life, events []client.Event) *Deliveries {
	d := &Deliveries{}
	cursors := map[string]bool{}
	delivered := map[string]map[Change]bool{} // by item
	last := map[string]int{}                  // index of the last event of an item
	deletions := map[string]int{}
	order := map[string]map[Change]int{} // index of each expected event
	for id, l := range lives {
		order[id], delivered[id] = map[Change]int{}, map[Change]bool{}
		for i, c := range l.Expected(v) {
			order[id][c] = i + 1
		}
		d.Expected += len(order[id])
	}
	for _, e := range events {
		what := fmt.Sprintf("%s: %s %d of %s", subscriber, e.Kind, e.N, e.ID)
		if cursors[e.Cursor] {
			d.Violations.Add(Repeated, 1, "%s with the same cursor", what)
			continue
		}
		cursors[e.Cursor] = true
		c := Change{e.Kind, e.N}
		if e.Kind == client.Deleted {
			c.N = deletions[e.ID]
			deletions[e.ID]++
		}
		at := order[e.ID][c]
		switch {
		case at == 0:
			d.Violations.Add(Surplus, 1, "%s did not happen", what)
			continue
		case delivered[e.ID][c]:
			d.Violations.Add(Duplicate, 1, "%s with another cursor", what)
			continue
		case at < last[e.ID]:
			d.Violations.Add(Disordered, 1, "%s", what)
		}
		delivered[e.ID][c] = true
		last[e.ID] = max(last[e.ID], at)
		d.Delivered++
	}
	if lost := d.Expected - d.Delivered; lost > 0 {
		d.Violations.Add(Lost, lost, "%s: %s", subscriber, firstMissing(order, delivered))
	}
	return d
}

func firstMissing(order map[string]map[Change]int, delivered map[string]map[Change]bool) string {
	for id, changes := range order {
		for c := range changes {
			if !delivered[id][c] {
				return fmt.Sprintf("%s %d of %s", c.Kind, c.N, id)
			}
		}
	}
	return ""
}
