package memory_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// user is flat, and its store assigns integer ids.
type user struct {
	ID    int64   `json:"id"`
	Email string  `json:"email" unique:"true"`
	Phone *string `json:"phone" unique:"true"`
	Badge string  `json:"badge,omitzero" unique:"true"`
	Age   int     `json:"age"`
}

// note has a string id, and parts that could be aliased.
type note struct {
	ID   string              `json:"id"`
	Tags []string            `json:"tags"`
	More map[string][]string `json:"more"`
	Next *note               `json:"next"`
	Free any                 `json:"free"`
}

// collect returns the items of an iterator, and its error if it ended with one.
func collect[T any](items iter.Seq2[resource.Item[T], error]) ([]resource.Item[T], error) {
	var all []resource.Item[T]
	for item, err := range items {
		if err != nil {
			return all, err
		}
		all = append(all, item)
	}
	return all, nil
}

// ids returns the ids of an iterator's items, separated by spaces.
func ids[T any](t *testing.T, items iter.Seq2[resource.Item[T], error]) string {
	t.Helper()
	all, err := collect(items)
	if err != nil {
		t.Fatalf("the iterator ended with %v", err)
	}
	var list []string
	for _, item := range all {
		list = append(list, item.ID)
	}
	return strings.Join(list, " ")
}

// create is Create where it must succeed.
func create[T any](t *testing.T, s *memory.Store[T], v T) resource.Item[T] {
	t.Helper()
	item, err := s.Create(t.Context(), v)
	if err != nil {
		t.Fatalf("Create(%v): %v", v, err)
	}
	return item
}

// wantErr fails the test if got is not want; nil wants success.
func wantErr(t *testing.T, what string, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("%s: error %v, want %v", what, got, want)
	}
}

func TestStoreHasEveryCapabilityButWatcher(t *testing.T) {
	t.Parallel()
	ops := resource.OpsOf(memory.New[user](nil))
	for name, missing := range map[string]bool{
		"Get": ops.Get == nil, "List": ops.List == nil, "Create": ops.Create == nil,
		"Insert":  ops.Insert == nil,
		"Replace": ops.Replace == nil, "Delete": ops.Delete == nil, "Deleted": ops.Deleted == nil,
		"Count": ops.Count == nil, "GetMany": ops.GetMany == nil, "ListByKeys": ops.ListByKeys == nil,
		"Transactions": ops.Transactions == nil,
	} {
		if missing {
			t.Errorf("the store lacks %s", name)
		}
	}
}

func TestCreateThenGet(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s := memory.New(&memory.Options[user]{Now: func() time.Time { return at }})
	created := create(t, s, user{ID: 99, Email: "ann@example.com", Age: 30})
	want := resource.Item[user]{ID: "1", Rev: created.Rev, Modified: at,
		Value: user{ID: 1, Email: "ann@example.com", Age: 30}}
	if diff := cmp.Diff(want, created); diff != "" {
		t.Errorf("Create (-want +got):\n%s", diff)
	}
	got, err := s.Get(t.Context(), "1")
	wantErr(t, "Get", err, nil)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
	if n := len(created.Rev); n < 13 || n > 16 {
		t.Errorf("the revision %q has %d bytes; each becomes an ETag", created.Rev, n)
	}
	for _, id := range []string{"2", "01", "+1", "", "x"} {
		_, err := s.Get(t.Context(), id)
		wantErr(t, "Get "+id, err, resource.ErrNotFound)
	}
}

