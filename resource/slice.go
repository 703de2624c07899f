package resource

import (
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// Slice answers q from items, which makes List of a small store one line: it filters, sorts, starts behind q.After and
// stops at q.Limit. The items are not changed. It answers whatever query.Support can declare.
// An id that is only in Item.ID is understood if the id field is called id.
func Slice[T any](items []Item[T], q query.Query) iter.Seq2[Item[T], error] {
	typ := schema.For[T]()
	found := query.Select(q, items, func(it *Item[T], name string) any {
		f := typ.Field(name)
		switch {
		case f == nil:
			return nil
		case name == "id" && it.ID != "" && f.IsZero(&it.Value):
			v, _ := f.Parse(it.ID) // an id that the field cannot hold is found by the library
			return v
		}
		return f.Get(&it.Value)
	})
	return func(yield func(Item[T], error) bool) {
		for _, it := range found {
			if !yield(it, nil) {
				return
			}
		}
	}
}
