package oracle_test

import (
	"context"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/schema"
)

// paper is an item with restricted access.
type paper struct {
	ID    string   `json:"id"`
	Title string   `json:"title" required:"true"`
	Size  int64    `json:"size"`
	Rank  *int32   `json:"rank"`
	Kind  string   `json:"kind" enum:"letter,bill" default:"letter"`
	Desk  string   `json:"deskId"`
	Next  *string  `json:"nextId"`
	Marks []string `json:"marks,omitempty"`
	Seal  *seal    `json:"seal"`
	Any   any      `json:"any,omitempty"`
	Code  string   `json:"code,omitempty" writeOnly:"true"`
}

type seal struct {
	Motto string `json:"motto"`
	Parts []seal `json:"parts,omitempty"`
}

// desk is an item that all callers may read and none may change. It leads to papers through every
// kind of field.
type desk struct {
	ID   string   `json:"id"`
	Best string   `json:"bestId"`
	On   []string `json:"onIds"`
}

// guard is a restriction of access to papers.
type guard struct {
	name      string
	authorize func(ctx context.Context, op resource.Op, before, after *paper) error
	scope     func(ctx context.Context) (query.Filter, error)
	command   error
	reads     bool // papers may be read but not written
}

func no(err error) func(context.Context, resource.Op, *paper, *paper) error {
	return func(context.Context, resource.Op, *paper, *paper) error { return err }
}

// guards are all kinds of restrictions.
func guards() []guard {
	return []guard{
		{name: "Authorize forbids", authorize: no(resource.ErrForbidden), command: resource.ErrForbidden},
		{name: "Authorize finds nothing", authorize: no(resource.ErrNotFound), command: resource.ErrNotFound},
		{name: "Scope is empty", command: resource.ErrForbidden,
			scope: func(context.Context) (query.Filter, error) { return query.Or(), nil }},
		{name: "Scope requires a principal", command: resource.ErrUnauthenticated,
			scope: func(context.Context) (query.Filter, error) {
				return query.Filter{},
					resource.ErrUnauthenticated
			}},
		{name: "Authorize forbids writes", reads: true, command: resource.ErrForbidden,
			authorize: func(_ context.Context, op resource.Op, _, _ *paper) error {
				if op != resource.OpGet {
					return resource.ErrForbidden
				}
				return nil
			}},
	}
}

// office is a catalog with or without papers.
type office struct {
	model  *model.Schema
	engine *exec.Engine
	papers *memory.Store[paper]
	asked  atomic.Int64 // number of calls of code that must not be called
}

// mark is part of every restricted value.
const mark = "hush"

// newOffice returns an office for a caller with a restriction.
func newOffice(t *testing.T, g *guard, filled bool) *office {
	t.Helper()
	var made atomic.Int64
	o := &office{papers: memory.New(&memory.Options[paper]{NewID: func() string {
		return fmt.Sprint("made",
			made.Add(1))
	}})}
	desks := memory.New[desk](nil)
	for i := range 6 {
		id := fmt.Sprint("b", i)
		if _, err := desks.Insert(t.Context(), id,
			desk{ID: id, Best: id, On: []string{"1", id, "b1"}}); err != nil {
			t.Fatal(err)
		}
		rank, next := int32(7000+i), fmt.Sprint("b", (i+1)%6)
		p := paper{ID: id, Title: mark, Size: 700000 + int64(i), Rank: &rank, Kind: "bill", Desk: id,
			Next:  &next,
			Marks: []string{mark}, Seal: &seal{mark, []seal{{mark, nil}}}, Any: []any{mark}, Code: mark}
		if !filled {
			continue
		}
		if _, err := o.papers.Insert(t.Context(), id, p); err != nil {
			t.Fatal(err)
		}
	}
	every := []query.Op{query.Eq, query.Ne, query.In, query.Gt, query.Contains, query.StartsWith,
		query.IsNull}
	opts := resource.Options[paper]{
		Query: query.Support{Sort: []string{"title", "size"},
			Filter: map[string][]query.Op{"title": every, "size": every[:4],
				"deskId": every[:2], "rank": {query.IsNull}, "nextId": {query.Eq}}},
		After: func(context.Context, resource.Op, *paper, *paper) { o.asked.Add(1) },
		Relations: []resource.Relation[paper]{{Name: "desk", Target: "desks", Field: "deskId"},
			{Name: "next", Target: "papers", Field: "nextId"},
			{Name: "same", Target: "papers", By: "nextId"}},
	}
	var forbidden error
	if g != nil {
		opts.Authorize, opts.Scope, forbidden = g.authorize, g.scope, g.command
	}
	papers := resource.New("papers", o.papers, &opts)
	shelves := resource.OpsOf(desks)
	o.open(t, papers, resource.Ops[desk]{Get: shelves.Get, List: shelves.List}.Resource("desks",
		&resource.Options[desk]{
			Public: true,
			Relations: []resource.Relation[desk]{{Name: "best", Target: "papers", Field: "bestId"},
				{Name: "on", Target: "papers", Field: "onIds", Many: true},
				{Name: "in", Target: "papers", By: "deskId"},
				{Name: "odd", Target: "papers", Keys: func(d *desk) []string { return []string{d.ID} }}},
		}), forbidden)
	return o
}

