package resource

// Lookups: named queries for one item. Called by protocols.

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/schema"
)

// Lookup finds one item by something other than its id, such as the hero of an episode or the newest
// order. It is a [Part] of a [Catalog]. In REST it is a GET with the fields of its input as
// query parameters.
type Lookup struct {
	name   string
	target string
	in     *schema.Type
	find   func(ctx context.Context, in any) (string, error)

	binding Binding // of a catalog; zero for a definition
}

// NewLookup returns a lookup that is served at /name and returns items of the resource target. find
// returns the id of the item; an empty id and [ErrNotFound] mean that there is no item. An item
// that the caller may not see is not found. NewLookup panics if name is not a path segment, if find is
// nil, or if In is not a struct of scalar fields.
//
//	resource.NewLookup("hero", "characters", func(ctx context.Context, in Episode) (string, error) { ... })
func NewLookup[In any](
	name, target string, find func(ctx context.Context, in In) (id string, err error),
) *Lookup {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("resource: invalid lookup name %q; use letters, digits and -_.~", name))
	}
	typ, found := mistakes.TypeOf[In]()
	mistakes.Panic("resource: lookup "+name, found)
	if find == nil {
		found = append(found, "find is nil; pass a function that returns the id of an item")
	}
	if typ.Kind != schema.Object {
		found = append(found, fmt.Sprintf("the input %v is not a struct", typ.GoType))
	}
	for _, f := range typ.Fields {
		if !f.Comparable() {
			found = append(found, fmt.Sprintf("field %q is not a string, a number or a boolean",
				f.Name))
		}
	}
	mistakes.Panic("resource: lookup "+name, found)
	untyped := func(ctx context.Context, in any) (string, error) { return find(ctx, *in.(*In)) }
	return &Lookup{name: name, target: target, in: typ, find: untyped}
}

// Name returns the name of the lookup.
func (l *Lookup) Name() string { return l.name }

// Target returns the name of the resource of the items that it returns.
func (l *Lookup) Target() string { return l.target }

// Input returns the schema of its input.
func (l *Lookup) Input() *schema.Type { return l.in }

// Find returns an item of target, which is the [Catalog.Target] of the lookup. in is a pointer to a
// valid value of the Go type of Input. The error is that of [Resource.Get] or of the function of
// NewLookup, as an [*Error].
func (l *Lookup) Find(ctx context.Context, in any, target *Resource) (Entry, error) {
	id, err := l.find(l.binding.Context(ctx), in)
	if err == nil && id == "" {
		err = ErrNotFound
	}
	if err != nil {
		return Entry{}, target.wrap(OpGet, "", err)
	}
	return target.Get(ctx, id)
}
