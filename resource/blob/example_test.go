package blob_test

import (
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/rest"
)

func ExampleNew() {
	folder, err := os.MkdirTemp("", "uploads")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)
	store, err := files.New(folder, nil) // or anything else with the three methods of a blob.Store
	if err != nil {
		panic(err)
	}
	defer store.Close()
	api := rest.New(resource.NewCatalog(nil, blob.New("pictures", store, &blob.Options{
		MediaTypes: []string{"image/*"},
		MaxSize:    10 << 20,
	})), nil)
	for _, mediaType := range []string{"image/png", "text/html"} {
		r := httptest.NewRequest("PUT", "/pictures/cat", strings.NewReader("..."))
		r.Header.Set("Content-Type", mediaType)
		w := httptest.NewRecorder()
		api.ServeHTTP(w, r)
		fmt.Println(mediaType, w.Code)
	}
	// Output:
	// image/png 201
	// text/html 415
}
