package rest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

func ExampleNew() {
	type Note struct {
		ID   int64  `json:"id" readOnly:"true"`
		Text string `json:"text" required:"true"`
	}
	notes := resource.New("notes", memory.New[Note](nil), &resource.Options[Note]{Public: true})
	api := rest.New(resource.NewCatalog(nil, notes), &rest.Options{
		Resources: map[string]rest.ResourceOptions{"notes": {Cache: "no-store"}},
	})

	request := httptest.NewRequest(http.MethodPost, "/notes", strings.NewReader(`{"text":"buy oil"}`))
	request.Header.Set("Content-Type", "application/json")
	response := httptest.NewRecorder()
	api.ServeHTTP(response, request)
	fmt.Println(response.Code, response.Header().Get("Location"), response.Header().Get("Cache-Control"))
	fmt.Println(response.Body)
	// Output:
	// 201 /notes/1 no-store
	// {"id":1,"text":"buy oil"}
}