func TestReplace(t *testing.T) {
	t.Parallel()
	s := memory.New[user](nil)
	first := create(t, s, user{Email: "ann@example.com"})
	second, err := s.Replace(t.Context(), "1", first.Rev, user{Email: "ann@example.org"})
	wantErr(t, "Replace", err, nil)
	want := resource.Item[user]{ID: "1", Rev: second.Rev, Modified: second.Modified,
		Value: user{ID: 1, Email: "ann@example.org"}}
	if diff := cmp.Diff(want, second); diff != "" || second.Rev == first.Rev {
		t.Errorf("Replace with revision %s (-want +got):\n%s", second.Rev, diff)
	}
	for _, expect := range []resource.Rev{first.Rev, "", "no revision", second.Rev + "0",
		second.Rev[:len(second.Rev)-1]} {
		_, err := s.Replace(t.Context(), "1", expect, user{Email: "lost"})
		wantErr(t, "Replace at "+string(expect), err, resource.ErrStale)
		wantErr(t, "Delete at "+string(expect), s.Delete(t.Context(), "1", expect), resource.ErrStale)
	}
	for _, id := range []string{"2", "01", "x", ""} {
		_, err := s.Replace(t.Context(), id, second.Rev, user{})
		wantErr(t, "Replace of "+id, err, resource.ErrNotFound)
		wantErr(t, "Delete of "+id, s.Delete(t.Context(), id, second.Rev), resource.ErrNotFound)
	}
	got, err := s.Get(t.Context(), "1")
	wantErr(t, "Get", err, nil)
	if diff := cmp.Diff(second, got); diff != "" {
		t.Errorf("refused writes have changed the item (-want +got):\n%s", diff)
	}
}

func TestDeleteIsForEver(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	s := memory.New(&memory.Options[user]{Now: func() time.Time { return at }})
	ctx := t.Context()
	item := create(t, s, user{Email: "ann@example.com"})
	_, err := s.Deleted(ctx, "1")
	wantErr(t, "Deleted of a living item", err, resource.ErrNotFound)
	wantErr(t, "Delete", s.Delete(ctx, "1", item.Rev), nil)

	wantErr(t, "Delete again", s.Delete(ctx, "1", item.Rev), resource.ErrGone)
	wantErr(t, "Delete again, stale", s.Delete(ctx, "1", "stale"), resource.ErrGone)
	_, err = s.Get(ctx, "1")
	wantErr(t, "Get", err, resource.ErrGone)
	_, err = s.Replace(ctx, "1", "stale", user{})
	wantErr(t, "Replace", err, resource.ErrGone)
	_, err = s.Insert(ctx, "1", user{})
	wantErr(t, "Insert", err, resource.ErrGone)
	got, err := s.Deleted(ctx, "1")
	if err != nil || !got.Equal(at) {
		t.Errorf("Deleted is %v, %v, want %v", got, err, at)
	}
	_, err = s.Deleted(ctx, "2")
	wantErr(t, "Deleted of what never was", err, resource.ErrNotFound)
	if got := ids(t, s.List(ctx, query.Query{})); got != "" {
		t.Errorf("List still has %q", got)
	}
	if next := create(t, s, user{Email: "ann@example.com"}); next.ID != "2" {
		t.Errorf("the id after the deleted 1 is %s, want 2", next.ID)
	}
}

func TestRecreate(t *testing.T) {
	t.Parallel()
	s := memory.New(&memory.Options[user]{Recreate: true})
	ctx := t.Context()
	seen := map[resource.Rev]bool{}
	for life := range 3 {
		item, err := s.Insert(ctx, "7", user{Email: "ann@example.com"})
		wantErr(t, "Insert", err, nil)
		_, err = s.Insert(ctx, "7", user{})
		wantErr(t, "Insert over a living item", err, resource.ErrExists)
		again, err := s.Replace(ctx, "7", item.Rev, item.Value)
		wantErr(t, "Replace", err, nil)
		if seen[item.Rev] || seen[again.Rev] {
			t.Errorf("life %d has a revision of an earlier one", life)
		}
		seen[item.Rev], seen[again.Rev] = true, true
		_, err = s.Deleted(ctx, "7")
		wantErr(t, "Deleted in a new life", err, resource.ErrNotFound)
		wantErr(t, "Delete", s.Delete(ctx, "7", again.Rev), nil)
	}
}

// TestRevisionsOfStoresDiffer: an entity tag of one run of a process must not match in the next.
func TestRevisionsOfStoresDiffer(t *testing.T) {
	t.Parallel()
	seen := map[resource.Rev]bool{}
	for range 200 {
		rev := create(t, memory.New[user](nil), user{}).Rev
		if seen[rev] {
			t.Fatalf("two stores gave out %q", rev)
		}
		seen[rev] = true
	}
}

