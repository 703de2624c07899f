package sqlquery_test

import (
	"testing"

	"github.com/stoa-go/stoa/query"
)

// BenchmarkTranslate translates the query of a typical page.
func BenchmarkTranslate(b *testing.B) {
	q := query.Query{
		Filter: query.And(query.Where("status", query.Eq, "paid"), query.Where("total", query.Gte, 1000)),
		Sort:   []query.Order{{Field: "made", Desc: true}, {Field: "id"}},
		After:  []any{noon, int64(7)},
		Limit:  50,
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := postgres.Translate(q); err != nil {
			b.Fatal(err)
		}
	}
}
