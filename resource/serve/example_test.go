package serve_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/version"
)

type task struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true"`
}

// tasks returns a catalog with one collection in memory.
func tasks() *resource.Catalog {
	return resource.NewCatalog(nil, resource.New("tasks", memory.New[task](nil), &resource.Options[task]{Public: true}))
}

// One handler serves REST, GraphQL, documents and health checks.
func ExampleNew() {
	api := serve.New(tasks(), &serve.Options{Title: "Tasks"})
	for _, path := range []string{"/", "/tasks", "/graphql?query={tasks{nodes{id}}}", "/openapi.json", "/health"} {
		w := httptest.NewRecorder()
		api.ServeHTTP(w, httptest.NewRequest("GET", path, http.NoBody))
		fmt.Println(w.Code, path)
	}
	// Output:
	// 200 /
	// 200 /tasks
	// 200 /graphql?query={tasks{nodes{id}}}
	// 200 /openapi.json
	// 200 /health
}

// An API with two versions, of which the path selects one.
func ExampleNewVersions() {
	opts := &serve.Options{Title: "Tasks"}
	api := version.New([]version.Contract{
		{Name: "2.0.0", Handler: serve.NewContract(tasks(), opts)},
		{Name: "1.0.0", Handler: serve.NewContract(tasks(), opts)},
	}, []version.Strategy{version.Path{}}, &version.Options{Default: "2.0.0"})
	h := http.StripPrefix("/api", serve.NewVersions(api, opts))
	for _, path := range []string{"/api/tasks", "/api/v1/tasks", "/api/openapi/1.0.0.json", "/api/v1/graphql?query={tasks{nodes{id}}}"} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest("GET", path, http.NoBody))
		fmt.Println(w.Code, path)
	}
	// Output:
	// 200 /api/tasks
	// 200 /api/v1/tasks
	// 200 /api/openapi/1.0.0.json
	// 200 /api/v1/graphql?query={tasks{nodes{id}}}
}

// The handler of one version serves REST and GraphQL.
func ExampleNewContract() {
	contract := serve.NewContract(tasks(), nil)
	w := httptest.NewRecorder()
	contract.ServeHTTP(w, httptest.NewRequest("GET", "/tasks", http.NoBody))
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"items":[]}
}
