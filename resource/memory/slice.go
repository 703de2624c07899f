package memory

import (
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// List runs q on items: it filters and sorts them, starts after q.After and stops at q.Limit. It
// makes the List method of a small collection one line. It supports whatever [query.Support] can
// declare, and does not change items. If an Item has an ID and the id field of its Value is zero,
// a filter by "id" compares the ID. For a search see [Search].
func List[T any](items []resource.Item[T], q query.Query) iter.Seq2[resource.Item[T], error] {
	found := query.Select(q, items, fieldOf[T]())
	return func(yield func(resource.Item[T], error) bool) {
		for _, it := range found {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// fieldOf returns the function that returns a field of an item.
func fieldOf[T any]() func(it *resource.Item[T], name string) any {
	typ := schema.For[T]()
	return func(it *resource.Item[T], name string) any {
		f := typ.Field(name)
		switch {
		case f == nil:
			return nil
		case name == "id" && it.ID != "" && f.IsZero(&it.Value):
			v, _ := f.Parse(it.ID) // an id that the field cannot hold is found by the library
			return v
		}
		return f.Get(&it.Value)
	}
}
