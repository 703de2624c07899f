package fetch_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

func TestFilter(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 123456789, time.UTC)
	eq := func(field string, v any) query.Filter { return query.Where(field, query.Eq, v) }
	tests := []struct {
		name   string
		filter any
		want   query.Filter
	}{
		{"none", nil, query.Filter{}},
		{"empty", args{}, query.Filter{}},
		{"a null field", args{"status": nil, "not": nil, "or": nil}, query.Filter{}},
		{"no comparison", args{"status": args{}}, query.Filter{}},
		{"eq", args{"status": args{"eq": "paid"}}, eq("status", "paid")},
		{"ne", args{"total": args{"ne": int64(1) << 60}}, query.Where("total", query.Ne, int64(1)<<60)},
		{"in", args{"total": args{"in": []any{int64(1), int64(2)}}},
			query.Where("total", query.In, []int64{1, 2})},
		{"in nothing", args{"total": args{"in": []any{}}}, query.Where("total", query.In, []int64{})},
		{"notIn", args{"status": args{"notIn": []any{"paid"}}},
			query.Where("status", query.NotIn, []string{"paid"})},
		{"lt", args{"small": args{"lt": 5}}, query.Where("small", query.Lt, 5)},
		{"lte", args{"weight": args{"lte": 0.1}}, query.Where("weight", query.Lte, 0.1)},
		{"gt", args{"placedAt": args{"gt": noon}}, query.Where("placed-at", query.Gt, noon)},
		{"another zone", args{"placedAt": args{"eq": noon.In(time.FixedZone("", 3600))}},
			eq("placed-at", noon)},
		{"gte", args{"id": args{"gte": "2"}}, query.Where("id", query.Gte, 2)},
		{"contains", args{"status": args{"contains": "ai"}}, query.Where("status", query.Contains, "ai")},
		{"startsWith", args{"status": args{"startsWith": ""}}, query.Where("status", query.StartsWith, "")},
		{"isNull", args{"note": args{"isNull": false}}, query.Where("note", query.IsNull, false)},
		{"isNull is null", args{"note": args{"isNull": nil, "eq": "x"}}, eq("note", "x")},
		{"a bool", args{"gift": args{"eq": true}}, eq("gift", true)},
		{"in the order of the model", args{"total": args{"gt": int64(1), "eq": int64(2)},
			"status": args{"eq": "paid"}},
			query.And(eq("status", "paid"), eq("total", 2), query.Where("total", query.Gt, 1))},
		{"and", args{"and": []any{args{"gift": args{"eq": true}}, args{"total": args{"eq": int64(1)}}}},
			query.And(eq("gift", true), eq("total", 1))},
		{"and nothing", args{"and": []any{}}, query.Filter{}},
		{"or", args{"or": []any{args{"gift": args{"eq": true}}, args{"total": args{"eq": int64(1)}}},
			"small": args{"eq": 1}},
			query.And(eq("small", 1), query.Or(eq("gift", true), eq("total", 1)))},
		{"or nothing", args{"or": []any{}}, query.Or()},
		{"or anything", args{"or": []any{args{}}}, query.Filter{}},
		{"not", args{"not": args{"gift": args{"eq": true}, "small": args{"eq": 1}}},
			query.Not(query.And(eq("small", 1), eq("gift", true)))},
		{"not anything", args{"not": args{}}, query.Or()},
		{"not not", args{"not": args{"not": args{"gift": args{"eq": true}}}}, eq("gift", true)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			c, err := s.List(t.Context(), s.field(t, "orders"), args{"filter": tt.filter}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Page.Release()
			if diff := cmp.Diff(tt.want, c.Query.Filter); diff != "" {
				t.Errorf("what is to be counted (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.want, s.asked[0].Filter); diff != "" {
				t.Errorf("what the store is asked (-want +got):\n%s", diff)
			}
		})
	}
}

// nested returns a filter with n levels of not.
func nested(n int) any {
	f := args{"gift": args{"eq": true}}
	for range n {
		f = args{"not": args{"and": []any{f}}}
	}
	return f
}

