package resourcetest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// kit has the collection of a case, and methods that call it and check the invariants of every
// result.
type kit struct {
	*setup
	ops  operations
	able capability
	ctx  context.Context
	rec  *record
	rng  *rand.Rand // for the case's goroutine only

	values atomic.Int64 // the number of values generated
	ids    atomic.Int64 // the number of ids generated
}

// errorf records a failure and continues.
func (k *kit) errorf(format string, args ...any) { k.rec.add(&k.rec.failures, format, args...) }

// fatalf records a failure and ends the goroutine.
func (k *kit) fatalf(format string, args ...any) {
	k.errorf(format, args...)
	runtime.Goexit()
}

// notef records a note, which is not a failure.
func (k *kit) notef(format string, args ...any) { k.rec.add(&k.rec.notes, format, args...) }

// must ends the goroutine if err is not nil.
func (k *kit) must(err error, what string) {
	if err != nil {
		k.fatalf("%s failed: %v", what, err)
	}
}

// wantError records a failure unless err is one of want.
func (k *kit) wantError(err error, what string, want ...error) {
	for _, w := range want {
		if errors.Is(err, w) {
			return
		}
	}
	texts := make([]string, len(want))
	for i, w := range want {
		texts[i] = fmt.Sprintf("%q", w)
	}
	k.errorf("%s returned %v, want %s", what, quoted(err), strings.Join(texts, " or "))
}

// quoted returns the text of an error in quotes, or <nil>.
func quoted(err error) string {
	if err == nil {
		return "no error"
	}
	return fmt.Sprintf("%q", err)
}

// fresh returns a value that was not used before.
func (k *kit) fresh() any { return k.styled(distinct) }

// styled is fresh for a style.
func (k *kit) styled(st style) any {
	v, err := k.value(st, int(k.values.Add(1)-1))
	k.must(err, "Generating a value")
	return v
}

// changed returns a value that differs from v and has the same id.
func (k *kit) changed(v any) any {
	if k.Change != nil {
		next := k.Change(v)
		k.renewStamps(next)
		return next
	}
	const tries = 20
	next := v
	for range tries {
		next = k.replacement(k.fresh(), v)
		if !k.typ.Equal(k.comparable(next), k.comparable(v)) {
			break
		}
	}
	return next
}

// identified is withID for valid ids.
func (k *kit) identified(v any, id string) any {
	v, err := k.withID(v, id)
	k.must(err, fmt.Sprintf("Setting the id field to %q", id))
	return v
}

// newID returns an id that was not used before.
func (k *kit) newID() string {
	id, err := k.idText(int(k.ids.Add(1) - 1))
	k.must(err, "Generating an id")
	return id
}

// vet checks the invariants of an item that a collection returned, and completes it like package
// resource: the id may be in Item.ID, in the value, or in both.
func (k *kit) vet(it resource.Item[any], where string) resource.Item[any] {
	inside := k.id.Text(it.Value)
	switch {
	case it.ID == "":
		it.ID = inside
	case k.id.IsZero(it.Value):
		it.Value = k.identified(it.Value, it.ID)
	case it.ID != inside:
		k.errorf("%s returned an item with Item.ID %q and %s %q in its value; they must be equal",
			where, it.ID, k.id.Name, inside)
	}
	if it.ID == "" {
		k.errorf("%s returned an item without an id in Item.ID or in its value: %s",
			where, k.document(it.Value))
	}
	if it.Rev == "" && (k.able.has(replacer) || k.able.has(deleter)) {
		k.errorf("%s returned item %q without a revision; it could not be written", where, it.ID)
	}
	return it
}

// tryPut stores a value, under an id of the store or of the kit.
func (k *kit) tryPut(ctx context.Context, v any) (resource.Item[any], error) {
	if k.ops.Create != nil {
		it, err := k.ops.Create(ctx, v)
		if err == nil {
			it = k.vet(it, "Create")
		}
		return it, err
	}
	id := k.newID()
	it, err := k.ops.Insert(ctx, id, k.identified(v, id))
	if err == nil {
		it = k.vet(it, "Insert")
	}
	return it, err
}

// put is tryPut, and must succeed.
func (k *kit) put(v any) resource.Item[any] {
	it, err := k.tryPut(k.ctx, v)
	k.must(err, "Storing "+brief(k.document(v)))
	return it
}

// fill stores n values of a style. For a read-only collection it returns the existing items, if
// any.
func (k *kit) fill(n int, st style) []resource.Item[any] {
	if !k.able.has(filler) {
		return k.all()
	}
	items := make([]resource.Item[any], n)
	for i := range items {
		items[i] = k.put(k.styled(st))
	}
	return items
}

