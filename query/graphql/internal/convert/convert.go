// Package convert makes graphql-go's type system of a model, for the packages that read schemas in that form: validate,
// coerce, and graphql-go's own executor, which tests use as an oracle.
//
// It is for query/graphql alone. What graphql-go lacks, the result of [Types] has beside it; see package types.
package convert

import (
	"fmt"
	"strings"

	"github.com/graphql-go/graphql"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/types"
	"github.com/stoa-go/stoa/resource"
)

// Options adjust [Types]. Nil is the same as the zero value.
type Options struct {
	// Catalog is what the resolvers ask. Without it the schema serves for validation and coercion alone: a field that
	// needs the catalog fails.
	Catalog *resource.Catalog
}

// Types makes the schema of a model that package introspect has extended. Its types of introspection stand in the place of
// graphql-go's. The order of fields, arguments and values is lost, since graphql-go keeps them in maps; a default of null is
// none there. Every field has a function Resolve that asks the catalog item by item.
//
// The schema is safe for concurrent use: what graphql-go would write into it at first use is written here. An error says
// which part of the model graphql-go does not accept.
func Types(s *model.Schema, opts *Options) (*types.Schema, error) {
	c := &converter{model: s, types: make(map[*model.Type]graphql.Type, len(s.Types))}
	if opts != nil && opts.Catalog != nil {
		c.catalog, c.fetch = opts.Catalog, fetch.New(opts.Catalog)
	}
	for _, t := range s.Types {
		named, err := c.declare(t)
		if err != nil {
			return nil, err
		}
		c.types[t] = named
	}
	out := &types.Schema{}
	var err error
	if out.Schema, err = graphql.NewSchema(c.config(out)); err != nil {
		return nil, fmt.Errorf("graphql: %w", err)
	}
	c.introspection(out)
	return out, c.warm()
}

// config is what graphql-go makes a schema of. What it has no place for goes to out.
func (c *converter) config(out *types.Schema) graphql.SchemaConfig {
	s := c.model
	config := graphql.SchemaConfig{Query: c.root(s.Query), Mutation: c.root(s.Mutation), Subscription: c.root(s.Subscription)}
	for _, t := range s.Types {
		if t.OneOf {
			out.OneOf = append(out.OneOf, t.Name)
		}
		if !strings.HasPrefix(t.Name, "__") { // graphql-go insists on its own
			config.Types = append(config.Types, c.types[t])
		}
	}
	for _, d := range s.Directives {
		if d.Repeatable {
			out.Repeatable = append(out.Repeatable, d.Name)
		}
		config.Directives = append(config.Directives, graphql.NewDirective(graphql.DirectiveConfig{Name: d.Name,
			Description: d.Doc, Locations: d.Locations, Args: c.args(d.Args)}))
	}
	return config
}

// converter has what is made so far. Types refer to each other, so fields are made when all types are there.
type converter struct {
	model   *model.Schema
	types   map[*model.Type]graphql.Type
	catalog *resource.Catalog // nil without
	fetch   *fetch.Fetcher    // nil without
}

// root returns a root that there may be.
func (c *converter) root(t *model.Type) *graphql.Object {
	if t == nil {
		return nil
	}
	return c.types[t].(*graphql.Object)
}

// declare makes a type whose fields are looked up later.
func (c *converter) declare(t *model.Type) (graphql.Type, error) {
	switch t.Kind {
	case model.Object:
		return graphql.NewObject(graphql.ObjectConfig{Name: t.Name, Description: t.Doc,
			Fields: graphql.FieldsThunk(func() graphql.Fields { return c.fields(t, t.Fields) })}), nil
	case model.InputObject:
		return graphql.NewInputObject(graphql.InputObjectConfig{Name: t.Name, Description: t.Doc,
			Fields: graphql.InputObjectConfigFieldMapThunk(func() graphql.InputObjectConfigFieldMap {
				return c.inputs(t.Inputs)
			})}), nil
	case model.Enum:
		values := make(graphql.EnumValueConfigMap, len(t.Values))
		for _, v := range t.Values {
			values[v.Name] = &graphql.EnumValueConfig{Value: v.Go, Description: v.Doc, DeprecationReason: v.Deprecated}
		}
		return graphql.NewEnum(graphql.EnumConfig{Name: t.Name, Description: t.Doc, Values: values}), nil
	}
	return scalar(t)
}

// ref makes lists and non-null types as they are needed: graphql-go compares named types alone.
func (c *converter) ref(r *model.Ref) graphql.Type {
	var t graphql.Type
	if r.Elem != nil {
		t = graphql.NewList(c.ref(r.Elem))
	} else {
		t = c.types[r.Type]
	}
	if r.NonNull {
		return graphql.NewNonNull(t)
	}
	return t
}

// defaultOf gives null for none: see [Types].
func defaultOf(in *model.Input) any {
	if !in.HasDefault {
		return nil
	}
	return in.Default
}

func (c *converter) args(list []*model.Input) graphql.FieldConfigArgument {
	args := make(graphql.FieldConfigArgument, len(list))
	for _, in := range list {
		args[in.Name] = &graphql.ArgumentConfig{Type: c.ref(in.Type), DefaultValue: defaultOf(in), Description: in.Doc}
	}
	return args
}

func (c *converter) inputs(list []*model.Input) graphql.InputObjectConfigFieldMap {
	fields := make(graphql.InputObjectConfigFieldMap, len(list))
	for _, in := range list {
		fields[in.Name] = &graphql.InputObjectFieldConfig{Type: c.ref(in.Type), DefaultValue: defaultOf(in), Description: in.Doc}
	}
	return fields
}

func (c *converter) fields(parent *model.Type, list []*model.Field) graphql.Fields {
	fields := make(graphql.Fields, len(list))
	for _, f := range list {
		fields[f.Name] = &graphql.Field{Type: c.ref(f.Type), Args: c.args(f.Args), Description: f.Doc,
			DeprecationReason: f.Deprecated, Resolve: c.resolver(parent, f)}
	}
	return fields
}

// introspection puts our types in the place of graphql-go's, which do not know of all that clients ask for. The map is the
// schema's own.
func (c *converter) introspection(out *types.Schema) {
	for _, t := range c.model.Types {
		if strings.HasPrefix(t.Name, "__") {
			out.TypeMap()[t.Name] = c.types[t]
		}
	}
	var list []*model.Field
	for _, f := range []*model.Field{c.model.TypeName, c.model.MetaSchema, c.model.MetaType} {
		if f != nil {
			list = append(list, f)
		}
	}
	if list == nil {
		return
	}
	// An object makes definitions of fields, and is not needed for anything else.
	defs := graphql.NewObject(graphql.ObjectConfig{Name: "Meta", Fields: c.fields(nil, list)}).Fields()
	out.TypeName, out.MetaSchema, out.MetaType = defs["__typename"], defs["__schema"], defs["__type"]
}

// warm makes graphql-go do now what it does at first use, by whoever comes first and without a lock: the fields of types
// that nothing leads to, and the tables in which enums look up their values. What is wrong with a type shows here too.
func (c *converter) warm() error {
	for _, t := range c.model.Types {
		named := c.types[t]
		switch named := named.(type) {
		case *graphql.Object:
			named.Fields()
			named.Interfaces()
		case *graphql.InputObject:
			named.Fields()
		case *graphql.Enum:
			named.Serialize("")
			named.ParseValue("")
		}
		if err := named.Error(); err != nil {
			return fmt.Errorf("graphql: type %s: %w", t.Name, err)
		}
	}
	return nil
}
