package files_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/rest"
)

func Example() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	folder, err := files.New(dir, &files.Options{Remember: true})
	if err != nil {
		log.Fatal(err)
	}
	defer folder.Close()
	api := resource.NewCatalog(nil, blob.New("files", folder, &blob.Options{Public: true}))

	ask := func(method, target, field, content string) {
		r := httptest.NewRequest(method, target, strings.NewReader(content))
		if name, value, ok := strings.Cut(field, ": "); ok {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		rest.New(api, nil).ServeHTTP(w, r)
		body, _ := io.ReadAll(w.Body)
		if w.Code >= http.StatusBadRequest {
			body = nil // problem details
		}
		fmt.Println(strings.TrimSpace(fmt.Sprintln(w.Code, w.Header().Get("Content-Type"), string(body))))
	}
	ask("PUT", "/files/note.txt", "Content-Type: text/plain", "a stored note")
	ask("GET", "/files/note.txt", "", "")
	ask("GET", "/files/note.txt", "Range: bytes=-4", "")
	ask("DELETE", "/files/note.txt", "", "")
	ask("GET", "/files/note.txt", "", "")
	// Output:
	// 201
	// 200 text/plain a stored note
	// 206 text/plain note
	// 204
	// 410 application/problem+json
}

func ExampleNew() {
	dir, err := os.MkdirTemp("", "files")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(dir+"/page.html", []byte("<p>hello"), 0o600); err != nil {
		log.Fatal(err)
	}
	folder, err := files.New(dir, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer folder.Close()
	b, err := folder.Open(context.Background(), "page.html")
	if err != nil {
		log.Fatal(err)
	}
	defer b.Content.Close()
	fmt.Println(b.MediaType, b.Size)
	// Output:
	// text/html 8
}
