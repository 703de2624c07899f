package fetch

// Groups of a resource. exec calls Aggregate for a field with Source Aggregate.

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// Aggregate returns a page of groups, a pointer to the Go type of f.Groups.Page. selected are the aggregates
// that the document selects. Those that having or orderBy compare are computed, too.
func (x *Fetcher) Aggregate(ctx context.Context, f *model.Field, args map[string]any,
	selected []query.Aggregate) (any, error) {
	var bad violations
	a := query.Aggregation{Filter: x.filter(f, args, &bad), Search: search(args, &bad),
		Sort: order(args["orderBy"], &bad)}
	if given, _ := args["having"].(map[string]any); given != nil {
		left := max(x.limits.Terms-a.Filter.Terms(), 0)
		r := filterReader{bad: &bad, terms: left, most: x.limits.Terms, operands: x.limits.Terms * maxDepth}
		a.Having = r.object(f.Arg("having").Type.Named(), given, "having", 0)
	}
	groupBy, _ := args["groupBy"].([]any)
	for _, name := range groupBy {
		field, _ := name.(string)
		a.Group = append(a.Group, field)
	}
	a.Aggregates = aggregatesOf(a, f, selected)
	limit, at := position(f.Resource.Describe(), args, &bad)
	if err := bad.err(); err != nil {
		return nil, err
	}
	if err := f.Resource.Describe().Query.CheckAggregation(a); err != nil {
		return nil, aggregateError(err)
	}
	a.Limit = max(limit, 1) // Resource.Aggregate has a default for 0
	page, err := f.Resource.Aggregate(ctx, a, at.After)
	if err != nil {
		return nil, cursorArgument(err, at)
	}
	return pageOf(f, a, &page, limit), nil
}

// aggregatesOf returns the aggregates to compute, in the order of the model. A group has at least a count.
func aggregatesOf(a query.Aggregation, f *model.Field, selected []query.Aggregate) []query.Aggregate {
	for name := range f.Groups.Indexes {
		fn, field, _ := strings.Cut(name, ".")
		v := query.Aggregate{Func: query.Func(fn), Field: field}
		if a.Uses(name) && slices.Contains(query.Funcs(), v.Func) && !slices.Contains(selected, v) {
			selected = append(selected, v)
		}
	}
	if len(a.Group) == 0 && len(selected) == 0 {
		selected = append(selected, query.Aggregate{Func: query.Count})
	}
	index := func(v query.Aggregate) []int { return f.Groups.Indexes[v.Name()] }
	slices.SortFunc(selected, func(v, w query.Aggregate) int { return slices.Compare(index(v), index(w)) })
	return selected
}

// aggregateError returns an error of [query.Support.CheckAggregation] with the name of the argument.
func aggregateError(err error) error {
	var bad violations
	if e, ok := errors.AsType[*query.Error](err); ok {
		argument := e.Parameter
		switch argument {
		case "group":
			argument = "groupBy"
		case "sort":
			argument = "orderBy"
		}
		bad.add(argument, e.Code, e.Detail)
		return bad.err()
	}
	return err
}

// pageOf converts a page of groups to the Go type of the field.
func pageOf(f *model.Field, a query.Aggregation, page *resource.GroupPage, limit int) any {
	result := reflect.New(f.Groups.Page.GoType)
	edges, nodes := result.Elem().FieldByName("Edges"), result.Elem().FieldByName("Nodes")
	info := result.Elem().FieldByName("PageInfo")
	info.FieldByName("HasNextPage").SetBool(page.Next != "" || limit == 0 && len(page.Groups) > 0)
	n := min(len(page.Groups), limit)
	edges.Set(reflect.MakeSlice(edges.Type(), n, n))
	nodes.Set(reflect.MakeSlice(nodes.Type(), n, n))
	for i, g := range page.Groups[:n] {
		for j, field := range a.Group {
			setValue(nodes.Index(i).FieldByIndex(f.Groups.Indexes[field]), g.Keys[j])
		}
		for j, v := range a.Aggregates {
			setValue(nodes.Index(i).FieldByIndex(f.Groups.Indexes[v.Name()]), g.Values[j])
		}
		cursor := page.Cursor(i)
		edges.Index(i).FieldByName("Cursor").Set(reflect.ValueOf(&cursor))
		edges.Index(i).FieldByName("Node").Set(nodes.Index(i))
		if i == n-1 {
			info.FieldByName("EndCursor").Set(reflect.ValueOf(&cursor))
		}
	}
	return result.Interface()
}

// setValue sets a value of a group, which has the kind of its field or is a number as text. null leaves a
// pointer nil.
func setValue(to reflect.Value, v any) {
	v = query.Canonical(v)
	if v == nil {
		return
	}
	if to.Kind() == reflect.Pointer {
		to.Set(reflect.New(to.Type().Elem()))
		to = to.Elem()
	}
	from := reflect.ValueOf(v)
	switch {
	case to.Kind() == reflect.String:
		to.SetString(fmt.Sprint(v))
	case from.CanConvert(to.Type()):
		to.Set(from.Convert(to.Type()))
	}
}
