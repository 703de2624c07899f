package exec_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// wide selects six root fields, with relations below each.
const wide = `{ a: books { nodes { author { name } reviews { stars } sequel { id } } } b: book(id: 1) { author { name } reviews { stars } }
	c: book(id: 2) { reviews { stars book { author { name } } } } d: books { totalCount nodes { id } }
	e: author(id: "ann") { books { sequel { id } author { name } } } f: author(id: "bob") { books { id } } }`

// TestParallel checks that fetches reach Config.Parallel and do not exceed it.
func TestParallel(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 4} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			want := newWorld(t, setting{}).ask(t, wide)
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, setting{config: exec.Config{Parallel: most}})
				var running, peak atomic.Int32
				w.hook = func(context.Context, string) error {
					n := running.Add(1)
					for old := peak.Load(); n > old && !peak.CompareAndSwap(old, n); old = peak.Load() {
					}
					time.Sleep(time.Second) // synctest: until all other goroutines are blocked
					running.Add(-1)
					return nil
				}
				if diff := cmp.Diff(want, w.ask(t, wide)); diff != "" {
					t.Errorf("answer (-want +got):\n%s", diff)
				}
				if got := int(peak.Load()); got != most {
					t.Errorf("%d calls at a time, want %d", got, most)
				}
			})
		})
	}
}

// TestBranchesIndependent checks that branches are independent: two levels take the time of two
// calls.
func TestBranchesIndependent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{config: exec.Config{Parallel: 20}})
		w.hook = func(context.Context, string) error {
			time.Sleep(time.Second)
			return nil
		}
		start := time.Now()
		w.ask(t, wide)
		if took := time.Since(start); took != 4*time.Second {
			t.Errorf("took %v, want that of the four levels of c", took)
		}
	})
}

// TestMutationsAreSerial checks that each mutation completes with its subfields before the next
// one.
func TestMutationsAreSerial(t *testing.T) {
	t.Parallel()
	const document = `mutation { a: createBook(input: {title: "A", authorId: "ann"}) { title author { books { title } } }
		__typename b: createBook(input: {title: "B", authorId: "ann"}) { title author { books { title } } reviews { id } } }`
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		var order []string
		w.hook = func(_ context.Context, call string) error {
			time.Sleep(time.Second)
			w.mu.Lock()
			order = append(order, strings.Fields(call)[0]+" "+strings.Fields(call)[1])
			w.mu.Unlock()
			return nil
		}
		const known = `{"title":"First"},{"title":"Second"},{"title":"A"}`
		want := `{"data":{"a":{"title":"A","author":{"books":[` + known + `]}},"__typename":"Mutation",` +
			`"b":{"title":"B","author":{"books":[` + known + `,{"title":"B"}]},"reviews":[]}}}`
		if diff := cmp.Diff(want, w.ask(t, document)); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
		first := []string{"books create", "authors many", "books by"}
		if diff := cmp.Diff(first, order[:3]); diff != "" {
			t.Errorf("calls of the first (-want +got):\n%s", diff)
		}
		if order[3] != "books create" {
			t.Errorf("the second begins with %s", order[3])
		}
	})
}

// TestParallelReleased checks that another goroutine can start when one ends.
func TestParallelReleased(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{config: exec.Config{Parallel: 3}})
		w.hook = func(context.Context, string) error {
			time.Sleep(time.Second)
			return nil
		}
		document := `mutation { `
		for i := range 5 {
			document += fmt.Sprintf(`m%d: createBook(input: {title: "A", authorId: "ann", sequelId: 1}) `+
				`{ author { name } reviews { id } sequel { id } } `, i)
		}
		start := time.Now()
		w.ask(t, document+`}`)
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %v, want that of five times one after the other", took)
		}
	})
}

// TestCountedOnce checks that each list is counted once, regardless of the number of aliases.
func TestCountedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	got := w.ask(t, `{ a: books(first: 1) { a: totalCount b: totalCount c: totalCount } b: books(first: `+
		`1) { a: totalCount b: totalCount } }`)
	if want := `{"data":{"a":{"a":3,"b":3,"c":3},"b":{"a":3,"b":3}}}`; got != want {
		t.Errorf("answer %s, want %s", got, want)
	}
	if calls := w.took(); strings.Count(calls, "books count") != 2 {
		t.Errorf("fetched %s, want two counts", calls)
	}
}

