package resource_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/memory"
)

// remark has the names of the callers that have created and changed it.
type remark struct {
	ID         string `json:"id"`
	Text       string `json:"text"`
	CreatedBy  string `json:"createdBy" set:"createdBy"`
	ModifiedBy string `json:"modifiedBy" set:"modifiedBy"`
}

// TestNamesOfCallers: a write has the name that the catalog which serves it has for the caller: the write itself, that
// of a hook, a policy, a lookup and a command, which use definitions. A write outside of catalogs has the first name
// that is not empty.
func TestNamesOfCallers(t *testing.T) {
	t.Parallel()
	type input struct {
		Text string `json:"text"`
	}
	type output struct{}
	// Each way writes the remark a twice.
	tests := []struct {
		name    string
		write   func(ctx context.Context, c *resource.Catalog, remarks *resource.Resource, text string) error
		outside bool
	}{
		{name: "request", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			_, _, err := c.Resource("remarks").Put(ctx, "a", []byte(`{"text":"`+text+`"}`), nil)
			return err
		}},
		{name: "batch", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			_, err := c.Resource("remarks").Batch(ctx,
				[]byte(`{"operations":[{"op":"replace","id":"a","value":{"text":"`+text+`"}}]}`), nil)
			return err
		}},
		{name: "hook", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			_, _, err := c.Resource("topics").Put(ctx, text, []byte(`{"text":"`+text+`"}`), nil)
			return err
		}},
		{name: "command", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			_, err := commandNamed(c, "remarks/write").Call(ctx, []byte(`{"text":"`+text+`"}`), nil)
			return err
		}},
		{name: "invocation", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			_, err := commandNamed(c, "remarks/write").Invoke(ctx, &input{text})
			return err
		}},
		{name: "job", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			res, err := commandNamed(c, "remarks/write-later").Call(ctx, []byte(`{"text":"`+text+`"}`), nil)
			if err != nil {
				return err
			}
			<-res.Done
			_, err = res.Outcome()
			return err
		}},
		{name: "import", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			_, err := commandNamed(c, "remarks/import").Into().Import(ctx,
				strings.NewReader(`{"id":"a","text":"`+text+`"}`), nil)
			return err
		}},
		{name: "lookup", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			lookup := resource.PartsOf[*resource.Lookup](c)[0]
			_, err := lookup.Find(ctx, &input{text}, c.Target(lookup))
			return err
		}},
		{name: "policy of a read", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			_, err := c.Resource("secrets").Get(ctx, text)
			return err
		}},
		{name: "policy of a list", write: func(ctx context.Context, c *resource.Catalog, _ *resource.Resource, text string) error {
			p, err := c.Resource("secrets").List(ctx, query.Query{Filter: query.Where("id", query.Eq, text)}, resource.Position{})
			p.Release()
			return err
		}},
		{name: "definition", outside: true,
			write: func(ctx context.Context, _ *resource.Catalog, remarks *resource.Resource, text string) error {
				_, _, err := remarks.Put(ctx, "a", []byte(`{"text":"`+text+`"}`), nil)
				return err
			}},
	}
	for _, tt := range tests {
		for _, names := range [][]string{{"ann"}, {"ann", "bob"}} {
			t.Run(tt.name+" in catalogs of "+strings.Join(names, " and "), func(t *testing.T) {
				t.Parallel()
				remarks := resource.New("remarks", memory.New[remark](nil), &resource.Options[remark]{Public: true})
				write := func(ctx context.Context, text string) error {
					_, _, err := remarks.Put(ctx, "a", []byte(`{"text":"`+text+`"}`), nil)
					return err
				}
				topics := resource.New("topics", memory.New[Todo](nil), &resource.Options[Todo]{Public: true,
					Before: func(ctx context.Context, _ resource.Op, _, after *Todo) error { return write(ctx, after.Text) }})
				secretStore := memory.New[Todo](nil)
				for _, id := range []string{"one", "two"} {
					if _, err := secretStore.Insert(t.Context(), id, Todo{ID: id, Text: id}); err != nil {
						t.Fatal(err)
					}
				}
				secrets := resource.New("secrets", secretStore, &resource.Options[Todo]{
					Query:     query.Support{Filter: map[string][]query.Op{"id": {query.Eq}}},
					Authorize: func(ctx context.Context, _ resource.Op, before, _ *Todo) error { return write(ctx, before.Text) }})
				lookup := resource.NewLookup("latest", "remarks", func(ctx context.Context, in input) (string, error) {
					return "a", write(ctx, in.Text)
				})
				do := func(ctx context.Context, in input) (output, error) { return output{}, write(ctx, in.Text) }
				jobs := job.New("jobs", resource.OpsOf(memory.New[job.Job](nil)), &job.Options{Alone: true})
				parts := []resource.Part{remarks, topics, secrets, lookup, jobs.Resource(), command.NewImport("remarks/import", remarks),
					command.New("remarks/write", do, &command.Options[input]{Public: true}),
					command.New("remarks/write-later", do, &command.Options[input]{Public: true, Jobs: jobs})}
				catalogs := make([]*resource.Catalog, len(names))
				for i, name := range names {
					catalogs[i] = resource.NewCatalog(&resource.CatalogOptions{
						Principal: func(context.Context) string { return name }}, parts...)
				}
				last := len(names) - 1
				for i, at := range []int{0, last} {
					if err := tt.write(t.Context(), catalogs[at], remarks, []string{"one", "two"}[i]); err != nil {
						t.Fatal(err)
					}
				}
				e, err := remarks.Get(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				want := &remark{ID: "a", Text: "two", CreatedBy: "ann", ModifiedBy: names[last]}
				if tt.outside {
					want.ModifiedBy = "ann"
				}
				if diff := cmp.Diff(want, e.Value); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	}
}

// commandNamed returns a command of a catalog.
func commandNamed(c *resource.Catalog, name string) *command.Command {
	for _, cmd := range resource.PartsOf[*command.Command](c) {
		if cmd.Name() == name {
			return cmd
		}
	}
	return nil
}

// TestBoundResources: a catalog returns the same bound resource each time, and binds the definition of a
// resource that another catalog has bound.
func TestBoundResources(t *testing.T) {
	t.Parallel()
	todos := resource.New("todos", memory.New[Todo](nil), &resource.Options[Todo]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"id": {query.Eq, query.In}}, Relations: []string{"next"},
			Group: []string{"next.id"}, Aggregate: map[string][]query.Func{"text": {query.Min}}},
		Relations: []resource.Relation[Todo]{{Name: "next", Target: "todos", Field: "text"}}})
	imported := command.NewImport("todos/import", todos)
	first := resource.NewCatalog(nil, todos, imported)
	second := resource.NewCatalog(nil, first.Resource("todos"), commandNamed(first, "todos/import"))
	view := resource.View(second.Resource("todos"), func(v Todo) (Todo, error) { return v, nil },
		func(v, _ Todo) (Todo, error) { return v, nil }, nil)
	third := resource.NewCatalog(nil, view, imported)
	if r := first.Resource("todos"); r == todos || r != first.Resource("todos") || r != first.Resources()[0] ||
		r != resource.PartsOf[*resource.Resource](first)[0] || first.Resource("nothing") != nil {
		t.Error("the catalog has several resources of one name, or the definition")
	}
	if diff := cmp.Diff(first.Report(), second.Report()); diff != "" {
		t.Errorf("reports of the catalogs (-first +second):\n%s", diff)
	}
	for i, c := range []*resource.Catalog{first, second, third} {
		r := c.Resource("todos")
		if target, _ := r.Related("next"); target != r {
			t.Errorf("catalog %d: the relation leads to a resource of another", i+1)
		}
		if into := commandNamed(c, "todos/import").Into(); c != third && into != r ||
			c == third && (into == r || into == todos) {
			t.Errorf("catalog %d: the import is into a resource of another", i+1)
		}
		for _, text := range []string{"", "a"} {
			if _, _, err := r.Put(t.Context(), "a"+text, []byte(`{"text":"`+text+`"}`), nil); err != nil {
				t.Fatal(err)
			}
		}
		f := query.Filter{Op: query.SomeOp, Field: "next", Filters: []query.Filter{query.Where("id", query.Eq, "a")}}
		p, err := r.List(t.Context(), query.Query{Filter: f}, resource.Position{})
		if err != nil || len(p.Entries) != 1 {
			t.Errorf("catalog %d: a filter through the relation finds %d items, %v", i+1, len(p.Entries), err)
		}
		p.Release()
	}
}

