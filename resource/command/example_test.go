package command_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// Note is the type of items.
type Note struct {
	ID   int64  `json:"id" readOnly:"true"`
	Text string `json:"text" required:"true" maxLength:"500"`
	Done bool   `json:"done"`
}

type Credentials struct {
	Email    string `json:"email" required:"true" format:"email"`
	Password string `json:"password" required:"true" writeOnly:"true"`
}

type Token struct {
	Token string `json:"token"`
}

// show sends a request and prints the status code and the body of the response.
func show(h http.Handler, method, target, mediaType, content string) {
	r := httptest.NewRequest(method, target, strings.NewReader(content))
	if mediaType != "" {
		r.Header.Set("Content-Type", mediaType)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	fmt.Println(strings.TrimSpace(fmt.Sprint(w.Code, " ", w.Body)))
}

// The input is validated before the function is called.
func ExampleNew() {
	login := command.New("auth/login", func(_ context.Context, in Credentials) (Token, error) {
		if in.Password != "open sesame" {
			return Token{}, resource.ErrUnauthenticated
		}
		return Token{Token: "t0k3n"}, nil
	}, &command.Options[Credentials]{Public: true})
	api := rest.New(resource.NewCatalog(nil, login), nil)

	show(
		api,
		"POST",
		"/auth/login",
		"application/json",
		`{"email":"ann@example.com","password":"open sesame"}`,
	)
	show(api, "POST", "/auth/login", "application/json", `{"email":"ann@example.com","password":"guess"}`)
	show(api, "POST", "/auth/login", "application/json", `{"email":"ann@example.com"}`)
	// Output:
	// 200 {"token":"t0k3n"}
	// 401 {"type":"https://stoa-go.github.io/problems/unauthenticated","title":"Unauthenticated","status":401,"detail":"The operation requires authentication."}
	// 422 {"type":"https://stoa-go.github.io/problems/invalid-content","title":"Invalid Content","status":422,"detail":"The content is not valid.","errors":[{"pointer":"/password","code":"required","detail":"password is required"}]}
}

// Each line of the body is an item. The third has the id of the first, and replaces it.
func ExampleNewImport() {
	notes := resource.New("notes", memory.New[Note](nil), nil)
	h := rest.New(resource.NewCatalog(nil, notes, command.NewImport("notes/import", notes)), nil)
	show(h, "POST", "/notes/import", "application/x-ndjson", `{"text":"water the plants"}
		{"text":"feed the cat"}
		{"id":1,"text":"water the plants","done":true}`)
	show(h, "GET", "/notes/1", "", "")
	// Output:
	// 200 {"created":2,"replaced":1,"rejected":[]}
	// 200 {"id":1,"text":"water the plants","done":true}
}