func TestFilterRefuses(t *testing.T) {
	t.Parallel()
	empty := make([]any, 73) // eight for each of the nine comparisons that this catalog allows, and one more
	for i := range empty {
		empty[i] = args{}
	}
	many := make([]any, 201)
	for i := range many {
		many[i] = int64(i)
	}
	tests := []struct {
		name   string
		filter args
		want   []violation
	}{
		{"null", args{"status": args{"eq": nil}}, []violation{{"filter.status.eq", "null"}}},
		{"null for a list", args{"status": args{"in": nil}}, []violation{{"filter.status.in", "null"}}},
		{"null in a list", args{"status": args{"in": []any{"paid", nil}}},
			[]violation{{"filter.status.in[1]", "null"}}},
		{"beyond the range", args{"small": args{"eq": 300}},
			[]violation{{"filter.small.eq", "invalidValue"}}},
		{"not canonical", args{"id": args{"eq": "01"}}, []violation{{"filter.id.eq", "invalidValue"}}},
		{"no value of the enum", args{"status": args{"eq": "lost"}},
			[]violation{{"filter.status.eq", "invalidValue"}}},
		{"before all years", args{"placedAt": args{"eq": time.Date(0, 1, 1, 0, 0, 0, 0,
			time.FixedZone("", 7200))}},
			[]violation{{"filter.placedAt.eq", "invalidValue"}}},
		{"too many values", args{"total": args{"in": many}}, []violation{{"filter.total.in", "tooMany"}}},
		{"too many comparisons", args{"or": []any{
			args{"total": args{"eq": int64(1), "ne": int64(1), "lt": int64(1), "gt": int64(1),
				"lte": int64(1)}},
			args{"small": args{"eq": 1, "ne": 1, "lt": 1, "gt": 1, "lte": 1}},
			args{"gift": args{"eq": true}}}},
			[]violation{{"filter.or[1].small", "tooMany"}}},
		{"too many conditions that ask for nothing", args{"or": empty},
			[]violation{{"filter.or[72]", "tooMany"}}},
		{"too many of them in all", args{"or": []any{args{"and": empty[:40]}, args{"and": empty[:40]}}},
			[]violation{{"filter.or[1].and[30]", "tooMany"}}},
		{"too deep", nested(5).(args), []violation{{"filter.not.and[0].not.and[0].not.and[0].not.and[0].not",
			"tooMany"}}},
		{"several", args{"and": []any{args{"small": args{"lt": -129}}},
			"not": args{"id": args{"in": []any{"1", "x"}}}},
			[]violation{{"filter.and[0].small.lt", "invalidValue"}, {"filter.not.id.in[1]", "invalidValue"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			_, err := s.List(t.Context(), s.field(t, "orders"), args{"filter": tt.filter}, nil)
			code, got := reported(err)
			if diff := cmp.Diff(tt.want, got); diff != "" || code != "BAD_USER_INPUT" {
				t.Errorf("code %s (-want +got):\n%s", code, diff)
			}
			if len(s.asked) > 0 {
				t.Error("the store is asked")
			}
		})
	}
}

// TestFilterBounds checks filters that reach the limits and do not exceed them.
func TestFilterBounds(t *testing.T) {
	t.Parallel()
	values := make([]any, 200)
	for i := range values {
		values[i] = int64(i)
	}
	nine := args{"eq": int64(1), "ne": int64(1), "lt": int64(1), "gt": int64(1), "lte": int64(1),
		"gte": int64(1),
		"in":  values, "notIn": values, "isNull": false}
	empty := make([]any, 72)
	for i := range empty {
		empty[i] = args{}
	}
	s := open(t)
	for name, f := range map[string]any{"terms": args{"total": nine}, "depth": nested(4),
		"operands": args{"or": empty}} {
		c, err := s.List(t.Context(), s.field(t, "orders"), args{"filter": f}, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		c.Page.Release()
	}
}
