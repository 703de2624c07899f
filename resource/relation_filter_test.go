package resource_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// folder is an item with a relation to one of its own kind.
type folder struct {
	ID       int64  `json:"id"`
	ParentID *int64 `json:"parentId"`
	Size     int64  `json:"size"`
}

// folders returns a resource with n folders in the folder 1. The size of each is its id.
func folders(t *testing.T, n int64, opts resource.Options[folder], separate bool) *resource.Resource {
	t.Helper()
	ops := resource.OpsOf(memory.New[folder](nil))
	first := int64(1)
	for id := first; id <= n; id++ {
		f := folder{ID: id, ParentID: &first, Size: id}
		if _, err := ops.Insert(t.Context(), strconv.FormatInt(id, 10), f); err != nil {
			t.Fatal(err)
		}
	}
	if separate {
		ops = ops.WithFastReads(resource.FastReads{})
	}
	operators := []query.Op{query.In, query.Eq, query.Lte}
	opts.Query = query.Support{Relations: []string{"parent", "children"},
		Filter: map[string][]query.Op{"id": operators, "parentId": operators, "size": operators}}
	opts.Relations = []resource.Relation[folder]{
		{Name: "parent", Target: "folders", Field: "parentId"},
		{Name: "children", Target: "folders", By: "parentId"}}
	return resource.NewCatalog(nil, ops.Resource("folders", &opts)).Resource("folders")
}

// filteredIDs returns the ids of a list, or the error.
func filteredIDs(t *testing.T, r *resource.Resource, f query.Filter) string {
	t.Helper()
	p, err := r.List(t.Context(), query.Query{Filter: f, Limit: 2}, resource.Position{})
	if e := (*query.Error)(nil); errors.As(err, &e) {
		return e.Code + " " + e.Parameter + ": " + e.Detail
	}
	if err != nil {
		return err.Error()
	}
	defer p.Release()
	var ids []string
	for i := range p.Entries {
		ids = append(ids, p.Entries[i].ID)
	}
	return strings.Join(ids, " ")
}

// TestRelationFilterScopeComplete: a policy that hides items by Scope alone does not limit the number of
// related items that match.
func TestRelationFilterScopeComplete(t *testing.T) {
	t.Parallel()
	r := folders(t, 1002, resource.Options[folder]{
		Authorize:     func(context.Context, resource.Op, *folder, *folder) error { return nil },
		Scope:         func(context.Context) (query.Filter, error) { return query.Where("id", query.Ne, 2), nil },
		ScopeComplete: true,
	}, false)
	for _, tt := range []struct {
		name   string
		filter query.Filter
		want   string
	}{
		{"many", query.Some("parent", query.Some("children", query.Filter{})), "1 3"},
		{"outside of the scope", query.Some("children", query.Where("id", query.Eq, 2)), ""},
	} {
		if diff := cmp.Diff(tt.want, filteredIDs(t, r, tt.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestRelationFilterLimits: the items that are read for the keys are counted for the whole filter, with
// those that are hidden.
func TestRelationFilterLimits(t *testing.T) {
	t.Parallel()
	open := folders(t, 1001, resource.Options[folder]{Public: true}, true)
	hidden := folders(t, 10_600, resource.Options[folder]{
		Authorize: func(context.Context, resource.Op, *folder, *folder) error { return resource.ErrForbidden },
	}, true)
	parent := func(size int) query.Filter { return query.Some("parent", query.Where("size", query.Lte, size)) }
	const keys = "more than 1000 related items match; use a more specific filter"
	const items = "filters would read more than 10000 related items; use a more specific filter"
	for _, tt := range []struct {
		name   string
		of     *resource.Resource
		filter query.Filter
		want   string
	}{
		{"keys", open, parent(1000), "1 2"},
		{"too many keys", open, parent(1001), "tooMany parent: " + keys},
		{"path", open, query.Some("children", parent(1001)), "tooMany children.parent: " + keys},
		{"hidden", hidden, parent(6000), ""},
		{"hidden in two terms", hidden, query.And(parent(6000), parent(5999)), "tooMany parent: " + items},
		{"too many hidden", hidden, parent(20_000), "tooMany parent: " + items},
	} {
		if diff := cmp.Diff(tt.want, filteredIDs(t, tt.of, tt.filter)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
