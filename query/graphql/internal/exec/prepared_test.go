package exec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/tx"
)

// prepared returns a prepared mutation.
func (w *world) prepared(t testing.TB, document, operation, variables string) *exec.Prepared {
	t.Helper()
	p, errs := w.engine.Plan(document, operation)
	if errs != nil {
		t.Fatalf("%s: %v", document, errs[0])
	}
	out, errs := w.engine.Prepare(p, vars(t, variables))
	if errs != nil {
		t.Fatalf("%s: %v", document, errs[0])
	}
	t.Cleanup(out.End)
	return out
}

// TestInTransaction checks that nothing is fetched concurrently in a transaction, because a
// transaction has one connection, and that the response is the same.
func TestInTransaction(t *testing.T) {
	t.Parallel()
	want := newWorld(t, setting{}).ask(t, wide)
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{config: exec.Config{Parallel: 8}})
		var running, peak atomic.Int32
		w.hook = func(context.Context, string) error {
			n := running.Add(1)
			for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
			}
			time.Sleep(time.Second) // synctest: until all other goroutines are blocked
			running.Add(-1)
			return nil
		}
		ctx, _ := tx.Begin(t.Context(), memory.NewDB())
		got, _ := w.run(ctx, t, wide, "")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		if got := peak.Load(); got != 1 {
			t.Errorf("%d calls at a time", got)
		}
		w.ask(t, wide) // not in a transaction
		if got := peak.Load(); got < 2 {
			t.Errorf("without a transaction, %d calls at a time", got)
		}
	})
}

// TestWhole checks that an Attempt with Whole stops at the first error and returns no data, and
// that it can run again.
func TestWhole(t *testing.T) {
	t.Parallel()
	const book = `createBook(input: {title: "%s", authorId: "ann"}) { title author { name books { title ` +
		`} } reviews { id } }`
	document := fmt.Sprintf(`mutation { a: `+book+` b: `+book+` c: `+book+` }`, "A", "B", "C")
	tests := []struct {
		name  string
		fails string   // a call
		after int      // successful calls before it fails
		calls []string // successful calls
		want  string
	}{
		{"the first", "books create", 0, nil, "[a] INTERNAL_SERVER_ERROR; "},
		{"a later one", "books create", 1, []string{"books create", "authors many", "books by", "reviews by"},
			"[b] INTERNAL_SERVER_ERROR; "},
		{"below", "authors many", 1, []string{"books create", "authors many", "books by", "reviews by",
			"books create"},
			"[b author] INTERNAL_SERVER_ERROR; "},
		{"the last thing", "reviews by", 2, []string{"books create", "authors many", "books by", "reviews by",
			"books create", "authors many",
			"books by", "reviews by", "books create", "authors many", "books by"},
			"[c reviews] INTERNAL_SERVER_ERROR; "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{config: exec.Config{Parallel: 1}})
			p := w.prepared(t, document, "", "")
			broken, left := errors.New("broken"), tt.after
			var calls []string
			w.hook = func(_ context.Context, call string) error {
				if strings.HasPrefix(call, tt.fails) {
					if left--; left < 0 {
						return broken
					}
				}
				calls = append(calls, strings.Join(strings.Fields(call)[:2], " "))
				return nil
			}
			got, result := p.Run(t.Context(), &exec.Attempt{Whole: true}, []byte("x"))
			if answer := string(got[1:]); !strings.HasSuffix(answer, `}],"data":null}`) {
				t.Errorf("there are data: %s", answer)
			} else if diff := cmp.Diff(tt.want+"null",
				strings.ReplaceAll(outline(t, answer), "data ", "")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if !errors.Is(result.Err, broken) || !result.Begun ||
				errors.Is(result.First, broken) != (tt.want[1:3] == "a]") {
				t.Errorf("the result is %+v", result)
			}
			if diff := cmp.Diff(tt.calls, calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			left = 100
			w.remove(t)
			got, result = p.Run(t.Context(), &exec.Attempt{Whole: true}, nil)
			want := newWorld(t, setting{}).ask(t, document)
			if diff := cmp.Diff(want, string(got)); diff != "" || result.Err != nil {
				t.Errorf("again %+v (-want +got):\n%s", result, diff)
			}
		})
	}
}

// remove deletes items that tests have created.
func (w *world) remove(t testing.TB) {
	t.Helper()
	for id := 4; ; id++ {
		it, err := w.books.Get(t.Context(), fmt.Sprint(id))
		if err != nil {
			return
		}
		if err := w.books.Delete(t.Context(), fmt.Sprint(id), it.Rev); err != nil {
			t.Fatal(err)
		}
	}
}

