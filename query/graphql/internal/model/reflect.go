package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// Options adjust Reflect. nil is the zero value.
type Options struct {
	// Doc describes the schema, in CommonMark.
	Doc string
	// Names are names of types, by the names of resources: "orders" -> "Order". A resource that is not among them has
	// the name of its Go type, or of its media types where that is another.
	Names map[string]string
	// Fields are custom fields. Their functions do their own authorization.
	Fields []*CustomField
}

// Reflect makes the schema of a catalog. opts may be nil. Its error joins everything that cannot be, such as names that
// collide or that GraphQL does not accept, and says who is to be renamed.
//
// The schema is the same each time for the same catalog and options. It has neither the types of introspection nor
// directives, which package introspect adds.
func Reflect(c *resource.Catalog, opts *Options) (*Schema, error) {
	if opts == nil {
		opts = &Options{}
	}
	b := newBuilder(c, opts)
	b.nameItems()
	b.checkCustom()
	s := &Schema{Doc: opts.Doc, Query: b.queryType(), Mutation: b.mutationType(),
		Subscription: b.subscriptionType()}
	if len(s.Query.Fields) == 0 && len(b.errs) == 0 {
		b.fail("there is nothing to query: the catalog has no resource, and Options no custom field of Query")
	}
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	for _, name := range slices.Sorted(maps.Keys(b.types)) {
		s.Types = append(s.Types, b.types[name])
	}
	return s, nil
}

// builder makes one schema. What it meets again it finds in its maps; all that has an order comes from slices, so that
// the schema is the same each time.
type builder struct {
	c    *resource.Catalog
	opts *Options
	errs []error
	told map[string]bool // the texts of errs: what is met twice is told once

	types  map[string]*Type // that are used
	owners map[string]owner // of the names of types, those that nobody may take included

	names   map[*resource.Resource]string       // of the types of items; without those that cannot have one
	items   map[*resource.Resource]*Type        // the types of items
	shown   map[*schema.Type]*resource.Resource // the first resource that shows a Go type as its items
	objects map[*schema.Type]*Type              // structs elsewhere
	inputs  map[nested]*Type                    // structs in inputs
	bases   map[*schema.Type]string             // what structs without a name are called
	members map[*schema.Type][]member
	enums   map[string]*schema.Field // which member an enum was made for first
	filters map[*resource.Resource]*Type
}

// nested is a struct inside of an input, or inside of a patch, where all of its members are optional.
type nested struct {
	typ   *schema.Type
	patch bool
}

func newBuilder(c *resource.Catalog, opts *Options) *builder {
	b := &builder{
		c: c, opts: opts, told: map[string]bool{}, types: map[string]*Type{}, owners: map[string]owner{},
		names: map[*resource.Resource]string{}, items: map[*resource.Resource]*Type{},
		shown: map[*schema.Type]*resource.Resource{}, objects: map[*schema.Type]*Type{},
		inputs: map[nested]*Type{},
		bases:  map[*schema.Type]string{}, members: map[*schema.Type][]member{},
		enums:   map[string]*schema.Field{},
		filters: map[*resource.Resource]*Type{},
	}
	for _, name := range reserved() {
		b.owners[name] = owner{what: "a type that every schema may have"}
	}
	for _, r := range c.Resources() {
		if b.shown[r.Type()] == nil {
			b.shown[r.Type()] = r
		}
	}
	return b
}

// fail notes an error, once.
func (b *builder) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !b.told[text] {
		b.told[text] = true
		b.errs = append(b.errs, errors.New(text))
	}
}

// nameItems gives the types of items their names, which all others are derived from. A resource that can have none, or
// not its own, is left out of what follows: one error says enough.
func (b *builder) nameItems() {
	by := map[string]*resource.Resource{}
	for _, r := range b.c.Resources() {
		name := b.itemName(r)
		switch other := by[name]; {
		case !isName(name):
			b.fail("resource %s: its items cannot be of the type %q: %s; give the resource another name "+
				"in Options.Names",
				r.Name(), name, badName)
		case other != nil:
			b.fail("resources %s and %s: the items of both are of the type %s; give one of them another "+
				"name in Options.Names",
				other.Name(), r.Name(), name)
		case b.owners[name].what != "":
			b.fail("resource %s: its items cannot be of the type %s, which is %s; give the resource "+
				"another name in Options.Names",
				r.Name(), name, b.owners[name].what)
		default:
			by[name], b.names[r] = r, name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.opts.Names)) {
		if !slices.ContainsFunc(b.c.Resources(),
			func(r *resource.Resource) bool { return r.Name() == name }) {
			b.fail("Options.Names has a name for %q, which is no resource of the catalog", name)
		}
	}
}

// itemName returns the name of the items of a resource: that of the stored Go type, also for a view such as LineItemV1, so
// that all contracts have the same name. A view whose type differs by case alone keeps its own.
func (b *builder) itemName(r *resource.Resource) string {
	if name := b.opts.Names[r.Name()]; name != "" {
		return name
	}
	if name := r.Type().Name; lower(name) == lower(r.Stored().Name) {
		return pascal(name)
	}
	return pascal(r.Stored().Name)
}

// checkCustom complains about custom fields that are of nothing.
func (b *builder) checkCustom() {
	for i, f := range b.opts.Fields {
		if f == nil {
			b.fail("Options.Fields[%d] is the zero Field", i)
			continue
		}
		if f.In != nil && f.In.Kind != schema.Object {
			b.fail("custom field %s: its arguments are no struct, but %v", f.Name, f.In.GoType)
		}
		if f.On == onQuery || f.On == onMutation {
			continue
		}
		r := b.resource(f.On)
		switch {
		case r == nil:
			b.fail("custom field %s: %q is no resource of the catalog", f.Name, f.On)
		case f.Parent != r.Type().GoType:
			b.fail("custom field %s: its function takes items of the Go type %v, but those of the "+
				"resource %s are of %v",
				f.Name, f.Parent, f.On, r.Type().GoType)
		case f.Out == nil:
			b.fail("custom field %s of the resource %s: its function returns nothing", f.Name, f.On)
		}
	}
}

// resource returns the resource of a name, or nil.
func (b *builder) resource(name string) *resource.Resource {
	for _, r := range b.c.Resources() {
		if r.Name() == name {
			return r
		}
	}
	return nil
}

// define makes a type. Where another has the name it complains, and returns a type that nobody will see, so that other
// errors are found too.
func (b *builder) define(kind Kind, name string, o owner) *Type {
	t := &Type{Kind: kind, Name: name}
	other, taken := b.owners[name]
	switch {
	case !isName(name):
		b.fail("%s cannot be of the type %q: %s; %s", o.what, name, badName, o.way)
	case taken:
		b.fail("%s and %s would both be the type %s; %s", other.what, o.what, name, either(other.way, o.way))
	default:
		b.types[name], b.owners[name] = t, o
	}
	return t
}

// shared returns one of the types that every schema may have, made when it is first asked for.
func (b *builder) shared(kind Kind, name string, fill func(t *Type)) *Type {
	if t := b.types[name]; t != nil {
		return t
	}
	t := &Type{Kind: kind, Name: name}
	b.types[name] = t
	fill(t)
	return t
}