// open makes the catalog, with more fields that lead to papers, and the engine.
func (o *office) open(t *testing.T, papers, desks *resource.Resource, forbidden error) {
	t.Helper()
	c := resource.NewCatalog(nil, papers, desks,
		resource.NewLookup("newest", "papers", func(_ context.Context, in struct {
			Desk string `json:"desk"`
		}) (string, error) {
			return "b2", nil
		}),
		command.New("papers/burn", func(context.Context, seal) (seal, error) {
			o.asked.Add(1)
			return seal{Motto: mark}, nil
		}, &command.Options[seal]{Authorize: func(context.Context,
			*seal) error {
			return forbidden
		}}))
	seals := schema.For[seal]()
	var err error
	o.model, err = model.Reflect(c, &model.Options{Fields: []*model.CustomField{
		{On: "papers", Name: "summary", Out: seals, Parent: reflect.TypeFor[paper](),
			Each: func(_ context.Context, items []any, _ any) ([]any, error) {
				out := make([]any, len(items))
				for i := range items {
					out[i] = &seal{Motto: mark}
				}
				return out, nil
			}},
		{On: "Query", Name: "peek", Out: seals, Nullable: true,
			Root: func(ctx context.Context, _ any) (any, error) {
				e, err := papers.Get(ctx, "b1") // as custom code should read items
				if err != nil {
					return nil, err
				}
				return e.Value.(*paper).Seal, nil
			}},
		{On: "Mutation", Name: "shred", Out: nil, Root: func(ctx context.Context, _ any) (any, error) {
			_, err := papers.Delete(ctx, "b1", nil)
			return nil, err
		}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	introspect.Extend(o.model)
	o.engine = engine(&oracle.World{Catalog: c, Model: o.model})
}

// unique matches values that differ in each response.
var unique = regexp.MustCompile(`urn:uuid:[0-9a-f-]+`)

// ask returns the response to a document.
func (o *office) ask(t *testing.T, d *oracle.Document) string {
	t.Helper()
	_, said := ours(t, o.engine, d)
	return unique.ReplaceAllString(said, "urn")
}

// all returns the papers in the store.
func (o *office) all(t *testing.T) []paper {
	t.Helper()
	var list []paper
	for item, err := range iter.Seq2[resource.Item[paper],
		error](o.papers.List(t.Context(), query.Query{Sort: []query.Order{{Field: "id"}}})) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, item.Value)
	}
	return list
}

// everything returns a document for each root field, with all fields below it, and records these
// fields.
func everything(s *model.Schema, seen map[string]bool) []*oracle.Document {
	var docs []*oracle.Document
	for kind, root := range map[string]*model.Type{"query": s.Query, "mutation": s.Mutation} {
		for _, f := range root.Fields {
			seen[root.Name+"."+f.Name] = true
			text := kind + " { " + f.Name + givenAll(f) + allOf(f.Type.Named(), 4, seen) + " }"
			docs = append(docs, &oracle.Document{Text: text})
		}
	}
	slices.SortFunc(docs, func(a, b *oracle.Document) int { return strings.Compare(a.Text, b.Text) })
	return docs
}

// allOf selects all fields of a type and of the types below it.
func allOf(t *model.Type, depth int, seen map[string]bool) string {
	if !t.IsComposite() {
		return ""
	}
	parts := []string{"__typename"}
	for _, f := range t.Fields {
		if depth == 0 && f.Type.Named().IsComposite() {
			continue
		}
		seen[t.Name+"."+f.Name] = true
		parts = append(parts, f.Name+givenAll(f)+allOf(f.Type.Named(), depth-1, seen))
	}
	return " { " + strings.Join(parts, " ") + " }"
}

// givenAll returns the required arguments, with all members of input objects.
func givenAll(f *model.Field) string {
	var parts []string
	for _, a := range f.Args {
		if a.Type.NonNull {
			parts = append(parts, a.Name+": "+some(a.Type, 3))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "(" + strings.Join(parts, ", ") + ")"
}

// some returns a value of a type. An id is that of an existing item.
func some(t *model.Ref, depth int) string {
	switch {
	case t.Elem != nil:
		return "[" + some(t.Elem, depth) + "]"
	case t.Type.Kind == model.Enum:
		return t.Type.Values[0].Name
	case t.Type.Kind == model.InputObject:
		var parts []string
		for _, in := range t.Type.Inputs {
			if depth > 0 {
				parts = append(parts, in.Name+": "+some(in.Type, depth-1))
			}
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	switch t.Type.Name {
	case "Int", "Int64", "Float":
		return "1"
	case "Boolean":
		return "true"
	}
	return `"b2"`
}

// TestGuarded: a caller without access receives, from every field, the same response as if there
// were no papers, and cannot change them. The fields are taken from the schema, so none is
// forgotten.
func TestGuarded(t *testing.T) {
	t.Parallel()
	for _, g := range guards() {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			full, empty := newOffice(t, &g, true), newOffice(t, &g, false)
			before := full.all(t)
			seen := map[string]bool{}
			for _, d := range everything(full.model, seen) {
				full.keeps(t, &g, empty, d)
			}
			for _, typ := range full.model.Types {
				for _, f := range typ.Fields {
					if !seen[typ.Name+"."+f.Name] && !strings.HasPrefix(typ.Name, "__") {
						t.Errorf("%s.%s is not tried", typ.Name, f.Name)
					}
				}
			}
			for n := range uint64(300) { // filters, sorting and pages could reveal papers, too
				o := oracle.Options{Mutation: n%3 == 2}
				full.keeps(t, &g, empty, oracle.Generate(full.model, seed(n), o))
			}
			if diff := cmp.Diff(before, full.all(t)); diff != "" {
				t.Errorf("what is stored has been changed (-before +after):\n%s", diff)
			}
			if n := full.asked.Load(); n > 0 {
				t.Errorf("code has been called %d times that is not for everybody", n)
			}
		})
	}
}

// keeps compares the responses of two offices to a document. One of them has papers.
func (o *office) keeps(t *testing.T, g *guard, empty *office, d *oracle.Document) {
	t.Helper()
	said := o.ask(t, d)
	if g.reads {
		return // the caller may read the papers
	}
	if strings.Contains(said, mark) {
		t.Errorf("%s\n%s", d.Text, said)
	}
	if diff := cmp.Diff(empty.ask(t, d), said); diff != "" {
		t.Errorf("%s\nanother answer than without papers (-without +with):\n%s", d.Text, diff)
	}
}

// TestGuardedReturnsData: for a caller with access, every field that leads to papers returns
// them.
func TestGuardedReturnsData(t *testing.T) {
	t.Parallel()
	for _, d := range everything(newOffice(t, nil, true).model, map[string]bool{}) {
		o := newOffice(t, nil, true)
		d.Text = strings.Replace(d.Text, `createPaper(input: {id: "b2"`, `createPaper(input: {id: "new"`, 1)
		said := o.ask(t, d)
		created := strings.Contains(d.Text, "createPaper") || strings.Contains(d.Text, "replacePaper")
		if !strings.Contains(said, mark) && !created && !strings.Contains(d.Text, "shred") {
			t.Errorf("%s\n%s", d.Text, said)
		}
		writes := strings.HasPrefix(d.Text, "mutation")
		if changed := o.asked.Load() > 0; changed != writes {
			t.Errorf("%s\nit changes something: %v\n%s", d.Text, changed, said)
		}
	}
}
