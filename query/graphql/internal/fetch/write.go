package fetch

// Mutations of items. The core does the work; errors get the names of arguments.

import (
	"context"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
)

// Write performs a field with Source Create, Replace, Patch, Delete, Restore, Link or Unlink. It
// returns the item, which for Delete is the last state. A nil item without an error means that the
// write succeeded and there is no item to return: it cannot be represented in this version, or a
// repeated delete succeeded. The core authorizes, validates and retries, and publishes the event.
func (x *Fetcher) Write(ctx context.Context, f *model.Field, args map[string]any) (*resource.Entry, error) {
	return x.Create(ctx, f, args, "")
}

// Create is Write with the option NewID of [resource.WriteOptions], for fields with any of these
// Sources. Existing is set, because replace in GraphQL never creates an item: create has a field of
// its own.
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
		if inputs := inputsOf(f); inputs != nil {
			return nil, located(err, inputs, "input")
		}
		return nil, located(err, nil, "") // the members of an item that is not an argument
	case e.Value == nil:
		return nil, nil
	}
	return &e, nil
}

// writeItem calls the method of the resource for the Source of f.
func (x *Fetcher) writeItem(
	ctx context.Context, f *model.Field, args map[string]any, opts *resource.WriteOptions,
) (e resource.Entry, err error) {
	r := f.Resource
	id, _, err := itemID(f, args)
	if err != nil {
		return e, err
	}
	switch f.Source {
	case model.Delete:
		return r.Delete(ctx, id, opts)
	case model.Restore:
		return r.Restore(ctx, id, opts)
	case model.Link, model.Unlink:
		return x.changeLink(ctx, f, id, args)
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
	// Source Patch: the document is a merge patch (RFC 7396). Null removes a value, and absent
	// members remain.
	p, err := patch.ParseMergePatch(doc, patch.Limits{Depth: x.limits.Depth})
	if err != nil {
		return e, err
	}
	return r.Patch(ctx, id, p, opts)
}

// changeLink links or unlinks an item and one of the target of a relation, and returns the item.
func (x *Fetcher) changeLink(
	ctx context.Context, f *model.Field, id string, args map[string]any,
) (e resource.Entry, err error) {
	target, _ := f.Resource.Related(f.Relation)
	to, err := globalID(f, "to", target, args)
	if err != nil {
		return e, err
	}
	if f.Source == model.Link {
		_, _, err = f.Resource.Link(ctx, f.Relation, id, to, nil)
	} else {
		err = f.Resource.Unlink(ctx, f.Relation, id, to, nil)
	}
	if err != nil {
		return e, err
	}
	return f.Resource.Get(ctx, id)
}

// preconditions parses the argument ifMatch, which has the syntax of the If-Match header field. A
// tag that does not match is an error of the core, with the code PRECONDITION_FAILED.
func preconditions(ifMatch any) (resource.Preconditions, error) {
	text, ok := ifMatch.(string)
	if !ok {
		return resource.Preconditions{}, nil
	}
	tags, err := header.ParseTags([]string{text})
	if err != nil {
		d := problem.New(problem.InvalidHeader, "ifMatch must be * or a list of entity tags.")
		d.Errors = []problem.Violation{{Header: "If-Match", Code: "syntax", Detail: err.Error()}}
		return resource.Preconditions{}, d
	}
	return resource.Preconditions{IfMatch: tags}, nil
}

// inputsOf returns the input fields of the argument input, or nil if the field does not have it.
func inputsOf(f *model.Field) []*model.Input {
	if in := f.Arg("input"); in != nil {
		return in.Type.Named().Inputs
	}
	return nil
}
