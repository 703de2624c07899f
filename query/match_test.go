package query_test

import (
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
)

// item is a row with fields by name.
type item map[string]any

func (i item) field(name string) any { return i[name] }

func TestMatch(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	row := item{
		"name":   "Ada Lovelace",
		"age":    36,
		"score":  2.5,
		"big":    uint64(1 << 63),
		"active": true,
		"gone":   nil,
		"at":     noon,
		"price":  decimal("9.50"),
		"length": duration("P1M"),
		"tags":   []any{"new", nil, "old"},
		"prices": []query.Decimal{decimal("1"), decimal("2.50")},
		"empty":  []string{},
	}
	where := query.Where
	// Each comparison is evaluated directly and below a Not: exactly one of the two must be true.
	tests := []struct {
		name string
		f    query.Filter
		want bool
	}{
		{"eq", where("age", query.Eq, 36), true},
		{"eq other", where("age", query.Eq, 37), false},
		{"eq string", where("name", query.Eq, "Ada Lovelace"), true},
		{"eq is case-sensitive", where("name", query.Eq, "ada lovelace"), false},
		{"eq bool", where("active", query.Eq, true), true},
		{"eq across number kinds", where("age", query.Eq, 36.0), true},
		{"eq across kinds", where("age", query.Eq, "36"), false},
		{"eq time in another zone", where("at", query.Eq, noon.In(time.FixedZone("", 3600))), true},
		{"eq null", where("gone", query.Eq, nil), false},
		{"eq value to null", where("gone", query.Eq, 0), false},
		{"eq null to value", where("age", query.Eq, nil), false},
		{"ne", where("age", query.Ne, 37), true},
		{"ne same", where("age", query.Ne, 36), false},
		{"ne across kinds", where("age", query.Ne, "36"), true},
		{"ne of a null", where("gone", query.Ne, 36), true},
		{"ne with null", where("age", query.Ne, nil), true},
		{"in", where("age", query.In, []int{1, 36}), true},
		{"in others", where("age", query.In, []int{1, 2}), false},
		{"in nothing", where("age", query.In, []int{}), false},
		{"in with null", where("gone", query.In, []any{nil}), false},
		{"notIn", where("age", query.NotIn, []int{1, 2}), true},
		{"notIn with it", where("age", query.NotIn, []int{1, 36}), false},
		{"notIn nothing", where("age", query.NotIn, []int{}), true},
		{"notIn of a null", where("gone", query.NotIn, []int{1}), true},
		{"notIn with null", where("gone", query.NotIn, []any{nil}), true},
		{"lt", where("age", query.Lt, 37), true},
		{"lt same", where("age", query.Lt, 36), false},
		{"lte same", where("age", query.Lte, 36), true},
		{"lte less", where("age", query.Lte, 35), false},
		{"gt", where("age", query.Gt, 35), true},
		{"gt same", where("age", query.Gt, 36), false},
		{"gte same", where("age", query.Gte, 36), true},
		{"gte more", where("age", query.Gte, 37), false},
		{"lt fraction", where("score", query.Lt, 3), true},
		{"gt beyond int64", where("big", query.Gt, int64(1<<63-1)), true},
		{"gt time", where("at", query.Gt, noon.Add(-time.Nanosecond)), true},
		{"gt string", where("name", query.Gt, "Ad"), true},
		{"lt of a null", where("gone", query.Lt, 1), false},
		{"lte with null", where("gone", query.Lte, nil), false},
		{"gte with null", where("age", query.Gte, nil), false},
		{"gt across kinds", where("name", query.Gt, 1), false},
		{"lt across kinds", where("name", query.Lt, 1), false},
		{"contains", where("name", query.Contains, "Love"), true},
		{"contains is case-sensitive", where("name", query.Contains, "love"), false},
		{"contains the empty string", where("name", query.Contains, ""), true},
		{"contains takes no patterns", where("name", query.Contains, "%"), false},
		{"contains of a number", where("age", query.Contains, "3"), false},
		{"contains a number", where("name", query.Contains, 3), false},
		{"contains of a null", where("gone", query.Contains, ""), false},
		{"startsWith", where("name", query.StartsWith, "Ada"), true},
		{"startsWith the middle", where("name", query.StartsWith, "Love"), false},
		{"startsWith of a null", where("gone", query.StartsWith, ""), false},
		{"isNull", where("gone", query.IsNull, true), true},
		{"isNull of a value", where("age", query.IsNull, true), false},
		{"isNull false", where("age", query.IsNull, false), true},
		{"isNull false of a null", where("gone", query.IsNull, false), false},
		{"isNull of no field", where("nope", query.IsNull, true), true},

		{"eq decimal", where("price", query.Eq, decimal("9.5")), true},
		{"eq decimal and float", where("price", query.Eq, 9.5), true},
		{"gt decimal", where("price", query.Gt, decimal("9.4999999999999999999")), true},
		{"lt decimal by number", where("price", query.Lt, 10), true}, // as texts 9 is after 10
		{"eq decimal across kinds", where("price", query.Eq, "9.5"), false},
		{"contains of a decimal", where("price", query.Contains, "9"), false},
		{"in decimals", where("price", query.In, []any{decimal("9.500")}), true},
		{"eq duration of other parts", where("length", query.Eq, duration("P30D")), true},
		{"gt duration", where("length", query.Gt, duration("P29DT23H")), true},
		{"contains an element", where("tags", query.Contains, "old"), true},
		{"contains a part of an element", where("tags", query.Contains, "ol"), false},
		{"contains no element", where("empty", query.Contains, "old"), false},
		{"contains null", where("tags", query.Contains, nil), false},
		{"contains a decimal", where("prices", query.Contains, decimal("2.5")), true},
		{"contains an int", where("prices", query.Contains, 1), true},
		{"contains an element of another kind", where("prices", query.Contains, "1"), false},
		{"isNull of a list", where("empty", query.IsNull, true), false},

		{"everything", query.Filter{}, true},
		{"nothing", query.Or(), false},
		{"hand-written and of nothing", and(), true},
		{"hand-written not of nothing", query.Filter{Op: query.NotOp}, false},
		{"and", query.And(where("age", query.Gt, 1), where("active", query.Eq, true)), true},
		{"and with one false", query.And(where("age", query.Gt, 1), where("active", query.Eq, false)), false},
		{"or", query.Or(where("age", query.Lt, 1), where("active", query.Eq, true)), true},
		{"or with all false", query.Or(where("age", query.Lt, 1), where("active", query.Eq, false)), false},
		{
			"not of an and",
			query.Not(query.And(where("age", query.Gt, 1), where("active", query.Eq, false))),
			true,
		},
		{
			"not of an or",
			query.Not(query.Or(where("age", query.Lt, 1), where("active", query.Eq, true))),
			false,
		},
		{"not of a comparison with null", query.Not(where("gone", query.Gt, 1)), true},
		{
			"hand-written values need not be canonical",
			and(query.Filter{Op: query.Eq, Field: "age", Value: uint8(36)},
				query.Filter{Op: query.In, Field: "age", Value: []any{36}}),
			true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := query.Match(tt.f, row.field); got != tt.want {
				t.Errorf("Match = %v, want %v", got, tt.want)
			}
			if got := query.Match(not(tt.f), row.field); got == tt.want {
				t.Errorf("Match of its negation = %v, too", got)
			}
		})
	}
}

