package resource

// The check that no method almost is a capability. Called by ops.go.

import (
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
)

// checkSignatures panics if c is nil, and if c, or the pointer to it, has a method that is named like
// one of a capability and has another signature: the capability would be absent without a warning.
func checkSignatures[T any](c Collection[T]) {
	if c == nil {
		panic("resource: collection is nil; pass a Collection")
	}
	got := reflect.TypeOf(c)
	if mistakes.Nil(c) {
		panic(fmt.Sprintf("resource: collection is a nil %v; pass an initialized one", got))
	}
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Pointer {
		panic(fmt.Sprintf("resource: %v is a collection of the pointer type %v; use %v in its methods",
			got, t, t.Elem()))
	}
	capabilities := []reflect.Type{
		reflect.TypeFor[Creator[T]](), reflect.TypeFor[Inserter[T]](), reflect.TypeFor[Replacer[T]](),
		reflect.TypeFor[Deleter](), reflect.TypeFor[Tombstoner](), reflect.TypeFor[Counter](),
		reflect.TypeFor[Aggregator](), reflect.TypeFor[BatchCounter](),
		reflect.TypeFor[MultiGetter[T]](), reflect.TypeFor[BatchLister[T]](), reflect.TypeFor[inMemory](),
		reflect.TypeFor[Searcher[T]](),
		reflect.TypeFor[multiInserter[T]](), reflect.TypeFor[Transactor](), reflect.TypeFor[Locker[T]](),
		reflect.TypeFor[Restorer[T]](), reflect.TypeFor[restores](), reflect.TypeFor[JSONLister](),
		reflect.TypeFor[Revisioner](), reflect.TypeFor[RevisionLister](), reflect.TypeFor[Joiner](),
		reflect.TypeFor[supportChecker](),
		reflect.TypeFor[feed.Watcher[T]](),
	}
	var found []string
	for _, want := range capabilities {
		if got.Implements(want) {
			continue
		}
		method := want.Method(0)
		if m, ok := got.MethodByName(method.Name); ok {
			found = append(found, fmt.Sprintf("method %s of %v has the wrong signature: "+
				"it is %v, but must be\n\tfunc%s", method.Name, got, methodSignature(m.Type),
				method.Type.String()[len("func"):]))
		} else if got.Kind() != reflect.Pointer && reflect.PointerTo(got).Implements(want) {
			found = append(found, fmt.Sprintf("%v has method %s only on its pointer; pass a *%v",
				got, method.Name, got))
		}
	}
	mistakes.Panic("resource", found)
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
