package query_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	support := query.Support{
		Filter: map[string][]query.Op{
			"status": {query.Eq, query.Ne, query.In},
			"total":  {query.Gte},
			"hidden": {},
		},
		Sort: []string{"total"},
	}
	long := strings.Repeat("n", 100)
	tests := []struct {
		name    string
		support query.Support
		q       query.Query
		want    *query.Error
	}{
		{"zero", query.Support{}, query.Query{}, nil},
		{
			"zero by id",
			query.Support{},
			query.Query{Sort: []query.Order{{Field: "key", Desc: true}}, After: []any{"a"}},
			nil,
		},
		{
			"declared",
			support,
			query.Query{
				Filter: query.Or(query.Where("status", query.In, "paid"),
					query.Not(query.Where("total", query.Gte, 1))),
				Sort:   []query.Order{{Field: "total"}, {Field: "key"}},
				After:  []any{int64(1), "a"},
				Fields: []string{"anything"},
			},
			nil,
		},
		{
			"comparison not declared",
			support,
			query.Query{Filter: query.Where("status", query.Gt, "a")},
			&query.Error{
				Parameter: "status.gt",
				Code:      "unsupportedFilter",
				Detail:    "status can be compared with eq, ne and in",
			},
		},
		{
			"only one declared",
			support,
			query.Query{Filter: query.Where("total", query.Eq, 1)},
			&query.Error{
				Parameter: "total",
				Code:      "unsupportedFilter",
				Detail:    "total can be compared with gte",
			},
		},
		{
			"field not declared", support, query.Query{Filter: query.Not(query.Where("name", query.Eq, "a"))},
			&query.Error{
				Parameter: "name", Code: "unsupportedFilter",
				Detail: `cannot filter by "name", only by status and total`,
			},
		},
		{
			"field without comparisons", support, query.Query{Filter: query.Where("hidden", query.Eq, "a")},
			&query.Error{
				Parameter: "hidden", Code: "unsupportedFilter",
				Detail: `cannot filter by "hidden", only by status and total`,
			},
		},
		{
			"id is not implied in filters",
			query.Support{},
			query.Query{Filter: query.Where("key", query.Eq, "a")},
			&query.Error{
				Parameter: "key",
				Code:      "unsupportedFilter",
				Detail:    `cannot filter by "key": this list has no filters`,
			},
		},
		{
			"unknown op",
			support,
			query.Query{Filter: query.Where("status", "like", "a")},
			&query.Error{
				Parameter: "status.like",
				Code:      "unsupportedFilter",
				Detail:    "status can be compared with eq, ne and in",
			},
		},
		{
			"forgotten op",
			support,
			query.Query{Filter: query.Filter{Field: "status", Value: "a"}},
			&query.Error{
				Parameter: "status.",
				Code:      "unsupportedFilter",
				Detail:    "status can be compared with eq, ne and in",
			},
		},
		{
			"sort not declared",
			support,
			query.Query{Sort: []query.Order{{Field: "total"}, {Field: "status"}}},
			&query.Error{
				Parameter: "sort",
				Code:      "unsupportedSort",
				Detail:    `cannot sort by "status", only by total and key`,
			},
		},
		{
			"sort by a very long name", query.Support{}, query.Query{Sort: []query.Order{{Field: long}}},
			&query.Error{
				Parameter: "sort", Code: "unsupportedSort",
				Detail: `cannot sort by "` + long[:64] + `"..., only by key`,
			},
		},
		{
			"sort where natural",
			query.Support{Natural: true},
			query.Query{Sort: []query.Order{{Field: "key"}}},
			&query.Error{
				Parameter: "sort",
				Code:      "unsupportedSort",
				Detail:    "sort is not supported: this list has a fixed order",
			},
		},
		{"token where natural", query.Support{Natural: true}, query.Query{Token: "next"}, nil},
		{
			"token without Natural", query.Support{}, query.Query{Token: "next"},
			&query.Error{Code: "invalidCursor", Detail: "the position belongs to another list"},
		},
		{
			"position where natural", query.Support{Natural: true}, query.Query{After: []any{"a"}},
			&query.Error{Code: "invalidCursor", Detail: "the position belongs to another list"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.support.Check(tt.q, "key")
			var got *query.Error
			if err != nil && !errors.As(err, &got) {
				t.Fatalf("Check: %T, want a *query.Error", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Check (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckDoesNotChangeItsSupport(t *testing.T) {
	t.Parallel()
	sort := append(make([]string, 0, 4), "a")
	support := query.Support{Sort: sort}
	if err := support.Check(query.Query{Sort: []query.Order{{Field: "b"}}}, "id"); err == nil {
		t.Fatal("Check accepted a sort that is not declared")
	}
	if got := sort[:2][1]; got != "" {
		t.Errorf("the element after Support.Sort is now %q", got)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	first := &query.Error{Parameter: "limit", Code: "invalidValue", Detail: "must be a number"}
	second := &query.Error{Code: "invalidCursor", Detail: "is damaged"}
	var err error = query.Errors{first, second}
	if got, want := err.Error(), "limit: must be a number\nis damaged"; got != want {
		t.Errorf("Error() = %q, want %q", got, want)
	}
	var found *query.Error
	if !errors.As(err, &found) || found != first {
		t.Errorf("errors.As found %v, want the first error", found)
	}
	if !errors.Is(err, second) {
		t.Error("errors.Is does not find the second error")
	}
}
