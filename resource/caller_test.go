package resource_test

import (
	"context"
	"net/http"
)

// callerKey is where the tests keep who is asking, as an application would.
type callerKey struct{}

// byCaller takes the caller from the header field Caller, in place of real authentication.
func byCaller(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), callerKey{}, r.Header.Get("Caller"))))
	})
}

func caller(ctx context.Context) string {
	name, _ := ctx.Value(callerKey{}).(string)
	return name
}

const (
	asAdmin   = "Caller: admin"
	asMallory = "Caller: mallory"
)
