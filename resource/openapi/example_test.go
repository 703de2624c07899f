package openapi_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/openapi"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/version"
)

type Book struct {
	ID    int64  `json:"id" readOnly:"true"`
	Title string `json:"title" required:"true" minLength:"1"`
}

// The document of a catalog is served beside it.
func Example() {
	books := resource.New("books", memory.New[Book](nil), &resource.Options[Book]{Public: true})
	catalog := resource.NewCatalog(nil, books)

	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, nil))
	mux.Handle("/openapi.json", openapi.New(catalog, &openapi.Options{Title: "Library"}))

	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/openapi.json", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	fmt.Println(bytes.Contains(w.Body.Bytes(), []byte(`"operationId": "createBook"`)))
	// Output:
	// 200 application/json
	// true
}

// Each contract has a document, which describes how requests select it.
func ExampleNew() {
	catalog := resource.NewCatalog(nil, resource.New("books", memory.New[Book](nil), nil))
	api := version.New([]version.Contract{{Name: "1.0.0", Handler: rest.New(catalog, nil),
		OpenAPI: "/openapi/1.0.0.json"}},
		[]version.Strategy{version.Path{}}, nil)
	doc := openapi.New(catalog, &openapi.Options{Title: "Library", Contract: "1.0.0", Negotiator: api})

	fmt.Println(bytes.Contains(doc.JSON(), []byte(`"url": "/v1"`)))
	// Output: true
}

// A program that generates clients can render the document without a server.
func ExampleDocument_Render() {
	books := resource.New("books", memory.New[Book](nil), &resource.Options[Book]{Public: true})
	doc := openapi.New(resource.NewCatalog(nil, books), &openapi.Options{Title: "Library"})

	text := doc.Render(&openapi.Variant{Version: "3.0", YAML: true})
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fmt.Println(string(line))
	full := doc.Render(&openapi.Variant{Full: true})
	fmt.Println("OPTIONS in the default profile:", bytes.Contains(text, []byte("options:")))
	fmt.Println("OPTIONS in the full profile:", bytes.Contains(full, []byte(`"options":`)))
	// Output:
	// openapi: "3.0.3"
	// OPTIONS in the default profile: false
	// OPTIONS in the full profile: true
}
