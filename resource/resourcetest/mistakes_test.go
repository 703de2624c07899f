package resourcetest_test

import (
	"context"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

// update writes the table of mistakes: go test ./resource/resourcetest -run TestMistakes -update
var update = flag.Bool("update", false, "write the table of mistakes in README.md of package resource")

// Task and Store are what a new user begins with.
type Task struct {
	ID    string   `json:"id"`
	Title string   `json:"title"`
	Done  bool     `json:"done"`
	Tags  []string `json:"tags"`
}

type Store struct{}

func (*Store) Get(context.Context, string) (resource.Item[Task], error) {
	return resource.Item[Task]{}, resource.ErrNotFound
}

func (*Store) List(context.Context, query.Query) iter.Seq2[resource.Item[Task], error] {
	return func(func(resource.Item[Task], error) bool) {}
}

// Note has no field with the JSON name id.
type Note struct {
	Key string `json:"key"`
}

// Pointers is a collection of pointers.
type Pointers struct{}

func (Pointers) Get(context.Context, string) (resource.Item[*Task], error) {
	return resource.Item[*Task]{}, resource.ErrNotFound
}

func (Pointers) List(context.Context, query.Query) iter.Seq2[resource.Item[*Task], error] {
	return func(func(resource.Item[*Task], error) bool) {}
}

// Deletes has a method that is almost the capability Deleter.
type Deletes struct{ Store }

func (*Deletes) Delete(context.Context, string) error { return nil }

// mistake is a row of the table in README.md. One of code, start and kit is set.
type mistake struct {
	what  string
	code  string       // does not compile
	start func()       // panics
	kit   func() error // the error that ends resourcetest.Run
}

// at returns a row of a mistake that panics when the program starts.
func at(what string, start func()) mistake { return mistake{what: what, start: start} }

// authored has a field for the principal.
type authored struct {
	ID string `json:"id"`
	By string `json:"by" set:"createdBy"`
}

// registered returns a function that registers the store.
func registered(opts resource.Options[Task]) func() {
	return func() { resource.New("tasks", &Store{}, &opts) }
}

// filtered returns a function that registers the store with operators of one field.
func filtered(field string, ops ...query.Op) func() {
	return registered(resource.Options[Task]{Query: query.Support{Filter: map[string][]query.Op{field: ops}}})
}

// scoped returns a function that registers tasks with a filter as their Scope.
func scoped(f query.Filter) func() {
	return registered(resource.Options[Task]{
		Scope: func(context.Context) (query.Filter, error) { return f, nil }})
}

// tagged returns a function that registers a struct that differs from T only in tags.
func tagged[T any]() func() {
	return func() { resource.Ops[T]{Get: noGet[T], List: noList[T]}.Resource("tasks", nil) }
}

func noGet[T any](context.Context, string) (resource.Item[T], error) {
	return resource.Item[T]{}, resource.ErrNotFound
}

func noList[T any](context.Context, query.Query) iter.Seq2[resource.Item[T], error] { return nil }

// mistakeRows are the mistakes of the table, in its order.
func mistakeRows() []mistake {
	allow := func(context.Context, resource.Op, *Task, *Task) error { return nil }
	nothing := func(context.Context, struct{}) (struct{}, error) { return struct{}{}, nil }
	tasks := resource.New("tasks", &Store{}, nil)
	return []mistake{
		{what: "a method of `Collection` is missing", code: `type Store struct{}
			var _ resource.Collection[Task] = (*Store)(nil)`},
		{what: "a capability has another signature, and `var _` declares it", code: `type Store struct{}
			func (*Store) Delete(context.Context, string) error { return nil }
			var _ resource.Deleter = (*Store)(nil)`},
		{what: "a hook has the type of another resource", code: `type Note struct{}
			var _ = resource.Options[Task]{Before: func(context.Context, resource.Op, *Note, *Note) error { return nil }}`},

		at("a capability has another signature", func() { resource.New[Task]("tasks", &Deletes{}, nil) }),
		at("`Collection[*Task]`", func() { resource.New("tasks", Pointers{}, nil) }),
		at("`memory.New[*Task]`", func() { memory.New[*Task](nil) }),
		at("`command.New` with a pointer as input", func() {
			command.New("tasks/sweep", func(context.Context, *Task) (struct{}, error) { return struct{}{}, nil }, nil)
		}),
		at("a nil store", func() { resource.New("tasks", (*Store)(nil), nil) }),
		at("a nil part", func() { resource.NewCatalog(nil, tasks, nil) }),
		at("a part that is a nil pointer", func() { resource.NewCatalog(nil, tasks, (*resource.Lookup)(nil)) }),
		at("a nil catalog", func() { rest.New(nil, nil) }),
		at("a nil catalog in GraphQL", func() { graphql.New(nil, nil) }),
		at("a nil handler of a contract", func() {
			version.New([]version.Contract{{Name: "1.0.0", Handler: (*rest.Handler)(nil)}},
				[]version.Strategy{version.Path{}}, nil)
		}),
		at("a nil log of a feed", func() { feed.New((*feed.Memory)(nil), nil) }),
		at("a nil store of keys", func() { idempotency.New((*idempotency.Memory)(nil), nil) }),
		at("a nil handler of a server", func() { middleware.Server((*rest.Handler)(nil), nil) }),
		at("a nil function of a view", func() {
			resource.View[Task, Note](tasks, nil, nil, nil)
		}),
		at("a nil function of a lookup", func() {
			resource.NewLookup[struct{}]("best", "tasks", nil)
		}),
		at("a nil store of blobs", func() { blob.New("files", (*files.Folder)(nil), nil) }),
		at("a nil function", func() { command.New[Task, Task]("tasks/sweep", nil, nil) }),

		at("a misspelled tag", tagged[struct {
			ID    string `json:"id"`
			Title string `json:"title" requried:"true"`
		}]()),
		at("two misspelled tags", tagged[struct {
			ID    string `json:"id" readonly:"true"`
			Title string `json:"title" minlenght:"1"`
		}]()),
		at("a tag of a validator", tagged[struct {
			ID    string `json:"id"`
			Email string `json:"email" validate:"required,email"`
		}]()),
		at("a tag of gin", tagged[struct {
			ID    string `json:"id"`
			Title string `json:"title" binding:"min=1,max=200"`
		}]()),
		at("a tag for another type", tagged[struct {
			ID   string `json:"id"`
			Size int    `json:"size" maxLength:"5"`
		}]()),
		at("a misspelled format", tagged[struct {
			ID    string `json:"id"`
			Email string `json:"email" format:"emial"`
		}]()),
		at("an unknown format", tagged[struct {
			ID    string `json:"id"`
			Phone string `json:"phone" format:"phone"`
		}]()),
		at("a default outside of the enum", tagged[struct {
			ID    string `json:"id"`
			State string `json:"state" enum:"open,done" default:"new"`
		}]()),
		at("a time that is set into a string", tagged[struct {
			ID string `json:"id"`
			At string `json:"at" set:"created"`
		}]()),
		at("a tag `set` inside of a field", tagged[struct {
			ID   string `json:"id"`
			Meta struct {
				At time.Time `json:"at" set:"created"`
			} `json:"meta"`
		}]()),
		at("unique together with a field that does not exist", tagged[struct {
			ID    string `json:"id"`
			Email string `json:"email" unique:"tenant"`
		}]()),
		at("a misspelled option of the json tag", tagged[struct {
			ID string `json:"id"`
			//lint:ignore SA5008 the mistake is on purpose
			Title string `json:"title,omitEmpty"`
		}]()),
		at("no id field", tagged[Note]()),

		at("an operator that the type does not have", filtered("done", query.Contains)),
		at("an operator that does not exist", filtered("title", "like")),
		at("a filter by the Go name", filtered("Title", query.Eq)),
		at("a filter by a list", filtered("tags", query.Eq)),
		at("a sort key that is no field", registered(resource.Options[Task]{Query: query.Support{Sort: []string{"name"}}})),
		at("`Public` beside `Authorize`", registered(resource.Options[Task]{Public: true, Authorize: allow})),
		at("`Public` beside `Authorize` of a command", func() {
			command.New("tasks/sweep", nothing, &command.Options[struct{}]{Public: true,
				Authorize: func(context.Context, *struct{}) error { return nil }})
		}),
		at("a misspelled field in `Scope`", scoped(query.Where("don", query.Ne, true))),
		at("a value of another kind in `Scope`", scoped(query.Where("title", query.Ne, 5))),
		at("a misspelled field in `Where` of a view", func() {
			same := func(t Task) (Task, error) { return t, nil }
			resource.View(resource.New("tasks", memory.New[Task](nil), nil), same,
				func(v, _ Task) (Task, error) { return v, nil },
				&resource.ViewOptions{Where: query.Where("don", query.Ne, true)})
		}),
		at("several mistakes of one resource", registered(resource.Options[Task]{PageSize: 500, MaxPageSize: 100,
			Query: query.Support{Filter: map[string][]query.Op{"done": {query.StartsWith}}, Sort: []string{"titel"}}})),
		at("a relation to a resource that is not in the catalog", func() {
			resource.NewCatalog(nil, resource.New("tasks", &Store{}, &resource.Options[Task]{
				Relations: []resource.Relation[Task]{{Name: "owner", Target: "users", Field: "title"}}}))
		}),
		at("a principal that is not known", func() {
			resource.NewCatalog(nil, resource.New("notes", memory.New[authored](nil), nil))
		}),
		at("keys without a principal", func() {
			resource.NewCatalog(&resource.CatalogOptions{
				Idempotency: idempotency.New(idempotency.NewMemory(nil), nil)}, tasks)
		}),
		at("options for a resource that does not exist", func() {
			rest.New(resource.NewCatalog(nil, tasks),
				&rest.Options{Resources: map[string]rest.ResourceOptions{"task": {RepeatedDelete: http.StatusGone}}})
		}),

		{what: "the kit tests other queries than the resource declares", kit: func() error {
			return resourcetest.SetupError(&resourcetest.Options[Task]{
				Support: query.Support{Sort: []string{"title"}},
				Resource: resource.New("tasks", &Store{}, &resource.Options[Task]{
					Query: query.Support{Sort: []string{"title", "done"}}}),
			})
		}},
		{what: "the kit tests an operator that the type does not have", kit: func() error {
			return resourcetest.SetupError(&resourcetest.Options[Task]{
				Support: query.Support{Filter: map[string][]query.Op{"done": {query.Contains}}}})
		}},
	}
}

// compile returns the error of the compiler for code in a file that imports the library.
func compile(t *testing.T, code string) string {
	t.Helper()
	source := "package app\n\nimport (\n\t\"context\"\n\n\t\"github.com/stoa-go/stoa/resource\"\n)\n\n" +
		"var _ context.Context\n\ntype Task struct{ ID string }\n\n" + code + "\n"
	file := filepath.Join(t.TempDir(), "app.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	// The file need not be in the module: its imports are resolved in the module of this directory.
	out, err := exec.Command("go", "build", "-o", os.DevNull, file).CombinedOutput()
	if err == nil {
		return ""
	}
	_, text, _ := strings.Cut(string(out), "app.go:")
	return regexp.MustCompile(`^[0-9]+:[0-9]+: `).ReplaceAllString(text, "")
}

// refusal returns when a mistake is refused and the text of the refusal.
func (m mistake) refusal(t *testing.T) (when, text string) {
	t.Helper()
	switch {
	case m.code != "":
		return "compile", compile(t, m.code)
	case m.kit != nil:
		if err := m.kit(); err != nil {
			text = "resourcetest: " + err.Error()
		}
		return "kit", text
	}
	defer func() {
		if r := recover(); r != nil {
			when, text = "start", fmt.Sprint(r)
		}
	}()
	m.start()
	return "start", ""
}

// cell returns a text as code in a cell of a table, in one line.
func cell(text string) string {
	if strings.Contains(text, " mistakes:\n") {
		text = strings.ReplaceAll(strings.Replace(text, "\n", " ", 1), "\n", " / ")
	}
	text = strings.NewReplacer("resourcetest_test.", "", "github.com/stoa-go/stoa/", "", "|", `\|`).Replace(text)
	text = strings.Join(strings.Fields(text), " ")
	fence := "`"
	if strings.Contains(text, "`") {
		fence = "``"
	}
	return fence + text + fence
}

// TestMistakes makes each mistake and compares the table in README.md with when it was refused, and
// how. The text must contain a fix, which follows a semicolon or is the compiler's want.
func TestMistakes(t *testing.T) {
	t.Parallel()
	rows := mistakeRows()
	if len(rows) < 20 {
		t.Fatalf("%d mistakes, want at least 20", len(rows))
	}
	table := "| mistake | refused | text |\n|---|---|---|\n"
	for _, m := range rows {
		when, text := m.refusal(t)
		if text == "" {
			t.Errorf("%s is not refused", m.what)
		}
		table += fmt.Sprintf("| %s | %s | %s |\n", m.what, when, cell(text))
	}
	const begin, end = "<!-- mistakes: begin -->\n", "<!-- mistakes: end -->\n"
	file := filepath.Join("..", "README.md")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(old), begin)
	got, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no lines %q and %q", file, begin, end)
	}
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+table+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table, got); diff != "" {
		t.Errorf("%s: if the change is intended, run the test with -update (-want +got):\n%s", file, diff)
	}
}
