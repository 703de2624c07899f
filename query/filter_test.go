package query_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
)

var (
	isA     = query.Filter{Op: query.Eq, Field: "a", Value: int64(1)}
	isB     = query.Filter{Op: query.Gt, Field: "b", Value: "x"}
	isC     = query.Filter{Op: query.IsNull, Field: "c", Value: true}
	nothing = query.Filter{Op: query.OrOp}
)

func and(fs ...query.Filter) query.Filter { return query.Filter{Op: query.AndOp, Filters: fs} }
func or(fs ...query.Filter) query.Filter  { return query.Filter{Op: query.OrOp, Filters: fs} }
func not(f query.Filter) query.Filter {
	return query.Filter{Op: query.NotOp, Filters: []query.Filter{f}}
}

func TestConnectives(t *testing.T) {
	t.Parallel()
	zero := query.Filter{}
	tests := []struct {
		name      string
		got, want query.Filter
	}{
		{"and of nothing", query.And(), zero},
		{"and of one", query.And(isA), isA},
		{"and of two", query.And(isA, isB), and(isA, isB)},
		{"and drops zero filters", query.And(zero, isA, zero), isA},
		{"and of zero filters", query.And(zero, zero), zero},
		{"and flattens", query.And(isA, query.And(isB, query.And(isC, isA))), and(isA, isB, isC, isA)},
		{"and keeps ors", query.And(isA, query.Or(isB, isC)), and(isA, or(isB, isC))},
		{"and keeps nothing", query.And(isA, query.Or()), and(isA, nothing)},
		{"and drops a hand-written empty and", query.And(isA, and()), isA},
		{"or of nothing", query.Or(), nothing},
		{"or of one", query.Or(isA), isA},
		{"or of two", query.Or(isA, isB), or(isA, isB)},
		{"or flattens", query.Or(query.Or(isA, isB), isC), or(isA, isB, isC)},
		{"or drops nothing", query.Or(query.Or(), isA), isA},
		{"or of nothings", query.Or(query.Or(), query.Or()), nothing},
		{"or with everything", query.Or(isA, zero), zero},
		{"or with an empty and", query.Or(isA, and()), zero},
		{"or keeps ands", query.Or(isA, query.And(isB, isC)), or(isA, and(isB, isC))},
		{"not", query.Not(isA), not(isA)},
		{"not not", query.Not(query.Not(isA)), isA},
		{"not not of an and", query.Not(query.Not(query.And(isA, isB))), and(isA, isB)},
		{"not everything", query.Not(zero), nothing},
		{"not nothing", query.Not(nothing), zero},
		{"not of an or", query.Not(query.Or(isA, isB)), not(or(isA, isB))},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.got); diff != "" {
				t.Errorf("filter (-want +got):\n%s", diff)
			}
		})
	}
}

// TestAndDoesNotShareSlices: filters must not share the array of their operands.
func TestAndDoesNotShareSlices(t *testing.T) {
	t.Parallel()
	parts := make([]query.Filter, 2, 8)
	parts[0], parts[1] = isA, isB
	first := query.And(parts...)
	query.And(append(parts, isC)...)
	parts[0] = isC
	second := query.And(first, isC)
	third := query.And(first, isA)
	want := []query.Filter{and(isA, isB), and(isA, isB, isC), and(isA, isB, isA)}
	if diff := cmp.Diff(want, []query.Filter{first, second, third}); diff != "" {
		t.Errorf("filters (-want +got):\n%s", diff)
	}
}

func TestWhereMakesValuesCanonical(t *testing.T) {
	t.Parallel()
	type status string
	tests := []struct {
		name      string
		op        query.Op
		value     any
		wantValue any
	}{
		{"int", query.Gte, 100, int64(100)},
		{"named string", query.Eq, status("paid"), "paid"},
		{"nil", query.Eq, nil, nil},
		{"bool of isNull", query.IsNull, true, true},
		{"strings of in", query.In, []string{"a", "b"}, []any{"a", "b"}},
		{"named strings of notIn", query.NotIn, []status{"a"}, []any{"a"}},
		{"array of in", query.In, [2]int{1, 2}, []any{int64(1), int64(2)}},
		{"mixed list of in", query.In, []any{1, nil, uint8(2)}, []any{int64(1), nil, int64(2)}},
		{"scalar of in", query.In, "a", []any{"a"}},
		{"nil slice of in", query.In, []string(nil), []any{}},
		{"nil of in", query.In, nil, []any{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			want := query.Filter{Op: tt.op, Field: "f", Value: tt.wantValue}
			if diff := cmp.Diff(want, query.Where("f", tt.op, tt.value)); diff != "" {
				t.Errorf("Where(f, %s, %v) (-want +got):\n%s", tt.op, tt.value, diff)
			}
		})
	}
}

