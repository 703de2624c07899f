package exec_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// computedBook returns a computed field of books without arguments.
func computedBook[Out any](name string, nullable bool,
	each func(ctx context.Context, books []*book) ([]any, error)) *model.CustomField {
	return &model.CustomField{On: "books", Name: name, Out: typed[Out](), Nullable: nullable,
		Parent: typed[book]().GoType, Cost: 1,
		Each: func(ctx context.Context, items []any, _ any) ([]any, error) {
			books := make([]*book, len(items))
			for i, item := range items {
				books[i] = item.(*book)
			}
			return each(ctx, books)
		}}
}

// rootField returns a field of Query without arguments.
func rootField[Out any](name string, nullable bool,
	do func(ctx context.Context) (*Out, error)) *model.CustomField {
	return &model.CustomField{On: "Query", Name: name, Out: typed[Out](), Nullable: nullable, Cost: 1,
		Root: func(ctx context.Context, _ any) (any, error) {
			out, err := do(ctx)
			if out == nil {
				return nil, err
			}
			return out, err
		}}
}

// odd has values that GraphQL cannot represent.
type odd struct {
	Color string   `json:"color" enum:"red,blue"`
	Small int64    `json:"small" minimum:"0" maximum:"9"`
	Ratio float64  `json:"ratio"`
	Text  string   `json:"text"`
	Moods []string `json:"moods" enum:"sad,funny"`
	Fine  string   `json:"fine"`
	Any   any      `json:"any"`
	Below *odd     `json:"below"`
	Parts []odd    `json:"parts"`
	Maybe []*odd   `json:"maybe"`
	Tiny  *int64   `json:"tiny" minimum:"0" maximum:"9"`
}

var sane = odd{Color: "red", Fine: "fine"}

// oddFields returns root fields with such values, by name of the test.
func oddFields() []*model.CustomField {
	big := int64(math.MaxInt64)
	wrong := func(change func(o *odd)) odd {
		o := sane
		change(&o)
		return o
	}
	color := wrong(func(o *odd) { o.Color = "green" })
	var fields []*model.CustomField
	for name, o := range map[string]odd{
		"enum": color, "none": wrong(func(o *odd) { o.Color = "" }),
		"int":   wrong(func(o *odd) { o.Small = 1 << 31 }),
		"least": wrong(func(o *odd) { o.Small = math.MinInt32 }),
		"nan":   wrong(func(o *odd) { o.Ratio = math.NaN() }),
		"inf":   wrong(func(o *odd) { o.Ratio = math.Inf(-1) }),
		"text":  wrong(func(o *odd) { o.Text = "a\xff" }),
		"moods": wrong(func(o *odd) { o.Moods = []string{"sad", "mad"} }),
		"below": wrong(func(o *odd) { o.Below = &color }),
		"parts": wrong(func(o *odd) { o.Parts = []odd{sane, color} }),
		"maybe": wrong(func(o *odd) { o.Maybe = []*odd{&sane, &color, nil} }),
		"tiny":  wrong(func(o *odd) { o.Tiny = &big }), "func": wrong(func(o *odd) { o.Any = func() {} }),
	} {
		fields = append(fields, rootField(name, true, func(context.Context) (*odd, error) { return &o, nil }))
	}
	return fields
}

// outline returns the data of a response, and the paths and codes of its errors.
func outline(t *testing.T, answer string) string {
	t.Helper()
	var a struct {
		Errors []struct {
			Message    string         `json:"message"`
			Path       []any          `json:"path"`
			Locations  []any          `json:"locations"`
			Extensions map[string]any `json:"extensions"`
		} `json:"errors"`
	}
	if err := json.Unmarshal([]byte(answer), &a); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	var b strings.Builder
	for _, e := range a.Errors {
		fmt.Fprintf(&b, "%v %s; ", e.Path, e.Extensions["code"])
		if len(e.Locations) == 0 {
			t.Errorf("no place: %s", answer)
		}
		if e.Extensions["code"] == "INTERNAL_SERVER_ERROR" && e.Message != "Internal server error" &&
			!strings.Contains(e.Message, " cannot represent ") {
			t.Errorf("not masked: %s", e.Message)
		}
	}
	_, data, _ := strings.Cut(answer, `"data":`)
	return b.String() + strings.TrimSuffix(data, "}")
}

