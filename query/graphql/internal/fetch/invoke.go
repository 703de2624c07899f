package fetch

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
)

// Invoke calls the function of a field with Source Invoke or Custom. The value is a pointer to the Go type that the field
// shows, and nil for nothing.
func (x *Fetcher) Invoke(ctx context.Context, f *model.Field, args map[string]any) (any, error) {
	if f.Source == model.Custom {
		in, err := x.input(f.Custom.In, f.Args, args)
		if err != nil {
			return nil, err
		}
		out, err := f.Custom.Root(ctx, in)
		return out, located(err, f.Args, "")
	}
	in, err := x.commanded(f, args)
	if err != nil {
		return nil, err
	}
	out, err := f.Command.Invoke(ctx, in)
	return out, located(err, inputsOf(f), "input")
}

// Permit asks whether the command of a field with Source Invoke may be done, without doing it.
func (x *Fetcher) Permit(ctx context.Context, f *model.Field, args map[string]any) error {
	in, err := x.commanded(f, args)
	if err != nil {
		return err
	}
	return located(f.Command.Permit(ctx, in), inputsOf(f), "input")
}

// commanded is the input of a command.
func (x *Fetcher) commanded(f *model.Field, args map[string]any) (any, error) {
	typ := f.Command.Input()
	if typ == nil {
		return nil, nil
	}
	given, _ := args["input"].(map[string]any)
	doc, err := document(nil, inputsOf(f), given)
	if err != nil {
		return nil, located(err, inputsOf(f), "input")
	}
	in, err := typ.Decode(doc, x.decode(nil))
	return in, located(err, inputsOf(f), "input")
}

// Compute calls the function of a field with Source Computed for all items of a level. The values are pointers, as those
// of Invoke, one for each item.
func (x *Fetcher) Compute(ctx context.Context, f *model.Field, items []any,
	args map[string]any) ([]any, error) {
	in, err := x.input(f.Custom.In, f.Args, args)
	if err != nil {
		return nil, err
	}
	values, err := f.Custom.Each(ctx, items, in)
	if err != nil {
		return nil, located(err, f.Args, "")
	}
	if len(values) != len(items) {
		return nil, fmt.Errorf("the function of %s.%s gave %d values for %d items", f.Custom.On,
			f.Custom.Name, len(values), len(items))
	}
	return values, nil
}

// input makes a value of the type of arguments, which may be nil, and checks it. As in URLs, what is absent breaks no rule
// but that something is required.
func (x *Fetcher) input(typ *schema.Type, inputs []*model.Input, given map[string]any) (any, error) {
	if typ == nil {
		return nil, nil
	}
	doc, err := document(nil, inputs, given)
	if err != nil {
		return nil, err
	}
	var absent []string
	for _, in := range inputs {
		if _, ok := given[in.Name]; !ok && in.Member != nil && !in.Member.Required {
			absent = append(absent, in.Member.Name)
		}
	}
	in, err := typ.Decode(doc, x.decode(absent))
	return in, located(err, inputs, "")
}

func (x *Fetcher) decode(filled []string) *schema.DecodeOptions {
	return &schema.DecodeOptions{Mode: schema.Create, MaxDepth: x.limits.Depth, MaxNames: x.limits.Names,
		Filled: filled}
}