// TestUnboundRelations: a definition has no relations. The error names what has them.
func TestUnboundRelations(t *testing.T) {
	t.Parallel()
	todos := resource.New("todos", memory.New[Todo](nil), &resource.Options[Todo]{Public: true,
		Query: query.Support{Filter: map[string][]query.Op{"id": {query.Eq, query.In}}, Relations: []string{"next"},
			Sort: []string{"next.id"}, Group: []string{"next.id"}, Aggregate: map[string][]query.Func{"text": {query.Min}}},
		Relations: []resource.Relation[Todo]{{Name: "next", Target: "todos", Field: "text"}}})
	resource.NewCatalog(nil, todos)
	list := func(q query.Query) error {
		p, err := todos.List(t.Context(), q, resource.Position{})
		p.Release()
		return err
	}
	tests := []struct {
		name string
		ask  func() error
	}{
		{"filter", func() error {
			return list(query.Query{Filter: query.Filter{Op: query.SomeOp, Field: "next",
				Filters: []query.Filter{query.Where("id", query.Eq, "a")}}})
		}},
		{"sort", func() error { return list(query.Query{Sort: []query.Order{{Field: "next.id"}}}) }},
		{"group", func() error {
			_, err := todos.Aggregate(t.Context(), query.Aggregation{Group: []string{"next.id"},
				Aggregates: []query.Aggregate{{Func: query.Count}}}, "")
			return err
		}},
		{"Follow", func() error {
			_, err := todos.Follow(t.Context(), "next", nil, nil)
			return err
		}},
		{"FollowPages", func() error {
			_, err := todos.FollowPages(t.Context(), "next", nil, resource.RelatedQuery{})
			return err
		}},
		{"Link", func() error {
			_, _, err := todos.Link(t.Context(), "next", "a", "b", nil)
			return err
		}},
		{"Unlink", func() error { return todos.Unlink(t.Context(), "next", "a", "b", nil) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := tt.ask()
			if err == nil || !strings.Contains(err.Error(), "Catalog.Resource") {
				t.Errorf("error %v, want one that names Catalog.Resource", err)
			}
			if status := resource.Problem(err).StatusCode(); status != 500 {
				t.Errorf("status %d, want 500, because the program is wrong", status)
			}
		})
	}
}