// TestOutputErrors checks that a client learns which value the type of a field does not permit.
func TestOutputErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ document, want string }{
		{`{ enum { color } }`, `"message":"Enum \"OddColor\" cannot represent value: \"green\""`},
		{`{ none { color } }`, `"message":"Enum \"OddColor\" cannot represent value: \"\""`},
		{`{ moods { moods } }`, `"message":"Enum \"OddMoods\" cannot represent value: \"mad\""`},
		{`{ tiny { tiny } }`,
			`"message":"Int cannot represent non 32-bit signed integer value: 9223372036854775807"`},
		{`{ nan { ratio } }`, `"message":"Internal server error"`},
	}
	w := newWorld(t, setting{fields: oddFields()})
	for _, tt := range tests {
		if got := w.ask(t, tt.document); !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.document, got, tt.want)
		}
	}
	if log := w.logged(); strings.Count(log, "cannot represent") != 4 {
		t.Errorf("logged: %s", log)
	}
}

// TestOutputErrorsOfItems checks that each message has the value of its own item, and that the log has one
// record of each field and no values.
func TestOutputErrorsOfItems(t *testing.T) {
	t.Parallel()
	const items = 100
	many := sane
	var wantInts, wantEnums []string
	for i := range items {
		o, n := sane, math.MaxInt64-int64(i)
		o.Tiny, o.Color = &n, fmt.Sprintf("green%d", i)
		many.Maybe = append(many.Maybe, &o)
		wantInts = append(wantInts, fmt.Sprintf("[many maybe %d tiny] Int cannot represent non 32-bit signed "+
			"integer value: %d", i, n))
		wantEnums = append(wantEnums, fmt.Sprintf("[many maybe %d color] Enum \"OddColor\" cannot represent "+
			"value: %q", i, o.Color))
	}
	others := "" // errors of other fields, more than are remembered
	for i := range 70 {
		others += fmt.Sprintf("a%d: nan { ratio } ", i)
	}
	tests := []struct {
		name, document string
		want           []string
	}{
		{"integers", `{ many { maybe { tiny } } }`, wantInts},
		{"enum values", `{ many { maybe { color } } }`, wantEnums},
		{"after errors of other fields", `{ ` + others + ` many { maybe { tiny } } }`, wantInts},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fields := append(oddFields(), rootField("many", true,
				func(context.Context) (*odd, error) { return &many, nil }))
			w := newWorld(t, setting{fields: fields})
			var answer struct {
				Errors []struct {
					Message    string `json:"message"`
					Path       []any  `json:"path"`
					Extensions struct {
						Instance string `json:"instance"`
					} `json:"extensions"`
				} `json:"errors"`
			}
			if err := json.Unmarshal([]byte(w.ask(t, tt.document)), &answer); err != nil {
				t.Fatal(err)
			}
			var got []string
			instances := map[string]bool{}
			for _, e := range answer.Errors {
				if e.Path[0] == "many" {
					got = append(got, fmt.Sprint(e.Path, " ", e.Message))
					instances[e.Extensions.Instance] = true
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			log := w.logged()
			if n := strings.Count(log, "cannot represent"); n != 1 || len(instances) != 1 {
				t.Errorf("%d records and %d instances, want 1 of each", n, len(instances))
			}
			for instance := range instances {
				if !strings.Contains(log, "instance="+instance) {
					t.Errorf("the log does not have the instance %s", instance)
				}
			}
			if strings.Contains(log, "green") || strings.Contains(log, "922337203685477") {
				t.Errorf("the log has values: %.300s", log)
			}
		})
	}
}

