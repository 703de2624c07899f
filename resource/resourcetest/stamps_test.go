package resourcetest_test

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest"
)

// stampMutants returns mutants that do not keep the fields with the tag set.
func stampMutants() []mutant {
	clear := func(v *thing) { v.Added = time.Time{} }
	return []mutant{
		{bug: "the time of the creation is not stored", want: []string{"create-get", "insert-get"},
			wrap: func(o ops) ops { return writes(o, func(v *thing, _ bool) { clear(v) }) }},
		{bug: "a change does not store its time", want: []string{"replace-get"}, wrap: func(o ops) ops {
			replace := o.Replace
			o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
				if it, err := o.Get(ctx, id); err == nil {
					v.Edited = it.Value.Edited
				}
				return replace(ctx, id, expect, v)
			}
			return o
		}},
	}
}

// writes returns o with a function that changes each value before it is stored.
func writes(o ops, edit func(v *thing, change bool)) ops {
	create, insert, replace := o.Create, o.Insert, o.Replace
	o.InsertMany = nil
	o.Create = func(ctx context.Context, v thing) (item, error) {
		v = v.clone()
		edit(&v, false)
		return create(ctx, v)
	}
	o.Insert = func(ctx context.Context, id string, v thing) (item, error) {
		v = v.clone()
		edit(&v, false)
		return insert(ctx, id, v)
	}
	o.Replace = func(ctx context.Context, id string, expect resource.Rev, v thing) (item, error) {
		v = v.clone()
		edit(&v, true)
		return replace(ctx, id, expect, v)
	}
	return o
}

// TestTimePrecision runs all cases for a store that rounds times down.
func TestTimePrecision(t *testing.T) {
	t.Parallel()
	for _, unit := range []time.Duration{time.Millisecond, time.Second, time.Minute} {
		t.Run(unit.String(), func(t *testing.T) {
			t.Parallel()
			coarse := func() ops {
				return writes(resource.OpsOf(newTable("")), func(v *thing, _ bool) {
					v.Born, v.Added = v.Born.Truncate(unit), v.Added.Truncate(unit)
					for _, at := range []*time.Time{v.Ends, v.Edited} {
						if at != nil {
							*at = at.Truncate(unit)
						}
					}
				})
			}
			opts := smallOptions()
			if v := resourcetest.Judge(t, coarse, opts, time.Minute, "create-get")["create-get"]; len(v.Failures) == 0 {
				t.Error("without the option the kit accepts times that were rounded")
			}
			opts.TimePrecision = unit
			for name, v := range resourcetest.Judge(t, coarse, opts, time.Minute, "create-get", "insert-get", "replace-get", "filter-comparisons", "list-sort") {
				if len(v.Failures) > 0 {
					t.Errorf("case %s: %s", name, v.Message)
				}
			}
		})
	}
}

// stamped has all fields that package resource sets.
type stamped struct {
	ID         string    `json:"id"`
	Text       string    `json:"text"`
	CreatedAt  time.Time `json:"createdAt" set:"created"`
	ModifiedAt time.Time `json:"modifiedAt" set:"modified"`
	CreatedBy  string    `json:"createdBy" set:"createdBy"`
	ModifiedBy *string   `json:"modifiedBy" set:"modifiedBy"`
}

// TestStampsAreCompared loses one field with the tag set after the other, with generated values and with
// those of Options.New and Change, which do not set them.
func TestStampsAreCompared(t *testing.T) {
	t.Parallel()
	own := &resourcetest.Options[stamped]{
		New:    func(n int) stamped { return stamped{Text: strings.Repeat("x", n+1)} },
		Change: func(v stamped) stamped { v.Text += "y"; return v },
	}
	ofCreation, ofChange := []string{"create-get", "insert-get"}, []string{"replace-get"}
	all := slices.Concat(ofCreation, ofChange)
	tests := []struct {
		name string
		lose func(v *stamped, old *stamped)
		want []string
	}{
		{"nothing", func(*stamped, *stamped) {}, nil},
		{"createdAt", func(v, _ *stamped) { v.CreatedAt = time.Time{} }, ofCreation},
		{"modifiedAt of a change", func(v, old *stamped) {
			if old != nil {
				v.ModifiedAt = old.ModifiedAt
			}
		}, ofChange},
		{"createdBy", func(v, _ *stamped) { v.CreatedBy = "" }, ofCreation},
		{"createdBy after a change", func(v, old *stamped) {
			if old != nil {
				v.CreatedBy = ""
			}
		}, ofChange},
		{"modifiedBy", func(v, _ *stamped) { v.ModifiedBy = nil }, all},
		{"modifiedBy of a change", func(v, old *stamped) {
			if old != nil {
				v.ModifiedBy = old.ModifiedBy
			}
		}, ofChange},
		// A store may leave the columns of the creation out of an UPDATE.
		{"what a change never changes", func(v, old *stamped) {
			if old != nil {
				v.CreatedAt, v.CreatedBy = old.CreatedAt, old.CreatedBy
			}
		}, nil},
	}
	for _, tt := range tests {
		for kind, opts := range map[string]*resourcetest.Options[stamped]{"generated": nil, "own": own} {
			t.Run(tt.name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				only := all
				if tt.want == nil {
					only = nil // every case
				}
				verdicts := resourcetest.Judge(t, func() resource.Ops[stamped] { return losing(tt.lose) }, opts, unhurried, only...)
				maps.DeleteFunc(verdicts, func(_ string, v resourcetest.Verdict) bool { return len(v.Failures) == 0 })
				if diff := cmp.Diff(tt.want, slices.Sorted(maps.Keys(verdicts))); diff != "" {
					t.Errorf("failed cases (-want +got):\n%s\n%v", diff, verdicts)
				}
			})
		}
	}
}

// losing returns a collection that changes values before it stores them. old is nil for a new item.
func losing(lose func(v, old *stamped)) resource.Ops[stamped] {
	o := resource.OpsOf(memory.New[stamped](nil))
	create, insert, replace := o.Create, o.Insert, o.Replace
	o.InsertMany = nil
	o.Create = func(ctx context.Context, v stamped) (resource.Item[stamped], error) {
		lose(&v, nil)
		return create(ctx, v)
	}
	o.Insert = func(ctx context.Context, id string, v stamped) (resource.Item[stamped], error) {
		lose(&v, nil)
		return insert(ctx, id, v)
	}
	o.Replace = func(ctx context.Context, id string, expect resource.Rev, v stamped) (resource.Item[stamped], error) {
		if it, err := o.Get(ctx, id); err == nil {
			lose(&v, &it.Value)
		}
		return replace(ctx, id, expect, v)
	}
	return o
}
