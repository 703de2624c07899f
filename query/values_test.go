package query_test

import (
	"math"
	"math/rand/v2"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

func TestValues(t *testing.T) {
	t.Parallel()
	where := query.Where
	tests := []struct {
		name string
		q    query.Query
		want url.Values
	}{
		{"zero", query.Query{}, url.Values{}},
		{
			"everything else",
			query.Query{
				Sort: []query.Order{
					{Field: "total", Desc: true},
					{Field: "id"},
				},
				Limit:  20,
				Fields: []string{"id", "total"},
				After:  []any{int64(1), "a"},
				Token:  "t",
			},
			url.Values{"sort": {"-total,id"}, "limit": {"20"}, "fields": {"id,total"}},
		},
		{"equal", query.Query{Filter: where("status", query.Eq, "paid")}, url.Values{"status": {"paid"}}},
		{
			"conjunction",
			query.Query{Filter: query.And(where("total", query.Gte, 1), where("total", query.Lt, 5))},
			url.Values{"total.gte": {"1"}, "total.lt": {"5"}},
		},
		{
			"list",
			query.Query{Filter: where("status", query.In, []string{"a,b", `c\`, ""})},
			url.Values{"status.in": {`a\,b,c\\,`}},
		},
		{
			"decimal",
			query.Query{Filter: where("total", query.Gt, decimal("9.50"))},
			url.Values{"total.gt": {"9.5"}},
		},
		{
			"decimals in a tree",
			query.Query{Filter: query.Not(where("total", query.In, []any{decimal("9.50"), decimal("1e20")}))},
			url.Values{"filter": {`{"not":{"total":{"in":[9.5,100000000000000000000]}}}`}},
		},
		{
			"duration in a tree",
			query.Query{Filter: query.Not(where("age", query.Eq, duration("P1DT3600S")))},
			url.Values{"filter": {`{"not":{"age":{"eq":"P1DT1H"}}}`}},
		},
		{
			"empty list",
			query.Query{Filter: where("status", query.In, []string{})},
			url.Values{"filter": {`{"status":{"in":[]}}`}},
		},
		{
			"null",
			query.Query{Filter: where("status", query.Eq, nil)},
			url.Values{"filter": {`{"status":{"eq":null}}`}},
		},
		{
			"null in a list",
			query.Query{Filter: where("total", query.In, []any{1, nil})},
			url.Values{"filter": {`{"total":{"in":[1,null]}}`}},
		},
		{
			"isNull",
			query.Query{Filter: where("status", query.IsNull, true)},
			url.Values{"status.isNull": {"true"}},
		},
		{
			"reserved name",
			query.Query{Filter: where("before", query.Eq, "a")},
			url.Values{"before.eq": {"a"}},
		},
		{
			"name that ends like a comparison",
			query.Query{Filter: where("a.gte", query.Eq, "a")},
			url.Values{"a.gte.eq": {"a"}},
		},
		{
			"name with a dot",
			query.Query{Filter: where("ship.to", query.Eq, "a")},
			url.Values{"ship.to": {"a"}},
		},
		{"nothing", query.Query{Filter: query.Or()}, url.Values{"filter": {`{"or":[]}`}}},
		{
			"alternatives beside conditions",
			query.Query{
				Filter: query.And(where("a", query.Eq, 1),
					query.Or(where("b", query.Eq, 2), where("c", query.Eq, 3))),
			},
			url.Values{"a": {"1"}, "filter": {`{"or":[{"b":{"eq":2}},{"c":{"eq":3}}]}`}},
		},
		{
			"one comparison twice",
			query.Query{
				Filter: query.And(where("a", query.Ne, 1), where("a", query.Ne, 2), where("a", query.Ne, 3)),
			},
			url.Values{"a.ne": {"1"}, "filter": {`{"and":[{"a":{"ne":2}},{"a":{"ne":3}}]}`}},
		},
		{
			"members of one object",
			query.Query{
				Filter: query.Not(
					query.And(where("a", query.Eq, "x"), query.Or(), query.Not(where("b", query.Lt, 1.5))),
				),
			},
			url.Values{"filter": {`{"not":{"a":{"eq":"x"},"or":[],"not":{"b":{"lt":1.5}}}}`}},
		},
		{
			"a field called like a connective",
			query.Query{Filter: query.Not(query.And(where("or", query.Eq, 1), where("b", query.Eq, 2)))},
			url.Values{"filter": {`{"not":{"and":[{"or":{"eq":1}},{"b":{"eq":2}}]}}`}},
		},
		{
			"hand-written",
			query.Query{Filter: query.Filter{Op: query.NotOp, Filters: []query.Filter{and(), isA, isA}}},
			url.Values{"filter": {`{"not":{"and":[{"a":{"eq":1}},{"a":{"eq":1}}]}}`}},
		},
		{"everything, below", query.Query{Filter: not(and())}, url.Values{"filter": {`{"not":{}}`}}},
		{
			"unreadable",
			query.Query{Filter: query.Filter{Op: "is", Field: "a", Value: "x"}},
			url.Values{"filter": {`{"a":{"is":"x"}}`}},
		},
		{
			"in without a list",
			query.Query{Filter: query.Filter{Op: query.In, Field: "a", Value: "x"}},
			url.Values{"filter": {`{"a":{"in":"x"}}`}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.q.Values()); diff != "" {
				t.Errorf("Values (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValuesWritesEveryKind(t *testing.T) {
	t.Parallel()
	tests := []struct {
		value      any
		text, json string
	}{
		{"a \"b\"\n\u2028<", "a \"b\"\n\u2028<", "\"a \\\"b\\\"\\n\u2028<\""},
		{true, "true", "true"},
		{int64(math.MinInt64), "-9223372036854775808", "-9223372036854775808"},
		{uint64(math.MaxUint64), "18446744073709551615", "18446744073709551615"},
		{0.1, "0.1", "0.1"},
		{1e21, "1e+21", "1e+21"},
		{math.Inf(1), "+Inf", `"+Inf"`},
		{math.NaN(), "NaN", `"NaN"`},
		{
			time.Date(2026, 1, 1, 1, 0, 0, 5e6, time.FixedZone("", 3600)),
			"2026-01-01T00:00:00.005Z", `"2026-01-01T00:00:00.005Z"`,
		},
	}
	for _, tt := range tests {
		f := query.Filter{Op: query.Lt, Field: "f", Value: tt.value}
		if got := (query.Query{Filter: f}).Values().Get("f.lt"); got != tt.text {
			t.Errorf("%v as a parameter is %q, want %q", tt.value, got, tt.text)
		}
		want := `{"not":{"f":{"lt":` + tt.json + `}}}`
		if got := (query.Query{Filter: query.Not(f)}).Values().Get("filter"); got != want {
			t.Errorf("%v in a tree is %s, want %s", tt.value, got, want)
		}
	}
}

func TestRule021ValuesAreReadBack(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "limit=7", "sort=-total,ship.to,id&fields=b,a", "status=paid", "status=&status.in=,&status.ne=%2C",
		`status.in=a\,b&status.in=c\\`, "limit.eq=5&version.eq=1&a.gte.eq=1&or=2&or.gte=3", "total.gte=1&total.lt=5&status.isNull=false",
		"weight=NaN&weight.lt=%2BInf&weight.gt=1e300", "weight=-0&weight.ne=1e21", "created=2026-01-01T01:00:00.5%2B01:00",
		`filter={"or":[]}`, `filter={"status":{"in":[]}}&status.in=a`, `filter={"not":{"status":{"notIn":[]},"total":{"gte":1,"lt":2}}}`,
		`filter={"and":[{"status":{"ne":"b"}},{"status":{"ne":"a"}},{"few":{"eq":1}}]}`,
		`few=1&filter={"and":[{"few":{"eq":2}},{"or":[{"few":{"eq":3}},{"few":{"eq":4}}]},{"or":[{"few":{"eq":5}},{"not":{"few":{"eq":6}}}]}]}`,
		`filter={"status":{"in":["x"]},"and":[{"status":{"in":[]}}]}`,
		`filter={"and":[{"status":{"in":[]}},{"status":{"in":["x"]}}]}`,
	} {
		q, err := parse(t, text, orders())
		if err != nil {
			t.Errorf("Parse(%q): %v", text, err)
			continue
		}
		checkReadBack(t, q)
	}
}

// TestValuesKeepTheMeaning: filters that Parse does not produce keep their meaning.
func TestValuesKeepTheMeaning(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	opts := orders()
	opts.MaxTerms = 100
	for round := range 500 {
		f := randomFilter(r, 3)
		q, err := query.Parse(query.Query{Filter: f}.Values(), opts)
		if err != nil {
			t.Fatalf("round %d: Parse of %v: %v", round, query.Query{Filter: f}.Values(), err)
		}
		for n := range int64(4) {
			row := item{"total": n, "few": "1"}
			if query.Match(f, row.field) != query.Match(q.Filter, row.field) {
				t.Fatalf("round %d: %v\nis read back as %v", round, f, q.Filter)
			}
		}
	}
}

func randomFilter(r *rand.Rand, depth int) query.Filter {
	var parts []query.Filter
	if depth > 0 {
		for range r.IntN(4) {
			parts = append(parts, randomFilter(r, depth-1))
		}
	}
	switch r.IntN(5) {
	case 0:
		return query.And(parts...)
	case 1:
		return query.Or(parts...)
	case 2:
		return query.Not(query.And(parts...))
	case 3:
		return query.Where("few", query.Eq, string(rune('0'+r.IntN(3))))
	}
	ops := []query.Op{query.Eq, query.Ne, query.Lt, query.Gte}
	return query.Where("total", ops[r.IntN(len(ops))], r.IntN(4))
}
