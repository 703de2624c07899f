package resource

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/schema"
)

// projection is how a resource looks under one contract: the stored, or that of a [View]. The core's own has neither down
// nor up nor names to translate.
type projection struct {
	name      string // in entity tags, so that contracts never share one
	typ       *schema.Type
	id        *schema.Field
	parent    *projection                    // what down starts from
	down      func(any) (any, error)         // *Parent -> *V
	up        func(v, base any) (any, error) // *V, *Parent -> *Parent
	where     []query.Filter                 // in the core's names: what this contract can express
	relations []*relation
	reset     bool // PUT resets what this contract cannot see
	variants  etag.Variants

	// Names of fields, of which the stored shape has none. Those of the parent are more: a field that one view adds and
	// the next one renames is none of the core.
	storeNames, shownNames        map[string]string // V <-> core
	parentNames, shownParentNames map[string]string // V <-> T
	assumed                       []*schema.Field   // of V, mapped to those of T for nothing but their names
}

// fieldOf returns the name in this shape of a field of the core, and "" if it has none.
func (s *projection) fieldOf(hub string) string {
	if s.storeNames == nil {
		return hub
	}
	return s.shownNames[hub]
}

// fieldAbove returns the name in this shape of a field of above, a shape further up the chain, and "" if it has none.
func (s *projection) fieldAbove(above *projection, field string) string {
	if s == above {
		return field
	}
	return s.shownParentNames[s.parent.fieldAbove(above, field)]
}

// storeField returns the name in the core of a field of this shape, and "" if it has none.
func (s *projection) storeField(name string) string {
	if s.storeNames == nil {
		return name
	}
	return s.storeNames[name]
}

func (s *projection) filterToStore(f query.Filter) (query.Filter, error) {
	if s.storeNames == nil || f.IsZero() {
		return f, nil
	}
	return f.Map(func(c query.Filter) (query.Filter, error) {
		hub, ok := s.storeNames[c.Field]
		if !ok {
			return c, fmt.Errorf("the field %s cannot be filtered by", c.Field)
		}
		c.Field = hub
		return c, nil
	})
}

// querySupport returns what a list can be asked in the names of this shape.
func (s *projection) querySupport(stored query.Support) query.Support {
	if s.storeNames == nil {
		return stored
	}
	out := query.Support{Natural: stored.Natural, Filter: map[string][]query.Op{}}
	for field, ops := range stored.Filter {
		if f := s.fieldOf(field); f != "" && !s.typ.Field(f).WriteOnly {
			out.Filter[f] = ops
		}
	}
	for _, field := range stored.Sort {
		if f := s.fieldOf(field); f != "" && !s.typ.Field(f).WriteOnly {
			out.Sort = append(out.Sort, f)
		}
	}
	return out
}

// show turns an entry of the core into one of this shape. An item that this contract cannot express is not there.
func (s *projection) show(e *Entry) error {
	if s.down == nil {
		return nil
	}
	if !s.expresses(e.stored) {
		return errHidden
	}
	v, err := s.fromStored(e.stored)
	e.Value = v
	return err
}

// root is the stored shape.
func (s *projection) root() *projection {
	for s.parent != nil {
		s = s.parent
	}
	return s
}

func (s *projection) expresses(hub any) bool {
	root := s.root()
	return s.holds(func(name string) any {
		if fld := root.typ.Field(name); fld != nil {
			return fld.Get(hub)
		}
		return nil
	})
}

// holds is expresses for an item of which it is given the fields, by their names in the core.
func (s *projection) holds(field func(string) any) bool {
	for _, f := range s.where {
		if !query.Match(f, field) {
			return false
		}
	}
	return true
}

// fromStored walks down the chain from a value of the core to one of this shape.
func (s *projection) fromStored(hub any) (any, error) {
	if s.down == nil {
		return hub, nil
	}
	v, err := s.parent.fromStored(hub)
	if err != nil {
		return nil, err
	}
	if v, err = s.down(v); err != nil {
		// Not wrapped: whatever down returned, it is no answer for a client. What cannot be shown belongs in Where.
		return nil, fmt.Errorf("the view %s cannot show the item: %v", s.name, err)
	}
	return v, nil
}

// toStored walks up the chain from a value of this shape to one of the core. base makes copies of the item as it is, where what
// this shape cannot see comes from: nil for a new item. reset says that none of it shall stay.
func (s *projection) toStored(v any, base func() (any, error), reset bool) (any, error) {
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
func (s *projection) ground(base func() (any, error), reset bool) (any, error) {
	if base == nil {
		return s.typ.New(), nil
	}
	v, err := base()
	if err == nil {
		v, err = s.fromStored(v)
	}
	if err == nil && reset {
		s.clear(v)
	}
	return v, err
}

// clear makes of a value what a PUT of nothing but the id would: members that a client can write have their defaults, the
// rest is as it was.
func (s *projection) clear(v any) {
	blank := reflect.ValueOf(s.typ.New()).Elem()
	kept := reflect.ValueOf(v).Elem()
	for _, f := range s.typ.Fields {
		if f != s.id && !f.ReadOnly && !f.WriteOnly {
			kept.FieldByIndex(f.Index).Set(blank.FieldByIndex(f.Index))
		}
	}
}

// inOwnNames makes of an error of up, which speaks of fields of the shape at, one for clients of this shape.
func (s *projection) inOwnNames(at *projection, err error) error {
	d := fielderr.Problem(err, func(field string) string { return pointer.To(s.fieldAbove(at, field)) })
	if d == nil {
		return err
	}
	return errors.Join(d, err)
}

var errStoreFault = errors.New("the store is at fault")

// storeFault is what a store did against its contract: an internal error, whatever the store returned.
func storeFault(format string, args ...any) error {
	return fmt.Errorf("%w: it "+format, append([]any{errStoreFault}, args...)...)
}
