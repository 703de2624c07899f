// Command files stores uploads in a folder: PNG, JPEG and PDF of up to 100 MiB, from programs and from
// the form of a page.
//
//	go run -C examples ./files
package main

import (
	"context"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/blob"
	"github.com/stoa-go/stoa/resource/files"
	"github.com/stoa-go/stoa/resource/rest"
)

const (
	largest    = 100 << 20       // bytes of a file
	uploadTime = 5 * time.Minute // for a request, which can be an upload
)

// page has a form. The browser sends it as multipart/form-data to the collection.
const page = `<!DOCTYPE html>
<html lang="en">
<title>Files</title>
<form action="/files" method="post" enctype="multipart/form-data">
<label>Files <input type="file" name="file" accept="image/png,image/jpeg,application/pdf" multiple></label>
<button>Upload</button>
</form>
`

// newHandler serves the files of a folder, and the page.
func newHandler(dir string) (http.Handler, error) {
	folder, err := files.New(dir, nil)
	if err != nil {
		return nil, err
	}
	uploads := blob.New("files", folder, &blob.Options{
		// Types that a browser would run in the origin of this server, such as HTML and SVG, are 415.
		MediaTypes: []string{"image/png", "image/jpeg", "application/pdf"},
		MaxSize:    largest,
		Public:     true, // no authorization
	})
	catalog := resource.NewCatalog(&resource.CatalogOptions{
		// All callers share one set of keys. A service returns the id of its user.
		Principal:   func(context.Context) string { return "anonymous" },
		Idempotency: idempotency.New(idempotency.NewMemory(nil), nil),
	}, uploads)
	mux := http.NewServeMux()
	mux.Handle("/", rest.New(catalog, nil))
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, page)
	})
	isFile := func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/files") }
	return middleware.Chain(
		middleware.SecureHeaders(nil),
		middleware.Limit(&middleware.LimitOptions{ContentOf: func(r *http.Request) int64 {
			if isFile(r) {
				return largest + 1<<20 // the parts of a form have headers
			}
			return 0
		}}),
		middleware.Timeout(&middleware.TimeoutOptions{
			Handle: uploadTime, Read: uploadTime, Write: uploadTime,
		}),
		middleware.CrossOrigin(nil), // rejects forms of other sites
	)(mux), nil
}

func main() {
	addr := flag.String("addr", "localhost:8080", "listen `address`")
	dir := flag.String("files", "", "`folder` of the files; default a new temporary one")
	flag.Parse()
	if *dir == "" {
		var err error
		if *dir, err = os.MkdirTemp("", "files"); err != nil {
			log.Fatal(err)
		}
	}
	h, err := newHandler(*dir)
	if err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("files: %s, listening on http://%s", *dir, listener.Addr())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := middleware.Serve(ctx, middleware.Server(h, nil), listener, nil); err != nil {
		log.Fatal(err)
	}
}
