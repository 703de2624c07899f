// Package playground serves the interactive page of the GraphQL endpoint: an editor with
// completion, the response, and the documentation of the schema.
//
// Package graphql decides which requests receive the page. The page is one HTML document. Its
// Content-Security-Policy allows only the script that package page links from the modules of this
// folder, by hash, and connections to its own origin. Therefore it works offline and below any path,
// and text in descriptions and responses cannot run as script. The script is not minified, and each
// module begins with a comment on its purpose.
package playground

import (
	"cmp"
	"embed"
	"html"
	"io/fs"
	"net/http"

	"github.com/stoa-go/stoa/resource/httpbody/page"
)

//go:embed *.html *.css *.js
var files embed.FS

// Options selects and configures a page. The zero value is the page of this package, which sends
// requests to its own URL.
type Options struct {
	// Title is the title of the page. Default "GraphQL".
	Title string
	// Endpoint is the URL reference for GraphQL requests, relative to the page, such as
	// "../graphql". It must have the same origin as the page. Default is the URL of the page.
	Endpoint string
	// FS replaces the page by static files: index.html and the files that it refers to. Nil means
	// the page of this package. See [Handler].
	FS fs.FS
	// Policy is the Content-Security-Policy for the files of FS. The default allows scripts,
	// styles, images and fonts from FS, and inline styles. Other pages ignore it.
	Policy string
}

// Handler returns a handler that responds to GET and HEAD with the page, for any path, and to other
// methods with status 405. It sends an ETag and evaluates If-None-Match (RFC 9110, section 13.1.2).
// It compresses with gzip if the client accepts it, and adds Accept-Encoding to Vary.
//
// With Options.FS it responds with the file that [Find] returns for the path, and otherwise with
// index.html. Browsers resolve the references of index.html relative to the path, so a path that
// does not end in a slash is redirected to one that does. Handler panics if FS has no index.html.
//
// The handler is safe for concurrent use.
func Handler(o Options) http.Handler {
	if o.FS != nil {
		return newBundle(o)
	}
	return page.New(files, "{{title}}", html.EscapeString(cmp.Or(o.Title, "GraphQL")),
		"{{endpoint}}", html.EscapeString(o.Endpoint))
}
