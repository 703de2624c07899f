// Package oracle compares query/graphql/internal/exec with other executors, for tests only.
// [Schema] converts a model to a schema of graphql-go, [World] is a catalog with all kinds of data,
// and [Generate] makes documents for any schema. graphql-go executes the documents here; the
// reference implementation executes them in .ci/clients.
//
// The schema that graphql-go executes has types, descriptions and defaults of the model, but its
// own built-in scalars and introspection. Its known defects are listed in faults_test.go, and
// documents avoid only the features that they affect.
package oracle

import (
	"fmt"
	"strings"
	"sync"

	"github.com/graphql-go/graphql"

	"github.com/stoa-go/stoa/query/graphql/internal/fetch"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// Schema converts a model to a schema of graphql-go. Introspection types are graphql-go's own. The
// order of fields, arguments and values is lost, because graphql-go keeps them in maps. A default
// of null becomes no default. The Resolve function of each field calls the catalog for one item at
// a time. If catalog is nil, fields that need it fail.
//
// The schema is safe for concurrent use: Schema fills the caches that graphql-go otherwise fills on
// first use. The error names the part of the model that graphql-go does not accept.
func Schema(s *model.Schema, catalog *resource.Catalog) (graphql.Schema, error) {
	c := &converter{model: s, types: make(map[*model.Type]graphql.Type, len(s.Types))}
	if catalog != nil {
		c.catalog, c.fetch = catalog, fetch.New(catalog)
	}
	for _, t := range s.Types {
		if isIntrospection(t) {
			continue
		}
		named, err := c.declare(t)
		if err != nil {
			return graphql.Schema{}, err
		}
		c.types[t] = named
	}
	out, err := graphql.NewSchema(c.config())
	if err != nil {
		return out, fmt.Errorf("graphql: %w", err)
	}
	return out, c.warm()
}

// isIntrospection reports whether graphql-go supplies the type itself. Those are the types with two
// leading underscores.
func isIntrospection(t *model.Type) bool { return strings.HasPrefix(t.Name, "__") }

// config returns the configuration of the schema. c.types must have all types. Types lists all
// types explicitly, so a type that no field refers to is part of the schema.
func (c *converter) config() graphql.SchemaConfig {
	s := c.model
	config := graphql.SchemaConfig{Query: c.root(s.Query), Mutation: c.root(s.Mutation),
		Subscription: c.root(s.Subscription)}
	for _, t := range s.Types {
		if !isIntrospection(t) {
			config.Types = append(config.Types, c.types[t])
		}
	}
	for _, d := range s.Directives {
		config.Directives = append(config.Directives,
			graphql.NewDirective(graphql.DirectiveConfig{Name: d.Name,
				Description: d.Doc, Locations: d.Locations, Args: c.args(d.Args)}))
	}
	return config
}

// converter holds the types converted so far. Types refer to each other, so fields are converted
// after all types have been declared. It is used while Schema runs and by the Resolve functions
// after it, which only read it.
type converter struct {
	model   *model.Schema
	types   map[*model.Type]graphql.Type
	catalog *resource.Catalog // nil without
	fetch   *fetch.Fetcher    // nil without
}

// root returns the object of a root type, or nil.
func (c *converter) root(t *model.Type) *graphql.Object {
	if t == nil {
		return nil
	}
	return c.types[t].(*graphql.Object)
}

// declare converts a type. Its fields are converted later, in a thunk. A thunk runs when all types
// are in c.types, so types can be recursive. The values of an enum are the Go values of the model.
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
			values[v.Name] = &graphql.EnumValueConfig{Value: v.Go, Description: v.Doc,
				DeprecationReason: v.Deprecated}
		}
		return graphql.NewEnum(graphql.EnumConfig{Name: t.Name, Description: t.Doc, Values: values}), nil
	}
	// The models of the tests have no interfaces and unions, because Reflect makes none.
	return scalar(t)
}

// ref converts a type reference. It returns a new value for lists and non-null types, because
// graphql-go compares only named types. Named types are the instances in c.types.
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

// defaultOf returns the default, or nil if there is none; see [Schema]. graphql-go takes nil for no
// default.
func defaultOf(in *model.Input) any {
	if !in.HasDefault {
		return nil
	}
	return in.Default
}

// args converts the arguments of a field or directive.
func (c *converter) args(list []*model.Input) graphql.FieldConfigArgument {
	args := make(graphql.FieldConfigArgument, len(list))
	for _, in := range list {
		args[in.Name] = &graphql.ArgumentConfig{Type: c.ref(in.Type), DefaultValue: defaultOf(in),
			Description: in.Doc}
	}
	return args
}

// inputs converts the fields of an input object. graphql-go has a type of its own for them. Its
// content is that of args.
func (c *converter) inputs(list []*model.Input) graphql.InputObjectConfigFieldMap {
	fields := make(graphql.InputObjectConfigFieldMap, len(list))
	for _, in := range list {
		fields[in.Name] = &graphql.InputObjectFieldConfig{Type: c.ref(in.Type), DefaultValue: defaultOf(in),
			Description: in.Doc}
	}
	return fields
}

// fields converts the fields of an object and gives each its Resolve function. parent is the type
// of the object, by which the function finds its resource.
func (c *converter) fields(parent *model.Type, list []*model.Field) graphql.Fields {
	fields := make(graphql.Fields, len(list))
	for _, f := range list {
		fields[f.Name] = &graphql.Field{Type: c.ref(f.Type), Args: c.args(f.Args), Description: f.Doc,
			DeprecationReason: f.Deprecated, Resolve: c.resolver(parent, f)}
	}
	return fields
}

// warmIntrospection fills the lookup tables of graphql-go's own enums, which all schemas share.
var warmIntrospection = sync.OnceFunc(func() {
	warmEnum(graphql.TypeKindEnumType)
	warmEnum(graphql.DirectiveLocationEnumType)
})

// warmEnum fills the lookup tables of an enum, which graphql-go otherwise fills on first use
// without a lock.
func warmEnum(e *graphql.Enum) {
	e.Serialize("")
	e.ParseValue("")
}

// warm resolves the fields of all types and fills the lookup tables of enums, because graphql-go
// otherwise does so on first use without a lock. Afterwards concurrent requests only read them. It
// returns the error of the first type that graphql-go does not accept.
func (c *converter) warm() error {
	warmIntrospection()
	for _, t := range c.model.Types {
		// Introspection types are not in the map.
		named := c.types[t]
		if named == nil {
			continue
		}
		switch named := named.(type) {
		case *graphql.Object:
			named.Fields()
			named.Interfaces()
		case *graphql.InputObject:
			named.Fields()
		case *graphql.Enum:
			warmEnum(named)
		}
		if err := named.Error(); err != nil {
			return fmt.Errorf("graphql: type %s: %w", t.Name, err)
		}
	}
	return nil
}