// TestFailedMutation checks that mutations after a failed one are executed.
func TestFailedMutation(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	got := outline(t, w.ask(t,
		`mutation { a: deleteBook(id: 77) { id } b: deleteBook(id: 2) { id title author { name } } c: `+
			`deleteBook(id: 2) { id } }`))
	want := `[a] NOT_FOUND; [c] NOT_FOUND; {"a":null,"b":{"id":"2","title":"Second",` +
		`"author":{"name":"Ann"}},"c":null}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestHidden checks that hidden items are absent from each field that could return them.
func TestHidden(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	w.visible = func(_ context.Context, a *author) bool { return a.ID != "ann" }
	got := w.ask(t, `{ author(id: "ann") { name } authors { nodes { id } } book(id: 1) { author { name } `+
		`sequel { author { id } } } }`)
	want := `{"data":{"author":null,"authors":{"nodes":[{"id":"bob"},{"id":"cid"}]},` +
		`"book":{"author":null,"sequel":{"author":null}}}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
}

// TestPanics checks that a panic of application code is an error of one field.
func TestPanics(t *testing.T) {
	t.Parallel()
	boom := func() error { panic("boom of the store") }
	fields := []*model.CustomField{
		rootField("boom", true, func(context.Context) (*string, error) { return nil, boom() }),
		computedBook[string]("bang", true, func(context.Context, []*book) ([]any, error) {
			return nil,
				boom()
		}),
		rootField("fallen", true, func(context.Context) (*book,
			error) {
			return &book{Shelf: "panic", Genre: "novel"}, nil
		}),
		rootField("lying", true, func(context.Context) (*edition, error) { return nil, nil }),
	}
	fields[3].Root = func(context.Context, any) (any, error) { return new(int), nil } // not an edition
	tests := []struct{ name, call, document, want string }{
		{"a list", "books list", `{ books { nodes { id } } __typename }`,
			`[books] INTERNAL_SERVER_ERROR; {"books":null,"__typename":"Query"}`},
		{"a relation", "authors many", `{ book(id: 1) { id author { name } } }`,
			`[book author] INTERNAL_SERVER_ERROR; {"book":{"id":"1","author":null}}`},
		{"a relation beside others", "reviews by",
			`{ books(first: 1) { nodes { author { name } reviews { id } sequel { id } } } }`,
			`[books nodes 0 reviews] INTERNAL_SERVER_ERROR; {"books":null}`},
		{"a count", "books count", `{ books(first: 1) { totalCount nodes { id } } }`,
			`[books totalCount] INTERNAL_SERVER_ERROR; {"books":{"totalCount":null,"nodes":[{"id":"1"}]}}`},
		{"a write", "books create", `mutation { createBook(input: {title: "x"}) { id } }`,
			`[createBook] INTERNAL_SERVER_ERROR; {"createBook":null}`},
		{"a custom field", "", `{ boom book(id: 1) { id } }`,
			`[boom] INTERNAL_SERVER_ERROR; {"boom":null,"book":{"id":"1"}}`},
		{"a computed field", "", `{ book(id: 1) { bang id } }`,
			`[book bang] INTERNAL_SERVER_ERROR; {"book":{"bang":null,"id":"1"}}`},
		{"a member that writes itself", "", `{ fallen { title shelf } }`,
			`[fallen shelf] INTERNAL_SERVER_ERROR; {"fallen":null}`},
		{"a function that is not what it says", "", `{ lying { year } }`,
			`[lying year] INTERNAL_SERVER_ERROR; {"lying":null}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{fields: fields})
			w.hook = func(_ context.Context, call string) error {
				if tt.call != "" && strings.HasPrefix(call, tt.call) {
					return boom()
				}
				return nil
			}
			if diff := cmp.Diff(tt.want, outline(t, w.ask(t, tt.document))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if log := w.logged(); strings.Count(log, "level=ERROR") != 1 {
				t.Errorf("logged %q, want one line", log)
			}
			// The engine still works.
			w.hook = nil
			if got, want := w.ask(t, `{ book(id: 2) { author { name } } }`),
				`{"data":{"book":{"author":{"name":"Ann"}}}}`; got != want {
				t.Errorf("then %s, want %s", got, want)
			}
		})
	}
}

// TestPanickingLogger checks that a panic of the logger has no effect.
func TestPanickingLogger(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{fields: oddFields()})
	w.hook = func(_ context.Context, call string) error {
		if !strings.HasPrefix(call, "books get") {
			panic("boom")
		}
		return nil
	}
	w.onLog = func() { panic("and again") }
	got := outline(t, w.ask(t, `{ book(id: 1) { id author { id } sequel { id } } nan { ratio } }`))
	want := `[book author] INTERNAL_SERVER_ERROR; [book sequel] INTERNAL_SERVER_ERROR; [nan ratio] ` +
		`INTERNAL_SERVER_ERROR; ` +
		`{"book":{"id":"1","author":null,"sequel":null},"nan":null}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestContextDone checks that stores see the end of the context, and that nothing is fetched afterwards.
func TestContextDone(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		end    func(ctx context.Context) (context.Context, context.CancelFunc)
		honest bool // the store returns when the context is done
	}{
		{"cancelled", context.WithCancel, true},
		{"too late", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Minute)
		}, true},
		{"a store that does not care", context.WithCancel, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, setting{})
				ctx, cancel := tt.end(t.Context())
				defer cancel()
				w.hook = func(ctx context.Context, call string) error {
					if !strings.HasPrefix(call, "authors") {
						return nil
					}
					if tt.name != "too late" {
						cancel()
					}
					if !tt.honest {
						return nil
					}
					<-ctx.Done()
					return fmt.Errorf("asking: %w", ctx.Err())
				}
				got, outcome := w.run(ctx, t,
					`mutation { a: deleteBook(id: 1) { id author { name books { id } } } b: `+
						`deleteBook(id: 2) { id } }`, "")
				if calls := w.took(); outcome != exec.Done || calls != "authors many 1, books get 1" {
					t.Errorf("outcome %v, calls %s", outcome, calls)
				}
				if item, err := w.books.Get(t.Context(), "2"); err != nil || item.Value.Title != "Second" {
					t.Errorf("a later field was executed: %v", err)
				}
				const text = `"message":"The operation did not finish in time."`
				if n := strings.Count(got, text); n < 2 || !strings.HasSuffix(got, `,"b":null}}`) {
					t.Errorf("answer %s", got)
				}
				if log := w.logged(); log != "" {
					t.Errorf("logged %s", log)
				}
			})
		})
	}
}

