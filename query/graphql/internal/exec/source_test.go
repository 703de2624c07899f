package exec_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
)

// episode is the input of a lookup.
type episode struct {
	Name string `json:"name" required:"true"`
}

// parcel is the input and output of commands.
type parcel struct {
	Books []int64 `json:"books"`
	Cover *cover  `json:"cover"`
}

// factor is the argument of a computed field.
type factor struct {
	By int64 `json:"by" default:"2" minimum:"0" maximum:"100"`
}

// all returns a setting with a field of each source.
func all() setting {
	parts := []resource.Part{
		resource.NewLookup("hero", "books", func(_ context.Context, in episode) (string, error) {
			if in.Name == "bad" {
				return "", errors.New("the index is broken")
			}
			return map[string]string{"first": "1", "third": "3", "old": "77"}[in.Name], nil
		}),
		command.New("post/send", func(_ context.Context, in parcel) (parcel, error) {
			in.Books = append(in.Books, 7)
			return in, nil
		}, &command.Options[parcel]{Public: true}),
		command.New("post/stop", func(_ context.Context, in parcel) (struct{}, error) {
			if len(in.Books) > 0 {
				return struct{}{}, resource.Invalid("books", "tooMany")
			}
			return struct{}{}, nil
		}, &command.Options[parcel]{Public: true}),
	}
	times := &model.CustomField{On: "books", Name: "times", In: typed[factor](), Out: typed[int64](),
		Parent: typed[book]().GoType, Cost: 1,
		Each: func(_ context.Context, items []any, in any) ([]any, error) {
			values := make([]any, len(items))
			for i, item := range items {
				n := item.(*book).Pages * in.(*factor).By
				values[i] = &n
			}
			return values, nil
		}}
	covers := []*cover{{"red"}, nil, {"blue"}}
	return setting{parts: parts, fields: []*model.CustomField{times,
		rootField("covers", true, func(context.Context) (*[]*cover, error) { return &covers, nil }),
		rootField("words", true, func(context.Context) (*[]string, error) {
			return &[]string{"a", "b"},
				nil
		}),
		rootField("count", true, func(context.Context) (*int32, error) { n := int32(3); return &n, nil }),
		rootField("nothing", true, func(context.Context) (*cover, error) { return nil, nil }),
		rootField("grid", true, func(context.Context) (*[][]edition,
			error) {
			return &[][]edition{{{Year: 1}}, {}}, nil
		}),
		{On: "Mutation", Name: "reset", Cost: 1,
			Root: func(context.Context, any) (any, error) { return nil, nil }},
	}}
}

