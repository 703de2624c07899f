// Package playground is the interactive page of the GraphQL door: an editor that knows the schema, the answer, the docs.
//
// It is for package query/graphql, which says when a browser gets it. The page is one HTML document without anything
// beside it: what a browser runs is what is in this folder, named by hash in a Content-Security-Policy that lets the page
// talk to its own server and to nobody else. So it works offline, wherever it is mounted, and whatever a description in
// the schema or an answer says is text to it. Nothing of it is minified; each *.js file begins with what it is for.
package playground

import (
	"embed"
	"html"
	"io/fs"
	"net/http"
	"slices"
	"strings"
)

//go:embed *.html *.css *.js graphiql
var files embed.FS

// scripts are the parts of the script in the order in which they stand in the page.
var scripts = [...]string{
	"lex.js", "schema.js", "parse.js", "json.js", "complete.js", "dom.js", "editor.js", "docs.js", "run.js",
	"live.js", "app.js",
}

// Options says which page and what for. The zero value is the page of this package, for the address that it is itself
// served from.
type Options struct {
	// Title stands in the window's title and above the page; empty is "GraphQL".
	Title string
	// Endpoint is a URL reference to where requests go, relative to the page, such as "../graphql"; empty is the page's own
	// address. It has to be of the page's own origin.
	Endpoint string
	// FS is a bundle of one's own instead: index.html, and what it refers to beside it. Nil is none. See Handler.
	FS fs.FS
	// Policy is the Content-Security-Policy that FS is served with; empty is one that admits what is in FS, styles in its
	// HTML, and nothing from elsewhere. It says nothing about the other pages.
	Policy string
	// GraphiQL is GraphiQL instead, loaded from cdn.jsdelivr.net: pinned, and refused by browsers if it is not what it was
	// when this was built (Subresource Integrity). It needs that host, which sees who opens the page. FS goes before it.
	GraphiQL bool
}

// Handler returns a handler that answers GET and HEAD with the page, whatever the path; other methods get 405. It answers
// with an ETag and to If-None-Match, and with gzip where that is welcome (RFC 9110, sections 13.1.2 and 12.5.3). It adds
// Accept-Encoding to Vary and leaves there what it finds.
//
// With Options.FS it answers with the file that the path ends in, as Find says, and otherwise with index.html. A browser
// finds what index.html refers to relative to the path, so a path that does not end in a slash is redirected to the one that
// does. It panics if there is no index.html.
//
// It is safe for concurrent use.
func Handler(o Options) http.Handler {
	switch {
	case o.FS != nil:
		return newBundle(o)
	case o.GraphiQL:
		return newDocument(graphiQL(o), graphiQLPolicy())
	}
	style, script := read("page.css"), script()
	page := fill(read("page.html"), o, "{{style}}", style, "{{script}}", script)
	return newDocument(page,
		policy("connect-src 'self'; img-src data:; require-trusted-types-for 'script'; trusted-types "+
			"'none'; "+
			"script-src "+hash(script)+"; style-src "+hash(style)))
}

// script is the whole script.
func script() string {
	var b strings.Builder
	for _, name := range scripts {
		b.WriteString(read(name))
	}
	return b.String()
}

// read returns a file of this folder.
func read(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic("page: " + err.Error()) // it is embedded, so only a misspelt name in this package comes here
	}
	return string(b)
}

// fill puts what the options say into a page, escaped, and then the pairs of more as they are.
func fill(page string, o Options, more ...string) string {
	title := o.Title
	if title == "" {
		title = "GraphQL"
	}
	pairs := []string{"{{title}}", html.EscapeString(title), "{{endpoint}}", html.EscapeString(o.Endpoint)}
	return strings.NewReplacer(slices.Concat(pairs, more)...).Replace(page)
}
