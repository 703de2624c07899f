package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/admin"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Note is an item.
type Note struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true"`
}

// The admin page beside the API that it uses. Only requests with the token of the team read the
// description.
func ExampleNew() {
	notes := resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true})
	catalog := resource.NewCatalog(nil, notes)
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, nil))
	mux.Handle("/admin/", admin.New(catalog, &admin.Options{
		Title: "Notes",
		Authorize: func(r *http.Request) error {
			if r.Header.Get("Authorization") != "Bearer team" {
				return resource.ErrUnauthenticated
			}
			return nil
		},
	}))
	for _, path := range []string{"/notes", "/admin/", "/admin/description.json"} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequest("GET", path, http.NoBody))
		fmt.Println(w.Code, path)
	}
	// Output:
	// 200 /notes
	// 200 /admin/
	// 401 /admin/description.json
}

// A form for the command that returns a token. The page sends the token with each of its requests.
func ExampleLogin() {
	type input struct {
		Name     string `json:"name" required:"true"`
		Password string `json:"password" required:"true"`
	}
	type output struct {
		Token string `json:"token"`
	}
	login := func(_ context.Context, in input) (output, error) {
		if in.Password != "secret" {
			return output{}, resource.ErrUnauthenticated
		}
		return output{Token: "team"}, nil
	}
	catalog := resource.NewCatalog(nil, command.New("auth/login", login, &command.Options[input]{Public: true}))
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, nil))
	mux.Handle("/admin/", admin.New(catalog, &admin.Options{Login: &admin.Login{Command: "auth/login"}}))
	r := httptest.NewRequest("POST", "/auth/login", strings.NewReader(`{"name":"ann","password":"secret"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Body)
	// Output: 200 {"token":"team"}
}
