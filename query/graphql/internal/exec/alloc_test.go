package exec_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestAllocations checks the allocations of a run with a cached plan. They are those of the catalog
// and the stores, with none per item. It does not run in parallel, because AllocsPerRun counts for
// the whole process.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	w := newShop(t, 200)
	tests := []struct {
		name, document, variables string
		most                      float64
	}{
		{"a list of 100 with two relations", list100, "", 40},
		{"with variables", `query($n: Int) ` + strings.Replace(list100, "100", "$n", 1), `{"n": 100}`, 48},
		{"a list of 200 with two relations",
			`{ orders(first: 200) { nodes { id status customer { name } lines { sku } } } }`, "", 40},
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

// TestPeakMemory queries 10,000 items and measures memory when the last one is written. Items and
// response together use at most three times the size of the response. The logger, which is called
// for an error of the last item, takes the measurement.
func TestPeakMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has memory of its own")
	}
	const size = 10_000
	store, nan := memory.New[rated](nil), math.NaN()
	for i := range size {
		o := rated{order: order{ID: int64(i + 1), Status: "paid", Total: 12.5,
			At: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)}}
		if i == size-1 {
			o.Rate = &nan
		}
		if _, err := store.Insert(t.Context(), strconv.Itoa(i+1), o); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{}
	w.catalog = resource.NewCatalog(nil, resource.New("orders", store,
		&resource.Options[rated]{Public: true, MaxPageSize: size}))
	w.open(t, setting{})
	document := fmt.Sprintf(`{ rateds: orders(first: %d) { nodes { id status total at customerId `+
		`__typename rate } } }`, size)
	peak := 0
	w.onLog = func() { peak = heap() }
	for range 3 { // the size of the response is not known the first time
		before := heap()
		answer, _ := w.engine.Run(t.Context(), w.plan(t, document), nil, nil)
		t.Logf("%d bytes for an answer of %d", peak-before, len(answer))
		if used := peak - before; used > 3*len(answer) || used < 2*len(answer) {
			t.Errorf("%d bytes for an answer of %d", used, len(answer))
		}
	}
}

// rated is an order with a value that JSON may not be able to represent.
type rated struct {
	order
	Rate *float64 `json:"rate"`
}