func TestIsZero(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		f    query.Filter
		want bool
	}{
		{"zero", query.Filter{}, true},
		{"empty filters", query.Filter{Filters: []query.Filter{}}, true},
		{"comparison", isA, false},
		{"nothing", query.Or(), false},
		{"forgotten op", query.Filter{Field: "owner", Value: "me"}, false},
		{"only a value", query.Filter{Value: "me"}, false},
	}
	for _, tt := range tests {
		if got := tt.f.IsZero(); got != tt.want {
			t.Errorf("%s: IsZero() = %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTermsAndFields(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name       string
		f          query.Filter
		wantTerms  int
		wantFields []string
	}{
		{"zero", query.Filter{}, 0, nil},
		{"nothing", query.Or(), 0, nil},
		{"one", isA, 1, []string{"a"}},
		{"a list is one term", query.Where("a", query.In, []int{1, 2, 3}), 1, []string{"a"}},
		{"tree", query.And(isB, query.Or(isA, query.Not(isC)), isB), 4, []string{"b", "a", "c"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.f.Terms(); got != tt.wantTerms {
				t.Errorf("Terms() = %d, want %d", got, tt.wantTerms)
			}
			if diff := cmp.Diff(tt.wantFields, slices.Collect(tt.f.Fields())); diff != "" {
				t.Errorf("Fields() (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFieldsStopsWhenAsked(t *testing.T) {
	t.Parallel()
	for name := range query.And(isA, query.Or(isB, isC)).Fields() {
		if name == "b" {
			break
		}
		if name != "a" {
			t.Errorf("Fields() went on to %q", name)
		}
	}
}

func TestMap(t *testing.T) {
	t.Parallel()
	rename := func(f query.Filter) (query.Filter, error) {
		f.Field = "x" + f.Field
		return f, nil
	}
	become := func(made query.Filter) func(query.Filter) (query.Filter, error) {
		return func(f query.Filter) (query.Filter, error) {
			if f.Field == "a" {
				return made, nil
			}
			return f, nil
		}
	}
	xa, xb := isA, isB
	xa.Field, xb.Field = "xa", "xb"
	tests := []struct {
		name string
		f    query.Filter
		fn   func(query.Filter) (query.Filter, error)
		want query.Filter
	}{
		{"zero", query.Filter{}, rename, query.Filter{}},
		{"one", isA, rename, xa},
		{"no operands remain", query.Or(), rename, nothing},
		{"tree", query.Or(isA, query.Not(query.And(isB, isA))), rename, or(xa, not(and(xb, xa)))},
		{"to everything in an or", query.Or(isA, isB), become(query.Filter{}), query.Filter{}},
		{"to everything in a not", query.Not(isA), become(query.Filter{}), nothing},
		{"to nothing in a not", query.Not(isA), become(query.Or()), query.Filter{}},
		{"to an and in an and", query.And(isA, isB), become(query.And(isC, isC)), and(isC, isC, isB)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.f.Map(tt.fn)
			if err != nil {
				t.Fatalf("Map: %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("Map (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMapLeavesItsFilterAlone(t *testing.T) {
	t.Parallel()
	f := query.And(isA, query.Not(isB))
	if _, err := f.Map(func(query.Filter) (query.Filter, error) { return isC, nil }); err != nil {
		t.Fatalf("Map: %v", err)
	}
	if diff := cmp.Diff(and(isA, not(isB)), f); diff != "" {
		t.Errorf("filter after Map (-want +got):\n%s", diff)
	}
}

func TestMapEndsWithTheFirstError(t *testing.T) {
	t.Parallel()
	errB := errors.New("no b")
	var asked []string
	got, err := query.And(isA, query.Not(isB), isC).Map(func(f query.Filter) (query.Filter, error) {
		asked = append(asked, f.Field)
		if f.Field == "b" {
			return query.Filter{}, errB
		}
		return f, nil
	})
	if !errors.Is(err, errB) || !got.IsZero() {
		t.Errorf("Map = %v, %v, want the zero Filter and %v", got, err, errB)
	}
	if diff := cmp.Diff([]string{"a", "b"}, asked); diff != "" {
		t.Errorf("comparisons seen (-want +got):\n%s", diff)
	}
}
