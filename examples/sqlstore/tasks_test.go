package main

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// The store passes the conformance kit, with every filter and sort that it declares.
func TestTasks(t *testing.T) {
	t.Parallel()
	for _, engine := range sqltest.Engines() {
		if engine.Dialect != sqltx.SQLite {
			continue
		}
		t.Run(engine.Name, func(t *testing.T) {
			t.Parallel()
			open := func(t *testing.T) *Tasks {
				tasks, err := NewTasks(engine.Open(t, nil))
				if err != nil {
					t.Fatal(err)
				}
				return tasks
			}
			resourcetest.Run(
				t,
				func(t *testing.T) resource.Collection[Task] { return open(t) },
				&resourcetest.Options[Task]{
					Require: []string{"Creator", "Replacer", "Deleter", "Transactor"},
					Support: open(t).query.Support(), Items: 40, Writers: 6,
				},
			)
		})
	}
}

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// tasks.go is the complete store, and short.
func TestLength(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("tasks.go")
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(source, []byte("\n")); n >= 120 {
		t.Errorf("tasks.go has %d lines; the README says under 120", n)
	}
}

// A name that is not a column never becomes part of the statement.
func TestUnknownColumns(t *testing.T) {
	t.Parallel()
	api, err := openAPI(filepath.Join(t.TempDir(), "tasks.db"))
	if err != nil {
		t.Fatal(err)
	}
	say := func(method, target, body string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		api.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	for _, title := range []string{"buy oil", "'; DROP TABLE tasks; --"} {
		if status, body := say("POST", "/tasks", `{"title":"`+title+`"}`); status != http.StatusCreated {
			t.Fatalf("%d: %s", status, body)
		}
	}
	tests := []struct {
		name, target string
		status       int
		want         string
	}{
		{"a sort key that is not a field", "/tasks?rev=x", 400, ""},
		{"a filter", "/tasks?title=%27%3B%20DROP%20TABLE%20tasks%3B%20--&fields=id", 200,
			`{"items":[{"id":2}]}`},
		{"a sort", "/tasks?sort=-priority,title&fields=id", 200, `{"items":[{"id":2},{"id":1}]}`},
		{"both tasks remain", "/tasks?done=false&fields=id", 200, `{"items":[{"id":1},{"id":2}]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			status, body := say("GET", tt.target, "")
			if status != tt.status {
				t.Errorf("%d: %s", status, body)
			}
			if diff := cmp.Diff(tt.want, body); tt.want != "" && diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
