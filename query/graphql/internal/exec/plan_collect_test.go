package exec_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/lexer"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	const fragments = ` fragment T on Book { title } fragment C on Book { cover { color } } fragment N ` +
		`on Book { ...T id ...C }`
	tests := []struct{ name, document, variables, want string }{
		{"the first occurrence decides the place", `{ book(id: 1) { id title id } }`, "",
			`{"id":"1","title":"First"}`},
		{"sub-selections are one", `{ book(id: 1) { cover { a: color } id cover { b: color a: color } } }`,
			"",
			`{"cover":{"a":"red","b":"red"},"id":"1"}`},
		{"roots are one", `{ book(id: 1) { id } ... { book(id: 1) { title } } }`, "",
			`{"id":"1","title":"First"}`},
		{"fragments", `{ book(id: 1) { id ...T } }` + fragments[:len(" fragment T on Book { title }")], "",
			`{"id":"1","title":"First"}`},
		{"fragments in fragments", `{ book(id: 1) { ...N ...T ...N } }` + fragments, "",
			`{"title":"First","id":"1","cover":{"color":"red"}}`},
		{"inline fragments",
			`{ book(id: 1) { ... { title } ... on Book { id cover { color } } ... @include(if: true) { ` +
				`price } } }`, "",
			`{"title":"First","id":"1","cover":{"color":"red"},"price":9.5}`},
		{"constants",
			`{ book(id: 1) { title @skip(if: true) id @include(if: false) price @skip(if: false) pages ` +
				`@include(if: true) } }`,
			"", `{"price":9.5,"pages":100}`},
		{"nothing is left",
			`query($no: Boolean!) { book(id: 1) { title @include(if: $no) cover { color @include(if: ` +
				`$no) } } }`,
			`{"no": false}`, `{"cover":{}}`},
		{"both directives",
			`query($a: Boolean!, $b: Boolean!) { book(id: 1) { title @skip(if: $a) @include(if: $b) id } }`,
			`{"a": false, "b": true}`, `{"title":"First","id":"1"}`},
		{"both directives, of which one says no",
			`query($a: Boolean!) { book(id: 1) { title @skip(if: $a) @include(if: $a) id } }`,
			`{"a": true}`, `{"id":"1"}`},
		{"the place of what is skipped at first",
			`query($a: Boolean!) { book(id: 1) { title @include(if: $a) id title } }`,
			`{"a": false}`, `{"id":"1","title":"First"}`},
		{"and if it is not", `query($a: Boolean!) { book(id: 1) { title @include(if: $a) id title } }`,
			`{"a": true}`, `{"title":"First","id":"1"}`},
		{"what only one of two fields selects",
			`query($a: Boolean!) { book(id: 1) { cover @include(if: $a) { a: color } cover { b: color } } }`,
			`{"a": false}`, `{"cover":{"b":"red"}}`},
		{"a default", `query($a: Boolean = false) { book(id: 1) { title @include(if: $a) id } }`, "",
			`{"id":"1"}`},
	}
	w := newWorld(t, setting{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(`{"data":{"book":`+tt.want+`}}`,
				w.ask(t, tt.document, tt.variables)); diff != "" {
				t.Errorf("answer (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSkippedIsNotFetched checks that fields that are skipped are not fetched.
func TestSkippedIsNotFetched(t *testing.T) {
	t.Parallel()
	const document = `query($a: Boolean!) { book(id: 1) { id author @include(if: $a) { name } }
		books @skip(if: $a) { nodes @include(if: $a) { author { name } } edges { node { sequel { id } } } totalCount @skip(if: $a) } }`
	const edges = `query($a: Boolean!, $b: Boolean!) { books { edges @include(if: $a) { node ` +
		`@include(if: $b) { author { name } } } } }`
	tests := []struct{ document, variables, calls string }{
		{document, `{"a": true}`, "authors many 1, books get 1"},
		{document, `{"a": false}`, "books count, books get 1, books list, books many 3"},
		{edges, `{"a": true, "b": false}`, "books list"},
		{edges, `{"a": false, "b": true}`, "books list"},
		{edges, `{"a": true, "b": true}`, "authors many 2, books list"},
	}
	for _, tt := range tests {
		t.Run(tt.variables, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{})
			w.ask(t, tt.document, tt.variables)
			if diff := cmp.Diff(tt.calls, w.took()); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNullCondition(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	got := w.ask(t, `query($a: Boolean = true) { book(id: 1) { title @include(if: $a) } }`, `{"a": null}`)
	want := `{"errors":[{"message":"Argument \"if\" of a directive must not be null, as the variable ` +
		`\"$a\" is.",` +
		`"locations":[{"line":1,"column":43}],"extensions":{"code":"BAD_USER_INPUT"}}]}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	if calls := w.took(); calls != "" {
		t.Errorf("fetched: %s", calls)
	}
}

// TestConditions compares with an implementation of CollectFields as in the specification, for each
// object and combination of variables.
func TestConditions(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{config: exec.Config{Scan: lexer.Limits{Directives: 1000}}})
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		g := documents{random: random}
		document := g.document()
		doc, err := parser.Parse(document)
		if err != nil {
			t.Fatalf("%s: %v", document, err)
		}
		for combination := range 8 {
			on := map[string]bool{"a": combination&1 > 0, "b": combination&2 > 0, "c": combination&4 > 0}
			s := straight{on: on, fragments: map[string]*parser.FragmentDefinition{}}
			for _, def := range doc.Definitions {
				if f, ok := def.(*parser.FragmentDefinition); ok {
					s.fragments[f.Name.Value] = f
				}
			}
			op := doc.Definitions[0].(*parser.OperationDefinition)
			want := `{"data":` + s.object([]*parser.SelectionSet{op.SelectionSet}) + `}`
			got := w.ask(t, document, fmt.Sprintf(`{"a": %t, "b": %t, "c": %t}`, on["a"], on["b"], on["c"]))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%s with %v (-want +got):\n%s", document, on, diff)
			}
		}
	}
}

// documents generates documents for which the value of each field follows from its name.
type documents struct{ random *rand.Rand }

// shape has the fields of each type, and the types of their subfields.
var shape = map[string]map[string]string{
	"Query": {`book(id: 1)`: "Book"},
	"Book":  {"title": "", "cover": "Cover", "author": "Author", "sequel": "Sequel", "id": ""},
	// a separate entry, so that documents are finite
	"Sequel": {"title": "", "id": "", "author": "Author"},
	"Cover":  {"color": "", "__typename": ""},
	"Author": {"name": "", "id": "", "__typename": ""},
}

// answers has the values of leaf fields for the first book and its related items.
var answers = map[string]string{"title": `"First"`, "id": `"1"`, "color": `"red"`,
	"Cover.__typename": `"Cover"`, "name": `"Ann"`,
	"Author.__typename": `"Author"`, "Author.id": `"ann"`, "Sequel.title": `"Second"`, "Sequel.id": `"2"`}

func (g *documents) document() string {
	uses := `fragment F on Book {` + g.fields("Book", 2) + `} fragment G on Book { ...F ` + g.condition() +
		g.fields("Book", 2) + `}`
	return `query($a: Boolean!, $b: Boolean!, $c: Boolean!) { book(id: 1) { id @skip(if: $a) ` +
		`@include(if: $b) sequel @include(if: $c) { id } ...F ` +
		g.condition() + ` ...G ` + g.condition() + g.fields("Book", 5) + `} book(id: 1) {` +
		g.fields("Book", 3) + `} } ` + uses
}

func (g *documents) condition() string {
	var b strings.Builder
	for range g.random.IntN(3) {
		if strings.Contains(b.String(), "skip") || strings.Contains(b.String(), "include") {
			break
		}
		fmt.Fprintf(&b, "@%s(if: %s) ", []string{"skip", "include"}[g.random.IntN(2)],
			[]string{"$a", "$b", "$c", "true", "false"}[g.random.IntN(5)])
	}
	return b.String()
}

// fields returns n selections of a type in random order.
func (g *documents) fields(typ string, n int) string {
	var b strings.Builder
	for range n {
		if typ == "Book" && g.random.IntN(4) == 0 {
			b.WriteString("... " + g.condition() + "{ " + g.fields(typ, 2) + "} ")
			continue
		}
		skip := g.random.IntN(len(shape[typ]))
		for _, name := range sorted(shape[typ]) {
			if skip--; skip >= 0 {
				continue
			}
			b.WriteString(name + " " + g.condition())
			if below := shape[typ][name]; below != "" {
				b.WriteString("{ " + g.fields(below, 2) + "} ")
			}
			break
		}
	}
	return b.String()
}

// straight executes a document as in the specification, for the first book.
type straight struct {
	on        map[string]bool
	fragments map[string]*parser.FragmentDefinition
	typ       []string
}

// object implements ExecuteSelectionSet.
func (s *straight) object(sets []*parser.SelectionSet) string {
	fields, keys, visited := map[string][]*parser.Field{}, []string{}, map[string]bool{}
	for _, set := range sets {
		s.collect(set, fields, &keys, visited)
	}
	var parts []string
	for _, key := range keys {
		parts = append(parts, fmt.Sprintf("%q:%s", key, s.value(fields[key])))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (s *straight) value(fields []*parser.Field) string {
	name := fields[0].Name.Value
	if fields[0].SelectionSet == nil {
		if len(s.typ) > 0 {
			if own, ok := answers[s.typ[len(s.typ)-1]+"."+name]; ok {
				return own
			}
		}
		return answers[name]
	}
	var sets []*parser.SelectionSet
	for _, f := range fields {
		sets = append(sets, f.SelectionSet)
	}
	s.typ = append(s.typ, strings.ToUpper(name[:1])+name[1:])
	defer func() { s.typ = s.typ[:len(s.typ)-1] }()
	return s.object(sets)
}

// collect implements CollectFields (section 6.3.2).
func (s *straight) collect(set *parser.SelectionSet, fields map[string][]*parser.Field, keys *[]string,
	visited map[string]bool) {
	for _, sel := range set.Selections {
		switch sel := sel.(type) {
		case *parser.Field:
			if s.selected(sel.Directives) {
				key := sel.Name.Value
				if fields[key] == nil {
					*keys = append(*keys, key)
				}
				fields[key] = append(fields[key], sel)
			}
		case *parser.InlineFragment:
			if s.selected(sel.Directives) {
				s.collect(sel.SelectionSet, fields, keys, visited)
			}
		case *parser.FragmentSpread:
			if s.selected(sel.Directives) && !visited[sel.Name.Value] {
				visited[sel.Name.Value] = true
				s.collect(s.fragments[sel.Name.Value].SelectionSet, fields, keys, visited)
			}
		}
	}
}

func (s *straight) selected(directives []*parser.Directive) bool {
	for _, d := range directives {
		var value bool
		switch v := d.Arguments[0].Value.(type) {
		case *parser.BooleanValue:
			value = v.Value
		case *parser.Variable:
			value = s.on[v.Name.Value]
		}
		if value == (d.Name.Value == "skip") {
			return false
		}
	}
	return true
}
