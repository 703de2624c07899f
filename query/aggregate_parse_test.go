package query_test

import (
	"maps"
	"net/url"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

// sales returns the options of a list with aggregates.
func sales() *query.ParseOptions {
	opts := orders()
	opts.MaxTerms = 4
	opts.Support.Filter["count"] = []query.Op{query.Eq, query.Gt}
	opts.Support.Search = []string{"status"}
	opts.Support.Group = []string{"status", "ship.to", "total", "customer.country", "weight"}
	number := []query.Func{query.Sum, query.Avg, query.Min, query.Max, query.Distinct}
	opts.Support.Aggregate = map[string][]query.Func{
		"total": number, "weight": number, "created": {query.Min, query.Max}, "few": {query.Distinct},
	}
	return opts
}

func parseSales(t *testing.T, text string) (query.Aggregation, error) {
	t.Helper()
	values, err := url.ParseQuery(text)
	if err != nil {
		t.Fatal(err)
	}
	return query.ParseAggregation(values, sales())
}

func TestParseAggregation(t *testing.T) {
	t.Parallel()
	where := query.Where
	count := query.Aggregate{Func: query.Count}
	sum := query.Aggregate{Func: query.Sum, Field: "total"}
	tests := []struct {
		text string
		want query.Aggregation
	}{
		{"group=status", query.Aggregation{Group: []string{"status"}}},
		{"count", query.Aggregation{Aggregates: []query.Aggregate{count}}},
		{"count=true", query.Aggregation{Aggregates: []query.Aggregate{count}}},
		{"sum=total&group=status,customer.country&count", query.Aggregation{
			Group: []string{"status", "customer.country"}, Aggregates: []query.Aggregate{count, sum}}},
		{"sum=total,weight&avg=total&min=created&max=created&distinct=few", query.Aggregation{
			Aggregates: []query.Aggregate{{query.Distinct, "few"}, sum, {query.Sum, "weight"},
				{query.Avg, "total"}, {query.Min, "created"}, {query.Max, "created"}}}},
		{"count&count.eq=x&status=paid", query.Aggregation{Aggregates: []query.Aggregate{count},
			Filter: query.And(where("count", query.Eq, "x"), where("status", query.Eq, "paid"))}},
		{"group=status&sum=total&sort=-sum.total,status&limit=7", query.Aggregation{Group: []string{"status"},
			Aggregates: []query.Aggregate{sum},
			Sort:       []query.Order{{Field: "sum.total", Desc: true}, {Field: "status"}}, Limit: 7}},
		{`count&avg=total,weight&having={"count":{"gte":3},"avg.total":{"lt":2.50},"avg.weight":{"gt":"0.1"}}`,
			query.Aggregation{Aggregates: []query.Aggregate{count, {query.Avg, "total"}, {query.Avg, "weight"}},
				Having: query.And(where("count", query.Gte, 3), where("avg.total", query.Lt, decimal("2.5")),
					where("avg.weight", query.Gt, 0.1))}},
		{`min=total&having={"min.total":{"in":[1,"2"]}}&filter={"total":{"gt":1}}`,
			query.Aggregation{Aggregates: []query.Aggregate{{query.Min, "total"}},
				Filter: where("total", query.Gt, 1), Having: where("min.total", query.In, []int{1, 2})}},
		{"count&q=Green+TEA", query.Aggregation{Aggregates: []query.Aggregate{count},
			Search: query.Search{Any: [][]query.Term{{{Words: []string{"green"}}, {Words: []string{"tea"}}}}}}},
		{"count&having=&after=x", query.Aggregation{Aggregates: []query.Aggregate{count}}},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			if tt.want.Limit == 0 {
				tt.want.Limit = 50
			}
			got, err := parseSales(t, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseAggregation (-want +got):\n%s", diff)
			}
			checkAggregationReadBack(t, got)
		})
	}
}

// checkAggregationReadBack fails if the parameters of a do not parse as an equal Aggregation.
func checkAggregationReadBack(t *testing.T, a query.Aggregation) {
	t.Helper()
	text := a.Values().Encode()
	again, err := parseSales(t, text)
	if err != nil {
		t.Fatalf("ParseAggregation(%q), of %+v: %v", text, a, err)
	}
	if diff := cmp.Diff(a, again, sameFloats); diff != "" {
		t.Fatalf("ParseAggregation(%q) (-want +got):\n%s", text, diff)
	}
}

func TestParseAggregationErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []*query.Error
	}{
		{"having={}", []*query.Error{
			{"group", "unsupportedAggregate", "at least one field of group or one aggregate is required"},
			{"having", "unsupportedFilter", "compares aggregates of the request, which has none"}}},
		{"group=a,b,c,d,e", []*query.Error{{"group", "tooMany", "can have at most 4 fields"}}},
		{"group=few,status", []*query.Error{{"group", "unsupportedGroup", `cannot group by "few", only by ` +
			"status, ship.to, total, customer.country and weight"}}},
		{"group=status,status", []*query.Error{{"group", "invalidValue", "names status twice"}}},
		{"group=", []*query.Error{{"group", "invalidValue", "must be field names separated by commas"}}},
		{"group=status&group=total",
			[]*query.Error{{"group", "duplicateParameter", "must not be repeated with different values"}}},
		{"count=5", []*query.Error{{"count", "invalidValue",
			"counts items and has no value; compare a field named count with count.eq"}}},
		{"sum=status", []*query.Error{{"sum", "unsupportedAggregate",
			`sum does not apply to "status", only to total and weight`}}},
		{"sum=total,total", []*query.Error{{"sum", "invalidValue", "names total twice"}}},
		{"sum=total,weight&avg=total,weight&min=total,weight&max=total,weight&count",
			[]*query.Error{{"max", "tooMany", "there can be at most 8 aggregates"}}},
		{"sum=a,a,a,a,a,a,a,a,a", []*query.Error{{"sum", "tooMany", "can have at most 8 fields"}}},
		{"count&sort=total", []*query.Error{{"sort", "unsupportedSort", `cannot sort by "total", only by count`}}},
		{"count&sort=count,-count", []*query.Error{{"sort", "invalidValue", "names count twice"}}},
		{"count&sort=", []*query.Error{{"sort", "invalidValue", "must name at least one field"}}},
		{"count&fields=id", []*query.Error{{"fields", "unknownParameter", "unknown parameter; the filters of " +
			"this list are a.gte, count, created, few, limit, or, paid, ship.to, status, total, version and weight"}}},
		{`count&having={"sum.total":{"gt":1}}`, []*query.Error{
			{"having", "unsupportedFilter", `cannot filter by "sum.total", only by count`}}},
		{`count&having={"count":{"contains":1}}`, []*query.Error{{"having", "unsupportedFilter",
			"count can be compared with eq, ne, in, notIn, lt, lte, gt, gte and isNull"}}},
		{`count&having={"count":{"gt":1.5}}`,
			[]*query.Error{{"having", "invalidValue", "count: must be a whole number of at most 19 digits"}}},
		{`sum=total&having={"sum.total":{"gt":"x"}}`,
			[]*query.Error{{"having", "invalidValue", "sum.total: must be a decimal number, such as 12.5"}}},
		{`count&having={"count":{"gt":1,"lt":2,"ne":3}}&total.gt=1&total.lt=2`,
			[]*query.Error{{"having", "tooMany", "there can be at most 4 comparisons"}}},
		{`sum=nope&having={"sum.nope":{"gt":1}}`, []*query.Error{{"sum", "unsupportedAggregate",
			`sum does not apply to "nope", only to total and weight`}}},
		{`group=nope&having={"count":{"gt":1}}`, []*query.Error{
			{"group", "unsupportedGroup", `cannot group by "nope", only by ` +
				"status, ship.to, total, customer.country and weight"},
			{"having", "unsupportedFilter", "compares aggregates of the request, which has none"}}},
		{`count&having={`, []*query.Error{{"having", "invalidFilter", "is not valid JSON, at byte 1"}}},
		{"count&limit=0", []*query.Error{{"limit", "invalidValue", "must be a whole number from 1 to 200"}}},
		{"count&nope=1&status.gt=", nil},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			_, err := parseSales(t, tt.text)
			checkFaults(t, err)
			if tt.want == nil {
				return
			}
			if diff := cmp.Diff(query.Errors(tt.want), err); diff != "" {
				t.Errorf("ParseAggregation (-want +got):\n%s", diff)
			}
		})
	}
}

