package fetch_test

import (
	"context"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// ids returns the ids of a page, and whether items precede and follow it.
func ids(c *fetch.Connection) []string {
	var out []string
	if c.Page.Prev != "" {
		out = append(out, "<")
	}
	for _, e := range c.Page.Entries {
		out = append(out, e.ID)
	}
	if c.Page.Next != "" {
		out = append(out, ">")
	}
	return out
}

// sorted returns the argument orderBy for pairs of field and direction.
func sorted(pairs ...string) []any {
	var list []any
	for i := 0; i < len(pairs); i += 2 {
		list = append(list, args{"field": pairs[i], "direction": pairs[i+1]})
	}
	return list
}

func TestList(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args args
		want []string
	}{
		{"a page", args{}, []string{"1", "2", ">"}},
		{"first, of which one is hidden", args{"first": 3}, []string{"1", "2", "4", ">"}},
		{"all", args{"first": 5}, []string{"1", "2", "4", "5"}},
		{"none of them", args{"first": 0}, []string{">"}},
		{"none of nothing", args{"first": 0, "filter": args{"gift": args{"eq": true}}}, nil},
		{"last", args{"last": 1}, []string{"<", "5"}},
		{"last none", args{"last": 0}, []string{"<"}},
		{"null is as good as absent", args{"first": nil, "last": 1, "after": nil, "before": nil},
			[]string{"<", "5"}},
		{"sorted", args{"orderBy": sorted("total", "DESC")}, []string{"5", "4", ">"}},
		{"sorted by two", args{"orderBy": sorted("placed-at", "ASC", "total", "DESC"), "first": 5},
			[]string{"5", "4", "1", "2"}},
		{"sorted by nothing", args{"orderBy": []any{}, "first": 5}, []string{"1", "2", "4", "5"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			for _, total := range []int64{30, 40} { // in addition to the hidden one
				if _, err := s.orders.Create(t.Context(), order{Status: "paid", Total: total}); err != nil {
					t.Fatal(err)
				}
			}
			c, err := s.List(t.Context(), s.field(t, "orders"), tt.args, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Page.Release()
			if diff := cmp.Diff(tt.want, ids(c)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestListPages reads a list page by page, forward and backward.
func TestListPages(t *testing.T) {
	t.Parallel()
	s := open(t)
	s.hidden = 0
	f := s.field(t, "orders")
	var next, prev string
	for _, step := range []struct {
		args func() args
		want []string
	}{
		{func() args { return args{"first": 1} }, []string{"1", ">"}},
		{func() args { return args{"first": 1, "after": next} }, []string{"<", "2", ">"}},
		{func() args { return args{"after": next} }, []string{"<", "3"}},
		{func() args { return args{"last": 1, "before": prev} }, []string{"<", "2", ">"}},
		{func() args { return args{"before": prev} }, []string{"1", ">"}},
		{func() args { return args{"first": 0, "after": next} }, []string{"<", ">"}},
	} {
		c, err := s.List(t.Context(), f, step.args(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(step.want, ids(c)); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
		next, prev = c.Page.Next, c.Page.Prev
		c.Page.Release()
	}
}

func TestListRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		args args
		want violation
	}{
		{"too many", args{"first": 6}, violation{"first", "range"}},
		{"fewer than none", args{"first": -1}, violation{"first", "range"}},
		{"too many from the end", args{"last": 6}, violation{"last", "range"}},
		{"fewer than none from the end", args{"last": -1}, violation{"last", "range"}},
		{"both ends", args{"first": 1, "last": 1}, violation{"last", "conflict"}},
		{"first before", args{"first": 1, "before": "x"}, violation{"before", "conflict"}},
		{"last after", args{"last": 1, "after": "x"}, violation{"after", "conflict"}},
		{"between", args{"after": "x", "before": "x"}, violation{"before", "conflict"}},
		{"no cursor", args{"after": "x"}, violation{"after", "invalidCursor"}},
		{"no cursor to go back from", args{"before": "x"}, violation{"before", "invalidCursor"}},
		{"nothing for a cursor", args{"after": ""}, violation{"after", "invalidCursor"}},
		{"nothing to go back from", args{"last": 1, "before": ""}, violation{"before", "invalidCursor"}},
		{"twice the same key", args{"orderBy": sorted("total", "ASC", "id", "ASC", "total", "DESC")},
			violation{"orderBy[2].field", "duplicate"}},
		{"too many keys", args{"orderBy": sorted("a", "", "b", "", "c", "", "d", "", "e", "")},
			violation{"orderBy", "tooMany"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			_, err := s.List(t.Context(), s.field(t, "orders"), tt.args, nil)
			code, got := reported(err)
			if diff := cmp.Diff([]violation{tt.want}, got); diff != "" || code != "BAD_USER_INPUT" {
				t.Errorf("code %s (-want +got):\n%s", code, diff)
			}
		})
	}
}

// TestCursorOfOtherList checks that a cursor is rejected for another filter or order.
func TestCursorOfOtherList(t *testing.T) {
	t.Parallel()
	s := open(t)
	f := s.field(t, "orders")
	paid := args{"status": args{"ne": "paid"}, "total": args{"gte": int64(0)}}
	c, err := s.List(t.Context(), f, args{"first": 1, "filter": args{"total": args{"gte": int64(0)}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cursor := c.Page.Next
	c.Page.Release()
	for _, other := range []args{{}, {"filter": paid},
		{"orderBy": sorted("total", "ASC"), "filter": args{"total": args{"gte": int64(0)}}}} {
		other["after"] = cursor
		if _, err := s.List(t.Context(), f, other, nil); kindOf(err) != problem.InvalidCursor {
			t.Errorf("%v: %v", other, err)
		}
	}
}

// TestListOfStoreFails checks that errors of the store are returned.
func TestListOfStoreFails(t *testing.T) {
	t.Parallel()
	secret := errors.New("secret")
	s := open(t, func(o *resource.Options[order]) {
		o.Scope = func(context.Context) (query.Filter, error) { return query.Filter{}, secret }
	})
	if _, err := s.List(t.Context(), s.field(t, "orders"), args{}, nil); !errors.Is(err, secret) {
		t.Errorf("it is %v", err)
	}
}

// TestListColumns checks which columns the store receives.
func TestListColumns(t *testing.T) {
	t.Parallel()
	s := open(t, func(o *resource.Options[order]) { o.Authorize = nil })
	c, err := s.List(t.Context(), s.field(t, "orders"), args{}, []string{"status"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Page.Release()
	if diff := cmp.Diff([]string{"status", "id"}, s.asked[0].Fields); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