func TestOutputCoercion(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, want string }{
		{"no value of the enum", `{ enum { fine color } }`,
			`[enum color] INTERNAL_SERVER_ERROR; {"enum":null}`},
		{"which is not asked for", `{ enum { fine } }`, `{"enum":{"fine":"fine"}}`},
		{"nothing is no value of the enum", `{ none { color } }`,
			`[none color] INTERNAL_SERVER_ERROR; {"none":null}`},
		{"too large", `{ int { small } }`, `[int small] INTERNAL_SERVER_ERROR; {"int":null}`},
		{"just not too small", `{ least { small } }`, `{"least":{"small":-2147483648}}`},
		{"no number", `{ nan { ratio } }`, `[nan ratio] INTERNAL_SERVER_ERROR; {"nan":null}`},
		{"infinite", `{ inf { a: ratio } }`, `[inf a] INTERNAL_SERVER_ERROR; {"inf":null}`},
		{"no UTF-8", `{ text { text } }`, `[text text] INTERNAL_SERVER_ERROR; {"text":null}`},
		{"no JSON", `{ func { any fine } }`,
			`[func any] INTERNAL_SERVER_ERROR; {"func":{"any":null,"fine":"fine"}}`},
		{"in a list", `{ moods { moods } }`, `[moods moods 1] INTERNAL_SERVER_ERROR; {"moods":null}`},
		{"nullable", `{ tiny { tiny fine } }`,
			`[tiny tiny] INTERNAL_SERVER_ERROR; {"tiny":{"tiny":null,"fine":"fine"}}`},
		{"up to what can be null", `{ below { fine below { fine color } } }`,
			`[below below color] INTERNAL_SERVER_ERROR; {"below":{"fine":"fine","below":null}}`},
		{"through a list", `{ parts { fine parts { color fine } } fine: enum { fine } }`,
			`[parts parts 1 color] INTERNAL_SERVER_ERROR; {"parts":null,"fine":{"fine":"fine"}}`},
		{"not through a list of what can be null", `{ maybe { maybe { color } } }`,
			`[maybe maybe 1 color] INTERNAL_SERVER_ERROR; {"maybe":{"maybe":[{"color":"red"},null,null]}}`},
	}
	w := newWorld(t, setting{fields: oddFields()})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, outline(t, w.ask(t, tt.document))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestNullPropagation(t *testing.T) {
	t.Parallel()
	sentinel := func(err error) func(context.Context, []*book) ([]any, error) {
		return func(context.Context, []*book) ([]any, error) { return nil, err }
	}
	text := "text"
	fields := []*model.CustomField{
		computedBook[string]("sure", false, sentinel(errors.New("no luck"))),
		computedBook[string]("maybe", true, sentinel(resource.ErrForbidden)),
		computedBook[string]("odd", false, func(_ context.Context, books []*book) ([]any, error) {
			values := make([]any, len(books))
			for i, b := range books {
				if b.ID%2 == 0 {
					values[i] = &text
				}
			}
			return values, nil
		}),
		computedBook[string]("few", true, func(context.Context, []*book) ([]any, error) {
			return []any{&text},
				nil
		}),
		rootField("sure", false, func(context.Context) (*string, error) {
			return nil,
				resource.ErrUnauthenticated
		}),
		rootField("limited", true, func(context.Context) (*string, error) {
			return nil, problem.New(problem.TooManyRequests, "Slowly.")
		}),
	}
	const internal = " INTERNAL_SERVER_ERROR; "
	tests := []struct{ name, document, want string }{
		{"one item", `{ book(id: 1) { id sure } }`, `[book sure]` + internal + `{"book":null}`},
		{"what can be null stays", `{ book(id: 1) { id maybe title } }`,
			`[book maybe] FORBIDDEN; {"book":{"id":"1","maybe":null,"title":"First"}}`},
		{"each item has its own", `{ books { nodes { maybe } } }`,
			`[books nodes 0 maybe] FORBIDDEN; [books nodes 1 maybe] FORBIDDEN; ` +
				`[books nodes 2 maybe] FORBIDDEN; {"books":{"nodes":[{"maybe":null},{"maybe":null},` +
				`{"maybe":null}]}}`},
		{"through a list of items", `{ books { nodes { id odd } totalCount } book(id: 2) { odd } }`,
			`[books nodes 0 odd]` + internal + `{"books":null,"book":{"odd":"text"}}`},
		{"through edges", `{ books { edges { node { odd } cursor } } }`, `[books edges 0 node odd]` +
			internal + `{"books":null}`},
		{"through a relation to one", `{ book(id: 3) { id sequel { odd id } } }`, `[book sequel odd]` +
			internal + `{"book":{"id":"3","sequel":null}}`},
		{"through a relation to many", `{ author(id: "ann") { id books { id odd } } }`,
			`[author books 0 odd]` + internal + `{"author":null}`},
		{"too few values", `{ books { nodes { few } } }`, `[books nodes 0 few]` + internal +
			`[books nodes 1 few]` + internal +
			`[books nodes 2 few]` + internal +
			`{"books":{"nodes":[{"few":null},{"few":null},{"few":null}]}}`},
		{"to the root", `{ book(id: 1) { id } sure }`,
			`[sure] UNAUTHENTICATED; {"book":{"id":"1"},"sure":null}`},
		{"a problem", `{ limited }`, `[limited] RATE_LIMITED; {"limited":null}`},
		{"bad arguments", `{ books(first: -1) { nodes { id } } a: books(first: 1) { nodes { id } } }`,
			`[books] BAD_USER_INPUT; {"books":null,"a":{"nodes":[{"id":"1"}]}}`},
	}
	w := newWorld(t, setting{fields: fields})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, outline(t, w.ask(t, tt.document))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestNull checks fields that are non-null in the schema and null in Go, which reflection does not
// produce.
func TestNull(t *testing.T) {
	t.Parallel()
	const internal = " INTERNAL_SERVER_ERROR; "
	tests := []struct {
		name, typ, field, document, want string
		outcome                          exec.Outcome
	}{
		{"a field of the root", "Query", "book", `{ books { totalCount } book(id: 77) { id } }`, `[book]` +
			internal + `null`, exec.NoData},
		{"a member", "Book", "note", `{ a: book(id: 1) { note } b: book(id: 2) { note } }`,
			`[b note]` + internal + `{"a":{"note":"mind the <step>"},"b":null}`, exec.Done},
		{"a struct", "Book", "cover",
			`{ a: book(id: 1) { cover { color } } b: book(id: 2) { id cover { color } } }`,
			`[b cover]` + internal + `{"a":{"cover":{"color":"red"}},"b":null}`, exec.Done},
		{"a relation", "Book", "sequel",
			`{ book(id: 1) { sequel { id } } books { nodes { sequel { id } } } }`,
			`[books nodes 1 sequel]` + internal + `{"book":{"sequel":{"id":"2"}},"books":null}`, exec.Done},
		{"a cursor", "PageInfo", "startCursor",
			`{ books(filter: {title: {eq: "none"}}) { pageInfo { startCursor } } }`,
			`[books pageInfo startCursor]` + internal + `{"books":null}`, exec.Done},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{})
			for _, typ := range w.schema.Types {
				if typ.Name == tt.typ {
					typ.Field(tt.field).Type.NonNull = true
				}
			}
			got, outcome := w.run(t.Context(), t, tt.document, "")
			if diff := cmp.Diff(tt.want, outline(t, got)); diff != "" || outcome != tt.outcome {
				t.Errorf("outcome %v (-want +got):\n%s", outcome, diff)
			}
		})
	}
}

