package rest_test

import (
	"context"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/rest"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	store := resource.OpsOf(memory.New[thing](nil))
	allow := func(context.Context, resource.Op, *thing, *thing) error { return nil }
	scope := func(context.Context) (query.Filter, error) { return query.Filter{}, nil }
	type policy struct {
		resource.Description
		REST rest.ResourceOptions
	}
	defaults := policy{Description: resource.Description{ID: "id", Public: true, PageSize: 50, MaxPageSize: 200,
		AssignsIDs: true, TakesIDs: true, Remembers: true, Counts: true, Batches: true},
		REST: rest.ResourceOptions{Media: "thing", RepeatedDelete: 410, Cache: "private, no-cache"}}
	tests := []struct {
		name   string
		opts   *resource.Options[thing]
		change func(*resource.Ops[thing])
		rest   rest.ResourceOptions
		want   func(*policy)
	}{
		{"defaults", nil, nil, rest.ResourceOptions{}, func(*policy) {}},
		{"authorized", &resource.Options[thing]{Authorize: allow}, nil, rest.ResourceOptions{},
			func(p *policy) { p.Public, p.Authorized, p.Counts = false, true, false }},
		{"scoped", &resource.Options[thing]{Scope: scope}, nil, rest.ResourceOptions{}, func(p *policy) { p.Public = false }},
		{"strict", &resource.Options[thing]{RequireIfMatch: true}, nil, rest.ResourceOptions{}, func(p *policy) { p.RequireIfMatch = true }},
		{"again", &resource.Options[thing]{AllowRecreate: true}, nil, rest.ResourceOptions{}, func(p *policy) { p.AllowRecreate = true }},
		{"tagged", nil, nil, rest.ResourceOptions{AlwaysETagOnPut: true}, func(p *policy) { p.REST.AlwaysETagOnPut = true }},
		{"repeated", nil, nil, rest.ResourceOptions{RepeatedDelete: 204}, func(p *policy) { p.REST.RepeatedDelete = 204 }},
		{"pages", &resource.Options[thing]{PageSize: 7, MaxPageSize: 9}, nil, rest.ResourceOptions{Cache: "no-store"},
			func(p *policy) { p.PageSize, p.MaxPageSize, p.REST.Cache = 7, 9, "no-store" }},
		{"not counted", nil, func(o *resource.Ops[thing]) { o.Count = nil }, rest.ResourceOptions{}, func(p *policy) { p.Counts = false }},
		{"no transactions", nil, func(o *resource.Ops[thing]) { o.Transactions = nil }, rest.ResourceOptions{},
			func(p *policy) { p.Batches = false }},
		{"assigns", nil, func(o *resource.Ops[thing]) { o.Insert = nil }, rest.ResourceOptions{}, func(p *policy) { p.TakesIDs = false }},
		{"takes", nil, func(o *resource.Ops[thing]) { o.Create = nil }, rest.ResourceOptions{}, func(p *policy) { p.AssignsIDs = false }},
		{"forgets", nil, func(o *resource.Ops[thing]) { o.Deleted = nil }, rest.ResourceOptions{}, func(p *policy) { p.Remembers, p.RemembersRecent = false, true }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ops, want := store, defaults
			if tt.change != nil {
				tt.change(&ops)
			}
			tt.want(&want)
			r, opts := ops.Resource("things", tt.opts), &rest.Options{Resources: map[string]rest.ResourceOptions{"things": tt.rest}}
			got := *r.Describe()
			if got.Stored != r.Type() {
				t.Errorf("Stored is %v, want the schema of thing", got.Stored)
			}
			got.Stored = nil
			same(t, "description", want, policy{got, opts.Resource(r)})
		})
	}
}

