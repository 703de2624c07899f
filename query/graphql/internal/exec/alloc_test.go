package exec_test

import (
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
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
		{"a list of 100 with two relations", list100, "", 38},
		{"with variables", `query($n: Int) ` + strings.Replace(list100, "100", "$n", 1), `{"n": 100}`, 38},
		{"a list of 200 with two relations",
			`{ orders(first: 200) { nodes { id status customer { name } lines { sku } } } }`, "", 35},
		{"one item", `{ order(id: 7) { id status total } }`, "", 4},
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

// TestKeptMaps checks that a run in the pool keeps few maps, and small ones.
func TestKeptMaps(t *testing.T) {
	t.Parallel()
	// manyFields has fields with arguments that depend on the first of some variables.
	manyFields := func(variables, fields int) (document string, given map[string]jsontext.Value) {
		var head, body strings.Builder
		given = map[string]jsontext.Value{}
		for i := range variables {
			fmt.Fprintf(&head, "$v%d: Int, ", i)
			given[fmt.Sprintf("v%d", i)] = jsontext.Value("1")
		}
		for i := range fields {
			fmt.Fprintf(&body, "a%d: books(first: $v%d) { nodes { id } } ", i, i%variables)
		}
		return "query(" + head.String() + ") { " + body.String() + "}", given
	}
	tests := []struct {
		name              string
		variables, fields int
		wantArguments     int
		wantValues        bool
	}{
		{"few", 3, 10, 10, true},
		{"many fields", 3, 90, 0, true},
		{"many variables", 40, 40, 40, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{})
			document, given := manyFields(tt.variables, tt.fields)
			for range 2 {
				arguments, values := w.engine.Kept(w.plan(t, document), given)
				if arguments != tt.wantArguments || values != tt.wantValues {
					t.Errorf("%d maps of arguments, variables %v, want %d, %v", arguments, values,
						tt.wantArguments, tt.wantValues)
				}
			}
		})
	}
}

// TestIdleSubscriptionMemory checks that a subscription does not keep memory for the variables of
// another operation, which ran before it. It does not run in parallel, because it measures the heap.
func TestIdleSubscriptionMemory(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	w := newWorld(t, setting{feed: true})
	var head, body strings.Builder
	large := map[string]jsontext.Value{}
	for i := range 30 {
		fmt.Fprintf(&head, "$v%d: Int, ", i)
		fmt.Fprintf(&body, "a%d: books(first: $v%d) { nodes { id } } ", i, i)
		large[fmt.Sprintf("v%d", i)] = jsontext.Value("1")
	}
	other := w.plan(t, "query("+head.String()+") { "+body.String()+"}")
	plan := w.plan(t, `subscription($t: String) { bookChanged(filter: {title: {eq: $t}}) { id } }`)
	given := vars(t, `{"t": "First"}`)
	const n = 1000
	listeners := make([]*exec.Listener, n)
	before := heap()
	for i := range listeners {
		w.engine.Kept(other, large)
		listeners[i] = w.engine.Listener(plan, given, true)
	}
	used := (heap() - before) / n
	runtime.KeepAlive(listeners)
	t.Logf("%d bytes for each subscription", used)
	if used > 1500 {
		t.Errorf("%d bytes for each subscription, want 1500 at most", used)
	}
}

// TestGrowthOfRelation checks that the memory for a long list of related items is allocated after a
// few of them, if the size of the response is not known. It does not run in parallel, because it
// measures the heap.
func TestGrowthOfRelation(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector has memory of its own")
	}
	const size = 10_000
	orders, lines := memory.New[order](nil), memory.New(&memory.Options[line]{Index: []string{"orderId"}})
	if _, err := orders.Create(t.Context(), order{Status: "paid"}); err != nil {
		t.Fatal(err)
	}
	for i := range size {
		if _, err := lines.Create(t.Context(), line{OrderID: 1, SKU: strconv.Itoa(i + size)}); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{}
	w.catalog = resource.NewCatalog(nil,
		resource.New("orders", orders, &resource.Options[order]{Public: true,
			Relations: []resource.Relation[order]{
				{Name: "lines", Target: "lines", By: "orderId", Limit: size}}}),
		resource.New("lines", lines, &resource.Options[line]{Public: true, Query: query.Support{
			Filter: map[string][]query.Op{"orderId": {query.Eq}}}}))
	w.open(t, setting{})
	allocated := func(p *exec.Plan) (bytes, answer int) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		out, _ := w.engine.Run(t.Context(), p, nil, nil)
		runtime.ReadMemStats(&after)
		return int(after.TotalAlloc - before.TotalAlloc), len(out)
	}
	for i := range 3 { // a garbage collection may empty the pools between two runs
		p := w.plan(t, fmt.Sprintf(`{ a%d: order(id: 1) { lines { sku qty orderId } } }`, i))
		first, answer := allocated(p)
		second, _ := allocated(p)
		t.Logf("%d bytes, then %d, for an answer of %d", first, second, answer)
		if first < second+answer/2 {
			return
		}
	}
	t.Error("the first run allocates much more than the second")
}
