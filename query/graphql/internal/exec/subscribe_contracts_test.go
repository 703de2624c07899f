package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
	"github.com/graphql-go/graphql"
	"github.com/graphql-go/graphql/language/parser"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest/oracle"
	"github.com/stoa-go/stoa/query/graphql/internal/introspect"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/memory"
)

// note is the stored type, and memo its representation in an older version.
type note struct {
	ID   string   `json:"id"`
	Text string   `json:"text"`
	Tags []string `json:"tags"`
}

type memo struct {
	ID    string `json:"id"`
	Words string `json:"words"`
}

// contracts returns two versions of the same notes.
func contracts(t *testing.T) (newer, older *world) {
	t.Helper()
	db := memory.NewDB()
	f := feed.New(feed.NewMemory(&feed.MemoryOptions{Runner: db}), nil)
	t.Cleanup(func() { f.Close() })
	notes := resource.New("notes", memory.New(&memory.Options[note]{DB: db}),
		&resource.Options[note]{Public: true,
			Query: query.Support{Filter: map[string][]query.Op{"text": {query.Eq}}}})
	memos := resource.View(notes, func(n note) (memo, error) { return memo{n.ID, n.Text}, nil },
		func(m memo, base note) (note, error) { return note{m.ID, m.Words, base.Tags}, nil },
		&resource.ViewOptions{Fields: map[string]string{"words": "text"}})
	open := func(part resource.Part, name string) *world {
		w := &world{feed: f}
		w.catalog = resource.NewCatalog(&resource.CatalogOptions{Feed: f}, part)
		var err error
		if w.schema, err = model.Reflect(w.catalog,
			&model.Options{Names: map[string]string{"notes": name}}); err != nil {
			t.Fatal(err)
		}
		introspect.Extend(w.schema)
		w.remake(t, setting{})
		return w
	}
	return open(notes, "Note"), open(memos, "Memo")
}

