package middleware_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/stoa-go/stoa/middleware"
)

// Reads are public, and writes need a token.
func ExampleAuthenticate() {
	type claims struct{ Role string }
	sessions := map[string]middleware.Session[claims]{"t0k3n": {Principal: "ann", Claims: claims{Role: "clerk"}}}
	verify := func(_ *http.Request, token string) (middleware.Session[claims], error) {
		session, ok := sessions[token]
		if !ok {
			return session, middleware.ErrToken
		}
		return session, nil
	}
	auth := middleware.Authenticate(verify, &middleware.AuthenticateOptions{Realm: "shop",
		Required: middleware.Writes})
	h := auth(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		caller, _ := middleware.Claims[claims](r.Context())
		fmt.Printf("%s by %q, role %q\n", r.Method, middleware.Principal(r.Context()), caller.Role)
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
	// GET by "", role ""
	// 200 ""
	// 401 "Bearer realm=\"shop\""
	// 401 "Bearer realm=\"shop\", error=\"invalid_token\", error_description=\"the token is invalid, expired or revoked\""
	// POST by "ann", role "clerk"
	// 200 ""
}

func ExampleChallenge() {
	fmt.Println(middleware.Challenge("shop"))
	// Output: Bearer realm="shop"
}
