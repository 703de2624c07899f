package memory

// Deep copies by reflection, for Options.Clone. New compiles a function for T once; it visits only
// the parts of a value that contain references.

import (
	"fmt"
	"net/netip"
	"reflect"
	"sync"
	"time"
)

// A detacher replaces everything mutable that the settable value v shares with the value it was
// copied from. Nil means that a plain copy is enough.
type detacher func(v reflect.Value)

// immutables are types with pointers to immutable data.
var immutables = map[reflect.Type]bool{
	reflect.TypeFor[time.Time]():      true,
	reflect.TypeFor[netip.Addr]():     true,
	reflect.TypeFor[netip.AddrPort](): true,
	reflect.TypeFor[netip.Prefix]():   true,
}

// cloner returns a function that copies a T deeply, or nil if assignment is enough. It panics if T
// has fields that reflection cannot set.
func cloner[T any]() func(T) T {
	t := reflect.TypeFor[T]()
	detach, err := newCloning().compile(t)
	if err != nil {
		panic(fmt.Sprintf("memory: %v cannot be copied: %v; set Options.Clone", t, err))
	}
	if detach == nil {
		return nil
	}
	return func(v T) T {
		detach(reflect.ValueOf(&v).Elem())
		return v
	}
}

// cloning compiles detachers. Types in progress are known by a pointer, so that recursive types
// terminate.
type cloning struct {
	known map[reflect.Type]*detacher
}

func newCloning() *cloning { return &cloning{known: map[reflect.Type]*detacher{}} }

// compile returns the detacher of t.
func (c *cloning) compile(t reflect.Type) (detacher, error) {
	if immutables[t] {
		return nil, nil
	}
	switch t.Kind() {
	case reflect.Struct:
		return c.compileStruct(t)
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return c.compileReference(t)
	case reflect.Array:
		elem, err := c.compile(t.Elem())
		if elem == nil || err != nil {
			return nil, err
		}
		return detachElems(elem), nil
	case reflect.Interface:
		return detachDynamic, nil
	}
	return nil, nil // scalars and strings; channels and functions are shared
}

// compileStruct compiles the fields that need a copy. Reflection cannot set fields that are not
// exported, so one with references is an error.
func (c *cloning) compileStruct(t reflect.Type) (detacher, error) {
	type member struct {
		index  int
		detach detacher
	}
	var members []member
	for i := range t.NumField() {
		f := t.Field(i)
		detach, err := c.compile(f.Type)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s.%w", f.Name, err)
		case detach == nil:
		// exported fields of an unexported embedded struct can be set
		case !f.IsExported() && !(f.Anonymous && f.Type.Kind() == reflect.Struct):
			return nil, fmt.Errorf("%s is a %v and not exported", f.Name, f.Type)
		default:
			members = append(members, member{i, detach})
		}
	}
	if members == nil {
		return nil, nil
	}
	return func(v reflect.Value) {
		for _, m := range members {
			m.detach(v.Field(m.index))
		}
	}, nil
}

// compileReference compiles a pointer, slice or map type. Only these can be recursive, so the
// detacher is registered before the element type is compiled.
func (c *cloning) compileReference(t reflect.Type) (detacher, error) {
	if known := c.known[t]; known != nil {
		// known is set after the element type, so it is read at each call.
		return func(v reflect.Value) { (*known)(v) }, nil
	}
	detach := new(detacher)
	c.known[t] = detach
	elem, err := c.compile(t.Elem())
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case reflect.Pointer:
		*detach = detachPointer(elem)
	case reflect.Slice:
		*detach = detachSlice(elem)
	default:
		*detach = detachMap(elem)
	}
	return *detach, nil
}

// detachElems detaches the elements of a slice or an array.
func detachElems(elem detacher) detacher {
	return func(v reflect.Value) {
		for i := range v.Len() {
			elem(v.Index(i))
		}
	}
}

// detachPointer replaces the pointer by one to a copy. A value that contains itself does not
// terminate; JSON cannot express one either.
func detachPointer(elem detacher) detacher {
	return func(v reflect.Value) {
		if v.IsNil() {
			return
		}
		p := reflect.New(v.Type().Elem())
		p.Elem().Set(v.Elem())
		if elem != nil {
			elem(p.Elem())
		}
		v.Set(p.Convert(v.Type())) // v may have a named type
	}
}

// detachSlice copies a slice; nil stays nil, and empty stays empty.
func detachSlice(elem detacher) detacher {
	return func(v reflect.Value) {
		if v.IsNil() {
			return
		}
		s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(s, v)
		if elem != nil {
			detachElems(elem)(s)
		}
		v.Set(s)
	}
}

// detachMap copies a map. Keys are shared: a pointer as key is compared by identity.
func detachMap(elem detacher) detacher {
	return func(v reflect.Value) {
		if v.IsNil() {
			return
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			if elem != nil {
				value = detached(value, elem)
			}
			m.SetMapIndex(key, value)
		}
		v.Set(m)
	}
}

// detached returns a copy of a value that is not settable.
func detached(v reflect.Value, detach detacher) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	detach(c)
	return c
}

var dynamic sync.Map // cache for dynamic types: reflect.Type to detacher

// detachDynamic copies the content of an interface, such as a map[string]any with JSON. It shares
// values of types that cannot be copied.
func detachDynamic(v reflect.Value) {
	if v.IsNil() {
		return
	}
	held := v.Elem()
	known, ok := dynamic.Load(held.Type())
	if !ok {
		detach, _ := newCloning().compile(held.Type())
		known, _ = dynamic.LoadOrStore(held.Type(), detach)
	}
	if detach := known.(detacher); detach != nil {
		v.Set(detached(held, detach))
	}
}
