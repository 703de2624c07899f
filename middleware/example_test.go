package middleware_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/stoa-go/stoa/middleware"
)

// Reads are public, and writes need a token.
func ExampleAuthenticate() {
	sessions := map[string]string{"t0k3n": "ann"}
	verify := func(_ context.Context, token string) (string, error) {
		name, ok := sessions[token]
		if !ok {
			return "", middleware.ErrToken
		}
		return name, nil
	}
	auth := middleware.Authenticate(verify, &middleware.AuthenticateOptions{Realm: "shop",
		Required: middleware.Writes})
	h := auth(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Printf("%s by %q\n", r.Method, middleware.Principal(r.Context()))
	}))

	for _, ask := range [][2]string{{"GET", ""}, {"POST", ""}, {"POST", "Bearer guess"},
		{"POST", "Bearer t0k3n"}} {
		r := httptest.NewRequest(ask[0], "/orders", nil)
		if ask[1] != "" {
			r.Header.Set("Authorization", ask[1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		fmt.Printf("%d %q\n", w.Code, w.Header().Get("WWW-Authenticate"))
	}
	// Output:
	// GET by ""
	// 200 ""
	// 401 "Bearer realm=\"shop\""
	// 401 "Bearer realm=\"shop\", error=\"invalid_token\", error_description=\"the token is invalid, expired or revoked\""
	// POST by "ann"
	// 200 ""
}

func ExampleChallenge() {
	fmt.Println(middleware.Challenge("shop"))
	// Output: Bearer realm="shop"
}
