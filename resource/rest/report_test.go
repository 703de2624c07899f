package rest_test

import (
	"context"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// TestReportOfPublicCaches: a shared cache must not store items that some callers may not see.
func TestReportOfPublicCaches(t *testing.T) {
	t.Parallel()
	allow := func(context.Context, resource.Op, *thing, *thing) error { return nil }
	scope := func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	const weak = "/things\n    weak: Cache-Control is public, but access to the items is restricted\n"
	for _, tt := range []struct {
		name string
		opts resource.Options[thing]
		want string
	}{
		{"no policy", resource.Options[thing]{}, ""},
		{"Authorize", resource.Options[thing]{Authorize: allow}, weak},
		{"Scope", resource.Options[thing]{Scope: scope}, weak},
		{"Authorize and Scope", resource.Options[thing]{Authorize: allow, Scope: scope}, weak},
	} {
		c := resource.NewCatalog(nil, resource.New("things", memory.New[thing](nil), &tt.opts))
		h := rest.New(c, &rest.Options{Resources: map[string]rest.ResourceOptions{
			"things": {Cache: "public, max-age=60"},
		}})
		same(t, tt.name, tt.want, h.Report())
	}
}

// TestReportOfPublicCachesOfRelations: a list that a filter or expand connects with items that some callers may not see
// depends on the caller, too.
func TestReportOfPublicCachesOfRelations(t *testing.T) {
	t.Parallel()
	type owner struct {
		ID string `json:"id"`
	}
	type pet struct {
		ID      string `json:"id"`
		OwnerID string `json:"ownerId"`
	}
	public := &rest.Options{Resources: map[string]rest.ResourceOptions{"pets": {Cache: "public, max-age=60"}}}
	pets := func() *resource.Resource {
		return resource.New("pets", memory.New[pet](nil), &resource.Options[pet]{Public: true,
			Relations: []resource.Relation[pet]{{Name: "owner", Target: "owners", Field: "ownerId"}}})
	}
	scope := func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	open := resource.New("owners", memory.New[owner](nil), &resource.Options[owner]{Public: true})
	same(t, "public owners", "", rest.New(resource.NewCatalog(nil, pets(), open), public).Report())
	guarded := resource.New("owners", memory.New[owner](nil), &resource.Options[owner]{Scope: scope})
	same(t, "guarded owners",
		"/pets\n    weak: Cache-Control is public, but access to the related items owner is restricted\n",
		rest.New(resource.NewCatalog(nil, pets(), guarded), public).Report())
}
