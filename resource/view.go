package resource

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/schema"
)

// ViewOptions adjust a [View]. Filters are in the field names of the collection itself, not of the view.
type ViewOptions struct {
	// Name tells this view apart from the other shapes of the resource in entity tags, cursors and messages. If empty it is
	// the name of the Go type, with a number where another shape has that already.
	Name string
	// Fields gives, for fields of the view that the resource has under another name, that name. Fields with the same
	// name and the same type map to each other without being listed, unless the view's has values in its enum that the
	// other does not. Only mapped fields can be filtered and sorted by, and that asks for what the resource has: a field
	// that down gives another value, such as a price in another unit, has to be listed with "", which maps it to none.
	Fields map[string]string
	// Where selects the items that this view can express. All others do not exist in it: they are absent from lists
	// and counts, and 404 by id. It may use any field that is a single value: the author of the collection knows it. A view
	// of a view expresses what both do.
	Where query.Filter
	// ResetHidden says what becomes, on PUT, of that which the view cannot see. It stays; with ResetHidden it becomes what
	// PUT on the resource itself makes of members that are left out.
	ResetHidden bool
}

// View serves the same resource in another shape, for a contract that differs from it: the same collection, policy and
// write loop. down makes what the view shows of a T; up makes a T of what a client of the view wrote, on top of base.
// base is the item as it is now, nobody else holds it, and what up leaves alone survives; for a new item it is a T with
// its defaults, which may be less than the collection ever holds: an order without lines. opts may be nil.
//
// orders may be a view itself: then T is what that view shows. An error of up is the client's if it is made by
// [Invalid], in the names of V; one of down is an internal error, since items that a view cannot show belong in Where.
//
// View is called at program start, before the resource is served. It panics if T is not what orders shows, if V cannot
// be a schema or has no id field, if Fields or Where name what is not there, and if one of Options.Samples
// does not survive going down, up and down again, or shows that fields of one name are not the same thing.
func View[T, V any](orders *Resource, down func(T) (V, error), up func(v V, base T) (T, error), opts *ViewOptions) *Resource {
	var o ViewOptions
	if opts != nil {
		o = *opts
	}
	from, typ := orders.projection, schema.For[V]()
	if schema.For[T]() != from.typ {
		panic(fmt.Sprintf("resource: View of %s: down takes %s, but the resource shows %s",
			orders.Name(), schema.For[T]().GoType, from.typ.GoType))
	}
	s := &projection{typ: typ, parent: from, reset: o.ResetHidden, where: from.where}
	s.name = orders.core.projectionName(o.Name, typ)
	s.setWhere(orders, o.Where)
	s.down = func(v any) (any, error) {
		out, err := down(*v.(*T))
		return &out, err
	}
	s.up = func(v, base any) (any, error) {
		out, err := up(*v.(*V), *base.(*T))
		return &out, err
	}
	s.mapFields(orders, o.Fields)
	for _, rel := range from.relations {
		if typ.Field(rel.Name) == nil {
			s.relations = append(s.relations, rel)
		}
	}
	s.variants = etag.NewVariants(s.name, s.typ, mediaJSON)
	view := newResource(orders.core, s)
	view.checkSamples()
	orders.core.projections = append(orders.core.projections, s)
	return view
}

// projectionName returns the name of one more shape, which none of the others has: two with one name would share entity tags
// and cursors.
func (h *core) projectionName(given string, typ *schema.Type) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(h.projections, func(s *projection) bool { return s.name == name })
	}
	if given != "" && taken(given) {
		panic(fmt.Sprintf("resource: View of %s: ViewOptions.Name is %q, and so is the name of another of its shapes",
			h.name, given))
	}
	name := given
	if name == "" {
		name = typ.Name
	}
	for n := 2; taken(name); n++ {
		name = typ.Name + strconv.Itoa(n)
	}
	return name
}

// setWhere adds a condition to those of the parent.
func (s *projection) setWhere(from *Resource, where query.Filter) {
	if where.IsZero() {
		return
	}
	for name := range where.Fields() {
		if f := from.core.typ.Field(name); f == nil || !f.Comparable() {
			panic(fmt.Sprintf("resource: View %s of %s: Where names %q, which is no single value of %s",
				s.name, from.Name(), name, from.core.typ.Name))
		}
	}
	s.where = append(slices.Clone(s.where), where)
}

// mapFields finds out which fields of the view are fields of its parent, and of the core.
func (s *projection) mapFields(from *Resource, named map[string]string) {
	s.checkNames(from, named)
	s.parentNames, s.shownParentNames = map[string]string{}, map[string]string{}
	s.storeNames, s.shownNames = map[string]string{}, map[string]string{}
	for _, f := range s.typ.Fields {
		parent, ok := named[f.Name]
		if !ok {
			if p := from.projection.typ.Field(f.Name); p == nil || p.Type != f.Type || !within(f.Enum, p.Enum) {
				continue
			}
			parent = f.Name
			s.assumed = append(s.assumed, f)
		}
		if parent == "" {
			continue
		}
		hub := from.projection.storeField(parent)
		s.parentNames[f.Name] = parent
		if s.shownParentNames[parent] == "" { // of two names, the first
			s.shownParentNames[parent] = f.Name
		}
		if hub == "" {
			continue
		}
		s.storeNames[f.Name] = hub
		if s.shownNames[hub] == "" {
			s.shownNames[hub] = f.Name
		}
	}
	s.id = s.typ.Field(s.fieldOf(from.core.id.Name))
	if s.id == nil || s.id.Type.Kind != from.core.id.Type.Kind {
		panic(fmt.Sprintf("resource: View %s of %s has no id field: map one to %q in Fields",
			s.name, from.Name(), from.core.id.Name))
	}
}

// within reports whether every value of an enum is one of another. Where there is no enum nothing is known.
func within(some, all []any) bool {
	return all == nil || !slices.ContainsFunc(some, func(v any) bool { return !slices.Contains(all, v) })
}

// checkNames panics if ViewOptions.Fields cannot be meant.
func (s *projection) checkNames(from *Resource, named map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		own, parent := s.typ.Field(name), from.projection.typ.Field(named[name])
		if own != nil && named[name] == "" {
			continue
		}
		if own == nil || parent == nil {
			panic(fmt.Sprintf("resource: View %s of %s: Fields maps %q to %q, which are not both fields",
				s.name, from.Name(), name, named[name]))
		}
		if own.Type.Kind != parent.Type.Kind || own.Format != parent.Format {
			panic(fmt.Sprintf("resource: View %s of %s: Fields maps %q to %q, which is of another kind",
				s.name, from.Name(), name, named[name]))
		}
	}
}
