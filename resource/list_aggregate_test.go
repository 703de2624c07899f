package resource_test

import (
	"context"
	"errors"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// sale has a field of each kind that aggregates treat differently.
type sale struct {
	ID     int64     `json:"id"`
	Status string    `json:"status"`
	Owner  string    `json:"owner"`
	Rank   *int64    `json:"rank"`
	Qty    int64     `json:"qty"`
	Weight float64   `json:"weight"`
	Total  string    `json:"total" format:"decimal"`
	At     time.Time `json:"at"`
	Secret int64     `json:"secret" writeOnly:"true"`
}

// saleSupport declares everything that sales can aggregate.
func saleSupport() query.Support {
	numbers := query.Funcs()[1:]
	return query.Support{
		Filter: map[string][]query.Op{"status": {query.Eq, query.Ne}, "qty": {query.Gt}},
		Group:  []string{"status", "rank", "total"},
		Aggregate: map[string][]query.Func{"rank": {query.Max}, "qty": numbers, "weight": numbers,
			"total": numbers, "at": {query.Min, query.Max}},
	}
}

// newSales returns a store of five sales.
func newSales(t *testing.T) *memory.Store[sale] {
	t.Helper()
	store := memory.New[sale](nil)
	one := int64(1)
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for _, v := range []sale{
		{Status: "paid", Owner: "a", Rank: &one, Qty: 1 << 62, Weight: 0.5, Total: "10.50", At: at},
		{Status: "paid", Owner: "a", Qty: 1 << 62, Weight: 0.25, Total: "2", At: at.Add(time.Hour)},
		{Status: "paid", Owner: "b", Rank: &one, Qty: 3, Weight: 1, Total: "0.1", At: at},
		{Status: "open", Owner: "a", Qty: 5, Weight: 2, Total: "7", At: at},
		{Status: "sent \"x\"", Owner: "b", Qty: 5, Weight: 2, Total: "1e2", At: at},
	} {
		if _, err := store.Create(t.Context(), v); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// groupsJSON returns the groups of a page as JSON, one in a line.
func groupsJSON(t *testing.T, r *resource.Resource, a query.Aggregation, p resource.GroupPage) string {
	t.Helper()
	var lines []string
	for _, g := range p.Groups {
		text, err := r.Raw().AppendGroup(nil, a, g)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	return strings.Join(lines, "\n")
}

func TestAggregate(t *testing.T) {
	t.Parallel()
	type key struct{}
	policy := &resource.Options[sale]{
		Query: saleSupport(),
		Scope: func(ctx context.Context) (query.Filter, error) {
			return query.Where("owner", query.Eq, ctx.Value(key{})), nil
		},
		Authorize:     func(context.Context, resource.Op, *sale, *sale) error { return nil },
		ScopeComplete: true,
	}
	everything := &resource.Options[sale]{Query: saleSupport(), Public: true}
	tests := []struct {
		name string
		opts *resource.Options[sale]
		a    query.Aggregation
		want string
	}{
		{"all functions", everything, query.Aggregation{
			Group: []string{"status"}, Filter: query.Where("status", query.Eq, "paid"),
			Aggregates: aggregates("sum.total", "sum.qty", "count", "avg.qty",
				"avg.total", "min.at", "max.weight", "max.rank")},
			`{"status":"paid","count":3,"sum":{"total":"12.6","qty":9223372036854775811},` +
				`"avg":{"qty":3074457345618258603.666666666667,"total":"4.2"},"min":{"at":"2026-11-26T12:00:00Z"},` +
				`"max":{"weight":1,"rank":1}}`},
		{"scope", policy, query.Aggregation{Group: []string{"status"}, Aggregates: aggregates("count")},
			`{"status":"open","count":1}` + "\n" + `{"status":"paid","count":2}`},
		{"null and text", everything, query.Aggregation{Group: []string{"rank", "status"}},
			`{"rank":null,"status":"open"}` + "\n" + `{"rank":null,"status":"paid"}` + "\n" +
				`{"rank":null,"status":"sent \"x\""}` + "\n" + `{"rank":1,"status":"paid"}`},
		{"one group", policy, query.Aggregation{Filter: query.Where("qty", query.Gt, int64(1)<<62),
			Aggregates: aggregates("sum.total", "count")}, `{"count":0,"sum":{"total":null}}`},
		{"operands", everything, query.Aggregation{Group: []string{"status"},
			Aggregates: aggregates("sum.weight", "min.total"),
			Having: query.And(query.Where("sum.weight", query.In, []any{"1.75", decimalOf("1.75")}),
				query.Where("min.total", query.Lt, 0.25))},
			`{"status":"paid","sum":{"weight":1.75},"min":{"total":"0.1"}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := resource.New("sales", newSales(t), tt.opts)
			ctx := context.WithValue(t.Context(), key{}, "a")
			p, err := r.Aggregate(ctx, tt.a, "")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, groupsJSON(t, r, tt.a, p)); diff != "" {
				t.Errorf("groups (-want +got):\n%s", diff)
			}
		})
	}
}

// aggregates returns the aggregates with these names.
func aggregates(names ...string) (list []query.Aggregate) {
	for _, name := range names {
		f, field, _ := strings.Cut(name, ".")
		list = append(list, query.Aggregate{Func: query.Func(f), Field: field})
	}
	return list
}

func decimalOf(text string) query.Decimal {
	d, err := query.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return d
}

// Limits and operands that no client sends, but programs and QUERY do.
func TestAggregateOddRequests(t *testing.T) {
	t.Parallel()
	r := resource.New("sales", newSales(t), &resource.Options[sale]{Query: saleSupport(), Public: true, PageSize: 2})
	having := func(op query.Op) query.Filter { return query.Where("sum.weight", op, decimalOf("1e400")) }
	tests := []struct {
		name   string
		a      query.Aggregation
		groups int
	}{
		{"negative limit", query.Aggregation{Limit: -1}, 2},
		{"no float64 is so large", query.Aggregation{Having: having(query.Gt)}, 0},
		{"all are less", query.Aggregation{Having: having(query.Lt)}, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.a.Group, tt.a.Aggregates = []string{"status"}, aggregates("sum.weight")
			p, err := r.Aggregate(t.Context(), tt.a, "")
			if err != nil || len(p.Groups) != tt.groups {
				t.Errorf("Aggregate returned %d groups and %v, want %d", len(p.Groups), err, tt.groups)
			}
		})
	}
}

func TestAggregateUnknownSort(t *testing.T) {
	t.Parallel()
	r := resource.New("sales", newSales(t), &resource.Options[sale]{Query: saleSupport(), Public: true, PageSize: 1})
	_, err := r.Aggregate(t.Context(), query.Aggregation{Group: []string{"status"}, Sort: []query.Order{{Field: "qty"}}}, "")
	if err == nil || !strings.Contains(err.Error(), "sort has qty, which is no group") {
		t.Errorf("Aggregate returned %v, want an error that names the key", err)
	}
}

// A program may store a time that RFC 3339 cannot represent in UTC.
func TestAggregateTimeOutOfRange(t *testing.T) {
	t.Parallel()
	store := memory.New[sale](nil)
	late := time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -3600))
	if _, err := store.Create(t.Context(), sale{Status: "paid", At: late}); err != nil {
		t.Fatal(err)
	}
	r := resource.New("sales", store, &resource.Options[sale]{Query: saleSupport(), Public: true})
	a := query.Aggregation{Aggregates: aggregates("min.at")}
	p, err := r.Aggregate(t.Context(), a, "")
	if err != nil {
		t.Fatal(err)
	}
	if text, err := r.Raw().AppendGroup(nil, a, p.Groups[0]); err != nil || string(text) != `{"min":{"at":null}}` {
		t.Errorf("the group is %s, %v, want null", text, err)
	}
}

// The limit of a store in memory is an error of the client.
func TestAggregateTooManyGroups(t *testing.T) {
	t.Parallel()
	store := memory.New[sale](nil)
	for i := range query.MaxSummary + 1 {
		if _, err := store.Create(t.Context(), sale{Qty: int64(i)}); err != nil {
			t.Fatal(err)
		}
	}
	r := resource.New("sales", store, &resource.Options[sale]{Query: saleSupport(), Public: true})
	_, err := r.Aggregate(t.Context(), query.Aggregation{Aggregates: aggregates("distinct.qty")}, "")
	d := resource.Problem(err)
	if d.StatusCode() != 400 || len(d.Errors) != 1 || d.Errors[0].Code != "tooMany" || d.Errors[0].Parameter != "distinct" {
		t.Errorf("Aggregate returned %v with %+v, want 400 tooMany of distinct", err, d.Errors)
	}
}

// A store may have groups of null although the field cannot be null. Its page has a next one.
func TestAggregateNullOfOtherField(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[sale](nil))
	var after []any
	ops.Aggregate = func(_ context.Context, a query.Aggregation) iter.Seq2[query.Group, error] {
		after = a.After
		return func(yield func(query.Group, error) bool) {
			_ = yield(query.Group{Keys: []any{nil}}, nil) && yield(query.Group{Keys: []any{"a"}}, nil)
		}
	}
	r := ops.Resource("sales", &resource.Options[sale]{Query: saleSupport(), Public: true})
	a := query.Aggregation{Group: []string{"status"}, Limit: 1}
	p, err := r.Aggregate(t.Context(), a, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Aggregate(t.Context(), a, p.Next); err != nil {
		t.Errorf("Aggregate with its own cursor returned %v", err)
	}
	if diff := cmp.Diff([]any{nil}, after); diff != "" {
		t.Errorf("position (-want +got):\n%s", diff)
	}
}

func TestAggregatePages(t *testing.T) {
	t.Parallel()
	r := resource.New("sales", newSales(t), &resource.Options[sale]{Query: saleSupport(), Public: true, PageSize: 2})
	a := query.Aggregation{Group: []string{"total"}, Aggregates: aggregates("sum.qty",
		"avg.weight", "min.at", "max.rank", "avg.total"),
		Sort: []query.Order{{Field: "sum.qty", Desc: true}, {Field: "avg.weight"}, {Field: "min.at"},
			{Field: "max.rank"}, {Field: "avg.total"}}}
	var got []string
	cursor := ""
	for {
		p, err := r.Aggregate(t.Context(), a, cursor)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range p.Groups {
			got = append(got, g.Keys[0].(query.Decimal).String())
		}
		if cursor = p.Next; cursor == "" {
			break
		}
		got = append(got, "next")
	}
	if diff := cmp.Diff([]string{"2", "10.5", "next", "7", "100", "next", "0.1"}, got); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}
	// A cursor belongs to its groups, and not to those of another order or to the list.
	p, err := r.Aggregate(t.Context(), a, "")
	if err != nil {
		t.Fatal(err)
	}
	other := a
	other.Sort = nil
	if _, err := r.Aggregate(t.Context(), other, p.Next); resource.Problem(err).StatusCode() != 400 {
		t.Errorf("Aggregate with the cursor of another order returned %v, want 400", err)
	}
	if _, err := r.List(t.Context(), query.Query{}, resource.Position{After: p.Next}); resource.Problem(err).StatusCode() != 400 {
		t.Errorf("List with the cursor of groups returned %v, want 400", err)
	}
}

// A cursor is not authenticated, so its values may have any kind.
func TestAggregateForgedCursor(t *testing.T) {
	t.Parallel()
	r := resource.New("sales", newSales(t), &resource.Options[sale]{Query: saleSupport(), Public: true, PageSize: 1})
	a := query.Aggregation{Group: []string{"status"}, Limit: 1, Sort: []query.Order{{Field: "sum.qty"}},
		Aggregates: aggregates("sum.qty")}
	bound := a
	bound.Limit = 0
	binding := "sale\x00sales\x00groups\x00" + bound.Values().Encode()
	for _, tt := range []struct {
		name   string
		values []any
		status int
	}{
		{"valid", []any{int64(5), "open"}, 0},
		{"a large sum", []any{decimalOf("1e30"), "open"}, 0},
		{"null", []any{nil, "open"}, 0},
		{"null as the key", []any{int64(5), nil}, 0},
		{"a text as the sum", []any{"5", "open"}, 400},
		{"a number as the key", []any{int64(5), int64(1)}, 400},
		{"too few values", []any{int64(5)}, 400},
		{"a token", nil, 400},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := r.Aggregate(t.Context(), a, query.Cursor{Values: tt.values}.Encode(binding))
			if err == nil && tt.status != 0 || err != nil && resource.Problem(err).StatusCode() != tt.status {
				t.Errorf("Aggregate returned %v, want the status %d", err, tt.status)
			}
		})
	}
}

// oldSale is a view that renames fields, and does not have all of them.
type oldSale struct {
	ID    int64  `json:"id"`
	State string `json:"state"`
	Sum   string `json:"sum" format:"decimal"`
	Count int64  `json:"count"`
}

func TestAggregateView(t *testing.T) {
	t.Parallel()
	r := resource.New("sales", newSales(t), &resource.Options[sale]{Query: saleSupport(), Public: true})
	old := resource.View(r, func(v sale) (oldSale, error) {
		return oldSale{v.ID, v.Status, v.Total, v.Qty}, nil
	}, func(v oldSale, base sale) (sale, error) { return base, nil }, &resource.ViewOptions{
		Fields: map[string]string{"state": "status", "sum": "total", "count": "qty"},
		Where:  query.Where("status", query.Ne, "open"),
	})
	want := query.Support{
		Filter:    map[string][]query.Op{"state": {query.Eq, query.Ne}, "count": {query.Gt}},
		Group:     []string{"state"}, // sum is the name of an aggregate
		Aggregate: map[string][]query.Func{"sum": query.Funcs()[1:], "count": query.Funcs()[1:]},
	}
	if diff := cmp.Diff(want, old.Describe().Query); diff != "" {
		t.Errorf("support of the view (-want +got):\n%s", diff)
	}
	a := query.Aggregation{Group: []string{"state"}, Having: query.Where("min.sum", query.Lt, "5"),
		Aggregates: aggregates("count", "min.sum", "max.count"),
		Sort:       []query.Order{{Field: "max.count", Desc: true}}}
	p, err := old.Aggregate(t.Context(), a, "")
	if err != nil {
		t.Fatal(err)
	}
	const groups = `{"state":"paid","count":3,"min":{"sum":"0.1"},"max":{"count":4611686018427387904}}`
	if diff := cmp.Diff(groups, groupsJSON(t, old, a, p)); diff != "" {
		t.Errorf("groups (-want +got):\n%s", diff)
	}
	report := resource.NewCatalog(nil, old).Report()
	for _, line := range []string{"    groups: by state, of stored values that the view does not convert\n",
		"    filters: count is a parameter of groups; the field is compared with count.eq\n"} {
		if !strings.Contains(report, line) {
			t.Errorf("the report lacks %q:\n%s", line, report)
		}
	}
}

func TestAggregateMistakes(t *testing.T) {
	t.Parallel()
	with := func(group []string, aggregate map[string][]query.Func) resource.Options[sale] {
		return resource.Options[sale]{Query: query.Support{Group: group, Aggregate: aggregate}}
	}
	hides := with([]string{"status"}, nil)
	hides.Authorize = func(context.Context, resource.Op, *sale, *sale) error { return nil }
	scoped := hides
	scoped.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	complete := with([]string{"status"}, nil)
	complete.ScopeComplete = true
	sum := []query.Func{query.Sum}
	withoutAggregate := resource.OpsOf(memory.New[sale](nil))
	withoutAggregate.Aggregate = nil
	tests := []struct {
		name string
		opts resource.Options[sale]
		ops  resource.Ops[sale]
		want string
	}{
		{"no Aggregator", with([]string{"status"}, nil), withoutAggregate, "the collection is not an Aggregator"},
		{"hidden items", hides, resource.Ops[sale]{}, "items that Options.Authorize hides; hide them by Options.Scope"},
		{"hidden items of a scope", scoped, resource.Ops[sale]{}, "and set Options.ScopeComplete"},
		{"complete without Authorize", complete, resource.Ops[sale]{}, "Options.ScopeComplete is about Authorize"},
		{"unknown field", with([]string{"Status"}, nil), resource.Ops[sale]{}, `use the JSON name "status"`},
		{"writeOnly", with(nil, map[string][]query.Func{"secret": sum}), resource.Ops[sale]{}, "which is writeOnly"},
		{"text", with(nil, map[string][]query.Func{"status": sum}), resource.Ops[sale]{},
			`Options.Query.Aggregate["status"] has "sum", which does not apply to a string`},
		{"unknown function", with(nil, map[string][]query.Func{"qty": {"median"}}), resource.Ops[sale]{},
			"use one of query.Distinct, query.Sum, query.Avg, query.Min, query.Max"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.ops.Get == nil {
				tt.ops = resource.OpsOf(memory.New[sale](nil))
			}
			defer func() {
				if text, _ := recover().(string); !strings.Contains(text, tt.want) {
					t.Errorf("Resource panicked with %q, want it to contain %q", text, tt.want)
				}
			}()
			tt.ops.Resource("sales", &tt.opts)
		})
	}
}

func TestAggregateFaults(t *testing.T) {
	t.Parallel()
	failed := errors.New("disk full")
	yields := func(g query.Group, err error) func(context.Context, query.Aggregation) iter.Seq2[query.Group, error] {
		return func(context.Context, query.Aggregation) iter.Seq2[query.Group, error] {
			return func(yield func(query.Group, error) bool) { yield(g, err) }
		}
	}
	count := query.Aggregation{Aggregates: aggregates("count")}
	tests := []struct {
		name      string
		aggregate func(context.Context, query.Aggregation) iter.Seq2[query.Group, error]
		want      string
	}{
		{"error", yields(query.Group{}, failed), "list sales: disk full"},
		{"no values", yields(query.Group{}, nil), "store returned a group of 0 keys and 0 values, want 0 and 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops := resource.OpsOf(memory.New[sale](nil))
			ops.Aggregate = tt.aggregate
			r := ops.Resource("sales", &resource.Options[sale]{Query: saleSupport(), Public: true})
			if _, err := r.Aggregate(t.Context(), count, ""); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Aggregate returned %v, want an error with %q", err, tt.want)
			}
		})
	}
	r := resource.New("sales", memory.New[sale](nil), &resource.Options[sale]{Public: true})
	if _, err := r.Aggregate(t.Context(), count, ""); resource.Problem(err).StatusCode() != 500 {
		t.Errorf("Aggregate of a resource without groups returned %v, want 500", err)
	}
}
