package memory

import (
	"fmt"
	"net/netip"
	"reflect"
	"sync"
	"time"
)

// A detacher makes the value in v, which can be set, share nothing that anybody could change with the value it was
// copied from. Nil means that a plain copy is enough.
type detacher func(v reflect.Value)

// immutables look as if copies shared something, but nobody can change what they share.
var immutables = map[reflect.Type]bool{
	reflect.TypeFor[time.Time]():      true,
	reflect.TypeFor[netip.Addr]():     true,
	reflect.TypeFor[netip.AddrPort](): true,
	reflect.TypeFor[netip.Prefix]():   true,
}

// cloner returns a function that copies a T deeply, and nil if assigning is enough. It panics on a T that has
// something which reflection cannot reach.
func cloner[T any]() func(T) T {
	t := reflect.TypeFor[T]()
	detach, err := newCloning().compile(t)
	if err != nil {
		panic(fmt.Sprintf("memory: %v cannot be copied: %v; give Options.Clone", t, err))
	}
	if detach == nil {
		return nil
	}
	return func(v T) T {
		detach(reflect.ValueOf(&v).Elem())
		return v
	}
}

// cloning compiles types. What is being compiled is known by its pointer, which makes recursive types end.
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
	return nil, nil // scalars and strings; channels and functions are there to be shared
}

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
		// The exported fields of an embedded struct can be set even if its own name is not exported.
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

// compileReference compiles a type whose copies share something. Only these can be recursive: while the inner type is
// being compiled, the outer one is known by a pointer to what it will be.
func (c *cloning) compileReference(t reflect.Type) (detacher, error) {
	if known := c.known[t]; known != nil {
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

// detachPointer gives v a pointer to a copy.
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
		v.Set(p.Convert(v.Type())) // v may be of a named type
	}
}

// detachSlice gives v a copy of the slice, in which nil stays nil and empty stays empty.
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

// detachMap shares the keys: what can be a key and also changed is a pointer, and its identity is the key.
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

// detached copies a value that cannot be set.
func detached(v reflect.Value, detach detacher) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	detach(c)
	return c
}

// dynamic remembers detachers of the types that were found in interfaces.
var dynamic sync.Map // of reflect.Type to detacher

// detachDynamic copies what an interface holds, such as the map[string]any of free-form JSON. Of a type that cannot
// be copied it keeps the original, as there is nobody left to complain to.
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
