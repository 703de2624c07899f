package model

// Reflect and the state of a build. Package graphql calls Reflect once for each contract at
// start-up. The other files of the package add types to the builder.

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// Options configures [Reflect]. Nil means the zero value.
type Options struct {
	// Doc is the description of the schema, in CommonMark.
	Doc string
	// Names maps names of resources and of nested Go types to names of types, such as "orders" to
	// "Order". Default is the name of the Go type, for a resource that of the stored items.
	Names map[string]string
	// Fields are the custom fields. Their functions are responsible for authorization.
	Fields []*CustomField
	// GlobalIDs makes items implement the interface Node. Their field id, and arguments named id,
	// are global ids. A member named id is the field rawId.
	GlobalIDs bool
}

// Reflect returns the schema of a catalog. The error joins all problems, such as invalid and
// duplicate names, and suggests a fix for each.
//
// The schema is deterministic for a catalog and options. It does not contain the introspection
// types and directives, which package introspect adds.
func Reflect(c *resource.Catalog, opts *Options) (*Schema, error) {
	if opts == nil {
		opts = &Options{}
	}
	b := newBuilder(c, opts)
	// Names of items come first: they have precedence over names derived from Go types.
	b.nameItems()
	b.checkCustom()
	s := &Schema{Doc: opts.Doc, Query: b.queryType(), Mutation: b.mutationType(),
		Subscription: b.subscriptionType()}
	b.checkNames()
	if len(s.Query.Fields) == 0 && len(b.errs) == 0 {
		b.fail("the schema has no queries; add a resource to the catalog or a custom field of Query to " +
			"Options")
	}
	if len(b.errs) > 0 {
		return nil, errors.Join(b.errs...)
	}
	if b.node != nil {
		slices.SortFunc(b.node.Possible, func(a, b *Type) int { return strings.Compare(a.Name, b.Name) })
	}
	for _, name := range slices.Sorted(maps.Keys(b.types)) {
		b.types[name].describe()
		s.Types = append(s.Types, b.types[name])
	}
	return s, nil
}

// builder builds one schema. Maps hold types that are already defined. Everything ordered is built
// from slices, so that the schema is deterministic.
type builder struct {
	c        *resource.Catalog
	opts     *Options
	errs     []error
	reported map[string]bool // the texts of errs, to report each only once

	types  map[string]*Type // types in use, by name
	owners map[string]owner // owners of the names of types, including reserved names

	// names of item types; resources with an invalid name are absent
	names   map[*resource.Resource]string
	items   map[*resource.Resource]*Type        // item types
	itemOf  map[*schema.Type]*resource.Resource // the first resource with items of a Go type
	objects map[*schema.Type]*Type              // types of structs within others
	inputs  map[nested]*Type                    // input types of structs
	bases   map[*schema.Type]string             // name prefixes of structs within others
	used    map[string]bool                     // the Go types that have a name in Options.Names
	members map[*schema.Type][]member
	enums   map[string]*schema.Field // the first member with an enum
	filters map[*resource.Resource]*Type
	// types of the conditions on related items, by the resource of these
	listFilters map[*resource.Resource]*Type
	connections map[*resource.Resource]*Type // types of pages
	sorts       map[*resource.Resource]*Type // types of sort keys
	node        *Type                        // the interface Node; nil without global ids
}

// nested is a struct within an input or a patch. In a patch all members are optional.
type nested struct {
	typ   *schema.Type
	patch bool
}

// newBuilder returns a builder for c in which the reserved names are taken.
func newBuilder(c *resource.Catalog, opts *Options) *builder {
	b := &builder{
		c: c, opts: opts, reported: map[string]bool{}, types: map[string]*Type{}, owners: map[string]owner{},
		names: map[*resource.Resource]string{}, items: map[*resource.Resource]*Type{},
		itemOf: map[*schema.Type]*resource.Resource{}, objects: map[*schema.Type]*Type{},
		inputs: map[nested]*Type{},
		bases:  map[*schema.Type]string{}, used: map[string]bool{}, members: map[*schema.Type][]member{},
		enums:   map[string]*schema.Field{},
		filters: map[*resource.Resource]*Type{}, listFilters: map[*resource.Resource]*Type{},
		connections: map[*resource.Resource]*Type{}, sorts: map[*resource.Resource]*Type{},
	}
	// Reserved names have no fix, because the resource has to give way.
	for _, name := range reserved() {
		b.owners[name] = owner{what: "a type that every schema may have"}
	}
	if opts.GlobalIDs { // otherwise the application may have a type of this name
		b.owners[nodeName] = owner{what: "the interface of items with a global id"}
	}
	for _, r := range c.Resources() {
		// Several resources may have items of one Go type. The first one names its nested values.
		if b.itemOf[r.Type()] == nil {
			b.itemOf[r.Type()] = r
		}
	}
	return b
}

