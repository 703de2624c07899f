package exec_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// TestCost checks operations at the limit and one above. The error contains the cost.
func TestCost(t *testing.T) {
	t.Parallel()
	dear := computedBook[string]("dear", true,
		func(_ context.Context, books []*book) ([]any, error) { return make([]any, len(books)), nil })
	dear.Cost = 7
	root := rootField("root", true, func(context.Context) (*string, error) { return nil, nil })
	root.Cost = 3
	tests := []struct {
		name, document, variables string
		cost                      int
	}{
		{"one item", `{ book(id: 1) { id } }`, "", 1},
		{"a list of the usual size", `{ books { nodes { id } } }`, "", 50},
		{"a list", `{ books(first: 20) { nodes { id } } }`, "", 20},
		{"the end of one", `{ books(last: 30) { nodes { id } } }`, "", 30},
		{"by variable", `query($n: Int) { books(first: $n) { nodes { id } } }`, `{"n": 10}`, 10},
		{"by default of a variable", `query($n: Int = 15) { books(first: $n) { nodes { id } } }`, "", 15},
		{"relations to one", `{ books(first: 10) { nodes { author { id } sequel { author { name } } } } }`,
			"", 10 * (1 + 1 + 2)},
		{"relations to many", `{ books(first: 10) { nodes { reviews { book { id } } } } }`, "",
			10 * (1 + 5*2)},
		{"nodes and edges",
			`{ books(first: 10) { nodes { author { id } } edges { node { author { id } } } } }`, "", 10 * 3},
		{"a count", `{ books(first: 10) { totalCount } }`, "", 11},
		{"what is skipped",
			`query($a: Boolean!) { books(first: 10) { nodes { id author @skip(if: $a) { id } } } }`,
			`{"a": true}`, 10},
		{"and if not",
			`query($a: Boolean!) { books(first: 10) { nodes { id author @skip(if: $a) { id } } } }`,
			`{"a": false}`, 20},
		{"custom fields", `{ root books(first: 2) { nodes { dear } } }`, "", 3 + 2*8},
		{"aliases", `{ a: book(id: 1) { id } b: book(id: 1) { id author { id } } }`, "", 3},
		{"mutations", `mutation { deleteBook(id: 1) { author { books { id } } } }`, "", 1 + 1 + 10},
		{"more than can be counted", `query($n: Int = 200) { books(first: $n) { nodes { ` +
			strings.Repeat("author { books { ", 6) + `id` +
			strings.Repeat(" } }", 6) + ` } } }`, "", 200 * 1_222_222},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{config: exec.Config{Cost: max(tt.cost-1, 1)},
				fields: []*model.CustomField{dear, root}})
			if tt.cost > 1 {
				got, outcome := w.run(t.Context(), t, tt.document, tt.variables)
				want := fmt.Sprintf(`{"errors":[{"message":"The operation can return %d objects; at `+
					`most %d are allowed. Request smaller pages or fewer fields.",`+
					`"extensions":{"code":"BAD_USER_INPUT"}}]}`, tt.cost, tt.cost-1)
				if got != want || outcome != exec.Refused {
					t.Errorf("answer %s, want %s", got, want)
				}
				if calls := w.took(); calls != "" {
					t.Errorf("fetched: %s", calls)
				}
			}
			w.open(t, setting{config: exec.Config{Cost: tt.cost}, fields: []*model.CustomField{dear, root}})
			if _, outcome := w.run(t.Context(), t, tt.document, tt.variables); outcome != exec.Done {
				t.Errorf("refused at a cost of %d", tt.cost)
			}
		})
	}
}

// TestTooLargePage checks that a page above the maximum is rejected by the list, with the maximum
// in the message.
func TestTooLargePage(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	got := w.ask(t, `{ books(first: 2000000000) { nodes { id } } }`)
	if want := `[books] BAD_USER_INPUT; {"books":null}`; outline(t, got) != want ||
		!strings.Contains(got, "from 0 to 200") {
		t.Errorf("answer %s", got)
	}
}

// TestRepeatedVariables checks the limit of variables multiplied by their uses.
func TestRepeatedVariables(t *testing.T) {
	t.Parallel()
	times := func(n int, what string) string { return strings.Repeat(what+" ", n) }
	aliased := func(n int, field string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "a%d: %s ", i, field)
		}
		return b.String()
	}
	long := `"` + strings.Repeat("x", 100_000) + `"`
	tests := []struct {
		name, document, variables string
		refused                   bool
	}{
		{"a text in a list", `mutation($v: String!) { createBook(input: {title: "x", tags: [` +
			times(100, "$v") + `]}) { id } }`,
			`{"v": ` + long + `}`, true},
		{"a few times", `mutation($v: String!) { createBook(input: {title: "x", tags: [` + times(30, "$v") +
			`]}) { id } }`,
			`{"v": ` + long + `}`, false},
		{"a short one", `mutation($v: String!) { createBook(input: {title: "x", tags: [` + times(4000, "$v") +
			`]}) { id } }`,
			`{"v": "short"}`, false},
		{"a default", `mutation($v: String! = ` + long + `) { createBook(input: {title: "x", tags: [` +
			times(100, "$v") + `]}) { id } }`,
			`{}`, true},
		{"JSON", `mutation($v: JSON) { createBook(input: {title: "x", extra: {a: [` + times(100, "$v") +
			`]}}) { id } }`,
			`{"v": {"b": ` + long + `}}`, true},
		{"a text in several fields", `query($v: String!) { ` +
			aliased(50, `books(filter: {title: {eq: $v}}) { nodes { id } }`) + `}`,
			`{"v": ` + long + `}`, true},
		{"conditions that ask for nothing", `query($v: [BookFilter!]) { ` +
			aliased(50, `books(filter: {or: $v}) { nodes { id } }`) + `}`,
			`{"v": [` + strings.Repeat("{},", 19_999) + `{}]}`, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{})
			got, outcome := w.run(t.Context(), t, tt.document, tt.variables)
			calls := w.took()
			want := `{"errors":[{"message":"The variables have more than 4194304 bytes; a variable counts each ` +
				`time it is used.",` +
				`"extensions":{"code":"BAD_USER_INPUT"}}]}`
			switch {
			case tt.refused && (got != want || outcome != exec.Refused || calls != ""):
				t.Errorf("answer %.300s after %s, want %s", got, calls, want)
			case !tt.refused && (outcome != exec.Done || strings.Contains(got, "errors") || calls == ""):
				t.Errorf("answer %.300s", got)
			}
		})
	}
}

// TestAnswerIsBounded checks that writing stops soon after the limit of the response is exceeded.
func TestAnswerIsBounded(t *testing.T) {
	t.Parallel()
	const most = 2000
	tests := []struct {
		times int
		want  bool // the response has data
	}{{50, true}, {1000, false}}
	for _, tt := range tests {
		t.Run(strconv.Itoa(tt.times), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{config: exec.Config{Answer: most}})
			var fields strings.Builder
			for i := range tt.times {
				fmt.Fprintf(&fields, "a%d: note ", i)
			}
			got := w.ask(t, "{ book(id: 1) { "+fields.String()+"} }")
			if answered := !strings.Contains(got,
				"The response is longer than the limit of 2000 bytes"); answered != tt.want || len(got) > most {
				t.Errorf("answered: %v, with %d bytes", answered, len(got))
			}
		})
	}
}
