package httpbody_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/stoa-go/stoa/resource/httpbody"
	"github.com/stoa-go/stoa/resource/problem"
)

func ExampleAppend() {
	buffers := httpbody.NewBuffers(4096, 1<<20)
	handler := func(w http.ResponseWriter, r *http.Request) error {
		const limit = 16
		if err := httpbody.Check(r, limit); err != nil {
			return err
		}
		buf := buffers.Get()
		defer buffers.Put(buf)
		var err error
		if *buf, err = httpbody.Append(*buf, r, limit); err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "%d bytes: %s\n", len(*buf), *buf)
		return err
	}
	for _, body := range []string{`{"qty":3}`, strings.Repeat("x", 17)} {
		w := httptest.NewRecorder()
		err := handler(w, httptest.NewRequest("POST", "/", strings.NewReader(body)))
		if d := (*problem.Details)(nil); errors.As(err, &d) {
			fmt.Println(d.StatusCode(), d.Detail, d.Extensions)
		}
		fmt.Print(w.Body)
	}
	// Output:
	// 9 bytes: {"qty":3}
	// 413 The request body is larger than the limit of 16 bytes. map[limit:16]
}

func ExampleNewBuffers() {
	buffers := httpbody.NewBuffers(64, 1<<20)
	buf := buffers.Get()
	*buf = append(*buf, "a response body"...)
	fmt.Printf("%s\n", *buf)
	buffers.Put(buf)
	// Output: a response body
}

func ExampleNewGzipWriter() {
	var out bytes.Buffer
	zw := httpbody.NewGzipWriter(&out)
	for range 1000 {
		io.WriteString(zw, "a line of an export\n")
	}
	fmt.Println(zw.Close(), out.Len() < 1000)
	// Output: <nil> true
}

func ExampleNewUpload() {
	r := httptest.NewRequest("PUT", "/files/1", strings.NewReader("hello"))
	r.Header.Set("Content-Digest", "sha-256=:LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=:")
	u, err := httpbody.NewUpload(r, 1<<20)
	if err != nil {
		fmt.Println(err)
		return
	}
	content, err := io.ReadAll(u)
	fmt.Printf("%q %v\n", content, err)
	fmt.Println(u.Complete(), u.Err())
	// Output:
	// "hello" <nil>
	// true <nil>
}

func ExampleNewDocument() {
	page := httpbody.NewDocument([]byte("<!doctype html><title>Shop</title>"))
	handler := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		page.Serve(w, r, "text/html; charset=utf-8")
	}
	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest("GET", "/", nil))
	fmt.Println(w.Code, w.Body)

	again := httptest.NewRequest("GET", "/", nil)
	again.Header.Set("If-None-Match", w.Header().Get("ETag"))
	w = httptest.NewRecorder()
	handler(w, again)
	fmt.Println(w.Code, w.Body)
	// Output:
	// 200 <!doctype html><title>Shop</title>
	// 304
}

// A page allows its own script by hash, and nothing else.
func ExampleNewPage() {
	const script = "document.title = 'ready'"
	page := httpbody.NewPage("<!doctype html><title>Notes</title><script>"+script+"</script>",
		"script-src "+httpbody.InlineSource(script))
	w := httptest.NewRecorder()
	page.ServeHTTP(w, httptest.NewRequest("GET", "/", http.NoBody))
	fmt.Println(w.Header().Get("Content-Security-Policy"))
	// Output:
	// default-src 'none'; script-src 'sha256-rilzEoR80SIYxyi+SfMWa/CRG51rdjKOBAkQZ+WQ+Vk='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
}
