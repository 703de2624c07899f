package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/serve"
	"github.com/stoa-go/stoa/version"
)

func TestReadme(t *testing.T) {
	t.Parallel()
	recipe.Readme(t)
}

// No response to a caller without the role contains the field or its value, and each has its own
// entity tag.
func TestNothingIsRevealed(t *testing.T) {
	t.Parallel()
	h := newHandler()
	send := func(token, method, target, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := send("ann-token", "POST", "/employees", `{"name":"Eve","salary":77077}`); w.Code != 201 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	for _, target := range []string{
		"/employees", "/employees/1", "/openapi.json", "/openapi.yaml", "/graphql/schema.graphql", "/docs", "/llms.txt",
	} {
		for token, want := range map[string]bool{"ann-token": true, "bob-token": false, "": false} {
			text := send(token, "GET", target, "").Body.String()
			if got := strings.Contains(text, "salary") || strings.Contains(text, "77077"); got && !want {
				t.Errorf("GET %s with the token %q reveals the salary:\n%s", target, token, text)
			}
		}
	}
	for _, target := range []string{"/employees?sort=salary", "/employees?fields=salary", "/employees?salary.gte=1"} {
		if w := send("bob-token", "GET", target, ""); w.Code != 400 {
			t.Errorf("GET %s: %d, want 400: %s", target, w.Code, w.Body)
		}
	}
	all, some := send("ann-token", "GET", "/employees/1", ""), send("bob-token", "GET", "/employees/1", "")
	if all.Header().Get("ETag") == some.Header().Get("ETag") || !strings.Contains(all.Body.String(), "77077") {
		t.Errorf("the entity tags are %q and %q: %s", all.Header().Get("ETag"), some.Header().Get("ETag"), all.Body)
	}
	if w := send("bob-token", "DELETE", "/employees/1", ""); w.Code != 403 {
		t.Errorf("DELETE: %d, want 403", w.Code)
	}
}

// The activity of administrators is hidden, too: a new salary changes no response to another caller, and
// does not fail a write of another caller.
func TestNoActivityIsRevealed(t *testing.T) {
	t.Parallel()
	h := newHandler()
	send := func(token, method, target, body string, header ...string) *httptest.ResponseRecorder {
		r := httptest.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+token+"-token")
		for i := 0; i < len(header); i += 2 {
			r.Header.Set(header[i], header[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w
	}
	if w := send("ann", "POST", "/employees", `{"name":"Eve","salary":5000}`); w.Code != 201 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	item := send("bob", "GET", "/employees/1", "").Header().Get("ETag")
	list := send("bob", "GET", "/employees", "").Header().Get("ETag")
	query := func(text string) string {
		doc, err := json.Marshal(map[string]any{"query": text, "variables": map[string]string{"tag": item}})
		if err != nil {
			t.Fatal(err)
		}
		return string(doc)
	}
	const write = "mutation($tag: String) { patchEmployee(id: 1, input: {phone: \"\"}, ifMatch: $tag) { etag } }"
	responses := func() (all []string) {
		for _, w := range []*httptest.ResponseRecorder{
			send("bob", "GET", "/employees/1", ""),
			send("bob", "GET", "/employees/1", "", "If-None-Match", item),
			send("bob", "GET", "/employees", "", "If-None-Match", list),
			send("bob", "PATCH", "/employees/1", `{"phone":""}`, "If-Match", item),
			send("bob", "PATCH", "/employees/1", `{"phone":""}`, "If-Match", `"x"`),
			send("bob", "POST", "/graphql", query("{ employee(id: 1) { etag name } employees { nodes { etag } } }")),
			send("bob", "POST", "/graphql", query(write)),
		} {
			all = append(all, fmt.Sprint(w.Code, w.Header(), w.Body))
		}
		return all
	}
	before := responses()
	if w := send("ann", "PATCH", "/employees/1", `{"salary":6000}`); w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	if diff := cmp.Diff(before, responses()); diff != "" {
		t.Errorf("after a new salary (-before +after):\n%s", diff)
	}
	for i, want := range []string{"200", "304", "304", "200", "412", "200", "200"} {
		if !strings.HasPrefix(before[i], want) || strings.Contains(before[i], `"errors":[{"message"`) {
			t.Errorf("response %d: %s, want %s", i, before[i], want)
		}
	}
	if w := send("bob", "PATCH", "/employees/1", `{"phone":"555-1"}`, "If-Match", item); w.Code != 200 {
		t.Errorf("a write with the tag from before: %d: %s", w.Code, w.Body)
	}
	if slices.Equal(before, responses()) {
		t.Error("no response depends on a change that the caller can see")
	}
}

// EmployeeV1 and PublicEmployeeV1 are the shapes of version 1.0.0, in which the name was called label.
type EmployeeV1 struct {
	ID     int64  `json:"id" readOnly:"true"`
	Label  string `json:"label" required:"true"`
	Salary int64  `json:"salary"`
}

type PublicEmployeeV1 struct {
	ID    int64  `json:"id" readOnly:"true"`
	Label string `json:"label" required:"true"`
}

func toV1(e Employee) (EmployeeV1, error) { return EmployeeV1{e.ID, e.Name, e.Salary}, nil }

func fromV1(v EmployeeV1, e Employee) (Employee, error) {
	e.Name, e.Salary = v.Label, v.Salary
	return e, nil
}

func toPublicV1(e PublicEmployee) (PublicEmployeeV1, error) {
	return PublicEmployeeV1{e.ID, e.Name}, nil
}

func fromPublicV1(v PublicEmployeeV1, e PublicEmployee) (PublicEmployee, error) {
	e.Name = v.Label
	return e, nil
}

// versionsOf serves both versions for one role.
func versionsOf(title string, current, old *resource.Resource) http.Handler {
	opts := &serve.Options{Title: title}
	contract := func(name string, r *resource.Resource) version.Contract {
		catalog := resource.NewCatalog(&resource.CatalogOptions{Principal: middleware.Principal}, r)
		return version.Contract{Name: name, Handler: serve.NewContract(catalog, opts)}
	}
	return serve.NewVersions(version.New(
		[]version.Contract{contract("2.0.0", current), contract("1.0.0", old)},
		[]version.Strategy{version.Path{}}, &version.Options{Default: "2.0.0"}), opts)
}

// TestRolesAndVersions: each role has its shape in each version, over one store.
func TestRolesAndVersions(t *testing.T) {
	t.Parallel()
	employees := resource.New("employees", memory.New[Employee](nil), &resource.Options[Employee]{Authorize: authorize})
	full := versionsOf("Employees, in full", employees, resource.View(employees, toV1, fromV1, nil))
	public := resource.View(employees, toPublic, fromPublic, nil)
	limited := versionsOf("Employees", public, resource.View(public, toPublicV1, fromPublicV1, nil))
	h := middleware.Authenticate(session, nil)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if caller, _ := middleware.Claims[role](r.Context()); caller == admin {
			full.ServeHTTP(w, r)
			return
		}
		limited.ServeHTTP(w, r)
	}))
	tags := map[string]string{}
	for _, tt := range []struct{ token, method, target, body, want string }{
		{"ann", "POST", "/employees", `{"name":"Eve","salary":5000}`, `{"id":1,"name":"Eve","phone":"","salary":5000}`},
		{"bob", "PUT", "/v1/employees/1", `{"label":"Eva"}`, `{"id":1,"label":"Eva"}`},
		{"ann", "GET", "/employees/1", "", `{"id":1,"name":"Eva","phone":"","salary":5000}`},
		{"ann", "GET", "/v1/employees/1", "", `{"id":1,"label":"Eva","salary":5000}`},
		{"bob", "GET", "/v2/employees/1", "", `{"id":1,"name":"Eva","phone":""}`},
		{"bob", "GET", "/v1/employees/1", "", `{"id":1,"label":"Eva"}`},
	} {
		r := httptest.NewRequestWithContext(t.Context(), tt.method, tt.target, strings.NewReader(tt.body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+tt.token+"-token")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if got := strings.TrimSpace(w.Body.String()); got != tt.want {
			t.Errorf("%s: %s %s: %s, want %s", tt.token, tt.method, tt.target, got, tt.want)
		}
		if tt.method != "GET" {
			continue
		}
		if other, tag := tags[w.Header().Get("ETag")], tt.token+tt.target; other != "" {
			t.Errorf("%s and %s have the same entity tag", other, tag)
		}
		tags[w.Header().Get("ETag")] = tt.token + tt.target
	}
	for _, target := range []string{"/openapi/1.0.0.json", "/openapi/2.0.0.json", "/v1/graphql/schema.graphql"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequestWithContext(t.Context(), "GET", target, nil)
		r.Header.Set("Authorization", "Bearer bob-token")
		if h.ServeHTTP(w, r); w.Code != 200 || strings.Contains(w.Body.String(), "alary") {
			t.Errorf("GET %s: %d, or it reveals the salary", target, w.Code)
		}
	}
}
