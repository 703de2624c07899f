package resourcetest

// Composite ids, which are computed from the fields of a key. setup.go calls useKey; the cases call
// the methods of kit. The kit behaves as package resource: it stores new items by Insert alone, and no
// filter or order names the id. So three cases are skipped: those of Create. Fields of the key hold ids of
// the kit, and no extreme values of value-edges and value-hard.

import (
	"maps"
	"reflect"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// keyTurns is the number of ids that have all fields of the key but the last in common, so that a
// store that compares only one of them fails.
const keyTurns = 3

// useKey sets the fields of the key, and removes the id from the queries if it has several.
func (s *setup) useKey() {
	if s.id.Key == nil {
		s.key = []*schema.Field{s.id}
		return
	}
	s.key = s.id.Key
	s.Support.Filter = maps.Clone(s.Support.Filter)
	delete(s.Support.Filter, s.id.Name)
	s.Support.Sort = slices.DeleteFunc(slices.Clone(s.Support.Sort), func(name string) bool {
		return name == s.id.Name
	})
}

// usable removes Create if the id is composite, because each new item has an id.
func (s *setup) usable(ops operations) operations {
	if s.id.Key != nil && ops.Insert != nil {
		ops.Create = nil
	}
	return ops
}

// isKey reports whether a field is the id or a part of it.
func (s *setup) isKey(f *schema.Field) bool { return f == s.id || slices.Contains(s.key, f) }

// keyText returns the nth id of a composite key. The last field counts to keyTurns, and so on to the
// first, so that the ids of many items have fields in common.
func (s *setup) keyText(n int) string {
	v := s.zero()
	for i, f := range slices.Backward(s.key) {
		b := s.distinct("id", n)
		if i > 0 {
			b.n, n = n%keyTurns, n/keyTurns
		}
		b.field(settable(reflect.ValueOf(v).Elem(), f.Index), f)
	}
	return s.id.Text(v)
}

// byKey returns the order by the id.
func (s *setup) byKey(desc bool) []query.Order {
	order := make([]query.Order, len(s.key))
	for i, f := range s.key {
		order[i] = query.Order{Field: f.Name, Desc: desc}
	}
	return order
}

// odd returns ids of which the texts in the key are odd ones, if the fields take any text.
func (s *setup) odd() (ids []string) {
	for at, f := range s.key {
		if f.Type.Kind != schema.String || f.Pattern != nil || f.Format != "" || len(f.Enum) > 0 {
			continue
		}
		for _, text := range oddIDs() {
			texts := make([]string, len(s.key))
			for i := range texts {
				texts[i] = "1"
			}
			texts[at] = text
			ids = append(ids, schema.JoinKey(texts))
		}
	}
	return ids
}
