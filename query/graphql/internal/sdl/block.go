package sdl

// String literals in the layout of the reference implementation, for descriptions and arguments of
// directives. Called by sdl.go. Tools compare schemas as text, so the layout matters as much as the
// value.

import (
	"strings"
	"unicode/utf16"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// quoted returns s as a string literal (section 2.10.4). It uses the printer of package parser,
// which decides the escapes.
func quoted(s string) string { return parser.PrintValue(&parser.StringValue{Value: s}) }

// block returns s as a block string in the layout of the reference implementation. It uses one line
// for a short string if its end cannot be confused with the closing quotation marks. printable(s)
// must be true. A final quotation mark or backslash would join the closing marks, so such a string
// ends in a line break.
func block(s string) string {
	escaped := strings.ReplaceAll(s, `"""`, `\"""`)
	several := strings.Contains(s, "\n")
	if !several && units(s) <= 70 && !strings.HasSuffix(s, `"`) && !strings.HasSuffix(s, `\`) {
		return `"""` + escaped + `"""`
	}
	if !several && isBlank(s[0]) { // a separate line would make the blank part of the common indentation
		return `"""` + escaped + "\n" + `"""`
	}
	return `"""` + "\n" + escaped + "\n" + `"""`
}

// isBlank reports whether c is a space or tab.
func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// units returns the length of s in UTF-16 code units, which is its length in JavaScript. The limit
// of 70 is compared with the length in JavaScript, so a character beyond the BMP counts twice.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// printable reports whether a block string preserves s (section 2.10.4, BlockStringValue). A block
// string loses control characters, blank lines at both ends, and indentation that all lines have in
// common. The first line is part of the test: BlockStringValue keeps its indentation, but the
// printer puts it on a line of its own.
func printable(s string) bool {
	if s == "" {
		return true
	}
	lines := strings.Split(s, "\n")
	if len(lines) > 1 && blank(lines[0]) || blank(lines[len(lines)-1]) {
		return false
	}
	shared := true
	// shared ends up true if every line that is not blank is indented.
	for _, line := range lines {
		if strings.ContainsFunc(line, isControl) {
			return false
		}
		if !blank(line) && !isBlank(line[0]) {
			shared = false
		}
	}
	return !shared || len(lines) == 1
}

// blank reports whether line contains only spaces and tabs.
func blank(line string) bool { return strings.Trim(line, " \t") == "" }

// isControl reports whether the reference implementation does not print r in a block string. These
// are most control characters, including the other line breaks.
func isControl(r rune) bool { return r <= '\x0f' && r != '\t' }