// TestConcurrentRuns runs a plan concurrently while the catalog changes.
func TestConcurrentRuns(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{fields: oddFields(), config: exec.Config{PlanBytes: 20_000}})
	want := w.ask(t, wide)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for n := range 20 {
				if got := w.ask(t, wide); got != want {
					t.Errorf("answer %s, want %s", got, want)
				}
				w.ask(t, fmt.Sprintf(`{ x%d: book(id: %d) { id } maybe { maybe { color } } }`, i, n))
				w.ask(t,
					`query($a: Boolean!) { book(id: 3) { id @skip(if: $a) title sequel @include(if: $a) `+
						`{ id } } }`, `{"a": `+fmt.Sprint(n%2 == 0)+`}`)
			}
		})
	}
	group.Wait()
}

// TestColumns checks the columns that stores receive.
func TestColumns(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, document, want string }{
		{"a connection", `{ reviews { nodes { stars } edges { node { text } cursor } } }`,
			"reviews: id,stars,text"},
		{"nothing", `{ reviews { pageInfo { hasNextPage } } }`, "reviews: id"},
		{"what leads on", `{ reviews { nodes { book { title } } } }`, "reviews: bookId,id"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, setting{})
			w.ask(t, tt.document)
			if diff := cmp.Diff(tt.want, strings.Join(w.asked, "; ")); diff != "" {
				t.Errorf("columns (-want +got):\n%s", diff)
			}
		})
	}
}