func TestMatchFailsClosed(t *testing.T) {
	t.Parallel()
	row := item{"owner": "me", "tags": []any{"new"}}
	mine := query.Where("owner", query.Eq, "me")
	tests := []struct {
		name string
		f    query.Filter
	}{
		{"unknown op", query.Filter{Op: "is", Field: "owner", Value: "me"}},
		{"forgotten op", query.Filter{Field: "owner", Value: "me"}},
		{"in without a list", query.Filter{Op: query.In, Field: "owner", Value: "me"}},
		{"notIn without a list", query.Filter{Op: query.NotIn, Field: "owner", Value: "you"}},
		{"notIn with a list of Go's", query.Filter{Op: query.NotIn, Field: "owner", Value: []string{"you"}}},
		{"isNull without a bool", query.Filter{Op: query.IsNull, Field: "owner", Value: "false"}},
		{"startsWith of a list", query.Where("tags", query.StartsWith, "new")},
		{"eq of a list", query.Where("tags", query.Eq, "new")},
		{"eq of two lists", query.Where("tags", query.Eq, []string{"new"})},
		{"ne of a list", query.Where("tags", query.Ne, "new")},
		{"lte of two lists", query.Where("tags", query.Lte, []string{"new"})},
		{"in of a list", query.Where("tags", query.In, []any{"new"})},
		{"notIn of a list", query.Where("tags", query.NotIn, []any{"new"})},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for _, f := range []query.Filter{tt.f, not(tt.f), not(not(tt.f)), and(mine, tt.f), not(or(not(mine), tt.f))} {
				if query.Match(f, row.field) {
					t.Errorf("Match(%v) = true", f)
				}
			}
			// It has no effect on a valid alternative.
			if !query.Match(or(mine, tt.f), row.field) {
				t.Error("Match = false although an alternative is true")
			}
		})
	}
}

func TestExcludes(t *testing.T) {
	t.Parallel()
	text := query.Where("text", query.Eq, "a")
	due := query.Where("due", query.Eq, "friday")
	tests := []struct {
		name   string
		filter query.Filter
		want   bool
	}{
		{"no filter", query.Filter{}, false},
		{"a known field that matches", text, false},
		{"a known field that does not match", query.Not(text), true},
		{"an unknown field", due, false},
		{"not an unknown field", query.Not(due), false},
		{"unknown is not null", query.Where("due", query.IsNull, true), false},
		{"unknown in a list", query.Where("due", query.In, []string{"friday"}), false},
		{"unknown is not less", query.Where("due", query.Lt, "a"), false},
		{"and: one decides", query.And(query.Not(text), due), true},
		{"and: the unknown one decides", query.And(text, due), false},
		{"or: one may match", query.Or(query.Not(text), due), false},
		{"or: none can match", query.Or(query.Not(text), query.Where("text", query.Eq, "b")), true},
		{"not or", query.Not(query.Or(text, due)), true},
		{"not and", query.Not(query.And(text, due)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := query.Excludes(tt.filter, func(field string) (any, bool) {
				if field == "text" {
					return "a", true
				}
				return nil, false
			})
			if got != tt.want {
				t.Errorf("Excludes = %t, want %t", got, tt.want)
			}
		})
	}
}
