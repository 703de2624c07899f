package resource_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestFollowTogether compares the pages with those of Follow, for a resource, a view of it, and policies.
func TestFollowTogether(t *testing.T) {
	t.Parallel()
	type person struct {
		ID     int64  `json:"id"`
		Name   string `json:"name"`
		Salary int64  `json:"salary"`
	}
	type shown struct {
		ID    int64  `json:"id"`
		Label string `json:"label"`
	}
	type task struct {
		ID       string   `json:"id"`
		OwnerID  int64    `json:"ownerId"`
		TesterID string   `json:"testerId"`
		Others   []string `json:"otherIds"`
	}
	people, tasks := memory.New[person](nil), memory.New[task](nil)
	for i := range int64(5) {
		p := person{i + 1, fmt.Sprint("p", i+1), 100 * i}
		if _, err := people.Insert(t.Context(), fmt.Sprint(p.ID), p); err != nil {
			t.Fatal(err)
		}
	}
	for _, item := range []task{{"a", 3, "1", []string{"2", "9", "3"}}, {"b", 1, "01", nil}, {"c", 9, "3", []string{"1"}}} {
		if _, err := tasks.Insert(t.Context(), item.ID, item); err != nil {
			t.Fatal(err)
		}
	}
	checked := 0
	tests := []struct {
		name   string
		opts   resource.Options[person]
		view   *resource.ViewOptions
		checks int    // of Authorize
		err    string // of each step, separated by a comma
	}{
		{"public", resource.Options[person]{Public: true}, nil, 0, ",,"},
		{"view", resource.Options[person]{Public: true}, &resource.ViewOptions{Fields: map[string]string{"label": "name"},
			Where: query.Where("salary", query.Lt, int64(200))}, 0, ",,"},
		{"policy", resource.Options[person]{
			Scope: func(context.Context) (query.Filter, error) { return query.Where("salary", query.Lt, int64(200)), nil },
			Authorize: func(_ context.Context, _ resource.Op, p, _ *person) error {
				if checked++; p.ID == 2 {
					return resource.ErrForbidden
				}
				return nil
			}}, nil, 2, ",,"},
		{"an error of one item", resource.Options[person]{
			Authorize: func(_ context.Context, _ resource.Op, p, _ *person) error {
				if p.ID == 2 {
					return errors.New("no answer")
				}
				return nil
			}}, nil, 0, ",,no answer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			checked = 0
			target := resource.New("people", people, &tt.opts)
			if tt.view != nil {
				target = resource.View(target, func(p person) (shown, error) { return shown{p.ID, p.Name}, nil },
					func(s shown, p person) (person, error) { p.Name = s.Label; return p, nil }, tt.view)
			}
			from := resource.New("tasks", tasks, &resource.Options[task]{Public: true, Relations: []resource.Relation[task]{
				{Name: "owner", Target: "people", Field: "ownerId"},
				{Name: "tester", Target: "people", Field: "testerId"},
				{Name: "others", Target: "people", Many: true, Field: "otherIds"},
				{Name: "peers", Target: "tasks", Keys: func(*task) []string { return nil }},
			}})
			catalog := resource.NewCatalog(nil, from, target)
			from, target = catalog.Resource("tasks"), catalog.Resource("people")
			list, err := from.List(t.Context(), query.Query{Limit: 10}, resource.Position{})
			if err != nil {
				t.Fatal(err)
			}
			defer list.Release()
			steps := []resource.Step{{Relation: "owner"}, {Relation: "tester"}, {Relation: "others"}}
			for i := range steps {
				steps[i].Resource, steps[i].From = from, list.Entries
			}
			target.FollowTogether(t.Context(), steps)
			if checked != tt.checks {
				t.Errorf("%d calls of Authorize, want %d", checked, tt.checks)
			}
			for i, want := range strings.Split(tt.err, ",") {
				s := &steps[i]
				if (s.Err == nil) != (want == "") || want != "" && !strings.Contains(s.Err.Error(), want) {
					t.Errorf("%s: error %v, want %q", s.Relation, s.Err, want)
				}
				page, err := from.Follow(t.Context(), s.Relation, list.Entries, nil)
				if (err == nil) != (s.Err == nil) {
					t.Errorf("%s: error %v, and %v together", s.Relation, err, s.Err)
				}
				if diff := cmp.Diff(textsOf(&page, len(list.Entries)), textsOf(&s.Page, len(list.Entries))); diff != "" {
					t.Errorf("%s (-Follow +FollowTogether):\n%s", s.Relation, diff)
				}
				page.Release()
			}
			for i := range steps {
				steps[i].Page.Release()
			}
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, `the relation "peers" of tasks does not lead`) {
					t.Errorf("panic %q", text)
				}
			}()
			target.FollowTogether(t.Context(), []resource.Step{{Resource: from, Relation: "owner"},
				{Resource: from, Relation: "peers"}})
		})
	}
}

// textsOf returns the items of each of n entries.
func textsOf(p *resource.Page, n int) (texts []string) {
	for i := range n {
		text := ""
		for _, end := range p.Ends(i) {
			e := &p.Entries[end]
			text += fmt.Sprintf("%s %s %v %+v; ", e.ID, e.Rev, e.Modified.IsZero(), e.Value)
		}
		texts = append(texts, text)
	}
	return append(texts, fmt.Sprint(len(p.Entries), " entries"))
}
