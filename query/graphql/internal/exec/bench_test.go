package exec_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// list100 is the query of the allocation budget: a hundred items, with a relation to one item and
// one to many.
const list100 = `{ orders(first: 100) { nodes { id status total at customer { id name } lines { id sku ` +
	`qty } } } }`

type order struct {
	ID         int64     `json:"id" readOnly:"true"`
	Status     string    `json:"status" enum:"placed,paid,shipped"`
	CustomerID int64     `json:"customerId"`
	Total      float64   `json:"total"`
	At         time.Time `json:"at"`
}

type customer struct {
	ID   int64  `json:"id" readOnly:"true"`
	Name string `json:"name"`
}

type line struct {
	ID      int64  `json:"id" readOnly:"true"`
	OrderID int64  `json:"orderId"`
	SKU     string `json:"sku"`
	Qty     int32  `json:"qty"`
}

// newShop returns a world of orders with stores that cost as little as possible, so that benchmarks
// measure GraphQL.
func newShop(t testing.TB, size int) *world {
	t.Helper()
	orders, customers := memory.New[order](nil), memory.New[customer](nil)
	lines := memory.New(&memory.Options[line]{Index: []string{"orderId"}})
	for i := range size {
		o := order{Status: "paid", CustomerID: int64(i%20 + 1), Total: 12.5,
			At: time.Date(2026, 1, 2, 3, 4, i%60, 0, time.UTC)}
		item, err := orders.Create(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 3 {
			l := line{OrderID: item.Value.ID, SKU: "sku-" + strconv.Itoa(n), Qty: int32(n + 1)}
			if _, err := lines.Create(t.Context(), l); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i := range 20 {
		if _, err := customers.Create(t.Context(),
			customer{Name: "Customer " + strconv.Itoa(i)}); err != nil {
			t.Fatal(err)
		}
	}
	w := &world{}
	w.catalog = resource.NewCatalog(nil,
		resource.New("orders", orders, &resource.Options[order]{Public: true, MaxPageSize: 20_000,
			Relations: []resource.Relation[order]{
				{Name: "customer", Target: "customers", Field: "customerId"},
				{Name: "lines", Target: "lines", By: "orderId"},
			}}),
		resource.New("customers", customers, &resource.Options[customer]{Public: true}),
		resource.New("lines", lines, &resource.Options[line]{Public: true, Query: query.Support{
			Filter: map[string][]query.Op{"orderId": {query.Eq}}}}),
	)
	w.open(t, setting{})
	return w
}

// fullIntrospection selects the whole schema.
const fullIntrospection = `{ __schema { description queryType { name kind } mutationType { name kind } types { ...T }
	directives { name description isRepeatable locations args(includeDeprecated: true) { ...V } } } }
	fragment T on __Type { kind name description specifiedByURL isOneOf
		fields(includeDeprecated: true) { name description args(includeDeprecated: true) { ...V } type { ...R } isDeprecated deprecationReason }
		inputFields(includeDeprecated: true) { ...V } interfaces { ...R }
		enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason } possibleTypes { ...R } }
	fragment V on __InputValue { name description type { ...R } defaultValue isDeprecated deprecationReason }
	fragment R on __Type { kind name ofType { kind name ofType { kind name ofType { kind name } } } }`

// plan returns the plan of a valid document.
func (w *world) plan(t testing.TB, document string) *exec.Plan {
	t.Helper()
	p, errs := w.engine.Plan(document, "")
	if errs != nil {
		t.Fatal(errs[0])
	}
	return p
}

func BenchmarkHit(b *testing.B) {
	w := newShop(b, 100)
	given := vars(b, `{"n": 100}`)
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf, _ = w.engine.Run(b.Context(), w.plan(b, list100), given, buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkMiss(b *testing.B) {
	w := newShop(b, 100)
	given := vars(b, `{"n": 100}`)
	b.ReportAllocs()
	var buf []byte
	for n := 0; b.Loop(); n++ {
		buf, _ = w.engine.Run(b.Context(), w.plan(b, fmt.Sprintf("%s #%d", list100, n)), given, buf[:0])
	}
}

func BenchmarkPlan(b *testing.B) {
	w := newShop(b, 0)
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		w.plan(b, fmt.Sprintf("%s #%d", list100, n))
	}
}

func BenchmarkIntrospection(b *testing.B) {
	w := newWorld(b, setting{})
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf, _ = w.engine.Run(b.Context(), w.plan(b, fullIntrospection), nil, buf[:0])
	}
	b.SetBytes(int64(len(buf)))
}

func BenchmarkItems(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := newShop(b, n)
			document := fmt.Sprintf(`{ orders(first: %d) { nodes { id status total at } } }`, n)
			b.ReportAllocs()
			var buf []byte
			for b.Loop() {
				buf, _ = w.engine.Run(b.Context(), w.plan(b, document), nil, buf[:0])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/item")
		})
	}
}
