package query_test

import (
	"cmp"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"testing"

	"github.com/stoa-go/stoa/query"
)

func BenchmarkCursor(b *testing.B) {
	cursor := query.Cursor{Values: []any{"2026-11-20", int64(5), "0192f5a4-5d2e-7c3b-9b7a-0c1d2e3f4a5b"}}
	binding := "orders\x001.2.0\x00status=paid&sort=-createdAt"
	text := cursor.Encode(binding)
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			cursor.Encode(binding)
		}
	})
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := query.DecodeCursor(text, binding); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func manyOrders() []order {
	r := rand.New(rand.NewPCG(1, 1))
	many := make([]order, 10_000)
	for i := range many {
		many[i] = order{
			ID:     strconv.Itoa(i),
			Status: []string{"paid", "sent"}[r.IntN(2)],
			Total:  r.Int64N(1000),
		}
	}
	return many
}

// BenchmarkSelect selects twenty of ten thousand items by total, and compares with a hand-written
// function.
func BenchmarkSelect(b *testing.B) {
	many := manyOrders()
	q := query.Query{
		Filter: query.Where("status", query.Eq, "paid"),
		Sort:   []query.Order{{Field: "total", Desc: true}, {Field: "id"}},
		Limit:  20,
	}
	b.Run("switch", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			query.Select(q, many, orderField)
		}
	})
	b.Run("FieldOf", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			query.Select(q, many, func(o *order, field string) any { return query.FieldOf(o, field) })
		}
	})
	b.Run("by hand", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var paid []order
			for _, o := range many {
				if o.Status == "paid" {
					paid = append(paid, o)
				}
			}
			slices.SortFunc(
				paid,
				func(a, b order) int { return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(a.ID, b.ID)) },
			)
			_ = slices.Clone(paid[:20])
		}
	})
}

func BenchmarkParse(b *testing.B) {
	values, err := url.ParseQuery("status=paid&total.gte=100&sort=-total&limit=20")
	if err != nil {
		b.Fatal(err)
	}
	opts := orders()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := query.Parse(values, opts); err != nil {
			b.Fatal(err)
		}
	}
}
