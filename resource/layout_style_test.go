package resource_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"os"
	"path/filepath"
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

// TestStyle counts markers in comments and string literals and lines of more than 110 columns, for
// each package, and markers in each document. testdata/style.txt has the ceilings, which only shrink:
// -update lowers them. What is not listed must have none. Test files do not count.
func TestStyle(t *testing.T) {
	t.Parallel()
	const columns = 3 // markers in comments or in a document, markers in strings, wide lines
	ceilings := readTable(t, "style.txt", columns)
	found := map[string][]finding{}
	for dir, files := range goFiles(t) {
		for _, f := range files {
			found[dir] = append(found[dir], findInFile(f)...)
		}
	}
	for _, file := range documents(t) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		text := markdownCode.ReplaceAllString(readText(t, file), "`")
		for _, word := range markersIn(text) {
			found[name] = append(found[name], finding{0, name, word})
		}
	}
	lower := map[string][]int{}
	for name, list := range found {
		got, ceiling := make([]int, columns), ceilings[name]
		for _, f := range list {
			got[f.column]++
		}
		if ceiling == nil {
			ceiling = make([]int, columns)
		}
		for i, what := range []string{"markers of style in comments or text", "markers in strings", "wide lines"} {
			if got[i] > ceiling[i] {
				t.Errorf("%s has %d %s, want at most %d", name, got[i], what, ceiling[i])
				for _, f := range list {
					if f.column == i {
						t.Logf("%s: %s", f.place, f.text)
					}
				}
			}
			got[i] = min(got[i], ceiling[i])
		}
		if slices.Max(got) > 0 {
			lower[name] = got
		}
	}
	if *update {
		writeStyle(t, lower)
	}
}

// finding is a marker or a wide line. column is its column in testdata/style.txt.
type finding struct {
	column      int
	place, text string
}

// findInFile returns the markers and the wide lines of a file.
func findInFile(f goFile) (found []finding) {
	start := f.syntax.FileStart
	line := func(pos token.Pos) string {
		return fmt.Sprintf("%s:%d", f.name, 1+strings.Count(string(f.text[:pos-start]), "\n"))
	}
	for _, group := range f.syntax.Comments {
		for _, word := range markersIn(group.Text()) {
			found = append(found, finding{0, line(group.Pos()), word})
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		lit, ok := n.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING || !strings.Contains(lit.Value, " ") {
			return true
		}
		text, err := strconv.Unquote(lit.Value)
		if err != nil {
			return true // the parser accepts no such literal
		}
		for _, word := range markersIn(text) {
			found = append(found, finding{1, line(lit.Pos()), word})
		}
		return true
	})
	number := 0
	for text := range strings.Lines(string(f.text)) {
		number++
		text = strings.TrimSuffix(text, "\n")
		if utf8.RuneCountInString(text)+3*strings.Count(text, "\t") > 110 {
			found = append(found, finding{2, fmt.Sprintf("%s:%d", f.name, number), "more than 110 columns"})
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

// writeStyle writes the ceilings.
func writeStyle(t *testing.T, ceilings map[string][]int) {
	t.Helper()
	b := []byte(
		`# How many markers of style in comments or text, markers in strings, and lines of more than 110 columns
# each package and document may have; see TestStyle. The figures only shrink:
#
#	go test ./resource -run TestStyle -update
#
`,
	)
	for _, name := range slices.Sorted(maps.Keys(ceilings)) {
		row := ceilings[name]
		b = fmt.Appendf(b, "%-42s %4d %4d %4d\n", name, row[0], row[1], row[2])
	}
	if err := os.WriteFile(filepath.Join("testdata", "style.txt"), b, 0o644); err != nil {
		t.Fatal(err)
	}
}