// fail records an error, unless it has been recorded. A type may be reflected for several uses,
// each of which finds the same problem.
func (b *builder) fail(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	if !b.reported[text] {
		b.reported[text] = true
		b.errs = append(b.errs, errors.New(text))
	}
}

// nameItems assigns the names of item types, from which other names are derived. A resource with an
// invalid or duplicate name is reported once and left out of the schema.
func (b *builder) nameItems() {
	by := map[string]*resource.Resource{}
	for _, r := range b.c.Resources() {
		name := b.itemName(r)
		switch other := by[name]; {
		case !isName(name):
			b.fail("resource %s: its items cannot have the type %q: %s; give the resource another name "+
				"in Options.Names",
				r.Name(), name, badName)
		case other != nil:
			b.fail("resources %s and %s: the items of both have the type %s; give one of them another "+
				"name in Options.Names",
				other.Name(), r.Name(), name)
		case b.owners[name].what != "":
			b.fail("resource %s: its items cannot have the type %s, which is %s; give the resource "+
				"another name in Options.Names",
				r.Name(), name, b.owners[name].what)
		default:
			by[name], b.names[r] = r, name
		}
	}
}

// checkNames reports names in the options that have no effect, such as misspelled ones. It is called after
// all types are defined.
func (b *builder) checkNames() {
	for _, name := range slices.Sorted(maps.Keys(b.opts.Names)) {
		if b.resource(name) == nil && !b.used[name] {
			b.fail("Options.Names has a name for %q, which is neither a resource of the catalog nor a "+
				"nested Go type of the schema", name)
		}
	}
}

// itemName returns the name for the item type of a resource: that of the stored Go type, also for a
// view such as LineItemV1, so that all contracts use the same name. A view with a type that
// differs by case only keeps its own name.
func (b *builder) itemName(r *resource.Resource) string {
	if name := b.opts.Names[r.Name()]; name != "" {
		return name
	}
	if name := r.Type().Name; lower(name) == lower(r.Describe().Stored.Name) {
		return pascal(name)
	}
	return pascal(r.Describe().Stored.Name)
}

// checkCustom reports custom fields that are not valid for the catalog.
func (b *builder) checkCustom() {
	for i, f := range b.opts.Fields {
		if f == nil {
			b.fail("Options.Fields[%d] is the zero value", i)
			continue
		}
		if f.In != nil && f.In.Kind != schema.Object {
			b.fail("custom field %s: its arguments must be a struct, not %v", f.Name, f.In.GoType)
		}
		if f.On == onQuery || f.On == onMutation {
			continue
		}
		r := b.resource(f.On)
		switch {
		case r == nil:
			b.fail("custom field %s: %q is not a resource of the catalog", f.Name, f.On)
		case f.Parent != r.Type().GoType:
			b.fail("custom field %s: its function takes items of the Go type %v, but those of the "+
				"resource %s are of %v",
				f.Name, f.Parent, f.On, r.Type().GoType)
		case f.Out == nil:
			b.fail("custom field %s of the resource %s: its function returns nothing", f.Name, f.On)
		}
	}
}

// resource returns the resource of this name, or nil.
func (b *builder) resource(name string) *resource.Resource {
	for _, r := range b.c.Resources() {
		if r.Name() == name {
			return r
		}
	}
	return nil
}

// define defines a type. If its name is invalid or taken, define reports it and returns a type that
// is not part of the schema, so that further errors are found. The caller can fill in the returned
// type in either case.
func (b *builder) define(kind Kind, name string, o owner) *Type {
	t := &Type{Kind: kind, Name: name}
	other, taken := b.owners[name]
	switch {
	case !isName(name):
		b.fail("%s cannot have the type name %q: %s; %s", o.what, name, badName, o.fix)
	case taken:
		b.fail("%s and %s would both be the type %s; %s", other.what, o.what, name,
			joinFixes(other.fix, o.fix))
	default:
		b.types[name], b.owners[name] = t, o
	}
	return t
}

// shared returns a type that several others use, and defines it on first use. fill runs after the
// type is entered in b.types, so it may refer to the type itself. The name must be reserved,
// because owners is not checked.
func (b *builder) shared(kind Kind, name string, fill func(t *Type)) *Type {
	if t := b.types[name]; t != nil {
		return t
	}
	t := &Type{Kind: kind, Name: name}
	b.types[name] = t
	fill(t)
	return t
}
