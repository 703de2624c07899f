package resource

import (
	"errors"
	"fmt"
	"slices"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// shape is how a resource looks under one contract: the hub's own, or that of a [View]. The hub's own has neither down
// nor up nor names to translate.
type shape struct {
	name      string // in entity tags, so that contracts never share one
	typ       *schema.Type
	parent    *shape                         // what down starts from
	down      func(any) (any, error)         // *Parent -> *V
	up        func(v, base any) (any, error) // *V, *Parent -> *Parent
	where     []query.Filter                 // in the hub's names: what this contract can express
	toHub     map[string]string              // field names, V -> hub; nil: the same
	relations []*relation
	reset     bool // PUT resets what this contract cannot see
	variants  variants
}

// fieldOf returns the name in this shape of a field of the hub, and "" if it has none.
func (s *shape) fieldOf(hub string) string {
	if s.toHub == nil {
		return hub
	}
	for name, h := range s.toHub {
		if h == hub {
			return name
		}
	}
	return ""
}

// hubField returns the name in the hub of a field of this shape, and "" if it has none.
func (s *shape) hubField(name string) string {
	if s.toHub == nil {
		return name
	}
	return s.toHub[name]
}

func (s *shape) filterToHub(f query.Filter) (query.Filter, error) {
	if s.toHub == nil || f.IsZero() {
		return f, nil
	}
	return f.Map(func(c query.Filter) (query.Filter, error) {
		hub, ok := s.toHub[c.Field]
		if !ok {
			return c, fmt.Errorf("the field %s cannot be filtered by", c.Field)
		}
		c.Field = hub
		return c, nil
	})
}

// show turns an entry of the hub into one of this shape. An item that this contract cannot express is not there.
func (s *shape) show(e *Entry) error {
	if s.down == nil {
		return nil
	}
	if !s.expresses(e.hub) {
		return errHidden
	}
	v, err := s.lower(e.hub)
	e.Value = v
	return err
}

func (s *shape) expresses(hub any) bool {
	root := s
	for root.parent != nil {
		root = root.parent
	}
	for _, f := range s.where {
		if !query.Match(f, func(name string) any {
			if fld := root.typ.Field(name); fld != nil {
				return fld.Get(hub)
			}
			return nil
		}) {
			return false
		}
	}
	return true
}

// lower walks down the chain from a value of the hub to one of this shape.
func (s *shape) lower(hub any) (any, error) {
	if s.down == nil {
		return hub, nil
	}
	v, err := s.parent.lower(hub)
	if err != nil {
		return nil, err
	}
	v, err = s.down(v)
	if err != nil {
		return nil, fmt.Errorf("the view %s cannot show the item: %w", s.name, err)
	}
	return v, nil
}

// raise walks up the chain from a value of this shape to one of the hub. base is a value of the hub that nobody else
// holds: what this shape cannot see comes from there.
func (s *shape) raise(v, base any) (any, error) {
	if s.up == nil {
		return v, nil
	}
	parentBase, err := s.parent.lower(base)
	if err != nil {
		return nil, err
	}
	v, err = s.up(v, parentBase)
	if err != nil {
		return nil, err
	}
	return s.parent.raise(v, base)
}

// ViewOptions adjust a [View]. Filters are in the field names of the collection itself, not of the view.
type ViewOptions struct {
	// Name tells this view apart in entity tags and messages; the name of its Go type if empty.
	Name string
	// Fields gives, for fields of the view that the resource has under another name, that name. Fields with the same
	// name and the same type map to each other without being listed. Only mapped fields can be filtered and sorted by.
	Fields map[string]string
	// Where selects the items that this view can express. All others do not exist in it: they are absent from lists
	// and counts, and 404 by id.
	Where query.Filter
	// PutHidden says what becomes, on PUT, of that which the view cannot see.
	PutHidden PutHidden
}

// PutHidden says what a PUT through a [View] does with what the view cannot see.
type PutHidden uint8

// The choices.
const (
	KeepHidden  PutHidden = iota // it stays
	ResetHidden                  // it becomes what it would be for a new item
)

// View serves the same resource in another shape, for a contract that differs from it: the same collection, policy and
// write loop. down makes what the view shows of a T; up makes a T of what a client of the view wrote, on top of base.
// base is the item as it is now, nobody else holds it, and what up leaves alone survives; for a new item it is a T with
// its defaults. opts may be nil.
//
// orders may be a view itself: then T is what that view shows. An error of up is the client's if it is made by
// [Invalid], in the names of V; one of down is an internal error, since items that a view cannot show belong in Where.
//
// View is called at program start, before the resource is served. It panics if T is not what orders shows, if V cannot
// be a schema or has no id field, and if Fields names what is not there.
func View[T, V any](orders *Resource, down func(T) (V, error), up func(v V, base T) (T, error), opts *ViewOptions) *Resource {
	var o ViewOptions
	if opts != nil {
		o = *opts
	}
	from, typ := orders.shape, schema.For[V]()
	if schema.For[T]() != from.typ {
		panic(fmt.Sprintf("resource: View of %s: down takes %s, but the resource shows %s",
			orders.Name(), schema.For[T]().GoType, from.typ.GoType))
	}
	s := &shape{typ: typ, parent: from, name: o.Name, reset: o.PutHidden == ResetHidden, where: from.where}
	if s.name == "" {
		s.name = typ.Name
	}
	if !o.Where.IsZero() {
		s.where = append(slices.Clone(from.where), o.Where)
	}
	s.down = func(v any) (any, error) {
		out, err := down(*v.(*T))
		return &out, err
	}
	s.up = func(v, base any) (any, error) {
		out, err := up(*v.(*V), *base.(*T))
		if fields := fieldErrors(nil, err); len(fields) > 0 {
			err = errors.Join(fieldProblem(fields, func(name string) string { return "/" + escapePointer(name) }), err)
		}
		return &out, err
	}
	s.mapFields(orders, o.Fields)
	for _, rel := range from.relations {
		if typ.Field(rel.Name) == nil {
			s.relations = append(s.relations, rel)
		}
	}
	s.setVariants()
	orders.hub.shapes = append(orders.hub.shapes, s)
	return &Resource{hub: orders.hub, shape: s}
}

func (s *shape) mapFields(from *Resource, named map[string]string) {
	s.toHub = map[string]string{}
	for name, parent := range named {
		if s.typ.Field(name) == nil || from.shape.typ.Field(parent) == nil {
			panic(fmt.Sprintf("resource: View %s of %s: Fields maps %q to %q, which are not both fields",
				s.name, from.Name(), name, parent))
		}
		if a, b := s.typ.Field(name), from.shape.typ.Field(parent); a.Type.Kind != b.Type.Kind || a.Format != b.Format {
			panic(fmt.Sprintf("resource: View %s of %s: Fields maps %q to %q, which is of another kind",
				s.name, from.Name(), name, parent))
		}
		s.toHub[name] = from.shape.hubField(parent)
	}
	for _, f := range s.typ.Fields {
		p := from.shape.typ.Field(f.Name)
		if _, ok := s.toHub[f.Name]; !ok && p != nil && p.Type == f.Type {
			if h := from.shape.hubField(f.Name); h != "" {
				s.toHub[f.Name] = h
			}
		}
	}
	id := s.fieldOf(from.hub.id.Name)
	if id == "" || s.typ.Field(id).Type.Kind != from.hub.id.Type.Kind {
		panic(fmt.Sprintf("resource: View %s of %s has no id field: map one to %q in Fields",
			s.name, from.Name(), from.hub.id.Name))
	}
}

var errStoreFault = errors.New("the store is at fault")

// storeFault is what a store did against its contract: an internal error, whatever the store returned.
func storeFault(format string, args ...any) error {
	return fmt.Errorf("%w: it "+format, append([]any{errStoreFault}, args...)...)
}
