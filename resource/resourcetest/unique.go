package resourcetest

import (
	"errors"
	"reflect"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// uniqueCases test fields that are tagged unique.
func uniqueCases[T any]() []testCase[T] {
	return []testCase[T]{
		{
			name:  "unique-taken",
			needs: filler,
			contract: "No two items have the same value in a field tagged unique. A write that would " +
				"violate this returns resource.Taken with the field's JSON name and changes nothing. " +
				"An item may keep its own value, and the value of a deleted item may be used again.",
			run: uniqueTaken[T],
		},
		{
			name:  "unique-race",
			needs: filler,
			contract: "If several callers store the same value in a unique field concurrently, " +
				"exactly one succeeds. The check and the write must be one atomic step, as with a " +
				"unique index.",
			run: uniqueRace[T],
		},
	}
}

// uniqueFields returns the fields that must differ between items. It omits lists, because there the
// tag applies to elements.
func (k *kit[T]) uniqueFields() (fields []*schema.Field) {
	for _, f := range k.typ.Fields {
		if f.Unique && f.Comparable() && f != k.id && !f.ReadOnly {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		k.notef("no field is tagged unique")
	}
	return fields
}

// sharing returns a fresh value that has the value of one field in common with another.
func (k *kit[T]) sharing(f *schema.Field, other T) T {
	v := k.fresh()
	from, okFrom := ownField(reflect.ValueOf(&other).Elem(), f.Index)
	to, okTo := ownField(reflect.ValueOf(&v).Elem(), f.Index)
	if !okFrom || !okTo {
		k.fatalf("field %s is in an embedded pointer, which the kit cannot set", f.Name)
	}
	to.Set(from)
	return v
}

// isTaken reports whether err or an error that it joins is Taken for a field.
func isTaken(err error, field string) bool {
	if reflect.DeepEqual(err, resource.Taken(field)) {
		return true
	}
	switch err := err.(type) {
	case interface{ Unwrap() error }:
		return isTaken(err.Unwrap(), field)
	case interface{ Unwrap() []error }:
		for _, e := range err.Unwrap() {
			if isTaken(e, field) {
				return true
			}
		}
	}
	return false
}

// wantTaken records a failure unless err is Taken for a field.
func (k *kit[T]) wantTaken(err error, f *schema.Field, what string) {
	if !isTaken(err, f.Name) {
		k.errorf("%s returned %s, want resource.Taken(%q)", what, quoted(err), f.Name)
	}
}

// uniqueTaken uses the value of another item in an insert and in a change, and then changes an item
// without changing its unique value. A check that does not exclude the item itself would reject
// that.
func uniqueTaken[T any](k *kit[T]) {
	for _, f := range k.uniqueFields() {
		first, second := k.put(k.fresh()), k.put(k.fresh())
		_, err := k.tryPut(k.ctx, k.sharing(f, first.Value))
		k.wantTaken(err, f, "storing a second item with the same "+f.Name)
		if k.ops.Replace != nil {
			clash := k.identified(k.sharing(f, first.Value), second.ID)
			_, err := k.ops.Replace(k.ctx, second.ID, second.Rev, clash)
			k.wantTaken(err, f, "Replace with the "+f.Name+" of another item")
			k.sameItem(second, k.get(second.ID), "the item after a rejected Replace")
			first = k.replace(first, k.identified(k.sharing(f, first.Value), first.ID))
		}
		k.holds([]resource.Item[T]{first, second}, "after rejected writes")
		if k.ops.Delete == nil {
			return // the rest needs an empty collection
		}
		k.remove(first)
		third := k.put(k.sharing(f, first.Value))
		k.remove(third)
		k.remove(second)
	}
}

// uniqueRace has all writers store the same value concurrently, like a form that is submitted
// twice.
func uniqueRace[T any](k *kit[T]) {
	for _, f := range k.uniqueFields() {
		rounds := max(5, k.Items/k.Writers)
		sent := make([][]T, rounds)
		for i := range sent {
			model := k.fresh()
			for range k.Writers {
				sent[i] = append(sent[i], k.sharing(f, model))
			}
		}
		winners := k.duels(rounds, func(w, i int) error {
			_, err := k.tryPut(k.ctx, sent[i][w])
			if isTaken(err, f.Name) {
				err = errTaken
			}
			return err
		}, errTaken)
		for _, won := range winners {
			if len(won) != 1 {
				k.fatalf("%d of %d concurrent writes with the same %s succeeded, want 1",
					len(won), k.Writers, f.Name)
			}
		}
	}
}

// errTaken represents resource.Taken, which errors.Is cannot find.
var errTaken = errors.New("resource.Taken")