// get returns an existing item.
func (k *kit) get(id string) resource.Item[any] {
	it, err := k.ops.Get(k.ctx, id)
	k.must(err, fmt.Sprintf("Get of item %q", id))
	if it = k.vet(it, "Get"); it.ID != id {
		k.errorf("Get of item %q returned item %q", id, it.ID)
	}
	return it
}

// replace replaces an item, which must succeed, and returns the result.
func (k *kit) replace(it resource.Item[any], v any) resource.Item[any] {
	next, err := k.ops.Replace(k.ctx, it.ID, it.Rev, v)
	k.must(err, fmt.Sprintf("Replace of item %q with its current revision", it.ID))
	return k.vet(next, "Replace")
}

// remove deletes an item, which must succeed.
func (k *kit) remove(it resource.Item[any]) {
	err := k.ops.Delete(k.ctx, it.ID, it.Rev)
	k.must(err, fmt.Sprintf("Delete of item %q with its current revision", it.ID))
}

// ordered completes a query like package resource: the last sort keys are those of the id, unless the
// order is that of the store.
func (k *kit) ordered(q query.Query) query.Query {
	if k.able.has(sorter) {
		q.Sort = slices.Clip(q.Sort)
		for _, o := range k.byKey(false) {
			if !slices.ContainsFunc(q.Sort, func(other query.Order) bool { return other.Field == o.Field }) {
				q.Sort = append(q.Sort, o)
			}
		}
	}
	return q
}

// drain reads an iterator to its end, and past an error, because nothing may follow an error.
func (k *kit) drain(seq iter.Seq2[resource.Item[any], error], where string) ([]resource.Item[any], error) {
	var items []resource.Item[any]
	err := drainTo(k, seq, where, func(it resource.Item[any]) { items = append(items, k.vet(it, where)) })
	return items, err
}

// drainTo is drain for other results, each of which is passed to add.
func drainTo[V any](k *kit, seq iter.Seq2[V, error], where string, add func(V)) (failed error) {
	for v, err := range seq {
		if failed != nil {
			k.errorf("the iterator of %s continued after the error %q; nothing may follow an error",
				where, failed)
			break
		}
		if failed = err; err == nil {
			add(v)
		}
	}
	return failed
}

// list returns the items of a query, which must succeed.
func (k *kit) list(q query.Query) []resource.Item[any] {
	items, err := k.drain(k.ops.List(k.ctx, q), "List")
	k.must(err, "List "+show(q))
	return items
}

// all returns all items.
func (k *kit) all() []resource.Item[any] { return k.list(k.ordered(query.Query{})) }

// brief shortens a document for a message.
func brief(text string) string {
	const most = 400
	if len(text) > most {
		return fmt.Sprintf("%s... (%d bytes)", text[:most], len(text))
	}
	return text
}

// sameValue records a failure unless got equals the value that was sent.
func (k *kit) sameValue(sent, got any, where string) bool {
	if k.same(sent, got) {
		return true
	}
	k.errorf("%s differs from the value that was sent (-sent +got):\n%s", where,
		cmp.Diff(brief(k.document(sent)), brief(k.document(got))))
	return false
}

// sameItem records a failure unless two results for one item agree.
func (k *kit) sameItem(want, got resource.Item[any], where string) {
	switch {
	case want.ID != got.ID:
		k.errorf("%s: id %q, want %q", where, got.ID, want.ID)
	case want.Rev != got.Rev:
		k.errorf("%s: item %q has revision %q, want %q", where, got.ID, got.Rev, want.Rev)
	case !k.typ.Equal(want.Value, got.Value):
		k.errorf("%s: item %q differs (-want +got):\n%s", where, got.ID,
			cmp.Diff(brief(k.document(want.Value)), brief(k.document(got.Value))))
	}
}

// sameIDs records a failure unless the items are those wanted, in that order. The message shows the
// fields in sort.
func (k *kit) sameIDs(want, got []resource.Item[any], where string, sort ...query.Order) bool {
	if diff := cmp.Diff(k.labels(want, sort), k.labels(got, sort)); diff != "" {
		k.errorf("%s returned the wrong items or the wrong order (-want +got):\n%s", where, brief(diff))
		return false
	}
	return true
}

// labels returns the id and the sort keys of each item.
func (k *kit) labels(items []resource.Item[any], sort []query.Order) []string {
	labels := make([]string, len(items))
	for i := range items {
		labels[i] = items[i].ID
		for _, o := range sort {
			if o.Field != k.id.Name {
				labels[i] += fmt.Sprintf(" %s=%v", o.Field, k.fieldOf(&items[i], o.Field))
			}
		}
	}
	return labels
}
