package memory_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// branch refers to another branch, and leaf to a branch or to a twig, which has a composite id.
type branch struct {
	ID     int  `json:"id"`
	Parent *int `json:"parent"`
}

type twig struct {
	ID     string `json:"id" readOnly:"true" id:"branch,number"`
	Branch int    `json:"branch"`
	Number int    `json:"number"`
}

type leaf struct {
	ID     string `json:"id"`
	Branch int    `json:"branch,omitzero"`
	Number int    `json:"number,omitzero"`
}

// tree has collections that refer to each other.
type tree struct {
	db       *memory.DB
	branches *memory.Store[branch]
	twigs    *memory.Store[twig]
	leaves   *memory.Store[leaf]
}

func newTree() *tree {
	db := memory.NewDB()
	t := &tree{db: db}
	t.branches = memory.New(&memory.Options[branch]{DB: db, Recreate: true,
		References: map[string]memory.Parent{"parent": nil}})
	t.twigs = memory.New(&memory.Options[twig]{DB: db, Recreate: true,
		References: map[string]memory.Parent{"branch": t.branches}})
	t.leaves = memory.New(&memory.Options[leaf]{DB: db, Recreate: true,
		References: map[string]memory.Parent{"branch": t.branches, "branch,number": t.twigs}})
	return t
}

// insert inserts an item, and returns what is wrong with it.
func insert[T any](ctx context.Context, s *memory.Store[T], id string, v T) string {
	_, err := s.Insert(ctx, id, v)
	return mistake(err)
}

// remove deletes an item.
func remove[T any](ctx context.Context, s *memory.Store[T], id string) string {
	it, err := s.Get(ctx, id)
	if err == nil {
		err = s.Delete(ctx, id, it.Rev)
	}
	return mistake(err)
}

// mistake returns the place and code of an error, or the kind of its problem.
func mistake(err error) string {
	if err == nil {
		return ""
	}
	d := resource.Problem(err)
	if len(d.Errors) > 0 {
		return d.Errors[0].Pointer + " " + d.Errors[0].Code
	}
	return strconv.Itoa(d.StatusCode())
}

func TestReferences(t *testing.T) {
	t.Parallel()
	s, ctx := newTree(), t.Context()
	one, two, nine := 1, 2, 9
	for i, step := range []struct{ got, want string }{
		{insert(ctx, s.branches, "1", branch{ID: 1}), ""},
		{insert(ctx, s.branches, "2", branch{ID: 2, Parent: &one}), ""},
		{insert(ctx, s.branches, "3", branch{ID: 3, Parent: &nine}), "/parent unknown"},
		{insert(ctx, s.branches, "9", branch{ID: 9, Parent: &nine}), ""}, // itself
		{remove(ctx, s.branches, "9"), ""},
		{remove(ctx, s.branches, "1"), "409"},
		{insert(ctx, s.twigs, "2,1", twig{Branch: 2, Number: 1}), ""},
		{insert(ctx, s.twigs, "9,1", twig{Branch: 9, Number: 1}), "/branch unknown"},
		{insert(ctx, s.leaves, "a", leaf{Branch: 2, Number: 1}), ""},
		{insert(ctx, s.leaves, "b", leaf{}), ""},
		{insert(ctx, s.leaves, "c", leaf{Branch: 2}), ""}, // no key of a twig
		{insert(ctx, s.leaves, "d", leaf{Branch: 2, Number: 7}), "/branch unknown"},
		{remove(ctx, s.twigs, "2,1"), "409"},
		{remove(ctx, s.branches, "2"), "409"},
		{remove(ctx, s.leaves, "a"), ""},
		{remove(ctx, s.leaves, "c"), ""},
		{remove(ctx, s.twigs, "2,1"), ""},
		{remove(ctx, s.branches, "2"), ""},
		{remove(ctx, s.branches, "1"), ""},
	} {
		if step.got != step.want {
			t.Errorf("step %d: got %q, want %q", i, step.got, step.want)
		}
	}
	if got := insert(ctx, s.branches, "2", branch{ID: 2}); got != "" {
		t.Fatal(got)
	}
	it, err := s.branches.Get(ctx, "2")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.branches.Replace(ctx, "2", it.Rev, branch{ID: 2, Parent: &nine}); mistake(err) != "/parent unknown" {
		t.Errorf("Replace with an unknown parent: %v", err)
	}
	if _, err := s.branches.Replace(ctx, "2", it.Rev, branch{ID: 2, Parent: &two}); err != nil {
		t.Errorf("Replace with the item as its parent: %v", err)
	}
	items := []resource.Item[twig]{{ID: "2,5", Value: twig{Branch: 2, Number: 5}}, {ID: "8,1", Value: twig{Branch: 8, Number: 1}}}
	if err := s.twigs.InsertMany(ctx, items); mistake(err) != "/branch unknown" {
		t.Errorf("InsertMany: %v", err)
	}
	if _, err := s.twigs.Get(ctx, "2,5"); !errors.Is(err, resource.ErrNotFound) {
		t.Errorf("InsertMany has inserted a part: %v", err)
	}
}

