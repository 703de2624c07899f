package resource

// The check that no method almost is a capability. Called by ops.go.

import (
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/resource/feed"
)

// checkSignatures panics if c, or the pointer to it, has a method that is named like one of a
// capability and yet does not serve: the capability would be absent without a word, and the first
// to notice would be a client.
func checkSignatures[T any](c Collection[T]) {
	capabilities := map[string]reflect.Type{
		"Create":       reflect.TypeFor[Creator[T]](),
		"Insert":       reflect.TypeFor[Inserter[T]](),
		"Replace":      reflect.TypeFor[Replacer[T]](),
		"Delete":       reflect.TypeFor[Deleter](),
		"Deleted":      reflect.TypeFor[Tombstoner](),
		"Count":        reflect.TypeFor[Counter](),
		"GetMany":      reflect.TypeFor[MultiGetter[T]](),
		"ListByKeys":   reflect.TypeFor[BatchLister[T]](),
		"InMemory":     reflect.TypeFor[inMemory](),
		"InsertMany":   reflect.TypeFor[multiInserter[T]](),
		"Transactions": reflect.TypeFor[Transactor](),
		"GetForUpdate": reflect.TypeFor[Locker[T]](),
		"Watch":        reflect.TypeFor[feed.Watcher[T]](),
	}
	if c == nil {
		panic("resource: collection is nil; pass a Collection")
	}
	got := reflect.TypeOf(c)
	for name, want := range capabilities {
		if got.Implements(want) {
			continue
		}
		if m, ok := got.MethodByName(name); ok {
			panic(fmt.Sprintf("resource: method %s of %v has the wrong signature: "+
				"it is %v, but must be\n\tfunc%s", name, got, methodSignature(m.Type),
				want.Method(0).Type.String()[len("func"):]))
		}
		if got.Kind() != reflect.Pointer && reflect.PointerTo(got).Implements(want) {
			panic(fmt.Sprintf("resource: %v has method %s only on its pointer; pass a *%v", got, name, got))
		}
	}
}

// methodSignature prints a method's type as a reader would write it.
func methodSignature(t reflect.Type) string {
	var in, out []reflect.Type
	for i := 1; i < t.NumIn(); i++ {
		in = append(in, t.In(i))
	}
	for i := range t.NumOut() {
		out = append(out, t.Out(i))
	}
	return reflect.FuncOf(in, out, t.IsVariadic()).String()
}
