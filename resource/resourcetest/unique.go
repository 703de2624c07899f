package resourcetest

import (
	"errors"
	"reflect"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// uniqueCases test fields that are tagged unique.
func uniqueCases() []testCase {
	return []testCase{
		{
			name:  "unique-taken",
			needs: filler,
			contract: "No two items have the same value in a field tagged unique. A write that would " +
				"violate this returns resource.Taken with the field's JSON name and changes nothing. " +
				"An item may keep its own value, and the value of a deleted item may be used again. " +
				"A field that is unique with others has the same rules for all values together.",
			run: uniqueTaken,
		},
		{
			name:  "unique-together",
			needs: filler,
			contract: "A field with other fields in its tag unique is unique together with them. Two " +
				"items that differ in one of these fields may be equal in the others, as with a " +
				"unique index on several columns.",
			run: uniqueTogether,
		},
		{
			name:  "unique-race",
			needs: filler,
			contract: "If several callers store the same value in a unique field concurrently, " +
				"exactly one succeeds. The check and the write must be one atomic step, as with a " +
				"unique index.",
			run: uniqueRace,
		},
	}
}

// uniqueFields returns the fields that must differ between items. It omits lists, because there the
// tag applies to elements.
func (k *kit) uniqueFields() (fields []*schema.Field) {
	for _, f := range k.typ.Fields {
		alone := f.Unique && f.Comparable() && !k.isAssigned(f)
		if alone || f.UniqueWith != nil && !slices.ContainsFunc(k.together(f), k.isAssigned) {
			fields = append(fields, f)
		}
	}
	if len(fields) == 0 {
		k.notef("no field is tagged unique")
	}
	return fields
}

// together returns the fields that must be unique together with f, beginning with f.
func (k *kit) together(f *schema.Field) []*schema.Field {
	fields := []*schema.Field{f}
	for _, name := range f.UniqueWith {
		fields = append(fields, k.typ.Field(name))
	}
	return fields
}

// sharing returns a fresh value that has the value of a unique field in common with another, and those
// of all fields together with which it is unique.
func (k *kit) sharing(f *schema.Field, other any) any {
	v := k.fresh()
	for _, part := range k.together(f) {
		k.copyField(part, v, other)
	}
	return v
}

// copyField sets a field of v to that of other.
func (k *kit) copyField(f *schema.Field, v, other any) {
	from, okFrom := ownField(reflect.ValueOf(other).Elem(), f.Index)
	to, okTo := ownField(reflect.ValueOf(v).Elem(), f.Index)
	if !okFrom || !okTo {
		k.fatalf("field %s is in an embedded pointer, which the kit cannot set", f.Name)
	}
	to.Set(from)
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
func (k *kit) wantTaken(err error, f *schema.Field, what string) {
	if !isTaken(err, f.Name) {
		k.errorf("%s returned %s, want resource.Taken(%q)", what, quoted(err), f.Name)
	}
}

// uniqueTaken uses the value of another item in an insert and in a change, and then changes an item
// without changing its unique value. A check that does not exclude the item itself would reject
// that.
func uniqueTaken(k *kit) {
	for _, f := range k.uniqueFields() {
		first, second := k.put(k.fresh()), k.put(k.fresh())
		_, err := k.tryPut(k.ctx, k.sharing(f, first.Value))
		k.wantTaken(err, f, "storing a second item with the same "+f.Name)
		if k.ops.Replace != nil {
			clash := k.replacement(k.sharing(f, first.Value), second.Value)
			_, err := k.ops.Replace(k.ctx, second.ID, second.Rev, clash)
			k.wantTaken(err, f, "Replace with the "+f.Name+" of another item")
			k.sameItem(second, k.get(second.ID), "the item after a rejected Replace")
			first = k.replace(first, k.replacement(k.sharing(f, first.Value), first.Value))
		}
		k.holds([]resource.Item[any]{first, second}, "after rejected writes")
		if k.ops.Delete == nil {
			return // the rest needs an empty collection
		}
		k.remove(first)
		if k.UniqueDeleted {
			_, err := k.tryPut(k.ctx, k.sharing(f, first.Value))
			k.wantTaken(err, f, "storing an item with the "+f.Name+" of a deleted one")
			k.remove(second)
			continue
		}
		third := k.put(k.sharing(f, first.Value))
		k.remove(third)
		k.remove(second)
	}
}

// uniqueTogether stores items that differ in exactly one of the fields.
func uniqueTogether(k *kit) {
	for _, f := range k.uniqueFields() {
		fields := k.together(f)
		if len(fields) == 1 {
			continue
		}
		first := k.put(k.fresh())
		stored := []resource.Item[any]{first}
		for _, differs := range fields {
			v := k.fresh()
			for try := 0; query.Compare(differs.Get(v), differs.Get(first.Value)) == 0 && try < 10; try++ {
				v = k.fresh()
			}
			if query.Compare(differs.Get(v), differs.Get(first.Value)) == 0 {
				continue // a type of one value
			}
			for _, part := range fields {
				if part != differs {
					k.copyField(part, v, first.Value)
				}
			}
			it, err := k.tryPut(k.ctx, v)
			k.must(err, "storing an item that differs in "+differs.Name+", which is unique with others,")
			stored = append(stored, it)
		}
		k.holds(stored, "after writes that differ in one field")
		if k.ops.Delete == nil {
			return // the rest needs an empty collection
		}
		for _, it := range stored {
			k.remove(it)
		}
	}
}

// uniqueRace has all writers store the same value concurrently, like a form that is submitted
// twice.
func uniqueRace(k *kit) {
	for _, f := range k.uniqueFields() {
		rounds := max(5, k.Items/k.Writers)
		sent := make([][]any, rounds)
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