// TestFailingStore checks that an error of a store is logged once, regardless of the number of
// items.
func TestFailingStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{size: 1200, page: 2000})
	w.hook = func(_ context.Context, call string) error {
		if strings.HasPrefix(call, "authors") {
			return errors.New("connection to 10.0.0.1 lost")
		}
		return nil
	}
	got := w.ask(t, `{ books(first: 1203) { nodes { author { name } } } }`)
	if n := strings.Count(got, `"path":["books","nodes",`); n != 1000 {
		t.Errorf("%d errors, want 1000", n)
	}
	if n := strings.Count(got, `{"author":null}`); n != 1203 {
		t.Errorf("%d authors are null, want 1203", n)
	}
	if strings.Contains(got, "10.0.0.1") {
		t.Error("the message is not masked")
	}
	instance := regexp.MustCompile(`urn:uuid:[0-9a-f-]{36}`).FindString(got)
	if log := w.logged(); strings.Count(log, "\n") != 1 || !strings.Contains(log, "10.0.0.1") ||
		!strings.Contains(log, "instance="+instance) {
		t.Errorf("logged %q, want one line with instance %s", log, instance)
	}
}

// unwritable fails to encode, each value with another error.
type unwritable int

func (u unwritable) MarshalText() ([]byte, error) { return nil, fmt.Errorf("unwritable %d", u) }

