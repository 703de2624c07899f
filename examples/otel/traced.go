package main

// A store wrapper that records a span for each call. It shows how to add a cross-cutting concern:
// Ops has one function for each capability, and traced replaces those that are set.

import (
	"context"
	"iter"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// traced adds a span to each call of ops. [resource.Ops] is a struct of functions: a capability
// that is nil stays nil, and functions that are not replaced here are kept. A service decorates
// Delete, GetMany and the others that it uses in the same way.
func traced[T any](name string, ops resource.Ops[T], tracer trace.Tracer) resource.Ops[T] {
	get, create, replace := ops.Get, ops.Create, ops.Replace
	ops.Get = func(ctx context.Context, id string) (it resource.Item[T], err error) {
		ctx, end := begin(ctx, tracer, name+".Get", id)
		defer func() { end(err) }()
		return get(ctx, id)
	}
	fast := ops.FastReads()
	ops.List = tracedList(ops.List, tracer, name+".List")
	if fast.ListJSON != nil { // the list of a store that encodes its items, such as a table
		list := tracedList(fast.ListJSON, tracer, name+".ListJSON")
		ops = ops.WithFastReads(resource.FastReads{ListJSON: list})
	}
	if create != nil {
		ops.Create = func(ctx context.Context, v T) (it resource.Item[T], err error) {
			ctx, end := begin(ctx, tracer, name+".Create", "")
			defer func() { end(err) }()
			return create(ctx, v)
		}
	}
	if replace != nil {
		ops.Replace = func(
			ctx context.Context, id string, expect resource.Rev, v T,
		) (it resource.Item[T], err error) {
			ctx, end := begin(ctx, tracer, name+".Replace", id)
			defer func() { end(err) }()
			return replace(ctx, id, expect, v)
		}
	}
	return ops
}

// tracedList adds a span to the reading of a list. The span begins when the list is read and not when
// it is requested.
func tracedList[Item any](
	list func(context.Context, query.Query) iter.Seq2[Item, error], tracer trace.Tracer, span string,
) func(context.Context, query.Query) iter.Seq2[Item, error] {
	return func(ctx context.Context, q query.Query) iter.Seq2[Item, error] {
		return func(yield func(Item, error) bool) {
			ctx, end := begin(ctx, tracer, span, "")
			var last error
			defer func() { end(last) }()
			for it, err := range list(ctx, q) {
				if last = err; !yield(it, err) {
					return
				}
			}
		}
	}
}

// begin starts a child of the span in ctx and returns the function that ends it. The id is an
// attribute and not part of the name, because names must have few values.
func begin(ctx context.Context, tracer trace.Tracer, name, id string) (context.Context, func(error)) {
	ctx, span := tracer.Start(ctx, name)
	if id != "" {
		span.SetAttributes(attribute.String("item.id", id))
	}
	return ctx, func(err error) {
		// A service may exclude expected errors, which are not faults of the store.
		if err != nil { // such as ErrNotFound
			span.SetStatus(codes.Error, err.Error())
		}
		span.End()
	}
}
