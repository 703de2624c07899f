package memory_test

import (
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory"
)

// town is flat and of the size that items usually have.
type town struct {
	ID         int64     `json:"id"`
	Name       string    `json:"name"`
	Country    string    `json:"country"`
	Population int64     `json:"population"`
	Lat        float64   `json:"lat"`
	Lon        float64   `json:"lon"`
	Capital    bool      `json:"capital"`
	Founded    time.Time `json:"founded"`
}

func towns(b *testing.B, n int, index ...string) *memory.Store[town] {
	b.Helper()
	s := memory.New(&memory.Options[town]{Index: index})
	for i := range n {
		_, err := s.Create(b.Context(), town{Name: "Town " + strconv.Itoa(i), Country: "GR",
			Population: int64(i * 7919 % n)})
		if err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func BenchmarkGet(b *testing.B) {
	s := towns(b, 100_000)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(ctx, "50000"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkGetFromMap reads a map with a lock, for comparison with Get.
func BenchmarkGetFromMap(b *testing.B) {
	var mu sync.RWMutex
	m := map[string]town{}
	for i := range 100_000 {
		m[strconv.Itoa(i)] = town{Name: "Town " + strconv.Itoa(i)}
	}
	var found town
	for b.Loop() {
		mu.RLock()
		found = m["50000"]
		mu.RUnlock()
	}
	if found.Name == "" {
		b.Fatal("not found")
	}
}

func BenchmarkGetDeepCopy(b *testing.B) {
	s := memory.New[note](nil)
	item, err := s.Insert(b.Context(), "1", note{Tags: []string{"a", "b"}, Next: &note{}})
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(ctx, item.ID); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList reads a page of 100 from the middle of 100,000.
func BenchmarkList(b *testing.B) {
	byID := []query.Order{{Field: "id"}}
	largest := []query.Order{{Field: "population", Desc: true}, {Field: "id"}}
	byName := []query.Order{{Field: "name"}, {Field: "id"}}
	s := towns(b, 100_000, "population", "country")
	for name, q := range map[string]query.Query{
		"by=id":                  {Sort: byID, After: []any{int64(50_000)}},
		"by=indexed":             {Sort: largest, After: []any{int64(50_000), int64(1)}},
		"by=unindexed":           {Sort: byName, After: []any{"Town 50000", int64(1)}},
		"filter=half":            {Sort: byID, Filter: query.Where("population", query.Gte, 50_000)},
		"filter=indexed-narrow":  {Sort: byID, Filter: query.Where("population", query.Gte, 99_900)},
		"filter=unindexed-never": {Sort: byID, Filter: query.Where("name", query.Eq, "nowhere")},
	} {
		q.Limit = 100
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, err := range s.List(b.Context(), q) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	for _, index := range [][]string{nil, {"population", "name"}} {
		b.Run("indexes="+strconv.Itoa(len(index)), func(b *testing.B) {
			s := towns(b, 10, index...)
			ctx := b.Context()
			b.ReportAllocs()
			n := int64(0)
			for b.Loop() {
				n++
				if _, err := s.Create(ctx, town{Name: "Town", Population: n * 7919 % 100_003}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkReplaceBetweenLists pays each time for the copies that keep a list as it was.
func BenchmarkReplaceBetweenLists(b *testing.B) {
	s := towns(b, 100_000, "population")
	ctx := b.Context()
	item, err := s.Get(ctx, "50000")
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		for range s.List(ctx,
			query.Query{Limit: 1, Sort: []query.Order{{Field: "population"}, {Field: "id"}}}) {
		}
		if item, err = s.Replace(ctx, item.ID, item.Rev, item.Value); err != nil {
			b.Fatal(err)
		}
	}
}
