package resource

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/schema"
)

// shape is how a resource looks under one contract: the hub's own, or that of a [View]. The hub's own has neither down
// nor up nor names to translate.
type shape struct {
	name      string // in entity tags, so that contracts never share one
	typ       *schema.Type
	id        *schema.Field
	parent    *shape                         // what down starts from
	down      func(any) (any, error)         // *Parent -> *V
	up        func(v, base any) (any, error) // *V, *Parent -> *Parent
	where     []query.Filter                 // in the hub's names: what this contract can express
	relations []*relation
	reset     bool // PUT resets what this contract cannot see
	variants  variants

	// Names of fields, of which the hub's own shape has none. Those of the parent are more: a field that one view adds and
	// the next one renames is none of the hub.
	toHub, fromHub       map[string]string // V <-> hub
	toParent, fromParent map[string]string // V <-> T
	assumed              []*schema.Field   // of V, mapped to those of T for nothing but their names
}

// fieldOf returns the name in this shape of a field of the hub, and "" if it has none.
func (s *shape) fieldOf(hub string) string {
	if s.toHub == nil {
		return hub
	}
	return s.fromHub[hub]
}

// fieldAbove returns the name in this shape of a field of above, a shape further up the chain, and "" if it has none.
func (s *shape) fieldAbove(above *shape, field string) string {
	if s == above {
		return field
	}
	return s.fromParent[s.parent.fieldAbove(above, field)]
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

// root is the hub's own shape.
func (s *shape) root() *shape {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

func (s *shape) expresses(hub any) bool {
	root := s.root()
	return s.holds(func(name string) any {
		if fld := root.typ.Field(name); fld != nil {
			return fld.Get(hub)
		}
		return nil
	})
}

// holds is expresses for an item of which it is given the fields, by their names in the hub.
func (s *shape) holds(field func(string) any) bool {
	for _, f := range s.where {
		if !query.Match(f, field) {
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
	if v, err = s.down(v); err != nil {
		// Not wrapped: whatever down returned, it is no answer for a client. What cannot be shown belongs in Where.
		return nil, fmt.Errorf("the view %s cannot show the item: %v", s.name, err)
	}
	return v, nil
}

// raise walks up the chain from a value of this shape to one of the hub. base makes copies of the item as it is, where what
// this shape cannot see comes from: nil for a new item. reset says that none of it shall stay.
func (s *shape) raise(v any, base func() (any, error), reset bool) (any, error) {
	for at := s; at.up != nil; at = at.parent {
		ground, err := at.parent.ground(base, reset)
		if err != nil {
			return nil, err
		}
		if v, err = at.up(v, ground); err != nil {
			return nil, s.inOwnNames(at, err)
		}
	}
	return v, nil
}

// ground is what up of a view of this shape builds upon. It is made of a copy of its own, as down may show a part of what
// it is given: an up that appends to that part would write over what comes behind it, and the next up would keep that.
//
// What is blank is made blank here and not above: down is never shown an item that the collection cannot hold.
func (s *shape) ground(base func() (any, error), reset bool) (any, error) {
	if base == nil {
		return s.typ.New(), nil
	}
	v, err := base()
	if err == nil {
		v, err = s.lower(v)
	}
	if err == nil && reset {
		s.clear(v)
	}
	return v, err
}

// clear makes of a value what a PUT of nothing but the id would: members that a client can write have their defaults, the
// rest is as it was.
func (s *shape) clear(v any) {
	blank := reflect.ValueOf(s.typ.New()).Elem()
	kept := reflect.ValueOf(v).Elem()
	for _, f := range s.typ.Fields {
		if f != s.id && !f.ReadOnly && !f.WriteOnly {
			kept.FieldByIndex(f.Index).Set(blank.FieldByIndex(f.Index))
		}
	}
}

// inOwnNames makes of an error of up, which speaks of fields of the shape at, one for clients of this shape.
func (s *shape) inOwnNames(at *shape, err error) error {
	fields := fieldErrors(nil, err)
	if len(fields) == 0 {
		return err
	}
	return errors.Join(fieldProblem(fields, func(field string) string { return pointerTo(s.fieldAbove(at, field)) }), err)
}

var errStoreFault = errors.New("the store is at fault")

// storeFault is what a store did against its contract: an internal error, whatever the store returned.
func storeFault(format string, args ...any) error {
	return fmt.Errorf("%w: it "+format, append([]any{errStoreFault}, args...)...)
}