var errNo = errors.New("no")

// TestErrorStopsItsBranch checks that an error affects the fields below it only.
func TestErrorStopsItsBranch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, setting{})
	w.hook = func(_ context.Context, call string) error {
		if strings.HasPrefix(call, "authors") {
			return errNo
		}
		return nil
	}
	got := outline(t, w.ask(t, `{ book(id: 1) { author { books { id } } sequel { title } } }`))
	if want := `[book author] INTERNAL_SERVER_ERROR; {"book":{"author":null,` +
		`"sequel":{"title":"Second"}}}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if diff := cmp.Diff("authors many 1, books get 1, books many 1", w.took()); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// TestRepeated checks that items that occur several times are copied correctly, with errors in them
// and after truncation.
func TestRepeated(t *testing.T) {
	t.Parallel()
	// The name is missing for one author of three, which is an error for each occurrence.
	named := &model.CustomField{On: "authors", Name: "sure", Out: typed[string](),
		Parent: typed[author]().GoType, Cost: 1,
		Each: func(_ context.Context, items []any, _ any) ([]any, error) {
			values := make([]any, len(items))
			for i, item := range items {
				if a := item.(*author); a.ID != "cid" {
					values[i] = &a.Name
				}
			}
			return values, nil
		}}
	w := newWorld(t, setting{size: 30, fields: []*model.CustomField{named}})
	var data, errs strings.Builder
	for i := range 30 {
		id := []string{"ann", "bob", "cid"}[i%3]
		name := map[string]string{"ann": `"Ann"`, "bob": `"Bob \"B\""`}[id]
		fmt.Fprintf(&data, `,{"id":"%d","author":`, 100+i)
		if name == "" {
			fmt.Fprintf(&errs, "[books nodes %d author sure] INTERNAL_SERVER_ERROR; ", i+3)
			data.WriteString("null}")
			continue
		}
		fmt.Fprintf(&data, `{"id":%q,"sure":%s}}`, id, name)
	}
	known := `{"id":"1","author":{"id":"ann","sure":"Ann"}},{"id":"2","author":{"id":"ann","sure":"Ann"}},` +
		`{"id":"3","author":{"id":"bob","sure":"Bob \"B\""}}`
	want := errs.String() + `{"books":{"nodes":[` + known + data.String() + `]}}`
	for range 2 {
		if diff := cmp.Diff(want, outline(t, w.ask(t,
			`{ books { nodes { id author { id sure } } } }`))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	// 11 of 33 books remain in each list, with the same three authors.
	got := w.ask(t, `{ books { nodes { sequel { id } author { books { author { name } } } } } }`)
	if n := strings.Count(got, `{"author":{"name":"Ann"}}`); n != 12*10 {
		t.Errorf("%d books of Ann, want 12 times the 10 that there are at most", n)
	}
}

// TestRepeatedTruncated checks that truncated output is not copied.
func TestRepeatedTruncated(t *testing.T) {
	t.Parallel()
	even := computedBook[string]("even", false, func(_ context.Context, books []*book) ([]any, error) {
		values := make([]any, len(books))
		for i, b := range books {
			if b.ID%2 == 0 {
				values[i] = &b.Title
			}
		}
		return values, nil
	})
	w := newWorld(t, setting{fields: []*model.CustomField{even}})
	got := outline(t, w.ask(t,
		`{ books(orderBy: [{field: title, direction: DESC}]) { nodes { id sequel { author { name } even `+
			`} } } }`))
	want := `[books nodes 0 sequel even] INTERNAL_SERVER_ERROR; {"books":{"nodes":[{"id":"3",` +
		`"sequel":null},{"id":"2","sequel":null},` +
		`{"id":"1","sequel":{"author":{"name":"Ann"},"even":"Second"}}]}}`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// newTables returns a world with tables that have the same books on them.
func newTables(t *testing.T, count int, books []int64, config exec.Config) *world {
	type table struct {
		ID    int64   `json:"id" readOnly:"true"`
		Books []int64 `json:"books"`
	}
	tables := memory.New[table](nil)
	for range count {
		if _, err := tables.Create(t.Context(), table{Books: books}); err != nil {
			t.Fatal(err)
		}
	}
	return newWorld(t, setting{config: config, parts: []resource.Part{resource.New("tables", tables,
		&resource.Options[table]{Public: true, Relations: []resource.Relation[table]{
			{Name: "on", Target: "books", Field: "books", Many: true}}})}})
}

// TestErrorInLists checks lists with an item that has an error after one that has none. If there are
// fewer items than lists, the first item is written once and copied. Otherwise the list is written
// twice, and the first text is truncated.
func TestErrorInLists(t *testing.T) {
	t.Parallel()
	note := "a\xff"
	for _, tt := range []struct {
		name   string
		tables int
	}{{"shared items", 3}, {"one list", 1}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newTables(t, tt.tables, []int64{1, 99}, exec.Config{})
			bad := book{ID: 99, Title: "Bad", Genre: "novel", Note: &note}
			if _, err := w.books.Insert(t.Context(), "99", bad); err != nil {
				t.Fatal(err)
			}
			var errs, data []string
			for i := range tt.tables {
				errs = append(errs, fmt.Sprintf("[tables nodes %d on 1 note] INTERNAL_SERVER_ERROR; ", i))
				data = append(data, `{"on":[{"id":"1","note":"mind the <step>"},{"id":"99","note":null}]}`)
			}
			want := strings.Join(errs, "") + `{"tables":{"nodes":[` + strings.Join(data, ",") + `]}}`
			if diff := cmp.Diff(want, outline(t, w.ask(t, `{ tables { nodes { on { id note } } } }`))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestLimitInList checks a list in which the limit of the response is reached, at each byte of it.
func TestLimitInList(t *testing.T) {
	t.Parallel()
	const document = `{ tables { nodes { on { id } } } }`
	const want = `{"data":{"tables":{"nodes":[{"on":[{"id":"1"},{"id":"2"},{"id":"3"}]}]}}}`
	w := newTables(t, 1, []int64{1, 2, 3}, exec.Config{})
	for limit := strings.Index(want, `{"id"`); limit <= len(want); limit++ {
		w.remake(t, setting{config: exec.Config{Answer: limit}})
		got, outcome := w.run(t.Context(), t, document, "")
		if limit < strings.LastIndex(want, `,{"id"`) {
			message := fmt.Sprintf(`"message":"The response is longer than the limit of %d bytes. `, limit)
			if !strings.HasPrefix(got, `{"errors":[{`+message) || !strings.HasSuffix(got, `,"data":null}`) ||
				strings.Count(got, "message") != 1 || outcome != exec.NoData {
				t.Errorf("limit %d: %v, %s", limit, outcome, got)
			}
		} else if limit == len(want) && (got != want || outcome != exec.Done) {
			t.Errorf("limit %d: %v, %s, want %s", limit, outcome, got, want)
		}
	}
}

// TestFastFetches checks that fast fetches use no goroutine, and slow ones do again.
func TestFastFetches(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, setting{})
		var wait time.Duration
		w.hook = func(_ context.Context, call string) error {
			if !strings.HasPrefix(call, "books get") {
				time.Sleep(wait)
			}
			return nil
		}
		const document = `{ book(id: 1) { author { name } reviews { id } sequel { id } } }`
		want := w.ask(t, document)
		for i, tt := range []struct{ each, all time.Duration }{
			{0, 0}, {time.Second, 3 * time.Second}, {time.Second, time.Second}, {0, 0},
			{time.Second, time.Second},
		} {
			wait = tt.each
			start := time.Now()
			if got := w.ask(t, document); got != want {
				t.Errorf("%d: answer %s, want %s", i, got, want)
			}
			if took := time.Since(start); took != tt.all {
				t.Errorf("%d: took %v, want %v", i, took, tt.all)
			}
		}
	})
}
