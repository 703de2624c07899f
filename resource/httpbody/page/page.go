// Package page makes the HTML pages of the library from embedded files, and has the ES modules that
// the pages share. The GraphQL page, the admin page and the documentation page use it.
//
// A page is one document with one inline script and one inline style. Its Content-Security-Policy
// allows these by hash, and requests to its own origin. [Link] makes the script from modules.
package page

import (
	"io/fs"
	"strings"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// New returns the page of the files page.html, page.css and app.js with the modules that it imports.
// In page.html it replaces {{style}}, {{script}}, and the placeholders of pairs, each followed by its
// value as HTML. New panics if a file is missing or [Link] fails.
func New(files fs.FS, pairs ...string) *httpbody.Page {
	script, err := Link(files, "app.js")
	if err != nil {
		panic(err)
	}
	style := read(files, "page.css")
	html := strings.NewReplacer(append(pairs, "{{style}}", style, "{{script}}", script)...).
		Replace(read(files, "page.html"))
	return httpbody.NewPage(html, "connect-src 'self'; img-src data:; require-trusted-types-for 'script'; "+
		"trusted-types 'none'; script-src "+httpbody.InlineSource(script)+
		"; style-src "+httpbody.InlineSource(style))
}

// read returns an embedded file.
func read(files fs.FS, name string) string {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		panic("page: " + err.Error()) // an embedded file is missing in the package of the page
	}
	return string(text)
}