// TestNotBegun checks Result.Begun for invalid arguments.
func TestNotBegun(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := w.prepared(t, `mutation { deleteBook(id: 1) { id } }`, "", "")
	if _, result := p.Run(ctx, nil, nil); result.Begun || result.First == nil {
		t.Errorf("of an operation that nobody waits for the result is %+v", result)
	}
	if _, result := p.Run(t.Context(), nil, nil); !result.Begun || result.First != nil {
		t.Errorf("the result is %+v", result)
	}
	if _, result := p.Run(t.Context(), nil, nil); !result.Begun ||
		!errors.Is(result.First, resource.ErrNotFound) {
		t.Errorf("the second time the result is %+v", result)
	}
}

// TestMeaning checks that requests with the same effect have the same meaning.
func TestMeaning(t *testing.T) {
	t.Parallel()
	const document = `mutation M($t: String!, $n: Float = 1, $x: JSON) { createBook(input: {title: $t, ` +
		`authorId: "ann", price: $n, extra: $x}) { id } }`
	type asked struct{ document, operation, variables string }
	base := asked{document, "M", `{"t":"a","x":{"b":1,"a":[2]}}`}
	tests := []struct {
		name string
		asked
		same bool
	}{
		{"itself", base, true},
		{"its operation is not named", asked{document, "", base.variables}, true},
		{"another layout", asked{"# it\n" + strings.ReplaceAll(document, " ", ",\n"), "M",
			` {"x" : {"a":[2],"b":1}, "t":"\u0061"}`}, true},
		{"another spelling of numbers", asked{document, "M", `{"t":"a","x":{"b":1.0,"a":[2e0]}}`}, true},
		{"a default that is given", asked{document, "M", `{"t":"a","n":1.0,"x":{"b":1,"a":[2]}}`}, false},
		{"a variable that is not there", asked{document, "M", `{"t":"a","x":{"b":1,"a":[2]},"y":1}`}, true},
		{"null in place of a default", asked{document, "M", `{"t":"a","n":null,"x":{"b":1,"a":[2]}}`}, false},
		{"another value", asked{document, "M", `{"t":"b","x":{"b":1,"a":[2]}}`}, false},
		{"another value inside", asked{document, "M", `{"t":"a","x":{"b":1,"a":[3]}}`}, false},
		{"one that is missing", asked{document, "M", `{"t":"a"}`}, false},
		{"another field", asked{strings.Replace(document, "{ id }", "{ id title }", 1), "M", base.variables},
			false},
		{"another argument", asked{strings.Replace(document, "ann", "bob", 1), "M", base.variables}, false},
		{"another operation beside", asked{document + ` mutation N { __typename }`, "M", base.variables},
			false},
		{"another operation", asked{document + ` mutation N { __typename }`, "N", base.variables}, false},
	}
	w := newWorld(t, setting{})
	meaning := func(t *testing.T, a asked) string {
		operation, variables := w.prepared(t, a.document, a.operation, a.variables).Meaning()
		return fmt.Sprintf("%x %s", operation, idempotency.CanonicalJSON(variables))
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if want, got := meaning(t, base), meaning(t, tt.asked); (want == got) != tt.same {
				t.Errorf("%s and %s", want, got)
			}
		})
	}
}

// TestWrites checks the list of writes, with repeated fields and without excluded ones.
func TestWrites(t *testing.T) {
	t.Parallel()
	type slot struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	w := newWorld(t, setting{parts: []resource.Part{resource.New("slots", memory.New[slot](nil),
		&resource.Options[slot]{Public: true})}})
	tests := []struct{ name, document, variables, want string }{
		{"none", `mutation { __typename }`, "", ""},
		{"one", `mutation { deleteBook(id: 1) { id } }`, "", "deleteBook"},
		{"one under a key, merged", `mutation { a: deleteBook(id: 1) { id } a: deleteBook(id: 1) { title } }`,
			"", "a"},
		{"several, some of them left out", `mutation($no: Boolean!) { a: deleteBook(id: 1) { id } b: deleteBook(id: 2) @skip(if: $no) { id }
			... @include(if: $no) { c: deleteBook(id: 3) { id } } }`, `{"no":true}`, "a c"},
		{"an id that is the store's to choose", `mutation { createSlot(input: {text: "x"}) { id } }`, "",
			"createSlot"},
		{"an id that is the client's", `mutation { createSlot(input: {id: "a", text: "x"}) { id } }`, "",
			"createSlot (named)"},
		{"an id in a variable", `mutation($in: CreateSlotInput!) { a: createSlot(input: $in) { id } }`,
			`{"in":{"id":"a"}}`, "a (named)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, write := range w.prepared(t, tt.document, "", tt.variables).Writes() {
				if write.NamesID {
					write.Key += " (named)"
				}
				got = append(got, write.Key)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("writes (-want +got):\n%s", diff)
			}
		})
	}
}
