package sdl

import (
	"strings"
	"unicode/utf16"

	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// quoted writes a string between quotation marks (section 2.9.4).
func quoted(s string) string { return parser.PrintValue(&parser.StringValue{Value: s}) }

// block writes a string as a block string, laid out as the reference implementation does: on one line if it is short and
// its end does not run into the quotation marks. The string is one of which printable is true.
func block(s string) string {
	escaped := strings.ReplaceAll(s, `"""`, `\"""`)
	several := strings.Contains(s, "\n")
	if !several && units(s) <= 70 && !strings.HasSuffix(s, `"`) && !strings.HasSuffix(s, `\`) {
		return `"""` + escaped + `"""`
	}
	if !several && isBlank(s[0]) { // which would be taken for indentation on a line of its own
		return `"""` + escaped + "\n" + `"""`
	}
	return `"""` + "\n" + escaped + "\n" + `"""`
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// units is how long a string is to JavaScript: in UTF-16 code units.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// printable reports whether a block string can hold a string such that reading gives it back (section 2.9.4,
// BlockStringValue): control characters, blank lines at its ends and indentation that all lines share are lost in one.
func printable(s string) bool {
	if s == "" {
		return true
	}
	lines := strings.Split(s, "\n")
	if len(lines) > 1 && blank(lines[0]) || blank(lines[len(lines)-1]) {
		return false
	}
	shared := true
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

// blank reports whether a line has nothing but spaces and tabs.
func blank(line string) bool { return strings.Trim(line, " \t") == "" }

// isControl has the characters that the reference implementation does not print in a block string: those that break
// lines in other ways, and most of the invisible ones.
func isControl(r rune) bool { return r <= '\x0f' && r != '\t' }
