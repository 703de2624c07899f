package rest_test

import (
	"context"
	"net/http"
	"net/http/httptest"
)

// callerKey is the context key of the caller, as an application would have.
type callerKey struct{}

// byCaller takes the caller from the header field Caller, instead of authentication.
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

// sent is send for a prepared request.
func sent(h http.Handler, r *http.Request) *response {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return received(r.Method+" "+r.URL.Path, w.Result())
}