func TestReferencesInTransactions(t *testing.T) {
	t.Parallel()
	s := newTree()
	undo := errors.New("undo")
	err := s.db.InTx(t.Context(), func(ctx context.Context) error {
		if got := insert(ctx, s.branches, "1", branch{ID: 1}); got != "" {
			t.Error(got)
		}
		if got := insert(ctx, s.twigs, "1,1", twig{Branch: 1, Number: 1}); got != "" {
			t.Errorf("a twig of a branch in the same transaction: %s", got)
		}
		if got := remove(ctx, s.branches, "1"); got != "409" {
			t.Errorf("deleting its branch: %q", got)
		}
		return undo
	})
	if !errors.Is(err, undo) {
		t.Fatal(err)
	}
	if got := insert(t.Context(), s.twigs, "1,1", twig{Branch: 1, Number: 1}); got != "/branch unknown" {
		t.Errorf("after the rollback: %q", got)
	}
}

// TestReferencesRace inserts and deletes concurrently. No twig must remain without its branch.
func TestReferencesRace(t *testing.T) {
	t.Parallel()
	s := newTree()
	var wg sync.WaitGroup
	for n := range 4 {
		wg.Go(func() {
			for range 200 {
				insert(t.Context(), s.branches, "1", branch{ID: 1})
				id := "1," + strconv.Itoa(n)
				insert(t.Context(), s.twigs, id, twig{Branch: 1, Number: n})
				remove(t.Context(), s.twigs, id)
				remove(t.Context(), s.branches, "1")
				if got := insert(t.Context(), s.twigs, id, twig{Branch: 1, Number: n}); got == "" {
					if _, err := s.branches.Get(t.Context(), "1"); err != nil {
						t.Errorf("a twig without its branch: %v", err)
					}
					remove(t.Context(), s.twigs, id)
				}
			}
		})
	}
	wg.Wait()
}

func TestReferencesRegistration(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(){
		"another DB": func() {
			memory.New(&memory.Options[twig]{References: map[string]memory.Parent{"branch": memory.New[branch](nil)}})
		},
		"no field": func() {
			memory.New(&memory.Options[branch]{References: map[string]memory.Parent{"none": nil}})
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			do()
		}()
	}
}

// TestReferencesProblem compares the conflict with that of a table of SQL.
func TestReferencesProblem(t *testing.T) {
	t.Parallel()
	s := newTree()
	insert(t.Context(), s.branches, "1", branch{ID: 1})
	insert(t.Context(), s.twigs, "1,1", twig{Branch: 1, Number: 1})
	it, err := s.branches.Get(t.Context(), "1")
	if err != nil {
		t.Fatal(err)
	}
	var d *problem.Details
	err = s.branches.Delete(t.Context(), "1", it.Rev)
	if !errors.As(err, &d) || d.Detail != "Other items refer to this one." {
		t.Errorf("Delete returned %v", err)
	}
}

// TestInsertManyRefersForward checks that items of one InsertMany may refer to later ones, as rows of one
// INSERT in SQL, and that nothing is stored if one refers to an unknown item.
func TestInsertManyRefersForward(t *testing.T) {
	t.Parallel()
	tr := newTree()
	one, two, nine := 1, 2, 9
	items := []resource.Item[branch]{{ID: "1", Value: branch{ID: 1, Parent: &two}}, {ID: "2", Value: branch{ID: 2, Parent: &one}}}
	bad := append(items, resource.Item[branch]{ID: "3", Value: branch{ID: 3, Parent: &nine}})
	if got := mistake(tr.branches.InsertMany(t.Context(), bad)); got != "/parent unknown" {
		t.Errorf("an unknown parent: %s", got)
	}
	if _, err := tr.branches.Get(t.Context(), "1"); !errors.Is(err, resource.ErrNotFound) {
		t.Errorf("after an error: %v", err)
	}
	if err := tr.branches.InsertMany(t.Context(), items); err != nil {
		t.Error(err)
	}
	if got := insert(t.Context(), tr.branches, "4", branch{ID: 4, Parent: &nine}); got != "/parent unknown" {
		t.Errorf("an unknown parent after InsertMany: %s", got)
	}
}

func TestReferencesPanics(t *testing.T) {
	t.Parallel()
	db := memory.NewDB()
	branches := memory.New(&memory.Options[branch]{DB: db})
	tests := []struct {
		name       string
		references map[string]memory.Parent
		want       string
	}{
		{"a nil pointer", map[string]memory.Parent{"branch": (*memory.Store[branch])(nil)},
			`memory: References of "branch" is a nil pointer`},
		{"too many fields", map[string]memory.Parent{"branch,number": branches},
			`memory: References has "branch,number", but ids of the other collection have 1`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if got := recover(); got != tt.want {
					t.Errorf("panic %v, want %s", got, tt.want)
				}
			}()
			memory.New(&memory.Options[leaf]{DB: db, References: tt.references})
		})
	}
}
