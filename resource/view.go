package resource

// Views: a resource with another type, for an older contract, by functions down and up. Called by
// applications. It calls view_samples.go and makes the projection of projection.go.

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/schema"
)

// ViewOptions configure a [View]. The zero value is valid.
type ViewOptions struct {
	// Name distinguishes this view from the other views of the resource in entity tags, cursors and
	// messages. Default is the name of the Go type, followed by a number if another view has that
	// name.
	Name string
	// Fields maps JSON names of the view's fields to those of the argument orders of [View], which
	// may be a view. Fields with the same name and JSON type are mapped by default, see
	// [schema.Type.SameJSON], unless the view's enum has values that the other does not have. Only
	// mapped fields can be used in filters and sorts, which apply to the resource's value; the start-up
	// report lists the others. If down changes the value of a field of the same name, such as a price in
	// another currency, map the field to "", which means that it is not mapped. A mapped field also has
	// the groups and aggregates that the resource declares for the other. They contain stored values,
	// which down does not convert: to hide a value that down masks, map the field to "".
	Fields map[string]string
	// Where selects the items that the view can represent, in the field names of the collection.
	// Other items do not exist in the view: they are missing from lists and counts, and 404 by id.
	// A write through the view that makes such an item is 422. Where may use any field that is a
	// single value, and is checked as Options.Scope is. A view of a view has the conditions of both.
	Where query.Filter
	// ResetHidden makes PUT reset the fields that the view does not have to their defaults, as PUT
	// of the resource itself does with members that are left out. By default they keep their
	// values.
	ResetHidden bool
}

// View returns a Resource for the same collection, policy and hooks as orders, with another Go
// type, for a contract that differs. down converts a T to a V. up applies a V that a client wrote
// to base and returns the new T. base is a deep copy of the current item, which up may change and
// return, so fields that up does not change keep their values. For a new item base has only
// defaults and may lack data that every stored item has, such as the lines of an order. opts may be
// nil.
//
// A write changes only the fields that the client has changed: if up returns the same value of a
// field for the client's V and for down of the current item, the stored value is kept, provided that
// down still shows what the client wrote. So a down that joins two names, or shows a time as a date,
// loses nothing by a PATCH of another member. The start-up report names such fields of
// Options.Samples.
//
// A view hides fields if one of the stored type is not mapped, or only in part. A change of such a field must
// not show: the revision of an item is then a hash of what the view shows, an item has no time of
// modification, and an update that the view does not show is no event. If-Match compares with that hash,
// and accepts tags of the view and of its own views only.
//
// orders may be a view: T is then the type of that view. An error of up that is made by [Invalid],
// in the names of V, is the client's error. An error of down is an internal error; exclude items
// that the view cannot represent with ViewOptions.Where.
//
// View is called at program start, before the resource is served. It panics if orders, down or up is
// nil, if T is not the type of orders, if V is a pointer, has no schema or no id field, if the Name is
// in use, if Fields or Where name an unknown field or one of the wrong kind, or if one of
// Options.Samples changes when it is converted down, up and down again.
func View[T, V any](
	orders *Resource,
	down func(T) (V, error),
	up func(v V, base T) (T, error),
	opts *ViewOptions,
) *Resource {
	var o ViewOptions
	if opts != nil {
		o = *opts
	}
	if orders == nil || down == nil || up == nil {
		panic(fmt.Sprintf("resource: View of %s: orders, down and up must not be nil",
			reflect.TypeFor[T]()))
	}
	typ, found := mistakes.TypeOf[V]()
	mistakes.Panic("resource: View of "+orders.Name(), found)
	from := orders.projection
	if reflect.TypeFor[T]() != from.typ.GoType {
		panic(fmt.Sprintf("resource: View of %s: down takes %s, but the type of the resource is %s",
			orders.Name(), reflect.TypeFor[T](), from.typ.GoType))
	}
	p := &projection{typ: typ, parent: from, reset: o.ResetHidden, where: from.where}
	p.name = orders.core.projectionName(o.Name, typ)
	p.setWhere(orders, o.Where)
	p.down = func(v any) (any, error) {
		out, err := down(*v.(*T))
		return &out, err
	}
	p.up = func(v, base any) (any, error) {
		out, err := up(*v.(*V), *base.(*T)) // toStored has made the deep copy
		return &out, err
	}
	p.mapFields(orders, o.Fields)
	p.hides = p.hidesFields()
	for _, rel := range from.relations {
		if typ.Field(rel.Name) == nil {
			p.relations = append(p.relations, rel)
		}
	}
	p.variants = etag.NewVariants(p.name, p.typ, mediaJSON)
	p.shape, p.pageShape = cache.NewShape(), cache.NewShape()
	view := newResource(orders.core, p)
	view.checkSamples()
	orders.core.projections = append(orders.core.projections, p)
	return view
}

