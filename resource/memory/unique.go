package memory

// Fields that are unique together, by the tag unique with a list. write.go calls it.

import (
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
	"github.com/stoa-go/stoa/resource/schema"
)

// uniqueList contains the live records with fields that must be unique together, sorted by these. The
// first field has the tag.
type uniqueList struct {
	fields []*schema.Field
	*sorted.List[*record]
}

// uniqueLists returns a list for each field of a type that is unique with others.
func uniqueLists(typ *schema.Type) (all []*uniqueList) {
	for _, f := range typ.Fields {
		if f.UniqueWith == nil {
			continue
		}
		i := len(all)
		u := &uniqueList{fields: []*schema.Field{f}}
		for _, name := range f.UniqueWith {
			u.fields = append(u.fields, typ.Field(name))
		}
		// Values are unique, so there are no ties between live records.
		u.List = sorted.New(func(a, b *record) int {
			return slices.CompareFunc(a.lists[i], b.lists[i], query.Compare)
		})
		all = append(all, u)
	}
	return all
}

// valuesOf returns the values of the fields in an item, to which v is a pointer. It is nil if one of them is
// null, or a zero value that the JSON omits: any number of items may then have equal values, as in SQL.
func (u *uniqueList) valuesOf(v any) []any {
	values := make([]any, len(u.fields))
	for i, f := range u.fields {
		if values[i] = f.Get(v); values[i] == nil || (f.OmitZero || f.OmitEmpty) && f.IsZero(v) {
			return nil
		}
	}
	return values
}

// isTaken reports whether another record has the values of r. i is the position of the list.
func (u *uniqueList) isTaken(r *record, i int) bool {
	if r.lists[i] == nil {
		return false
	}
	p := u.Live().Seek(func(o *record) bool { return u.Compare(o, r) < 0 })
	return p != u.Live().End() && u.Compare(u.Live().At(p), r) == 0 && u.Live().At(p).id != r.id
}

// change replaces a record by another; both may be nil. i is the position of the list.
func (u *uniqueList) change(from, to *record, i int) {
	if from != nil && from.lists[i] != nil {
		u.Remove(from)
	}
	if to != nil && to.lists[i] != nil {
		u.Insert(to)
	}
}
