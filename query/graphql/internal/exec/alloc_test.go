package exec_test

import (
	"fmt"
	"runtime"
	"testing"
)

// TestAllocations holds a hit of the plan cache to its budget. What is allocated is what the catalog and the stores need
// for their calls, none of it for an item. It is not parallel: AllocsPerRun counts for the whole process.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	w := newShop(t, 200)
	tests := []struct {
		name, document, variables string
		most                      float64
	}{
		{"a list of 100 with two relations",
			`{ orders(first: 100) { nodes { id status total at customer { id name } lines { id sku qty } } } }`, "", 40},
		{"with variables", list100, `{"n": 100}`, 48},
		{"a list of 200 with two relations", `{ orders(first: 200) { nodes { id status customer { name } lines { sku } } } }`, "", 40},
		{"one item", `{ order(id: 7) { id status total } }`, "", 12},
		{"introspection", fullIntrospection, "", 1},
		{"names", `{ __typename }`, "", 1},
	}
	for _, tt := range tests {
		given, buf := vars(t, tt.variables), make([]byte, 0, 1<<20)
		n := testing.AllocsPerRun(200, func() {
			out, _ := w.engine.Run(t.Context(), w.plan(t, tt.document), given, buf)
			if len(out) < 10 {
				t.Fatal("no answer")
			}
		})
		t.Logf("%s: %v allocations", tt.name, n)
		if n > tt.most {
			t.Errorf("%s: %v allocations, want %v at most", tt.name, n, tt.most)
		}
	}
}

// TestPeak asks for 10,000 items when nothing is left in any pool. All memory that is allocated on the way, which is more
// than there ever is at one time, is at most three times the answer.
func TestPeak(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has memory of its own")
	}
	const size = 10_000
	w := newShop(t, size)
	document := fmt.Sprintf(`{ orders(first: %d) { nodes { id status total at customerId __typename } } }`, size)
	for range 3 { // the first time nothing is known of the answer
		runtime.GC()
		runtime.GC() // which empties the pools
		before := allocated()
		answer, _ := w.engine.Run(t.Context(), w.plan(t, document), nil, nil)
		used := allocated() - before
		t.Logf("%d bytes for an answer of %d", used, len(answer))
		if used > 3*len(answer) {
			t.Errorf("%d bytes for an answer of %d", used, len(answer))
		}
	}
}

// allocated returns how much memory has ever been allocated.
func allocated() int {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.TotalAlloc)
}
