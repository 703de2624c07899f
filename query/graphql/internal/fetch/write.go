package fetch

import (
	"context"
	"net/http"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/patch"
)

// Write does what a field with Source Create, Replace, Patch or Delete says, and returns the item, which for Delete is as
// it was. Nil without an error says that it has been done and there is nothing to show: the item is one that this
// contract has no words for, or it had been deleted before and that is what the resource calls success.
func (x *Fetcher) Write(ctx context.Context, f *model.Field, args map[string]any) (*resource.Entry, error) {
	return x.Create(ctx, f, args, "")
}

// Create is Write for a field that may have the source Create. newID is what [resource.WriteOptions] calls NewID.
func (x *Fetcher) Create(ctx context.Context, f *model.Field, args map[string]any,
	newID string) (*resource.Entry, error) {
	opts := resource.WriteOptions{Existing: true, NewID: newID, MaxDepth: x.limits.Depth,
		MaxNames: x.limits.Names}
	var err error
	if opts.If, err = preconditions(args["ifMatch"]); err != nil {
		return nil, err
	}
	e, err := x.writeItem(ctx, f, args, &opts)
	switch {
	case err != nil:
		return nil, located(err, inputsOf(f), "input")
	case e.Value == nil:
		return nil, nil
	}
	return &e, nil
}

func (x *Fetcher) writeItem(
	ctx context.Context, f *model.Field, args map[string]any, opts *resource.WriteOptions,
) (e resource.Entry, err error) {
	r := f.Resource
	id, _ := args["id"].(string)
	if f.Source == model.Delete {
		return r.Delete(ctx, id, opts)
	}
	given, _ := args["input"].(map[string]any)
	doc, err := document(nil, inputsOf(f), given)
	if err != nil {
		return e, err
	}
	switch f.Source {
	case model.Create:
		return r.Create(ctx, doc, opts)
	case model.Replace:
		e, _, err = r.Put(ctx, id, doc, opts)
		return e, err
	}
	p, err := patch.ParseMergePatch(doc, patch.Limits{Depth: x.limits.Depth})
	if err != nil {
		return e, err
	}
	e, _, err = r.Patch(ctx, id, p, opts)
	return e, err
}

// preconditions reads the argument ifMatch, which is written like the header field of that name.
func preconditions(ifMatch any) (resource.Preconditions, error) {
	text, ok := ifMatch.(string)
	if !ok {
		return resource.Preconditions{}, nil
	}
	return resource.ParsePreconditions(http.Header{"If-Match": {text}})
}

// inputsOf returns the members of the argument input.
func inputsOf(f *model.Field) []*model.Input {
	if in := f.Arg("input"); in != nil {
		return in.Type.Named().Inputs
	}
	return nil
}