func TestDescriptions(t *testing.T) {
	t.Parallel()
	samples := []book{{ID: 1, Title: "Emma", Stars: 4}, {ID: 2, Title: "Dune", Stars: -1}}
	books := resource.New("books", memory.New[book](nil), &resource.Options[book]{Query: bookSupport(), Samples: samples})
	older := resource.View(books, toV1, fromV1, &resource.ViewOptions{Fields: map[string]string{"name": "title"},
		Where: query.Where("stars", query.Gte, 0)})
	authors := resource.New("authors", memory.New[author](nil), &resource.Options[author]{
		Relations: []resource.Relation[author]{
			{Name: "books", Target: "books", By: "authorId"},
			{Name: "first", Target: "books", Keys: func(*author) []string { return nil }},
		}})
	first := newLookup("first-book", "books", func(struct{}) (string, error) { return "", nil })
	other := newLookup("first-book", "books", func(struct{}) (string, error) { return "", nil })
	c := resource.NewCatalog(&resource.CatalogOptions{Limits: resource.Limits{Depth: 3}}, older, first, authors)

	same(t, "samples", []any{&samples[0], &samples[1]}, books.Describe().Samples)
	same(t, "samples of the view", []any{&bookV1{ID: 1, Name: "Emma", Stars: 4}}, older.Describe().Samples)
	same(t, "samples of none", []any(nil), authors.Describe().Samples)
	named := &rest.Options{Resources: map[string]rest.ResourceOptions{"authors": {Media: "writer"}}}
	same(t, "media", []string{"book", "book", "writer"},
		[]string{named.Resource(books).Media, named.Resource(older).Media, named.Resource(authors).Media})
	same(t, "limits", resource.Limits{Body: 1 << 20, URL: 8192, Depth: 3, Names: 1000, Operations: 1000, Terms: 20, Expand: 8, Streams: 100},
		c.Limits())
	if got := resource.PartsOf[*resource.Lookup](c); len(got) != 1 || got[0].Name() != first.Name() || c.Target(got[0]) != c.Resource("books") {
		t.Errorf("lookups %v, want the first", got)
	}
	bound := c.Resource("books")
	if c.Target(first) != bound || c.Target(other) != nil {
		t.Error("the target of a lookup is not the view, or a lookup of another catalog has one")
	}
	for name, want := range map[string]struct {
		target *resource.Resource
		most   int
	}{"books": {bound, 20}, "first": {bound, 0}, "none": {nil, 0}} {
		if target, most := c.Resource("authors").Related(name); target != want.target || most != want.most {
			t.Errorf("relation %s: %v, %v", name, target, most)
		}
	}
	if target, _ := books.Related("books"); target != nil {
		t.Error("a definition has a relation")
	}
}

func TestDescriptionsOfCommandsAndBlobs(t *testing.T) {
	t.Parallel()
	type input struct {
		Name string `json:"name"`
	}
	plain := command.New("auth/login", func(context.Context, input) (struct{}, error) { return struct{}{}, nil }, nil)
	told := command.New("auth/logout", func(context.Context, struct{}) (input, error) { return input{}, nil },
		&command.Options[struct{}]{Doc: "Forgets.", Problems: []problem.Kind{problem.Conflict},
			Authorize: func(context.Context, *struct{}) error { return nil }})
	files := blob.New("files", newCellar(), nil)
	small := blob.New("small", newCellar(), &blob.Options{MaxSize: 5, ReadOnly: true})
	c := resource.NewCatalog(nil, plain, files, told, small)

	var names []string
	for _, p := range resource.PartsOf[*command.Command](c) {
		names = append(names, p.Name())
	}
	for _, p := range resource.PartsOf[*blob.Collection](c) {
		names = append(names, p.Name())
	}
	same(t, "commands and blobs", []string{"auth/login", "auth/logout", "files", "small"}, names)
	same(t, "doc", []string{"", "Forgets."}, []string{plain.Doc(), told.Doc()})
	same(t, "public", []bool{true, false}, []bool{plain.Public(), told.Public()})
	same(t, "problems", [][]problem.Kind{nil, {problem.Conflict}}, [][]problem.Kind{plain.Problems(), told.Problems()})
	if plain.Jobs() != nil || plain.Into() != nil {
		t.Error("a plain command has jobs, or writes to a resource")
	}
	same(t, "options", blob.Options{MaxSize: 1 << 30}, files.Options())
	same(t, "options", blob.Options{MaxSize: 5, ReadOnly: true}, small.Options())
	opts := &rest.Options{Resources: map[string]rest.ResourceOptions{"small": {Cache: "no-store"}}}
	same(t, "cache", []string{"private, no-cache", "no-store"}, []string{opts.Blobs(files).Cache, opts.Blobs(small).Cache})
}
