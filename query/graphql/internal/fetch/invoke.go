package fetch

// Commands and custom functions. exec calls Invoke for root fields, Compute for computed fields of
// items, and Permit before a stored response is sent again. The input is decoded from JSON, as for
// REST.

import (
	"context"
	"fmt"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource/schema"
)

// Invoke calls the function of a field with Source Invoke or Custom. The result is a pointer to the
// Go type of the field, or nil if the function has no output. Paths of violations are argument
// names: those of a custom function are arguments themselves, those of a command are in the
// argument input.
func (x *Fetcher) Invoke(ctx context.Context, f *model.Field, args map[string]any) (any, error) {
	if f.Source == model.Custom {
		in, err := x.input(f.Custom.In, f.Args, args)
		if err != nil {
			return nil, err
		}
		out, err := f.Custom.Root(ctx, in)
		return out, located(err, f.Args, "")
	}
	in, err := x.commandInput(f, args)
	if err != nil {
		return nil, err
	}
	out, err := f.Command.Invoke(ctx, in)
	return out, located(err, inputsOf(f), "input")
}

// Permit authorizes the command of a field with Source Invoke, without calling it. A stored
// response must not be sent to a caller that has lost the permission since.
func (x *Fetcher) Permit(ctx context.Context, f *model.Field, args map[string]any) error {
	in, err := x.commandInput(f, args)
	if err != nil {
		return err
	}
	return located(f.Command.Permit(ctx, in), inputsOf(f), "input")
}

// commandInput returns the decoded input of a command, or nil if it has none. Command.Invoke
// validates it.
func (x *Fetcher) commandInput(f *model.Field, args map[string]any) (any, error) {
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

// Compute calls the function of a field with Source Computed for all items of a list. The result
// has one pointer for each item. Calling the function once for all items lets it read its data in
// one query. A result of another length is an error of the application, because values could not be
// assigned to items.
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
		return nil, fmt.Errorf("graphql: field %s of %s: function returned %d values for %d items",
			f.Custom.Name, f.Custom.On, len(values), len(items))
	}
	return values, nil
}

// input decodes arguments to a value of typ and validates it. typ may be nil. An absent argument
// violates no constraint except required. The zero value of an absent optional argument may violate
// a minimum, for example.
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

// decode returns options for schema.Type.Decode. The constraints of absent
// members, which filled lists, do not apply.
func (x *Fetcher) decode(filled []string) *schema.DecodeOptions {
	return &schema.DecodeOptions{Mode: schema.Create, MaxDepth: x.limits.Depth, MaxNames: x.limits.Names,
		Filled: filled}
}