// projectionName returns a name for a new projection that no other projection of the resource has.
// Projections with the same name would share entity tags and cursors.
func (c *core) projectionName(given string, typ *schema.Type) string {
	taken := func(name string) bool {
		return slices.ContainsFunc(c.projections, func(p *projection) bool { return p.name == name })
	}
	if given != "" && taken(given) {
		panic(fmt.Sprintf("resource: View of %s: ViewOptions.Name %q is the name of another view; "+
			"choose another name", c.name, given))
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

// setWhere adds a condition to those of the parent, and panics if it names an unknown field.
func (p *projection) setWhere(from *Resource, where query.Filter) {
	if where.IsZero() {
		return
	}
	where, err := from.core.withOperands(where)
	if err == nil && hasRelation(where) {
		err = errRelation
	}
	if err != nil {
		panic(fmt.Sprintf("resource: View %s of %s: Where %v", p.name, from.Name(), err))
	}
	p.where = append(slices.Clone(p.where), where)
}

// mapFields maps the fields of the view to those of its parent and of the stored type.
func (p *projection) mapFields(from *Resource, named map[string]string) {
	p.checkNames(from, named)
	p.parentNames, p.shownParentNames = map[string]string{}, map[string]string{}
	p.storeNames, p.shownNames = map[string]string{}, map[string]string{}
	for _, f := range p.typ.Fields {
		parent, ok := named[f.Name]
		if !ok {
			above := from.projection.typ.Field(f.Name)
			if above == nil || !f.Type.SameJSON(above.Type) || !hasSameValues(f, above) ||
				!within(f.Enum, above.Enum) {
				continue
			}
			parent = f.Name
			p.assumed = append(p.assumed, f)
		}
		if parent == "" {
			continue
		}
		stored := from.projection.storeField(parent)
		p.parentNames[f.Name] = parent
		if p.shownParentNames[parent] == "" { // of two names, the first
			p.shownParentNames[parent] = f.Name
		}
		if stored == "" {
			continue
		}
		p.storeNames[f.Name] = stored
		if p.shownNames[stored] == "" {
			p.shownNames[stored] = f.Name
		}
	}
	p.id = p.typ.Field(p.fieldOf(from.core.id.Name))
	p.checkKey(from)
	if p.id == nil || p.id.Type.Kind != from.core.id.Type.Kind {
		panic(fmt.Sprintf("resource: View %s of %s has no id field; map one to %q in Fields",
			p.name, from.Name(), from.core.id.Name))
	}
}

// checkKey panics if the items have a composite id, and that of the view is not computed from the same
// fields in the same order.
func (p *projection) checkKey(from *Resource) {
	var stored []string
	if p.id != nil {
		for _, f := range p.id.Key {
			stored = append(stored, p.storeNames[f.Name])
		}
	}
	if want := from.core.id.Key; p.id != nil && !slices.Equal(stored, namesOf(want)) {
		panic(fmt.Sprintf("resource: View %s of %s: the id field %q needs the tag id with the names of "+
			"the fields that are mapped to %s", p.name, from.Name(), p.id.Name,
			strings.Join(from.core.key, ", ")))
	}
}

// hasSameValues reports whether the canonical values of two fields have the same kind, so that a filter by
// one can be a filter by the other.
func hasSameValues(a, b *schema.Field) bool {
	return a.Type.Kind == b.Type.Kind && a.IsDecimal() == b.IsDecimal() && a.IsDuration() == b.IsDuration() &&
		(a.Type.Kind != schema.Array || a.Type.Elem.Kind == b.Type.Elem.Kind)
}

// within reports whether all contains every value of some. A nil all has no enum and contains every
// value.
func within(some, all []any) bool {
	return all == nil || !slices.ContainsFunc(some, func(v any) bool { return !slices.Contains(all, v) })
}

// checkNames panics if ViewOptions.Fields names an unknown field or maps a field to one of another
// kind.
func (p *projection) checkNames(from *Resource, named map[string]string) {
	for _, name := range slices.Sorted(maps.Keys(named)) {
		own, parent := p.typ.Field(name), from.projection.typ.Field(named[name])
		if own != nil && named[name] == "" {
			continue
		}
		if own == nil || parent == nil {
			panic(fmt.Sprintf("resource: View %s of %s: Fields maps %q to %q; both must be fields",
				p.name, from.Name(), name, named[name]))
		}
		if !hasSameValues(own, parent) || own.Format != parent.Format {
			panic(fmt.Sprintf("resource: View %s of %s: Fields maps %q to %q, which is of another kind",
				p.name, from.Name(), name, named[name]))
		}
	}
}
