package graphql_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

type none = struct{}

type share struct {
	Of    int64   `json:"of" required:"true" minimum:"1"`
	Round bool    `json:"round" default:"true"`
	Name  *string `json:"name" maxLength:"5"`
}

type totals struct {
	Cents int64   `json:"cents"`
	Last  *order  `json:"last"`
	All   []order `json:"all"`
}

// withFields opens the handler of the shop with custom fields.
func withFields(t testing.TB, fields ...graphql.Field) *graphql.Handler {
	t.Helper()
	return newTestHandler(t, func(s *setup) { s.opts.Fields = fields })
}

// answerTo sends a document and returns the answer, errors and all.
func answerTo(t testing.TB, h *graphql.Handler, document string) string {
	t.Helper()
	document = strings.NewReplacer(`"`, `\"`, "\n", " ").Replace(document)
	return send(t, h, "POST /graphql", jsonBody, acceptNew, "", `{"query":"`+document+`"}`).body
}

// codes are those of the errors of an answer.
func codes(t testing.TB, body string) []string {
	t.Helper()
	var out []string
	for _, e := range read(t, &answer{line: "POST /graphql", body: body}).Errors {
		out = append(out, e.Extensions.Code)
	}
	return out
}

// TestQueryField: what the function returns is what clients get.
func TestQueryField(t *testing.T) {
	t.Parallel()
	five := int8(5)
	h := withFields(t,
		graphql.Query("text", func(context.Context, none) (string, error) { return "a\"b", nil }, nil),
		graphql.Query("number", func(context.Context, none) (*int8, error) { return &five, nil }, nil),
		graphql.Query("nobody", func(context.Context, none) (*totals, error) { return nil, nil }, nil),
		graphql.Query("list", func(context.Context, none) ([]*int8, error) {
			return []*int8{&five, nil},
				nil
		}, nil),
		graphql.Query("nil", func(context.Context, none) ([]string, error) { return nil, nil }, nil),
		graphql.Query("when", func(context.Context, none) (time.Time, error) {
			return time.Unix(0, 0).UTC(),
				nil
		}, nil),
		graphql.Query("map", func(context.Context, none) (map[string]int,
			error) {
			return map[string]int{"a": 1}, nil
		}, nil),
		graphql.Query("any", func(context.Context, none) (any, error) { return []any{"x", 1.5, nil}, nil },
			nil),
		graphql.Query("totals", func(context.Context, none) (totals, error) {
			return totals{Cents: 1 << 40, Last: &order{ID: 9, Status: "paid"},
				All: []order{{ID: 1, Status: "open"}}}, nil
		}, nil),
		graphql.Query("echo", func(_ context.Context, in share) (share, error) { return in, nil }, nil),
		graphql.Query("items", func(context.Context, none) ([]totals, error) {
			return make([]totals, 2),
				nil
		}, nil),
	)
	tests := []struct{ document, want string }{
		{`{text number nobody{cents} list nil when map any}`,
			`{"text":"a\"b","number":5,"nobody":null,"list":[5,null],"nil":[],` +
				`"when":"1970-01-01T00:00:00Z","map":{"a":1},"any":["x",1.5,null]}`},
		{`{totals{cents last{id status} all{id note}}}`,
			`{"totals":{"cents":1099511627776,"last":{"id":"9","status":"paid"},` +
				`"all":[{"id":"1","note":""}]}}`},
		{`{items{cents last{id}}}`, `{"items":[{"cents":0,"last":null},{"cents":0,"last":null}]}`},
		{`{echo(of:3){of round name}}`, `{"echo":{"of":3,"round":true,"name":null}}`},
		{`{echo(of:3 round:false name:"x"){of round name}}`, `{"echo":{"of":3,"round":false,"name":"x"}}`},
		{`{a:echo(of:1){of} b:echo(of:2){of}}`, `{"a":{"of":1},"b":{"of":2}}`},
		{`{totals{__typename last{__typename}}}`,
			`{"totals":{"__typename":"Totals","last":{"__typename":"OrderValue"}}}`},
	}
	for _, tt := range tests {
		t.Run(tt.document, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(`{"data":`+tt.want+`}`, answerTo(t, h, tt.document)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestQueryArguments: what breaks a tag does not reach the function.
func TestQueryArguments(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	h := withFields(t, graphql.Query("echo", func(_ context.Context, in share) (share, error) {
		calls.Add(1)
		return in, nil
	}, nil))
	for document, code := range map[string]string{
		`{echo{of}}`:                     "GRAPHQL_VALIDATION_FAILED",
		`{echo(of:null){of}}`:            "GRAPHQL_VALIDATION_FAILED",
		`{echo(of:1 x:2){of}}`:           "GRAPHQL_VALIDATION_FAILED",
		`{echo(of:0){of}}`:               "BAD_USER_INPUT",
		`{echo(of:1 name:"sixsix"){of}}`: "BAD_USER_INPUT",
		`{echo(of:1 round:null){of}}`:    "BAD_USER_INPUT",
	} {
		if diff := cmp.Diff([]string{code}, codes(t, answerTo(t, h, document))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", document, diff)
		}
	}
	if n := calls.Load(); n != 0 {
		t.Errorf("the function was called %d times", n)
	}
}

// TestFieldErrors checks the errors of fields, and that other fields are not affected.
func TestFieldErrors(t *testing.T) {
	t.Parallel()
	tests := []struct {
		err  error
		code string
	}{
		{resource.ErrNotFound, "NOT_FOUND"},
		{fmt.Errorf("no: %w", resource.ErrForbidden), "FORBIDDEN"},
		{resource.ErrUnauthenticated, "UNAUTHENTICATED"},
		{resource.Invalid("of", "prime"), "BAD_USER_INPUT"},
		{problem.New(problem.TooManyRequests, "Later."), "RATE_LIMITED"},
		{errors.New("the password is hunter2"), "INTERNAL_SERVER_ERROR"},
	}
	for _, tt := range tests {
		t.Run(tt.code, func(t *testing.T) {
			t.Parallel()
			fail := func(context.Context, share) (int, error) { return 1, tt.err }
			each := func(context.Context, []*user, share) ([]*int, error) { return nil, tt.err }
			h := withFields(t, graphql.Query("no", fail, nil), graphql.Mutation("no", fail, nil),
				graphql.Computed("users", "no", each, nil))
			for document, want := range map[string]string{
				`{no(of:1) user(id:"ada"){id}}`: `"data":{"no":null,` +
					`"user":{"id":"ada"}}`,
				`mutation{no(of:1) createUser(input:{id:"x" name:"x"}){id}}`: `"data":{"no":null,` +
					`"createUser":{"id":"x"}}`,
				`{user(id:"ada"){no(of:1) id}}`: `"data":{"user":{"no":null,` +
					`"id":"ada"}}`,
			} {
				got := answerTo(t, h, document)
				if diff := cmp.Diff([]string{tt.code}, codes(t, got)); diff != "" ||
					!strings.Contains(got, want) {
					t.Errorf("%s: %s (-want +got):\n%s", document, got, diff)
				}
				if strings.Contains(got, "hunter2") {
					t.Errorf("%s tells what is for the log: %s", document, got)
				}
			}
		})
	}
}

// TestMutationField: mutations are done one after the other, and those that return nothing are true.
func TestMutationField(t *testing.T) {
	t.Parallel()
	n := 0 // no lock: the race detector reports concurrent calls
	type by struct {
		By int `json:"by" required:"true"`
	}
	h := withFields(t,
		graphql.Mutation("add", func(_ context.Context, in by) (int32, error) {
			n += in.By
			return int32(n),
				nil
		}, nil),
		graphql.Mutation("reset", func(context.Context, none) (none, error) { n = 0; return none{}, nil },
			nil),
		graphql.Mutation("maybe", func(context.Context, none) (*none, error) { return nil, nil }, nil))
	got := answerTo(t, h, `mutation{a:add(by:2) b:add(by:3) reset c:add(by:1) maybe}`)
	// A pointer to nothing is nothing.
	if diff := cmp.Diff(`{"data":{"a":2,"b":5,"reset":true,"c":1,"maybe":true}}`, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestComputedField: one call for all items of a level, at any position.
func TestComputedField(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	h := withFields(t, graphql.Computed("orders", "share",
		func(_ context.Context, items []*order, in share) ([]*float64, error) {
			calls.Add(1)
			out := make([]*float64, len(items))
			for i, o := range items {
				if o.Cents != 200 {
					out[i] = new(float64)
					*out[i] = float64(o.Cents) / float64(in.Of)
				}
			}
			return out, nil
		}, &graphql.FieldOptions{Doc: "A part of the price.", Deprecated: "nobody shares", Cost: 2}))
	tests := []struct {
		document, want string
		calls          int32
	}{
		{`{orders{nodes{share(of:4)}}}`, `{"orders":{"nodes":[{"share":25},{"share":null},{"share":75}]}}`,
			1},
		{`{order(id:1){share(of:8) cents}}`, `{"order":{"share":12.5,"cents":100}}`, 1},
		{`{orders(first:1){nodes{a:share(of:1) b:share(of:2)}}}`, `{"orders":{"nodes":[{"a":100,"b":50}]}}`,
			2},
		{`{order(id:77){share(of:8)}}`, `{"order":null}`, 0},
		{`mutation{patchOrder(id:3 input:{note:"x"}){share(of:3)}}`, `{"patchOrder":{"share":100}}`, 1},
	}
	for _, tt := range tests {
		calls.Store(0)
		if diff := cmp.Diff(`{"data":`+tt.want+`}`, answerTo(t, h, tt.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.document, diff)
		}
		if n := calls.Load(); n != tt.calls {
			t.Errorf("%s: the function was called %d times, want %d", tt.document, n, tt.calls)
		}
	}
	for _, line := range []string{"A part of the price.", `@deprecated(reason: "nobody shares")`,
		"of: Int64!"} {
		if !strings.Contains(h.SDL(), line) {
			t.Errorf("the SDL does not say %s:\n%s", line, h.SDL())
		}
	}
}

// TestComputedWrong: as many values as items.
func TestComputedWrong(t *testing.T) {
	t.Parallel()
	for name, values := range map[string][]int{"too few": {1}, "too many": {1, 2, 3, 4}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := withFields(t, graphql.Computed("orders", "n",
				func(context.Context, []*order, none) ([]int, error) { return values, nil }, nil))
			// The field is never null, so the items go with it.
			if got := codes(t, answerTo(t, h, `{orders{nodes{n}}}`)); len(got) == 0 ||
				got[0] != "INTERNAL_SERVER_ERROR" {
				t.Errorf("the codes are %q", got)
			}
		})
	}
}

// TestFieldCost: a field has the cost that it declares.
func TestFieldCost(t *testing.T) {
	t.Parallel()
	field := func(cost int) graphql.Field {
		return graphql.Query("dear", func(context.Context, none) (int, error) { return 1, nil },
			&graphql.FieldOptions{Cost: cost})
	}
	for cost, want := range map[int]string{100: `{"data":{"dear":1}}`, 101: ""} {
		h := newTestHandler(t, func(s *setup) { s.opts.Fields, s.opts.Limits.Cost = []graphql.Field{field(cost)}, 100 })
		got := answerTo(t, h, `{dear}`)
		if want != "" && got != want || want == "" && len(codes(t, got)) != 1 {
			t.Errorf("with a cost of %d: %s", cost, got)
		}
	}
}

// TestFieldPanics: mistakes are reported at start-up, with the name of the field.
func TestFieldPanics(t *testing.T) {
	t.Parallel()
	one := func(context.Context, none) (int, error) { return 1, nil }
	each := func(context.Context, []*order, none) ([]int, error) { return nil, nil }
	tests := []struct {
		name string
		do   func()
		want []string
	}{
		{"no function", func() { graphql.Query[none, int]("x", nil, nil) },
			[]string{"x of Query", "function is nil"}},
		{"no function of items", func() { graphql.Computed[order, none, int]("orders", "x", nil, nil) },
			[]string{"x of orders", "function is nil"}},
		{"arguments that are no struct", func() {
			graphql.Query("x", func(context.Context, string) (int, error) { return 1, nil }, nil)
		}, []string{"x of Query", "not string", "must be a struct"}},
		{"pointer to arguments", func() {
			graphql.Mutation("x", func(context.Context, *share) (int, error) { return 1, nil }, nil)
		}, []string{"x of Mutation", "must be a struct"}},
		{"arguments that are no schema", func() {
			graphql.Query("x", func(context.Context, struct{ F func() }) (int, error) { return 1, nil }, nil)
		}, []string{"x of Query", "arguments"}},
		{"a value that is no schema", func() {
			graphql.Query("x", func(context.Context, none) (chan int, error) { return nil, nil }, nil)
		}, []string{"x of Query", "value", "chan int"}},
		{"a negative cost", func() { graphql.Query("x", one, &graphql.FieldOptions{Cost: -1}) },
			[]string{"Cost is -1"}},
		{"items of a root", func() { graphql.Computed("Query", "x", each, nil) },
			[]string{`"Query"`, "resource"}},
		{"the zero Field", func() { withFields(t, graphql.Field{}) }, []string{"Options.Fields[0]"}},
		{"a resource that is not there", func() { withFields(t, graphql.Computed("order", "x", each, nil)) },
			[]string{"x", `"order" is not a resource`}},
		{"items of another type", func() { withFields(t, graphql.Computed("users", "x", each, nil)) },
			[]string{"x", "graphql_test.order", "users", "graphql_test.user"}},
		{"items without a value", func() {
			withFields(t, graphql.Computed("users", "x",
				func(context.Context, []*user, none) ([]none, error) { return nil, nil }, nil))
		}, []string{"x", "users", "must return a value"}},
		{"a name that is none", func() { withFields(t, graphql.Query("a-b", one, nil)) },
			[]string{`"a-b"`, "rename the custom field"}},
		{"a name that is taken", func() { withFields(t, graphql.Query("orders", one, nil)) },
			[]string{"the list of the resource orders", "the custom field orders"}},
		{"all of it at once", func() {
			withFields(t, graphql.Query("a-b", one, nil), graphql.Query("orders", one, nil),
				graphql.Computed("users", "x", each, nil))
		}, []string{`"a-b"`, "the custom field orders", "graphql_test.user"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				text := fmt.Sprint(recover())
				for _, part := range append(tt.want, "graphql: ") {
					if !strings.Contains(text, part) {
						t.Errorf("it does not say %s: %s", part, text)
					}
				}
			}()
			tt.do()
		})
	}
}

// TestZeroEnum: a member that JSON leaves out may be zero, which is no value of its enum.
func TestZeroEnum(t *testing.T) {
	t.Parallel()
	type mood string
	type person struct {
		ID   string  `json:"id"`
		Mood mood    `json:"mood,omitzero" enum:"up,down"`
		Pets []mood  `json:"pets" enum:"up,down"`
		Next *string `json:"next" enum:"up,down"`
	}
	store := memory.New[person](nil)
	for _, p := range []person{{ID: "a"}, {ID: "b", Mood: "up", Pets: []mood{"down"}}} {
		if _, err := store.Insert(t.Context(), p.ID, p); err != nil {
			t.Fatal(err)
		}
	}
	h := graphql.New(resource.NewCatalog(nil, resource.New("people", store, nil)), nil)
	want := `{"data":{"people":{"nodes":[{"mood":null,"pets":[],"next":null},{"mood":"up",` +
		`"pets":["down"],"next":null}]}}}`
	if diff := cmp.Diff(want, answerTo(t, h, `{people{nodes{mood pets next}}}`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// isbn is a text, but for its zero value.
type isbn struct{ digits string }

func (n isbn) MarshalText() ([]byte, error) {
	if n.digits == "" {
		return nil, errors.New("there is no number")
	}
	return []byte(n.digits), nil
}

func (n *isbn) UnmarshalText(text []byte) error {
	n.digits = string(text)
	return nil
}

// TestZeroText: the text method is not called for a value that JSON omits.
func TestZeroText(t *testing.T) {
	t.Parallel()
	type book struct {
		Number isbn `json:"number,omitzero"`
	}
	h := graphql.New(resource.NewCatalog(nil), &graphql.Options{Fields: []graphql.Field{
		graphql.Query("books", func(context.Context, struct{}) ([]book,
			error) {
			return []book{{}, {isbn{"978"}}}, nil
		}, nil),
	}})
	want := `{"data":{"books":[{"number":null},{"number":"978"}]}}`
	if diff := cmp.Diff(want, answerTo(t, h, `{ books { number } }`)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestZeroStruct: a struct that JSON omits if it is zero is null, because its zero members may be
// invalid.
func TestZeroStruct(t *testing.T) {
	t.Parallel()
	type address struct {
		Kind string `json:"kind" required:"true" enum:"home,work"`
	}
	type person struct {
		ID    string  `json:"id"`
		Home  address `json:"home,omitzero"`
		Other address `json:"other,omitempty"`
	}
	people := resource.New("people", memory.New[person](nil), &resource.Options[person]{Public: true})
	h := graphql.New(resource.NewCatalog(nil, people), nil)
	for _, tt := range []struct{ name, document, want string }{
		{"not given", `mutation { createPerson(input: {id: "a"}) { home { kind } other { kind } } }`,
			`{"data":{"createPerson":{"home":null,"other":null}}}`},
		{"given", `mutation { createPerson(input: {id: "b", home: {kind: work}}) { home { kind } other { ` +
			`kind } } }`,
			`{"data":{"createPerson":{"home":{"kind":"work"},"other":null}}}`},
	} {
		if diff := cmp.Diff(tt.want, answerTo(t, h, tt.document)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