// wrongPart embeds a command, and so has its Bind.
type wrongPart struct{ *command.Command }

// bindingPart keeps what Bind sees of a resource.
type bindingPart struct {
	todos  *resource.Resource
	groups []string
	next   *resource.Resource
}

func (p *bindingPart) Part() resource.PartInfo {
	return resource.PartInfo{Name: "parts/own", Bind: func(b resource.Binding) resource.Part {
		r := b.Resource(p.todos)
		next, _ := r.Related("next")
		return &bindingPart{todos: r, groups: r.Describe().Query.Group, next: next}
	}}
}

// TestBindOfParts: Bind gets resources with their relations, and must return a part of the same type.
func TestBindOfParts(t *testing.T) {
	t.Parallel()
	todos := resource.New("todos", memory.New[Todo](nil), &resource.Options[Todo]{Public: true,
		Query:     query.Support{Group: []string{"next.id"}, Aggregate: map[string][]query.Func{"text": {query.Min}}},
		Relations: []resource.Relation[Todo]{{Name: "next", Target: "todos", Field: "text"}}})
	c := resource.NewCatalog(nil, &bindingPart{todos: todos}, todos)
	own := resource.PartsOf[*bindingPart](c)[0]
	if diff := cmp.Diff([]string{"next.id"}, own.groups); diff != "" {
		t.Errorf("groups that Bind sees (-want +got):\n%s", diff)
	}
	if r := c.Resource("todos"); own.todos != r || own.next != r || r.QueryTarget() == nil {
		t.Error("Bind sees another resource, or one without its relation")
	}
	defer func() {
		const want = "part todos/do is a resource_test.wrongPart, but PartInfo.Bind returned a *command.Command"
		if text, _ := recover().(string); !strings.Contains(text, want) {
			t.Errorf("panic %q, want one with %q", text, want)
		}
	}()
	do := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	resource.NewCatalog(nil, wrongPart{command.New("todos/do", do, &command.Options[struct{}]{Public: true})})
}
