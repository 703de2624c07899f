// Package playground serves the interactive page of the GraphQL endpoint: an editor with
// completion, the response, and the documentation of the schema.
//
// Package graphql decides which requests receive the page. The page is one HTML document. Its
// Content-Security-Policy allows only the scripts of this folder, by hash, and connections to its
// own origin. Therefore it works offline and below any path, and text in descriptions and responses
// cannot run as script. The scripts are not minified, and each begins with a comment on its
// purpose.
package playground

import (
	"embed"
	"html"
	"io/fs"
	"net/http"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/resource/httpbody"
)

//go:embed *.html *.css *.js graphiql
var files embed.FS

// scripts lists the parts of the page's script in the order in which they are concatenated.
var scripts = [...]string{
	"lex.js", "schema.js", "parse.js", "json.js", "complete.js", "dom.js", "editor.js", "docs.js", "run.js",
	"live.js", "app.js",
}

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
	// GraphiQL replaces the page by GraphiQL, which the browser loads from cdn.jsdelivr.net. The
	// versions are pinned and verified by the browser (Subresource Integrity). The CDN receives the
	// address of each visitor. FS takes precedence.
	GraphiQL bool
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
	switch {
	case o.FS != nil:
		return newBundle(o)
	case o.GraphiQL:
		return httpbody.NewPage(graphiQL(o), graphiQLSources())
	}
	style, script := read("page.css"), script()
	page := fill(read("page.html"), o, "{{style}}", style, "{{script}}", script)
	return httpbody.NewPage(page, "connect-src 'self'; img-src data:; require-trusted-types-for 'script'; "+
		"trusted-types 'none'; script-src "+httpbody.InlineSource(script)+
		"; style-src "+httpbody.InlineSource(style))
}

// script returns the concatenated script of the page.
func script() string {
	var b strings.Builder
	for _, name := range scripts {
		b.WriteString(read(name))
	}
	return b.String()
}

// read returns an embedded file.
func read(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic("playground: " + err.Error()) // the name of an embedded file is misspelled in this package
	}
	return string(b)
}

// fill replaces the placeholders of a page. The values of o are escaped; the pairs of more are not.
func fill(page string, o Options, more ...string) string {
	title := o.Title
	if title == "" {
		title = "GraphQL"
	}
	pairs := []string{"{{title}}", html.EscapeString(title), "{{endpoint}}", html.EscapeString(o.Endpoint)}
	return strings.NewReplacer(slices.Concat(pairs, more)...).Replace(page)
}
