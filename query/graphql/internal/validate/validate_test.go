package validate_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/graphqltest"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/query/graphql/internal/validate"
)

func document(t testing.TB, text string) *parser.Document {
	t.Helper()
	doc, err := parser.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return doc
}

// lines returns errors in the format of the corpus: rule, message and locations, sorted.
func lines(errs []validate.Error) []string {
	all := []string{}
	for _, e := range errs {
		var locations []string
		for _, p := range e.Locations {
			locations = append(locations, fmt.Sprintf("%d:%d", p.Line, p.Column))
		}
		all = append(all, fmt.Sprintf("%s: %s @ %s", e.Rule, e.Message, strings.Join(locations, " ")))
	}
	slices.Sort(all)
	return all
}

// TestReference compares errors with those of graphql-js 16, for one or two documents per rule and
// way to break it. A test in .ci/clients generates and verifies the file.
func TestReference(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var corpus []struct {
		Text string
		Want []string
	}
	if err := json.Unmarshal(text, &corpus); err != nil {
		t.Fatal(err)
	}
	if len(corpus) < 100 {
		t.Fatalf("only %d documents", len(corpus))
	}
	s := graphqltest.New()
	for _, tt := range corpus {
		t.Run(tt.Text, func(t *testing.T) {
			t.Parallel()
			got := lines(validate.Document(s, document(t, tt.Text), validate.Limits{}))
			if diff := cmp.Diff(tt.Want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOwnRules covers rules that graphql-js 16 does not have: those of later editions of the
// specification, and limits.
func TestOwnRules(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"subscription($a:Boolean!){born @skip(if:$a){id}}",
			"SingleFieldSubscriptions: Anonymous Subscription must not use " +
				"`@skip` or `@include` directives in the top level selection. @ 1:32"},
		{"subscription S{...F} fragment F on Subscription{...on Subscription @include(if:true){born{id}}}",
			"SingleFieldSubscriptions: Subscription \"S\" must not use `@skip` or `@include` directives " +
				"in the top level " +
				"selection. @ 1:68"},
	}
	s := graphqltest.New()
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			t.Parallel()
			got := lines(validate.Document(s, document(t, tt.text), validate.Limits{}))
			if diff := cmp.Diff([]string{tt.want}, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoSuchOperation(t *testing.T) {
	t.Parallel()
	number := &model.Type{Kind: model.Scalar, Name: "Int"}
	query := &model.Type{Kind: model.Object, Name: "Query",
		Fields: []*model.Field{{Name: "a", Type: &model.Ref{Type: number}}}}
	s := &model.Schema{Query: query, Types: []*model.Type{number, query}}
	for _, kind := range []string{"mutation", "subscription"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			got := lines(validate.Document(s, document(t, kind+"{a{b(c:$d)}}"), validate.Limits{}))
			want := []string{"KnownOperationTypes: The " + kind +
				" operation is not supported by the schema. @ 1:1",
				`NoUndefinedVariables: Variable "$d" is not defined. @ ` +
					fmt.Sprintf("1:%d 1:1", len(kind)+8)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	nested := func(n int) string {
		return "{dog{" + strings.Repeat("self{", n-2) + "__typename" + strings.Repeat("}", n)
	}
	aliases := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, " a%d:dog{id}", i)
		}
		return b.String()
	}
	ofType := func(n int) string { return strings.Repeat("ofType{", n) + "name" + strings.Repeat("}", n) }
	tests := []struct {
		name, text string
		limits     validate.Limits
		want       string
	}{
		{"depth", nested(17), validate.Limits{},
			"Limits: The operation nests fields 17 levels deep; at most 16 are allowed. @ 1:1"},
		{"as deep", nested(16), validate.Limits{}, ""},
		{"depth by fragments", "query Q{dog{...F}} fragment F on Dog{self{...G}} fragment G on Dog{self{id}}",
			validate.Limits{Depth: 3},
			`Limits: The operation "Q" nests fields 4 levels deep; at most 3 are allowed. @ 1:1`},
		{"introspection counts apart", "{__type(name:\"Dog\"){" + ofType(30) + "}}", validate.Limits{}, ""},
		{"introspection has an end", "{__type(name:\"Dog\"){" + ofType(33) + "}}", validate.Limits{},
			"Limits: The operation nests fields of introspection 34 levels deep; at most 32 are " +
				"allowed. @ 1:1"},
		{"root fields", "{" + aliases(101) + "}", validate.Limits{},
			"Limits: The operation selects 101 fields at its root; at most 100 are allowed. @ 1:1"},
		{"as many root fields", "{" + aliases(100) + "}", validate.Limits{}, ""},
		{"root fields by fragments", "{...F dog{id} ...{...F}} fragment F on Query{dog{id}}",
			validate.Limits{RootFields: 2},
			"Limits: The operation selects 3 fields at its root; at most 2 are allowed. @ 1:1"},
		{"fields", "{dog{...F} a:dog{...F}} fragment F on Dog{id name}", validate.Limits{Fields: 5},
			"Limits: The operation selects 6 fields; at most 5 are allowed. @ 1:1"},
		{"as many fields", "{dog{...F} a:dog{...F}} fragment F on Dog{id name}", validate.Limits{Fields: 6},
			""},
		{"a fragment that there is not", "{dog{id ...F}}", validate.Limits{},
			`KnownFragmentNames: Unknown fragment "F". @ 1:12`},
	}
	s := graphqltest.New()
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := strings.Join(lines(validate.Document(s, document(t, tt.text), tt.limits)), "\n")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestErrorsEnd(t *testing.T) {
	t.Parallel()
	s, doc := graphqltest.New(), document(t, "{dog{"+strings.Repeat("x ", 1000)+"}}")
	for limit, want := range map[int]int{0: 20, -1: 20, 1: 1, 7: 7, 5000: 1000} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()
			if got := len(validate.Document(s, doc, validate.Limits{Errors: limit})); got != want {
				t.Errorf("%d errors, want %d", got, want)
			}
		})
	}
}

// TestConcurrent validates concurrently with a shared schema, for the race detector.
func TestConcurrent(t *testing.T) {
	t.Parallel()
	s := graphqltest.New()
	text := `query($a:Color){thing(color:RED){...on Being{name} ...on Dog{id}} ` +
		`dog{owner{height(unit:$a)}} animals{...on Pet{name}}}`
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if errs := validate.Document(s, document(t, text), validate.Limits{}); len(errs) > 0 {
				t.Error(errs)
			}
		})
	}
	wg.Wait()
}

func BenchmarkDocument(b *testing.B) {
	s, doc := graphqltest.New(), document(b, `query Q($id: ID!, $first: Int = 10) { being(id: $id) { id name friends(first: $first) {
		id name ... on Human { height pets { name owner { name } } } } } }`)
	b.ReportAllocs()
	for b.Loop() {
		if errs := validate.Document(s, doc, validate.Limits{}); len(errs) > 0 {
			b.Fatal(errs)
		}
	}
}