// TestErrorsPerField: after the errors of many other fields, an error of a field is logged once and has an
// instance of its own, and no field logs more than 64 errors.
func TestErrorsPerField(t *testing.T) {
	t.Parallel()
	others := ""
	for i := range 70 {
		others += fmt.Sprintf("a%d: nan { ratio } ", i)
	}
	for _, tt := range []struct {
		name, document string
		fields, logged int
	}{
		{"an error of many items", `{ ` + others + `books(first: 100) { nodes { author { name } } } }`, 71, 71},
		{"many errors", `{ ` + others + `books(first: 100) { nodes { bad } } }`, 71, 70 + 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			bad := computedBook[unwritable]("bad", true, func(_ context.Context, books []*book) ([]any, error) {
				values := make([]any, len(books))
				for i := range books {
					values[i] = new(unwritable(i))
				}
				return values, nil
			})
			w := newWorld(t, setting{size: 100, page: 200, fields: append(oddFields(), bad)})
			w.hook = func(_ context.Context, call string) error {
				if strings.HasPrefix(call, "authors") {
					return errors.New("connection lost")
				}
				return nil
			}
			var answer struct {
				Errors []struct {
					Path       []any `json:"path"`
					Extensions struct {
						Instance string `json:"instance"`
					} `json:"extensions"`
				} `json:"errors"`
			}
			if err := json.Unmarshal([]byte(w.ask(t, tt.document)), &answer); err != nil {
				t.Fatal(err)
			}
			fieldOf, fields := map[string]any{}, map[any]bool{}
			for _, e := range answer.Errors {
				instance, field := e.Extensions.Instance, e.Path[0]
				if other, ok := fieldOf[instance]; ok && other != field {
					t.Errorf("%s is the instance of the fields %v and %v", instance, other, field)
				}
				fieldOf[instance], fields[field] = field, true
			}
			if len(answer.Errors) != 170 || len(fields) != tt.fields {
				t.Errorf("%d errors of %d fields, want 170 of %d", len(answer.Errors), len(fields), tt.fields)
			}
			log := w.logged()
			if n := strings.Count(log, "\n"); n != tt.logged || len(fieldOf) != tt.logged {
				t.Errorf("%d records and %d instances, want %d of each", n, len(fieldOf), tt.logged)
			}
			for instance := range fieldOf {
				if !strings.Contains(log, "instance="+instance) {
					t.Errorf("the log has no instance %s", instance)
				}
			}
		})
	}
}

// TestLongNames checks that long names occur in a few errors only.
func TestLongNames(t *testing.T) {
	t.Parallel()
	const most = 4 << 20
	long := strings.Repeat("A", 500_000)
	w := newWorld(t, setting{size: 1200, page: 2000})
	w.hook = func(_ context.Context, call string) error {
		if strings.HasPrefix(call, "authors") {
			return resource.ErrUnauthenticated
		}
		return nil
	}
	got := w.ask(t, `{ `+long+`: books(first: 1000) { nodes { author { name } } } }`)
	if n := strings.Count(got, `{"author":null}`); n != 1000 ||
		!strings.Contains(got, `"code":"UNAUTHENTICATED"`) || len(got) > most {
		t.Errorf("an answer of %d bytes in which %d authors are null", len(got), n)
	}
	fields := ""
	for i := range 20 {
		fields += fmt.Sprintf("a%d: book(id: $v%d) { id } ", i, i)
	}
	_, errs := w.engine.Plan("query "+long+" { "+fields+" }", "")
	size := 0
	for _, e := range errs {
		size += len(e.Message)
	}
	if len(errs) != 20 || size > most || !strings.HasPrefix(errs[19].Message,
		`Variable "$v19" is not defined by operation "AAA`) {
		t.Errorf("%d messages of %d bytes", len(errs), size)
	}
}