// TestContractsShareChanges checks that a change made in one version is reported once in each
// version that shows it.
func TestContractsShareChanges(t *testing.T) {
	t.Parallel()
	newer, older := contracts(t)
	ask := func(w *world, document string) {
		t.Helper()
		if out := w.ask(t, document); strings.Contains(out, "errors") {
			t.Fatal(out)
		}
	}
	at, err := newer.feed.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask(older, `mutation { createMemo(input: {id: "a", words: "one"}) { id } }`)
	ask(newer, `mutation { patchNote(id: "a", input: {tags: ["x"]}) { id } }`)
	ask(newer, `mutation { patchNote(id: "a", input: {tags: ["x"]}) { id } }`) // no effect
	ask(older, `mutation { patchMemo(id: "a", input: {words: "two"}) { id } }`)
	ask(newer, `mutation { deleteNote(id: "a") { id } }`)
	tests := []struct {
		name     string
		w        *world
		document string
		want     []string
	}{
		{"newer", newer, `subscription { noteChanged { kind id note { text tags } } }`, []string{
			`{"kind":"CREATED","id":"a","note":{"text":"one","tags":[]}}`,
			`{"kind":"UPDATED","id":"a","note":{"text":"one","tags":["x"]}}`,
			`{"kind":"UPDATED","id":"a","note":{"text":"two","tags":["x"]}}`,
			`{"kind":"DELETED","id":"a","note":null}`}},
		{"older", older, `subscription { memoChanged { kind id memo { words } } }`, []string{
			`{"kind":"CREATED","id":"a","memo":{"words":"one"}}`,
			`{"kind":"UPDATED","id":"a","memo":{"words":"two"}}`, `{"kind":"DELETED","id":"a","memo":null}`}},
		{"newer, filtered", newer,
			`subscription { noteChanged(filter: {text: {eq: "one"}}) { kind note { text tags } } }`, []string{
				`{"kind":"CREATED","note":{"text":"one","tags":[]}}`,
				`{"kind":"UPDATED","note":{"text":"one","tags":["x"]}}`,
				`{"kind":"DELETED","note":null}`}},
	}
	for _, tt := range tests {
		var got []string
		for m, err := range tt.w.subscribe(t.Context(), t, tt.document, "", at.String()) {
			if err != nil {
				t.Fatal(err)
			}
			_, data, _ := strings.Cut(string(m.JSON), `Changed":`)
			if got = append(got, strings.TrimSuffix(data, "}}")); len(got) == len(tt.want) {
				break
			}
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestETagOfChange checks that the ETag of a change is accepted as ifMatch.
func TestETagOfChange(t *testing.T) {
	t.Parallel()
	newer, older := contracts(t)
	at, err := newer.feed.Position(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := map[*world]string{newer: newer.ask(t,
		`mutation { createNote(input: {id: "a", text: "one"}) { etag } }`)}
	want[older] = older.ask(t, `{ memo(id: "a") { etag } }`)
	for w, document := range map[*world]string{
		newer: `subscription { noteChanged { note { etag } } }`,
		older: `subscription { memoChanged { memo { etag } } }`,
	} {
		for m, err := range w.subscribe(t.Context(), t, document, "", at.String()) {
			_, tag, found := strings.Cut(string(m.JSON), `"etag":`)
			if tag = strings.TrimRight(tag, "}"); err != nil || !found ||
				!strings.Contains(want[w], `"etag":`+tag) {
				t.Errorf("the tag is %s, %v, want that of %s", m.JSON, err, want[w])
			}
			break
		}
	}
}

// TestSubscribeAsGraphQLGo compares with graphql-go, which resolves field by field, for the same
// documents and changes.
func TestSubscribeAsGraphQLGo(t *testing.T) {
	t.Parallel()
	s := all()
	s.feed = true
	w := newWorld(t, s)
	w.life(t)
	for id := range int64(3) {
		b := book{ID: id + 1, Title: fmt.Sprint("Book ", id), Genre: "essay", AuthorID: "bob",
			Tags: []string{"a"}, Shelf: "B",
			Cover: &cover{"blue"}}
		w.happens(t, nil, &b)
	}
	schema, err := oracle.Schema(w.schema, w.catalog)
	if err != nil {
		t.Fatal(err)
	}
	start, err := feed.ParseCursor(w.cursors[0])
	if err != nil {
		t.Fatal(err)
	}
	books := w.catalog.Resources()[0]
	documents := []string{
		`subscription { bookChanged { kind id cursor
			book { id title genre pages sold price note tags moods published shelf etag } } }`,
		`subscription { bookChanged { cursor
			it: book { cover { color } editions { year } author { id name } reviews { stars } sequel { title } } } }`,
		`subscription { bookChanged { book { ...B author { books { id } } times(by: 2) } __typename } }
			fragment B on Book { id __typename }`,
	}
	for _, document := range documents {
		doc, err := parser.Parse(parser.ParseParams{Source: document})
		if err != nil {
			t.Fatal(err)
		}
		l := w.engine.Listener(w.plan(t, document), nil, false)
		told := 0
		for c, err := range books.Watch(t.Context(), start, query.Filter{}) {
			if err != nil {
				t.Fatal(err)
			}
			if c.Kind == feed.Bookmark {
				continue
			}
			want := graphql.Execute(graphql.ExecuteParams{Schema: schema, AST: doc, Context: t.Context(),
				Root: c})
			if len(want.Errors) > 0 {
				t.Fatal(want.Errors)
			}
			compareJSON(t, document, want.Data, l.Message(t.Context(), c))
			if told++; told == 6 {
				break
			}
		}
	}
}

// compareJSON compares data with that of a response, ignoring the order of members.
func compareJSON(t *testing.T, what string, data any, answer []byte) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"data": data})
	if err != nil {
		t.Fatal(err)
	}
	var want, got any
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(answer, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
