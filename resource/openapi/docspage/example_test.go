package docspage_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/stoa-go/stoa/resource/openapi/docspage"
)

// The page of an API with two versions.
func ExampleNew() {
	mux := http.NewServeMux()
	mux.Handle("/docs", docspage.New([]docspage.Document{
		{Name: "2.0.0", URL: "openapi/2.0.0.json"},
		{Name: "1.0.0", URL: "openapi/1.0.0.json"},
	}, &docspage.Options{Title: "Shop"}))
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/docs", http.NoBody))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
