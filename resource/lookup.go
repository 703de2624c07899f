package resource

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/resource/schema"
)

// Lookup is a named way to one item, for those who do not know its id: the hero of an episode, the newest order. It is
// a [Part] of a [Catalog]: in REST a GET whose parameters are the fields of its input.
type Lookup struct {
	name   string
	target string
	in     *schema.Type
	find   func(ctx context.Context, in any) (string, error)
}

// NewLookup returns a lookup that is served at /name and leads to items of the resource target. find returns the id; an
// empty one, and [ErrNotFound], mean that there is none. What the caller may not see is not found. It panics if In is no
// struct of single values.
//
//	resource.NewLookup("hero", "characters", func(ctx context.Context, in Episode) (string, error) { ... })
func NewLookup[In any](name, target string, find func(ctx context.Context, in In) (id string, err error)) *Lookup {
	if !validName.MatchString(name) {
		panic(fmt.Sprintf("resource: %q cannot be the name of a lookup: letters, digits and -_.~ can", name))
	}
	typ := schema.For[In]()
	for _, f := range typ.Fields {
		if !f.Comparable() {
			panic(fmt.Sprintf("resource: lookup %s: the field %q is no single value", name, f.Name))
		}
	}
	return &Lookup{name: name, target: target, in: typ, find: func(ctx context.Context, in any) (string, error) {
		return find(ctx, *in.(*In))
	}}
}

// Name returns the name it was given.
func (l *Lookup) Name() string { return l.name }

// Target returns the name of the resource it leads to.
func (l *Lookup) Target() string { return l.target }

// Input returns the schema of what it is asked with.
func (l *Lookup) Input() *schema.Type { return l.in }

// Find returns the item of target that in, a pointer to a value of the type of Input, leads to.
func (l *Lookup) Find(ctx context.Context, in any, target *Resource) (Entry, error) {
	id, err := l.find(ctx, in)
	if err == nil && id == "" {
		err = ErrNotFound
	}
	if err != nil {
		return Entry{}, target.wrap(OpGet, "", err)
	}
	return target.Get(ctx, id)
}
