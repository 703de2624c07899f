package graphql

import (
	"context"
	"fmt"
	"reflect"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// Field is a field of the schema that no resource has: made by [Query], [Mutation] or [Computed], and given to [New] in
// Options.Fields. The zero Field is none, and New panics at it.
//
// # Authorization
//
// The function of a Field stands beside the resources, not behind them: no Authorize and no Scope is asked before it is
// called, nor about what it returns. It says itself who may have what, by returning [resource.ErrUnauthenticated],
// [resource.ErrForbidden] or [resource.ErrNotFound], or it calls methods of a [resource.Resource], which ask the policy
// of that resource with the same context. Who only wants a way to an item should use a [resource.Lookup]: its item is
// shown with everything that items have, and to those alone who may see it.
//
// # Values
//
// The arguments are the fields of a struct, described by the tags of package schema; they are checked against these
// tags before the function is called. What it returns may be of any Go type that [schema.Of] takes, and becomes a type
// of the schema under the name of its Go type. Only members of structs can be selected of it: the Go type of the items
// of a resource becomes <Name>Value, which has neither relations nor an entity tag.
//
// # Errors
//
// Errors are told to clients as those of a command are: the sentinels of package resource, [*problem.Details] and those
// made by [resource.Invalid] with the JSON name of an argument are; any other is an internal error whose text goes to
// the log alone.
type Field struct{ custom *model.CustomField }

// FieldOptions adjust a [Field]. nil is the zero value.
type FieldOptions struct {
	// Doc describes the field to clients, in CommonMark.
	Doc string
	// Deprecated says why the field should not be used any more, and what to use instead; empty if it should.
	Deprecated string
	// Cost is what one value counts for in Limits.Cost; 0 is 1. Where a value costs many calls of others, say so: it is all
	// that stops a client from asking for a thousand of them.
	Cost int
	// Transactions says of a mutation that all that it does happens with its context in transactions of this Runner, as
	// [resource.CommandOptions] says it of commands. Nil means that it does more, or that nobody knows: then an
	// Idempotency-Key makes it happen at most once, and alone.
	Transactions tx.Runner
}

// Query returns a field of the type Query: a question that the catalog cannot answer. It may be called at the same time
// as any other. Its value may always be null in the schema, so that its failure leaves the rest of an answer as it is.
//
// In is a struct whose fields are the arguments; one without fields has none. Where Out is a pointer, nil is null and no
// error. It panics if In is no struct, or if In or Out cannot be a schema.
//
//	graphql.Query("heaviest", func(ctx context.Context, in struct {
//		Kind string `json:"kind" required:"true"`
//	}) (*Parcel, error) { ... }, &graphql.FieldOptions{Doc: "The heaviest parcel of a kind."})
func Query[In, Out any](name string, do func(ctx context.Context,
	in In) (Out, error), opts *FieldOptions) Field {
	return rootField("Query", name, do, opts)
}

// Mutation returns a field of the type Mutation, which changes something. The mutations of an operation are done one
// after the other, so that it may rely on those in front of it.
//
// It is as [Query] is. Where Out is a struct without fields there is no value, and clients get true. A [resource.Command]
// does the same on every door; use it unless the field is for GraphQL alone.
func Mutation[In, Out any](name string, do func(ctx context.Context,
	in In) (Out, error), opts *FieldOptions) Field {
	return rootField("Mutation", name, do, opts)
}

// rootField makes a field of a root.
func rootField[In, Out any](root, name string,
	do func(context.Context, In) (Out, error), opts *FieldOptions) Field {
	c := newCustom[In, Out](root, name, do == nil, opts)
	show := shower[Out](c)
	c.Root = func(ctx context.Context, in any) (any, error) {
		out, err := do(ctx, argumentsOf[In](in))
		if err != nil {
			return nil, err
		}
		return show(&out), nil
	}
	return Field{c}
}

// Computed returns a field of the items of a resource that is made of the item: a price in another currency, how far
// away a place is.
//
// do is called once for all items of a level, however many there are and wherever in the answer they stand, so that it
// can fetch what it needs in one go. It returns as many values as there are items, in their order; another number is an
// internal error. The items are shared with others: it must not change them. Nor may it keep them beyond the
// call, since their memory is used again for other answers, to other callers; what it returns may point into them. The
// same item may be there more than once.
//
// T is the Go type of the items as the catalog shows them, in a view that of the view; [New] panics if it is another.
// In, Out and the panics are as those of [Query]. Where Out is not a pointer the field is never null, and an error of
// do then takes the items with it: prefer a pointer for what may fail.
//
//	graphql.Computed("places", "distance", func(ctx context.Context, items []*Place, from Point) ([]*float64, error) {
//		...
//	}, nil)
func Computed[T, In, Out any](resource, name string,
	do func(ctx context.Context, items []*T, in In) ([]Out, error),
	opts *FieldOptions) Field {
	c := newCustom[In, Out](resource, name, do == nil, opts)
	if resource == "" || resource == "Query" || resource == "Mutation" {
		panic(fmt.Sprintf("graphql: field %s: %q cannot be the name of a resource", name, resource))
	}
	if c.Out == nil {
		panic(fmt.Sprintf("graphql: field %s of %s: its function returns nothing", name, resource))
	}
	c.Parent = reflect.TypeFor[T]()
	show := shower[Out](c)
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
			return nil, fmt.Errorf("graphql: the field %s of %s returned %d values for %d items", name,
				resource,
				len(outs), len(items))
		}
		values := make([]any, len(outs))
		for i := range outs {
			values[i] = show(&outs[i])
		}
		return values, nil
	}
	return Field{c}
}

// newCustom makes what all fields have in common, and panics at what is wrong with them by themselves.
func newCustom[In, Out any](on, name string, noFunc bool, opts *FieldOptions) *model.CustomField {
	if noFunc {
		panic(fmt.Sprintf("graphql: field %s of %s: the function is nil", name, on))
	}
	var o FieldOptions
	if opts != nil {
		o = *opts
	}
	if o.Cost < 0 {
		panic(fmt.Sprintf("graphql: field %s of %s: FieldOptions.Cost is %d", name, on, o.Cost))
	}
	c := &model.CustomField{On: on, Name: name, Doc: o.Doc, Deprecated: o.Deprecated, Cost: max(o.Cost, 1),
		Transactions: o.Transactions}
	c.In = mustSchema[In](on, name, "arguments")
	if c.In.Kind != schema.Object || reflect.TypeFor[In]().Kind() == reflect.Pointer {
		panic(fmt.Sprintf("graphql: field %s of %s: the arguments are a %v and must be a struct", name, on,
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

// mustSchema is schema.Of with the place in the panic.
func mustSchema[T any](on, name, what string) *schema.Type {
	t, err := schema.Of(reflect.TypeFor[T]())
	if err != nil {
		panic(fmt.Sprintf("graphql: field %s of %s: the %s: %v", name, on, what, err))
	}
	return t
}

// isPointer reports whether T is a pointer which package schema looks through.
func isPointer[T any]() bool {
	t := reflect.TypeFor[T]()
	return t.Kind() == reflect.Pointer && t.Name() == ""
}

// shower returns what makes a value of a pointer to one: a pointer to the Go type of Out, nil for null and for nothing.
func shower[Out any](c *model.CustomField) func(out *Out) any {
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

// argumentsOf returns the arguments that a pointer leads to; without one, there are none.
func argumentsOf[In any](in any) (zero In) {
	if p, ok := in.(*In); ok && p != nil {
		return *p
	}
	return zero
}