// The names of aggregates are reserved only in lists that declare some.
func TestAggregateNamesAreReserved(t *testing.T) {
	t.Parallel()
	values := url.Values{"count": {"5"}}
	opts := sales()
	if _, err := query.Parse(values, opts); err == nil {
		t.Error("Parse accepted count as a field of a list with aggregates")
	}
	if !query.HasAggregation(values, opts.Support) {
		t.Error("HasAggregation of count is false for a list with aggregates")
	}
	opts.Support.Group, opts.Support.Aggregate = nil, nil
	if query.HasAggregation(values, opts.Support) {
		t.Error("HasAggregation of count is true for a list without aggregates")
	}
	q, err := query.Parse(values, opts)
	if err != nil {
		t.Fatal(err)
	}
	want := query.Query{Limit: 50, Filter: query.Where("count", query.Eq, "5")}
	if diff := cmp.Diff(want, q); diff != "" {
		t.Errorf("Parse (-want +got):\n%s", diff)
	}
	if got := q.Values().Get("count.eq"); got != "5" {
		t.Errorf("Values wrote %v, want count.eq", q.Values())
	}
}

// The parameters belong to the caller.
func TestParseAggregationKeepsParameters(t *testing.T) {
	t.Parallel()
	values := url.Values{"group": {"status"}, "count": {""}, "having": {`{"count":{"gt":1}}`}, "status": {"paid"}}
	want := maps.Clone(values)
	if _, err := query.ParseAggregation(values, sales()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, values); diff != "" {
		t.Errorf("the parameters after ParseAggregation (-want +got):\n%s", diff)
	}
}

func TestCheckAggregation(t *testing.T) {
	t.Parallel()
	count := []query.Aggregate{{Func: query.Count}}
	tests := []struct {
		name string
		a    query.Aggregation
		want error
	}{
		{"supported", query.Aggregation{Group: []string{"status"}, Aggregates: count,
			Having: query.Where("count", query.Gt, 1)}, nil},
		{"filter", query.Aggregation{Aggregates: count, Filter: query.Where("few", query.Lt, 1)},
			&query.Error{"few.lt", "unsupportedFilter", "few can be compared with eq and gte"}},
		{"count with a field", query.Aggregation{Aggregates: []query.Aggregate{{query.Count, "total"}}},
			&query.Error{"count", "unsupportedAggregate", "count has no field"}},
		{"unknown function", query.Aggregation{Aggregates: []query.Aggregate{{"median", "total"}}},
			&query.Error{"median", "unsupportedAggregate",
				"the aggregates of total are sum, avg, min, max and distinct"}},
		{"no aggregates", query.Aggregation{Aggregates: []query.Aggregate{{"median", "paid"}}},
			&query.Error{"median", "unsupportedAggregate", `the field "paid" has no aggregates`}},
		{"having", query.Aggregation{Aggregates: count, Having: query.Where("few", query.Eq, 1)},
			&query.Error{"having", "unsupportedFilter", `cannot filter by "few", only by count`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := sales()
			if diff := cmp.Diff(tt.want, opts.Support.CheckAggregation(tt.a)); diff != "" {
				t.Errorf("CheckAggregation (-want +got):\n%s", diff)
			}
		})
	}
}

func FuzzParseAggregation(f *testing.F) {
	f.Add("group=status&count&sum=total&sort=-sum.total&limit=3")
	f.Add(`avg=total,weight&having={"or":[{"avg.total":{"gt":2.5}},{"not":{"avg.weight":{"isNull":true}}}]}`)
	f.Add("distinct=few&few=1&filter={}&having={}&min=created&count=1")
	f.Add(`sum=nope&having={"sum.nope":{"gt":1}}`)
	f.Add(`avg=weight&having={"avg.weight":{"gt":1e400}}`)
	f.Fuzz(func(t *testing.T, text string) {
		values, err := url.ParseQuery(text)
		if err != nil {
			return
		}
		a, err := query.ParseAggregation(values, sales())
		if err != nil {
			checkFaults(t, err)
			return
		}
		opts := sales()
		if err := opts.Support.CheckAggregation(a); err != nil {
			t.Errorf("ParseAggregation(%q) made what CheckAggregation refuses: %v", text, err)
		}
		checkAggregationReadBack(t, a)
	})
}