func TestUnique(t *testing.T) {
	t.Parallel()
	s := memory.New[user](nil)
	ctx := t.Context()
	phone, other := "1", "2"
	ann := create(t, s, user{Email: "ann", Phone: &phone, Badge: "x"})
	bob := create(t, s, user{Email: "bob"})
	create(t, s, user{Email: "cat"}) // neither the null phones nor the absent badges are the same

	_, err := s.Create(ctx, user{Email: "ann"})
	if diff := cmp.Diff(resource.Taken("email").Error(), errText(err)); diff != "" {
		t.Errorf("Create (-want +got):\n%s", diff)
	}
	_, err = s.Insert(ctx, "50", user{Email: "ann", Phone: &phone, Badge: "x"})
	want := "the value of email is taken\nthe value of phone is taken\nthe value of badge is taken"
	if diff := cmp.Diff(want, errText(err)); diff != "" {
		t.Errorf("Insert (-want +got):\n%s", diff)
	}
	_, err = s.Replace(ctx, bob.ID, bob.Rev, user{Email: "bob", Phone: &phone})
	if diff := cmp.Diff("the value of phone is taken", errText(err)); diff != "" {
		t.Errorf("Replace (-want +got):\n%s", diff)
	}

	// its own email is no conflict
	ann, err = s.Replace(ctx, ann.ID, ann.Rev, user{Email: "ann", Phone: &other})
	wantErr(t, "Replace", err, nil)
	bob, err = s.Replace(ctx, bob.ID, bob.Rev, user{Email: "bob", Phone: &phone})
	wantErr(t, "Replace with a value that was freed by a change", err, nil)
	wantErr(t, "Delete", s.Delete(ctx, ann.ID, ann.Rev), nil)
	_, err = s.Replace(ctx, bob.ID, bob.Rev, user{Email: "ann"})
	wantErr(t, "Replace with a value that was freed by a deletion", err, nil)
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestCancelledContext(t *testing.T) {
	t.Parallel()
	s := memory.New(&memory.Options[user]{Index: []string{"age"}})
	item := create(t, s, user{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Get(ctx, "1")
	wantErr(t, "Get", err, context.Canceled)
	_, err = s.Create(ctx, user{Email: "b"})
	wantErr(t, "Create", err, context.Canceled)
	_, err = s.Insert(ctx, "2", user{Email: "b"})
	wantErr(t, "Insert", err, context.Canceled)
	_, err = s.Replace(ctx, "1", item.Rev, user{})
	wantErr(t, "Replace", err, context.Canceled)
	wantErr(t, "Delete", s.Delete(ctx, "1", item.Rev), context.Canceled)
	_, err = s.Deleted(ctx, "1")
	wantErr(t, "Deleted", err, context.Canceled)
	_, err = s.Count(ctx, query.Query{})
	wantErr(t, "Count", err, context.Canceled)
	_, err = s.Count(ctx, query.Query{Filter: query.Where("age", query.Eq, 1)})
	wantErr(t, "Count with a filter", err, context.Canceled)
	_, err = collect(s.List(ctx, query.Query{}))
	wantErr(t, "List", err, context.Canceled)
	_, err = collect(s.List(ctx, query.Query{After: []any{int64(1), "too", "many"}}))
	wantErr(t, "List behind no position", err, context.Canceled)
	_, err = collect(s.GetMany(ctx, []string{"1"}))
	wantErr(t, "GetMany", err, context.Canceled)
	for _, field := range []string{"age", "badge"} {
		_, err = collect(s.ListByKeys(ctx, field, []string{"1"}, query.Query{}))
		wantErr(t, "ListBy "+field, err, context.Canceled)
	}
	wantErr(t, "InTx", s.Transactions().InTx(ctx, func(context.Context) error { return nil }),
		context.Canceled)
	if got := ids(t, s.List(t.Context(), query.Query{})); got != "1" {
		t.Errorf("afterwards the store has %q", got)
	}
}

func TestGetMany(t *testing.T) {
	t.Parallel()
	s := memory.New[user](nil)
	for _, email := range []string{"a", "b", "c"} {
		create(t, s, user{Email: email})
	}
	if got := ids(t, s.GetMany(t.Context(), []string{"3", "x", "7", "1"})); got != "3 1" {
		t.Errorf("GetMany found %q", got)
	}
	for item := range s.GetMany(t.Context(), []string{"2", "1"}) {
		if item.ID == "2" {
			break // must end the iteration, or it panics
		}
	}
}

func TestNoAliasing(t *testing.T) {
	t.Parallel()
	fresh := func() note {
		return note{Tags: []string{"a"}, More: map[string][]string{"k": {"v"}},
			Next: &note{Tags: []string{"b"}},
			Free: map[string]any{"list": []any{"x", map[string]any{"y": "z"}}}}
	}
	spoil := func(n note) {
		n.Tags[0], n.Next.Tags[0], n.Next.ID = "spoilt", "spoilt", "spoilt"
		n.More["k"][0], n.More["new"] = "spoilt", nil
		list := n.Free.(map[string]any)["list"].([]any)
		list[1].(map[string]any)["y"] = "spoilt"
		list[0] = "spoilt"
	}
	s := memory.New(&memory.Options[note]{NewID: func() string { return "1" }})
	in := fresh()
	created := create(t, s, in)
	spoil(in)
	spoil(created.Value)
	want := fresh()
	want.ID = "1"

	in = fresh()
	replaced, err := s.Replace(t.Context(), "1", created.Rev, in)
	wantErr(t, "Replace", err, nil)
	spoil(in)
	spoil(replaced.Value)
	readers := map[string]iter.Seq2[resource.Item[note], error]{
		"List":       s.List(t.Context(), query.Query{}),
		"GetMany":    s.GetMany(t.Context(), []string{"1"}),
		"ListByKeys": s.ListByKeys(t.Context(), "id", []string{"1"}, query.Query{}),
		"Get": func(yield func(resource.Item[note], error) bool) {
			yield(s.Get(t.Context(), "1"))
		},
	}
	for name, read := range readers {
		for range 2 { // the second shows what the first has spoilt
			items, err := collect(read)
			if err != nil || len(items) != 1 {
				t.Fatalf("%s: %d items, %v", name, len(items), err)
			}
			if diff := cmp.Diff(want, items[0].Value); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			spoil(items[0].Value)
		}
	}
}

func TestListInAndOutOfTheLock(t *testing.T) {
	t.Parallel()
	s := memory.New[user](nil)
	for i := range 2_000 {
		create(t, s, user{Email: string(rune('A' + i)), Age: i})
	}
	n := 0
	for item, err := range s.List(t.Context(), query.Query{}) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		// Neither reading nor writing waits for the consumer, which does both.
		got, err := s.Get(t.Context(), item.ID)
		wantErr(t, "Get", err, nil)
		got.Value.Age++
		_, err = s.Replace(t.Context(), item.ID, got.Rev, got.Value)
		wantErr(t, "Replace", err, nil)
		if n%2 == 0 {
			got, err = s.Get(t.Context(), item.ID)
			wantErr(t, "Get", err, nil)
			wantErr(t, "Delete", s.Delete(t.Context(), item.ID, got.Rev), nil)
		}
		if item.Value.Age != n-1 {
			t.Fatalf("item %d is not as it was when the list began: %+v", n, item.Value)
		}
	}
	if n != 2_000 {
		t.Errorf("the list had %d items", n)
	}
	count, err := s.Count(t.Context(), query.Query{})
	if err != nil || count != 1_000 {
		t.Errorf("Count is %d, %v", count, err)
	}
}

func TestListEndsWithTheContext(t *testing.T) {
	t.Parallel()
	s := memory.New[user](nil)
	for i := range 10 {
		create(t, s, user{Email: string(rune('A' + i))})
	}
	for _, sort := range [][]query.Order{nil, {{Field: "age"}, {Field: "id"}}} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var errs []error
		for _, err := range s.List(ctx, query.Query{Sort: sort}) {
			errs = append(errs, err)
			cancel()
		}
		if !slices.Equal(errs, []error{nil, context.Canceled}) {
			t.Errorf("sorted by %v: the errors were %v", sort, errs)
		}
	}
}
