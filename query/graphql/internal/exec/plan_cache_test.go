package exec_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
)

func document(i int) string { return fmt.Sprintf(`{ a%d: book(id: 1) { id title } }`, i) }

// TestEviction checks that the least recently used plan is evicted.
func TestEviction(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	w.plan(t, document(0))
	_, one := w.engine.Cached()
	w = newWorld(t, setting{config: exec.Config{PlanBytes: 8*one + one/2}})
	made := map[int]*exec.Plan{}
	for i := range 8 {
		made[i] = w.plan(t, document(i))
	}
	if n, bytes := w.engine.Cached(); n != 8 || bytes != 8*one {
		t.Fatalf("%d plans of %d bytes are kept, want 8 of %d", n, bytes, 8*one)
	}
	if w.plan(t, document(0)) != made[0] {
		t.Error("the first one was compiled again")
	}
	w.plan(t, document(8)) // evicts 1
	for _, i := range []int{0, 2, 7} {
		if w.plan(t, document(i)) != made[i] {
			t.Errorf("%d was compiled again", i)
		}
	}
	if w.plan(t, document(1)) == made[1] {
		t.Error("1 was kept")
	}
	if n, bytes := w.engine.Cached(); n != 8 || bytes != 8*one {
		t.Errorf("%d plans of %d bytes are kept, want 8 of %d", n, bytes, 8*one)
	}
}

func TestPlanNotCached(t *testing.T) {
	t.Parallel()
	large := `{ ` + strings.Repeat("books { nodes { id } } ", 40) + `}`
	tests := []struct {
		name, document string
		bytes          int
	}{
		{"no cache", document(1), -1},
		{"what does not parse", `{`, 0},
		{"what is not valid", `{ nope }`, 0},
		{"what would throw out much else", large, 4000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{config: exec.Config{PlanBytes: tt.bytes}})
			for range 2 {
				w.engine.Plan(tt.document, "")
			}
			if n, bytes := w.engine.Cached(); n != 0 || bytes != 0 {
				t.Errorf("%d plans of %d bytes are kept", n, bytes)
			}
		})
	}
}

// TestConcurrentPlans checks that concurrent requests for a document get the same plan.
func TestConcurrentPlans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{config: exec.Config{PlanBytes: 30_000}})
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for i := range 60 {
				got, want := w.ask(t, document(i%20)),
					fmt.Sprintf(`{"data":{"a%d":{"id":"1","title":"First"}}}`, i%20)
				if got != want {
					t.Errorf("answer %s, want %s", got, want)
				}
			}
		})
	}
	group.Wait()
	if _, bytes := w.engine.Cached(); bytes > 30_000 {
		t.Errorf("%d bytes are kept", bytes)
	}
}

// TestPlanBytes compares the estimated size of plans that have run with their memory. It does not run in
// parallel, because it measures the heap.
func TestPlanBytes(t *testing.T) {
	variables := map[string]string{"variables": `{"a": 1}`, "conditions": `{"a": true, "b": true}`,
		"both": `{"t": "x"}`}
	documents := map[string]func(i int) string{
		"small": document,
		"large": func(i int) string {
			return fmt.Sprintf(`{ a%d: books { nodes { `, i) +
				strings.Repeat("id title author { name books { id } } ", 20) +
				`reviews { id } editions { year } } } }`
		},
		"variables": func(i int) string {
			return fmt.Sprintf(`query($a: ID!, $b: String, $c: Int) { a%d: book(id: $a) { id } `+
				`books(filter: {title: {eq: $b}}, first: $c) { nodes { id } } }`, i)
		},
		"conditions": func(i int) string {
			return fmt.Sprintf(`query($a: Boolean!, $b: Boolean!) { a%d: book(id: 1) { `, i) +
				strings.Repeat("title @skip(if: $a) ... @include(if: $b) { id title } ", 10) + `} }`
		},
		"introspection": func(i int) string {
			return fmt.Sprintf(`{ a%d: __schema { types { name description fields { name } } } }`, i)
		},
		"both": func(i int) string {
			return fmt.Sprintf(`query($t: String!) { a%d: books(filter: {or: [`, i) +
				strings.Repeat(`{title: {eq: $t}}, `, 50) + `]}) { nodes { id } } }`
		},
		"arguments": func(i int) string {
			return fmt.Sprintf(`{ a%d: books(filter: {or: [`, i) +
				strings.Repeat(`{title: {eq: "x"}}, `, 50) + `]}) { nodes { id } } }`
		},
	}
	for name, document := range documents {
		t.Run(name, func(t *testing.T) {
			w, given := newWorld(t, setting{}), vars(t, variables[name])
			run := func(i int) {
				if _, outcome := w.engine.Run(t.Context(), w.plan(t, document(i)), given, nil); outcome != exec.Done {
					t.Fatalf("outcome %v", outcome)
				}
			}
			run(1000)
			const n = 100
			before := heap()
			for i := range n {
				run(i)
			}
			took := heap() - before
			_, bytes := w.engine.Cached()
			runtime.KeepAlive(w)
			t.Logf("%d bytes for each, counted as %d", took/n, bytes/(n+1))
			if counted := bytes / (n + 1) * n; took > counted*3/2 || took < counted/6 {
				t.Errorf("%d plans take %d bytes, and count as %d", n, took, counted)
			}
		})
	}
}

// heap returns the memory in use.
func heap() int {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