func TestSources(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, want string }{
		{"Lookup", `{ hero(name: "third") { id sequel { title } } none: hero(name: "?") { id } old: ` +
			`hero(name: "old") { id } }`,
			`{"hero":{"id":"3","sequel":{"title":"First"}},"none":null,"old":null}`},
		{"a lookup that fails", `{ hero(name: "bad") { id } }`,
			`[hero] INTERNAL_SERVER_ERROR; {"hero":null}`},
		{"Create", `mutation { createBook(input: {title: "N", authorId: "bob", genre: poems, tags: ["x"], cover: {color: blue}}) {
			title genre tags cover { color } author { name } } }`,
			`{"createBook":{"title":"N","genre":"poems","tags":["x"],"cover":{"color":"blue"},` +
				`"author":{"name":"Bob \"B\""}}}`},
		{"Patch", `mutation { patchBook(id: 1, input: {note: null, pages: 5}) { note pages title } }`,
			`{"patchBook":{"note":null,"pages":5,"title":"First"}}`},
		{"Replace", `mutation { replaceBook(id: 1, input: {title: "R"}) { note pages title genre } }`,
			`{"replaceBook":{"note":null,"pages":0,"title":"R","genre":"novel"}}`},
		{"Replace what is not there", `mutation { replaceBook(id: 77, input: {title: "R"}) { id } }`,
			`[replaceBook] NOT_FOUND; {"replaceBook":null}`},
		{"Delete", `mutation { deleteBook(id: 3) { title reviews { id } } }`,
			`{"deleteBook":{"title":"Third","reviews":[]}}`},
		{"Delete what has changed", `mutation { deleteBook(id: 3, ifMatch: "\"x\"") { title } }`,
			`[deleteBook] PRECONDITION_FAILED; {"deleteBook":null}`},
		{"Invoke", `mutation { postSend(input: {books: [1], cover: {color: red}}) { books cover { color ` +
			`} } }`,
			`{"postSend":{"books":[1,7],"cover":{"color":"red"}}}`},
		{"Invoke without an output",
			`mutation { postStop(input: {books: []}) b: postStop(input: {books: [1]}) }`,
			`[b] BAD_USER_INPUT; {"postStop":true,"b":null}`},
		{"Custom", `{ covers { color } words count nothing { color } grid { year } }`,
			`{"covers":[{"color":"red"},null,{"color":"blue"}],"words":["a","b"],"count":3,` +
				`"nothing":null,"grid":[[{"year":1}],[]]}`},
		{"Custom without a value", `mutation { reset }`, `{"reset":true}`},
		{"Computed", `{ books { nodes { times a: times(by: 3) sequel { times } } } }`,
			`{"books":{"nodes":[{"times":200,"a":300,"sequel":{"times":400}},` +
				`{"times":400,"a":600,"sequel":null},{"times":600,"a":900,"sequel":{"times":200}}]}}`},
		{"Computed with bad arguments", `{ book(id: 1) { times(by: 101) } }`,
			`[book times] BAD_USER_INPUT; {"book":null}`},
		{"Related to itself", `{ book(id: 3) { sequel { sequel { sequel { id } } } } }`,
			`{"book":{"sequel":{"sequel":{"sequel":null}}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, all())
			if diff := cmp.Diff(tt.want, outline(t, w.ask(t, tt.document))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestETag checks that the ETag of an item is accepted as ifMatch, and others are not.
func TestETag(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	const document = `mutation($tag: String) { patchBook(id: 1, input: {title: "New"}, ifMatch: $tag) { ` +
		`title etag } }`
	before := w.ask(t, `{ book(id: 1) { etag } }`)
	tag := strings.TrimSuffix(strings.TrimPrefix(before, `{"data":{"book":{"etag":`), `}}}`)
	got := w.ask(t, document, `{"tag": `+tag+`}`)
	if !strings.HasPrefix(got, `{"data":{"patchBook":{"title":"New","etag":"`) || strings.Contains(got, tag) {
		t.Errorf("answer %s with %s", got, tag)
	}
	if got := outline(t,
		w.ask(t, document,
			`{"tag": `+tag+`}`)); got != `[patchBook] PRECONDITION_FAILED; {"patchBook":null}` {
		t.Errorf("again: %s", got)
	}
}

// TestCursors reads a list in both directions.
func TestCursors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	cursor := func(edge string) string {
		t.Helper()
		_, after, _ := strings.Cut(w.ask(t,
			`{ books(orderBy: [{field: title, direction: DESC}]) { edges { node { title } cursor } } }`),
			edge+`"},"cursor":`)
		text, _, ok := strings.Cut(after, "}")
		if !ok {
			t.Fatalf("no cursor of %s", edge)
		}
		return text
	}
	tests := []struct{ name, arguments, want string }{
		{"after", `after: ` + cursor("Third"),
			`{"nodes":[{"title":"Second"},{"title":"First"}],"pageInfo":{"hasNextPage":false,` +
				`"hasPreviousPage":true}}`},
		{"after the last", `after: ` + cursor("First"),
			`{"nodes":[],"pageInfo":{"hasNextPage":false,"hasPreviousPage":true}}`},
		{"one after", `first: 1, after: ` + cursor("Third"),
			`{"nodes":[{"title":"Second"}],"pageInfo":{"hasNextPage":true,"hasPreviousPage":true}}`},
		{"in front", `last: 1, before: ` + cursor("First"),
			`{"nodes":[{"title":"Second"}],"pageInfo":{"hasNextPage":true,"hasPreviousPage":true}}`},
		{"at the end", `last: 2`,
			`{"nodes":[{"title":"Second"},{"title":"First"}],"pageInfo":{"hasNextPage":false,` +
				`"hasPreviousPage":true}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := w.ask(t,
				`{ books(orderBy: [{field: title, direction: DESC}], `+tt.arguments+`) { nodes { title } `+
					`pageInfo { hasNextPage hasPreviousPage } } }`)
			if diff := cmp.Diff(`{"data":{"books":`+tt.want+`}}`, got); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
	page := w.ask(t, `{ books(orderBy: [{field: title, direction: DESC}], first: 2) { pageInfo { `+
		`startCursor endCursor } } }`)
	if want := `{"data":{"books":{"pageInfo":{"startCursor":` + cursor("Third") + `,"endCursor":` +
		cursor("Second") + `}}}}`; page != want {
		t.Errorf("page info %s, want %s", page, want)
	}
}

// TestSubscription checks that Run rejects the plan of a subscription.
func TestSubscription(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	if got, outcome := w.run(t.Context(), t, `subscription { a }`, ""); outcome != exec.Refused ||
		!strings.Contains(got, "GRAPHQL_VALIDATION_FAILED") {
		t.Errorf("without subscriptions: %s", got)
	}
	w.schema.Subscription = &model.Type{Kind: model.Object, Name: "Subscription",
		Fields: []*model.Field{w.schema.Query.Field("book")}}
	w.schema.Types = append(w.schema.Types, w.schema.Subscription)
	w.remake(t, setting{})
	const document = `subscription { book(id: 1) { title } }`
	if kind := w.plan(t, document).Kind; kind != "subscription" {
		t.Errorf("the kind is %s", kind)
	}
	got, outcome := w.run(t.Context(), t, document, "")
	if outcome != exec.Refused || !strings.Contains(got, `"code":"OPERATION_RESOLUTION_FAILURE"`) ||
		w.took() != "" {
		t.Errorf("outcome %v, answer %s", outcome, got)
	}
}