// TestErrorLocations checks that an error has the locations of all occurrences of its field.
func TestErrorLocations(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{fields: oddFields()})
	got := w.ask(t, "{\n  enum { color }\n  ... { enum {\n    color } }\n  ...F\n  ...F }\nfragment F on "+
		"Query { enum { color } }")
	want := `"locations":[{"line":2,"column":10},{"line":4,"column":5},{"line":7,"column":30}],` +
		`"path":["enum","color"]`
	if strings.Count(got, `"locations"`) != 1 || !strings.Contains(got, want) {
		t.Errorf("answer %s, want %s", got, want)
	}
}

func TestRequestErrors(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a: title ", 10)
	tests := []struct{ name, document, operation, want string }{
		{"no document", ``, "", `GRAPHQL_PARSE_FAILED : Syntax Error: Unexpected <EOF>. [{1 1}]`},
		{"half a document", "{\n book", "",
			`GRAPHQL_PARSE_FAILED : Syntax Error: Expected Name, found <EOF>. [{2 6}]`},
		{"no document to execute", `type A { a: Int }`, "",
			`GRAPHQL_VALIDATION_FAILED ExecutableDefinitions: The "A" definition is not executable. [{1 1}]`},
		{"invalid", `{ nope }`, "",
			`GRAPHQL_VALIDATION_FAILED FieldsOnCorrectType: Cannot query field "nope" on type "Query". ` +
				`[{1 3}]`},
		{"too many tokens", `{ book(id: 1) { ` + strings.Repeat(long, 500) + `} }`, "",
			`GRAPHQL_VALIDATION_FAILED Limits: The document has more than 10000 tokens. [{1 29990}]`},
		{"which operation", `query A { __typename } query B { __typename }`, "",
			`OPERATION_RESOLUTION_FAILURE : Must provide operation name if query contains multiple ` +
				`operations. []`},
		{"no such operation", `query A { __typename }`, "C",
			`OPERATION_RESOLUTION_FAILURE : Unknown operation named "C". []`},
		{"no operation", `fragment F on Query { __typename }`, "",
			`GRAPHQL_VALIDATION_FAILED NoUnusedFragments: Fragment "F" is never used. [{1 1}]`},
	}
	w := newWorld(t, setting{config: exec.Config{}})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, errs := w.engine.Plan(tt.document, tt.operation)
			if p != nil || len(errs) == 0 {
				t.Fatalf("there is a plan, and %d errors", len(errs))
			}
			e := errs[0]
			if diff := cmp.Diff(tt.want, fmt.Sprintf("%s %s: %s %v", e.Code, e.Rule, e.Message,
				e.Locations)); diff != "" {
				t.Errorf("error (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOperationName(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	for i := range 3 {
		p, errs := w.engine.Plan(`query A { book(id: 0) { id } } query B { book(id: 1) { id } } query C { book(id: 2) { id } }`, string(rune('A'+i)))
		if errs != nil {
			t.Fatal(errs[0])
		}
		got, _ := w.engine.Run(t.Context(), p, nil, nil)
		want := `{"data":{"book":{"id":"` + strconv.Itoa(i) + `"}}}`
		if i == 0 {
			want = `{"data":{"book":null}}`
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	}
}

func TestVariableErrors(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	got, outcome := w.run(t.Context(), t,
		"query(\n $id: ID!, $n: Int) { book(id: $id) { id } books(first: $n) { nodes { id } } }",
		`{"n": "1"}`)
	want := `{"errors":[{"message":"variable $id: A value of type \"ID!\" is required, but none was ` +
		`provided.",` +
		`"locations":[{"line":2,"column":2}],"extensions":{"code":"BAD_USER_INPUT"}},` +
		`{"message":"variable $n: Int cannot represent non-integer value: \"1\"",` +
		`"locations":[{"line":2,"column":12}],"extensions":{"code":"BAD_USER_INPUT"}}]}`
	if diff := cmp.Diff(want, got); diff != "" || outcome != exec.Refused {
		t.Errorf("outcome %v, answer (-want +got):\n%s", outcome, diff)
	}
	if calls := w.took(); calls != "" {
		t.Errorf("fetched: %s", calls)
	}
}
