package graphql

// Custom fields of applications. Their types are reflected like those of resources.

import (
	"context"
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// Field is a custom field of the schema. [Query], [Mutation] and [Computed] create Fields, and
// Options.Fields adds them to a Handler. [New] panics if a Field is the zero value.
//
// # Authorization
//
// The library does not authorize custom fields: it calls neither Authorize nor Scope for the
// function or its result. The function is responsible. It can return [resource.ErrUnauthenticated],
// [resource.ErrForbidden] or [resource.ErrNotFound], or call methods of a [resource.Resource] with
// its context, which authorize. For a field that returns an item of a resource, use a
// [resource.Lookup]: the item has its relations and is authorized.
//
// # Values
//
// The arguments are the fields of a struct with the tags of package schema. They are validated
// before the function is called. The result may have any Go type that [schema.Of] supports and has
// the name of its Go type in the schema. If the Go type is the item type of a resource, the name is
// <Name>Value, and it has neither relations nor an ETag.
//
// # Errors
//
// Clients receive the sentinel errors of package resource, [*problem.Details], and errors of
// [resource.Invalid] with the JSON name of an argument. Any other error is logged, and the client
// receives an internal error.
type Field struct{ custom *model.CustomField }

// FieldOptions configures a [Field]. Nil means the zero value.
type FieldOptions struct {
	// Doc is the description of the field in the schema, in CommonMark.
	Doc string
	// Deprecated is the reason why the field is deprecated, and its replacement. Empty means not
	// deprecated.
	Deprecated string
	// Cost is the contribution of a value to Limits.Cost. Default 1. Set it if a value needs
	// several calls of other systems, because clients may select the field for many items.
	Cost int
	// Transactions states that a mutation writes only within transactions of this Runner, as in
	// [command.Options]. Nil means that it may have other effects. With an idempotency key
	// it is then executed at most once, and must be the only mutation of the operation.
	Transactions tx.Runner
}

// Query returns a field of the type Query. The function may be called concurrently. The field is
// nullable, so that an error does not discard the rest of the response.
//
// In is a struct; its fields are the arguments, and it may be empty. If Out is a pointer, nil is
// null. Query panics if In is not a struct, or if In or Out has no schema.
//
//	graphql.Query("heaviest", func(ctx context.Context, in struct {
//		Kind string `json:"kind" required:"true"`
//	}) (*Parcel, error) { ... }, &graphql.FieldOptions{Doc: "The heaviest parcel of a kind."})
func Query[In, Out any](name string, do func(ctx context.Context,
	in In) (Out, error), opts *FieldOptions) Field {
	return rootField("Query", name, do, opts)
}

// Mutation returns a field of the type Mutation. The mutations of an operation are executed
// serially.
//
// It has the same parameters as [Query]. If Out is a struct without fields, the field is true. A
// [command.Command] is available over all protocols; use Mutation only for a field that exists in
// GraphQL alone.
func Mutation[In, Out any](name string, do func(ctx context.Context,
	in In) (Out, error), opts *FieldOptions) Field {
	return rootField("Mutation", name, do, opts)
}

// rootField returns a field of a root type.
func rootField[In, Out any](root, name string,
	do func(context.Context, In) (Out, error), opts *FieldOptions) Field {
	c := newCustom[In, Out](root, name, do == nil, opts)
	result := resultFunc[Out](c)
	c.Root = func(ctx context.Context, in any) (any, error) {
		out, err := do(ctx, argumentsOf[In](in))
		if err != nil {
			return nil, err
		}
		return result(&out), nil
	}
	return Field{c}
}

// Computed returns a field of the items of a resource that is computed from the item, such as a
// price in another currency.
//
// The function is called once for all items of a list, so that it can fetch data in a batch. It
// returns one value per item, in order; any other number is an internal error. items may contain an
// item several times. The function must not modify items or keep them after it returns, because
// their memory is shared and reused. Its results may point into them.
//
// T is the Go type of the items in the catalog, which for a view is that of the view; [New] panics
// otherwise. In, Out and the other panics are as for [Query]. If Out is not a pointer, the field is
// non-null, and an error makes the items null; use a pointer if the function may fail.
//
//	graphql.Computed("places", "distance",
//		func(ctx context.Context, items []*Place, from Point) ([]*float64, error) {
//			...
//		}, nil)
func Computed[T, In, Out any](resource, name string,
	do func(ctx context.Context, items []*T, in In) ([]Out, error),
	opts *FieldOptions) Field {
	c := newCustom[In, Out](resource, name, do == nil, opts)
	if resource == "" || resource == "Query" || resource == "Mutation" {
		panic(fmt.Sprintf("graphql: field %s: %q is not the name of a resource; use Query or Mutation", name,
			resource))
	}
	if c.Out == nil {
		panic(fmt.Sprintf("graphql: field %s of %s: the function must return a value", name, resource))
	}
	c.Parent = reflect.TypeFor[T]()
	result := resultFunc[Out](c)
	c.Each = func(ctx context.Context, items []any, in any) ([]any, error) {
		typed := make([]*T, len(items))
		for i, item := range items {
			typed[i] = item.(*T)
		}
		outs, err := do(ctx, typed, argumentsOf[In](in))
		if err != nil {
			return nil, err
		}
		if len(outs) != len(items) {
			return nil, fmt.Errorf("graphql: field %s of %s: function returned %d values for %d items", name,
				resource, len(outs), len(items))
		}
		values := make([]any, len(outs))
		for i := range outs {
			values[i] = result(&outs[i])
		}
		return values, nil
	}
	return Field{c}
}

// newCustom returns the common part of custom fields. It panics if they are invalid by themselves.
func newCustom[In, Out any](on, name string, noFunc bool, opts *FieldOptions) *model.CustomField {
	if noFunc {
		panic(fmt.Sprintf("graphql: field %s of %s: the function is nil", name, on))
	}
	var o FieldOptions
	if opts != nil {
		o = *opts
	}
	if o.Cost < 0 {
		panic(fmt.Sprintf("graphql: field %s of %s: FieldOptions.Cost is %d; it must not be negative", name,
			on, o.Cost))
	}
	c := &model.CustomField{On: on, Name: name, Doc: o.Doc, Deprecated: o.Deprecated, Cost: max(o.Cost, 1),
		Transactions: o.Transactions}
	c.In = mustSchema[In](on, name, "arguments")
	if c.In.Kind != schema.Object || reflect.TypeFor[In]().Kind() == reflect.Pointer {
		panic(fmt.Sprintf("graphql: field %s of %s: arguments must be a struct, not %v", name, on,
			reflect.TypeFor[In]()))
	}
	if len(c.In.Fields) == 0 {
		c.In = nil
	}
	c.Out = mustSchema[Out](on, name, "value")
	if c.Nullable = isPointer[Out](); c.Out.Kind == schema.Object && len(c.Out.Fields) == 0 {
		c.Out = nil
	}
	return c
}

// mustSchema calls schema.Of and panics with the name of the field.
func mustSchema[T any](on, name, what string) *schema.Type {
	t, err := schema.Of(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Sprintf("graphql: field %s of %s: the %s: %v", name, on, what, err))
	}
	return t
}

// isPointer reports whether T is a pointer that package schema dereferences.
func isPointer[T any]() bool {
	t := reflect.TypeFor[T]()
	return t.Kind() == reflect.Pointer && t.Name() == ""
}

// resultFunc returns a function that converts a pointer to the result. It returns a pointer to the
// Go type of Out, and nil for null or no value.
func resultFunc[Out any](c *model.CustomField) func(out *Out) any {
	switch {
	case c.Out == nil:
		return func(*Out) any { return nil }
	case !isPointer[Out]():
		return func(out *Out) any { return out }
	}
	return func(out *Out) any {
		if reflect.ValueOf(*out).IsNil() {
			return nil
		}
		return *out
	}
}

// argumentsOf returns the arguments that in points to, and the zero value for nil.
func argumentsOf[In any](in any) (zero In) {
	if p, ok := in.(*In); ok && p != nil {
		return *p
	}
	return zero
}
