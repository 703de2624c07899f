package playground

// The GraphiQL page, which loads pinned files from a CDN.

import (
	"strings"

	"github.com/stoa-go/stoa/resource/httpbody"
)

// cdn is the base URL of the CDN, which serves files of npm packages.
const cdn = "https://cdn.jsdelivr.net/npm/"

// part is a file of an npm package and its hash (Subresource Integrity, section 3.1).
type part struct{ path, integrity string }

// graphiQLScripts and graphiQLStyle are the files of GraphiQL 4, the last version with plain
// scripts, and its dependencies.
var (
	graphiQLScripts = [...]part{
		{"react@18.3.1/umd/react.production.min.js",
			"sha384-DGyLxAyjq0f9SPpVevD6IgztCFlnMF6oW/XQGmfe+IsZ8TqEiDrcHkMLKI6fiB/Z"},
		{"react-dom@18.3.1/umd/react-dom.production.min.js",
			"sha384-gTGxhz21lVGYNMcdJOyq01Edg0jhn/c22nsx0kyqP0TxaV5WVdsSH1fSDUf5YJj1"},
		{"graphiql@4.1.2/graphiql.min.js",
			"sha384-9XdHu7ajgGJziD4J1zNBKQ842Q/+zZfDv+ib1eMhZWBH6hPAs806x+Jbcf0yNO6B"},
	}
	graphiQLStyle = part{"graphiql@4.1.2/graphiql.min.css",
		"sha384-1el1QShFBnnXTx9x/Cprg82hZWKt0ry29OAYIXt05swbi0KcZDFoj0CWguMpopJr"}
)

const graphiQLOwnStyle = "body { margin: 0 } #graphiql { height: 100dvh }"

// graphiQL returns the HTML document that loads GraphiQL.
func graphiQL(o Options) string {
	var loads strings.Builder
	for _, p := range graphiQLScripts {
		loads.WriteString(`<script crossorigin src="` + cdn + p.path + `" integrity="` + p.integrity +
			"\"></script>\n")
	}
	links := `<link rel="stylesheet" crossorigin href="` + cdn + graphiQLStyle.path + `" integrity="` +
		graphiQLStyle.integrity + `">`
	pairs := append(placeholders(o), "{{links}}", links, "{{loads}}", strings.TrimSpace(loads.String()),
		"{{style}}", graphiQLOwnStyle, "{{script}}", read("graphiql/start.js"))
	return strings.NewReplacer(pairs...).Replace(read("graphiql/page.html"))
}

// graphiQLSources returns the directives of a policy that allows the files of GraphiQL by their URLs.
// It allows inline styles, because the editor of GraphiQL generates styles at run time.
func graphiQLSources() string {
	var b strings.Builder
	b.WriteString("connect-src 'self'; img-src 'self' data:; font-src data:; style-src 'unsafe-inline' " +
		cdn + graphiQLStyle.path + "; script-src")
	for _, p := range graphiQLScripts {
		b.WriteString(" " + cdn + p.path)
	}
	return b.String() + " " + httpbody.InlineSource(read("graphiql/start.js"))
}
