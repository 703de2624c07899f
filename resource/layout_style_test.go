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
	".ci/clients": 12,
	".ci/e2e":     1,
}

// modules are the folders of pages with scripts that are ES modules.
var modules = map[string]bool{
	"query/graphql/internal/playground": true,
	"resource/admin/page":               true,
	"resource/httpbody/page":            true,
	"resource/openapi/docspage":         true,
}

// TestStyle finds markers in Go comments, in string literals of Go outside of tests, in documents,
// in page scripts, in browser checks and in the comments of golden conversations, and lines that are
// wider than 110 columns in Go outside of tests and in modules. Of .ci it reads only tests and scripts.
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
			list = inText(name, scriptName.ReplaceAllString(string(text), " "))
			if modules[path.Dir(name)] && ext != ".html" {
				list = append(list, wideLines(name, text)...)
			}
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

var (
	// narrative matches the comments of a golden conversation.
	narrative = regexp.MustCompile(`(?m)^#.*`)
	// scriptName matches a name in a page or script: a string without a space, a selector or a member.
	scriptName = regexp.MustCompile("[\"'`][\\w-]+[\"'`]|[#.]\\w+")
)

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
		comment, _, _ := strings.Cut(group.Text(), "Output:") // the output of an example is data
		found = append(found, inText(fset.Position(group.Pos()).String(), comment)...)
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
	return append(found, wideLines(name, text)...)
}

// wideLines returns the lines of a file that are wider than 110 columns as messages.
func wideLines(name string, text []byte) (found []string) {
	for i, line := range strings.Split(string(text), "\n") {
		isTag := strings.Contains(line, "`json:") // which cannot be wrapped
		if utf8.RuneCountInString(line)+3*strings.Count(line, "\t") > 110 && !isTag {
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
