package sorted_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
)

// pair is ordered by key alone, so that replacing one by another can be seen.
type pair struct{ Key, Version int }

func byKey(a, b pair) int { return a.Key - b.Key }

func all(v sorted.View[pair]) []pair {
	return slices.Collect(v.Between(sorted.Place{}, v.End(), false))
}

// model is what a List is compared with: a sorted slice, and copies of it where the List gave out snapshots.
type model struct {
	list      *sorted.List[pair]
	want      []pair
	snapshots []sorted.View[pair]
	wants     [][]pair
}

// step does one random thing to both.
func (m *model) step(rng *rand.Rand, keys, insertPercent int) {
	e := pair{rng.IntN(keys), rng.Int()}
	i, found := slices.BinarySearchFunc(m.want, e, byKey)
	switch {
	case !found && rng.IntN(100) < insertPercent:
		m.list.Insert(e)
		m.want = slices.Insert(m.want, i, e)
	case found && rng.IntN(100) < insertPercent:
		m.list.Replace(m.want[i], e)
		m.want[i] = e
	case found:
		m.list.Remove(e)
		m.want = slices.Delete(m.want, i, i+1)
	}
	if rng.IntN(500) == 0 {
		m.snapshots = append(m.snapshots, m.list.Snapshot())
		m.wants = append(m.wants, slices.Clone(m.want))
	}
}

// TestListAgainstSlice grows and shrinks a List at random through many chunks and compares it, and every snapshot of
// it, with slices.
func TestListAgainstSlice(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	m := &model{list: sorted.New(byKey)}
	for _, insertPercent := range []int{90, 50, 10, 70, 2} {
		for range 12_000 {
			m.step(rng, 6_000, insertPercent)
		}
		if diff := cmp.Diff(m.want, all(m.list.Live()), cmp.Transformer("nil", noNil)); diff != "" {
			t.Fatalf("after a phase of %d %% inserts (-want +got):\n%s", insertPercent, diff)
		}
	}
	if len(m.snapshots) < 50 {
		t.Fatalf("only %d snapshots were taken", len(m.snapshots))
	}
	for i, v := range m.snapshots {
		if !slices.Equal(m.wants[i], all(v)) {
			t.Fatalf("snapshot %d has changed", i)
		}
	}
}

// noNil makes an empty slice equal to a nil one.
func noNil(s []pair) []pair { return append([]pair{}, s...) }

func TestInsertInOrderAndBackwards(t *testing.T) {
	t.Parallel()
	const n = 5_000
	up, down := sorted.New(byKey), sorted.New(byKey)
	var want []pair
	for i := range n {
		up.Insert(pair{Key: i})
		down.Insert(pair{Key: n - 1 - i})
		want = append(want, pair{Key: i})
	}
	for _, l := range []*sorted.List[pair]{up, down} {
		if !slices.Equal(want, all(l.Live())) {
			t.Error("the elements are not in order")
		}
		for _, e := range want {
			l.Remove(e)
		}
		if v := l.Live(); v.End() != (sorted.Place{}) {
			t.Error("the emptied list has an element")
		}
	}
}

// TestViewPlaces checks every way to move about in a View against indexes of a slice.
func TestViewPlaces(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 2, 511, 512, 513, 3_000} {
		l := sorted.New(byKey)
		var want []pair
		for _, i := range rand.New(rand.NewPCG(3, uint64(n))).Perm(n) {
			l.Insert(pair{Key: 2 * i})
		}
		for i := range n {
			want = append(want, pair{Key: 2 * i})
		}
		v := l.Live()
		seek := func(key int) sorted.Place { return v.Seek(func(e pair) bool { return e.Key < key }) }
		if got := seek(2 * n); got != v.End() {
			t.Errorf("n=%d: behind the last is %v, want the end %v", n, got, v.End())
		}
		p := sorted.Place{}
		for i, e := range want {
			if got := v.At(p); got != e {
				t.Fatalf("n=%d: at place %d is %v, want %v", n, i, got, e)
			}
			if seek(2*i) != p || seek(2*i-1) != p {
				t.Fatalf("n=%d: seek does not find place %d", n, i)
			}
			if got := v.Count(sorted.Place{}, p); got != i {
				t.Fatalf("n=%d: %d elements before place %d", n, got, i)
			}
			next := v.Next(p)
			if v.Prev(next) != p || !p.Before(next) || next.Before(p) {
				t.Fatalf("n=%d: next and prev of place %d do not agree", n, i)
			}
			p = next
		}
		if p != v.End() {
			t.Errorf("n=%d: behind the last next is %v, want the end", n, p)
		}
	}
}

func TestViewBetween(t *testing.T) {
	t.Parallel()
	const n = 2_000
	l := sorted.New(byKey)
	var want []pair
	for i := range n {
		l.Insert(pair{Key: i})
		want = append(want, pair{Key: i})
	}
	v := l.Live()
	at := func(i int) sorted.Place { return v.Seek(func(e pair) bool { return e.Key < i }) }
	tests := []struct{ from, to int }{
		{0, n}, {0, 0}, {5, 6}, {0, 512}, {511, 513}, {512, 1024}, {700, 1800}, {n, n},
	}
	for _, tt := range tests {
		wanted := slices.Clone(want[tt.from:tt.to])
		got := slices.Collect(v.Between(at(tt.from), at(tt.to), false))
		if !slices.Equal(wanted, got) {
			t.Errorf("from %d to %d: wrong elements", tt.from, tt.to)
		}
		slices.Reverse(wanted)
		got = slices.Collect(v.Between(at(tt.from), at(tt.to), true))
		if !slices.Equal(wanted, got) {
			t.Errorf("from %d to %d backwards: wrong elements", tt.from, tt.to)
		}
		if got := v.Count(at(tt.from), at(tt.to)); got != len(wanted) {
			t.Errorf("from %d to %d: %d elements counted", tt.from, tt.to, got)
		}
	}
	for e := range v.Between(at(10), at(20), false) {
		if e.Key == 15 {
			break // must end the iteration, or it panics
		}
	}
	if got := slices.Collect(v.Between(at(20), at(10), false)); got != nil {
		t.Errorf("between places in the wrong order is %v", got)
	}
}

func TestPlaceMinMax(t *testing.T) {
	t.Parallel()
	l := sorted.New(byKey)
	l.Insert(pair{Key: 1})
	first, end := sorted.Place{}, l.Live().End()
	if sorted.Min(first, end) != first || sorted.Min(end, first) != first {
		t.Error("Min is not the earlier place")
	}
	if sorted.Max(first, end) != end || sorted.Max(end, first) != end {
		t.Error("Max is not the later place")
	}
}
