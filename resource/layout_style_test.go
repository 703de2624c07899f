package resource_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// markers are words that technical English hardly uses. They show that a sentence has no subject
// that a reader can search for, or uses a metaphor in place of the term of the field.
var markers = map[string]bool{
	"who": true, "whoever": true, "whom": true, "whose": true,
	"nobody": true, "somebody": true, "everybody": true, "anybody": true,
	"tell": true, "tells": true, "told": true, "say": true, "says": true,
	"hear": true, "hears": true, "heard": true,
	"stand": true, "stands": true, "lies": true, "comes": true, "goes": true,
	"behind": true, "anew": true, "meanwhile": true,
	"door": true, "doors": true, "house": true, "hall": true, "room": true, "rooms": true,
}

// allowedPhrases are terms that contain a marker. They do not count.
var allowedPhrases = []string{
	"behind a proxy", "behind a reverse proxy", "behind a load balancer", // the usual term for the deployment
}

// ceilings are the markers that folders may have until their texts are rewritten.
var ceilings = map[string]int{
	".ci/clients":                               123,
	".ci/e2e":                                   5,
	"examples/bench/bulk":                       2,
	"examples/bench/fanout":                     5,
	"examples/bench/internal/gqlgenserver":      2,
	"examples/bench/internal/shop":              1,
	"examples/bench/scale":                      2,
	"examples/feed":                             1,
	"examples/mount":                            1,
	"examples/shop":                             32,
	"examples/shop/testdata/exchanges":          37,
	"examples/sqlstore":                         2,
	"idempotency":                               1,
	"idempotency/redisrecords":                  1,
	"middleware":                                6,
	"query":                                     1,
	"query/graphql":                             17,
	"query/graphql/internal/exec":               3,
	"query/graphql/internal/fetch":              5,
	"query/graphql/internal/graphqltest":        4,
	"query/graphql/internal/graphqltest/oracle": 3,
	"query/graphql/internal/introspect":         3,
	"query/graphql/internal/model":              3,
	"query/graphql/internal/playground":         89,
	"query/graphql/internal/sdl":                1,
	"query/graphql/internal/transportws":        2,
	"query/graphql/testdata/exchanges":          16,
	"resource":                                  57,
	"resource/admin/page":                       13,
	"resource/client":                           2,
	"resource/feed":                             2,
	"resource/files":                            1,
	"resource/internal/etag":                    3,
	"resource/job":                              4,
	"resource/memory":                           4,
	"resource/openapi":                          3,
	"resource/openapi/docspage":                 1,
	"resource/patch":                            3,
	"resource/resourcetest":                     1,
	"resource/resourcetest/linearizetest":       1,
	"resource/rest":                             26,
	"resource/rest/testdata/exchanges":          88,
	"resource/sql/pgnotify":                     2,
	"resource/sql/sqlfeed":                      3,
	"resource/sql/sqlrecords":                   3,
	"resource/sql/sqltable":                     7,
	"resource/sql/sqltest":                      2,
	"resource/sql/sqltest/sqlfeedtest":          6,
	"resource/sql/sqltest/sqlrecordstest":       4,
	"resource/sql/sqltest/sqltabletest":         19,
	"resource/sql/sqltest/sqltxtest":            8,
	"resource/sql/sqltx":                        1,
	"version":                                   54,
	"version/compat":                            3,
	"version/testdata/exchanges":                6,
	"version/versiontest":                       1,
}

// TestStyle finds markers in Go comments, in string literals of Go outside of tests, in documents,
// in page scripts, in browser checks and in the comments of golden conversations, and lines of Go
// outside of tests that are wider than 110 columns. Of .ci it reads only tests and scripts.
func TestStyle(t *testing.T) {
	t.Parallel()
	found := map[string][]string{} // by folder
	trackedTexts(t, func(name string, text []byte) {
		ext := path.Ext(name)
		if strings.Contains(name, "testdata/") && ext != ".http" {
			return
		}
		var list []string
		switch ext {
		case ".go":
			if strings.HasPrefix(name, ".ci/") && !strings.HasSuffix(name, "_test.go") {
				return
			}
			list = inGo(t, name, text)
		case ".md":
			list = inText(name, markdownCode.ReplaceAllString(string(text), "`"))
		case ".js", ".mjs", ".ts", ".html":
			list = inText(name, string(text))
		case ".http":
			list = inText(name, strings.Join(narrative.FindAllString(string(text), -1), "\n"))
		}
		folder := path.Dir(name)
		if parts := strings.Split(folder, "/"); parts[0] == ".ci" && len(parts) > 1 {
			folder = strings.Join(parts[:2], "/")
		}
		found[folder] = append(found[folder], list...)
	})
	for folder, list := range found {
		if len(list) > ceilings[folder] {
			t.Errorf("%s has %d, want at most %d:\n%s", folder, len(list), ceilings[folder], strings.Join(list, "\n"))
		}
	}
}

// narrative matches the comments of a golden conversation.
var narrative = regexp.MustCompile(`(?m)^#.*`)

// inText returns the markers in a text as messages.
func inText(place, text string) (found []string) {
	for _, word := range markersIn(text) {
		found = append(found, place+": "+word)
	}
	return found
}

// inGo returns the markers and wide lines of a Go file as messages.
func inGo(t *testing.T, name string, text []byte) (found []string) {
	t.Helper()
	if generated(text) {
		return nil
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Comments {
		found = append(found, inText(fset.Position(group.Pos()).String(), group.Text())...)
	}
	if strings.HasSuffix(name, "_test.go") {
		return found
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, " ") {
			value, err := strconv.Unquote(lit.Value)
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, inText(fset.Position(lit.Pos()).String(), value)...)
		}
		return true
	})
	for i, line := range strings.Split(string(text), "\n") {
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > 110 {
			found = append(found, fmt.Sprintf("%s:%d: more than 110 columns", name, i+1))
		}
	}
	return found
}

// markersIn returns the markers in a text, and "What" for each sentence that begins with it.
func markersIn(text string) (found []string) {
	for _, phrase := range allowedPhrases {
		text = strings.ReplaceAll(text, phrase, "")
	}
	word := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for w := range strings.FieldsFuncSeq(text, func(r rune) bool { return !word(r) }) {
		if w = strings.ToLower(w); markers[w] {
			found = append(found, w)
		}
	}
	found = append(found, slices.Repeat([]string{"once more"}, strings.Count(text, "once more"))...)
	begins := true
	for w := range strings.FieldsSeq(text) {
		if begins && w == "What" {
			found = append(found, w)
		}
		begins = strings.HasSuffix(w, ".") || strings.HasSuffix(w, ":")
	}
	return found
}
