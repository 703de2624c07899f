package lexer

// The value of a block string. Called by Text in string.go.

import "strings"

// dedent implements BlockStringValue of section 2.10.4. It removes the indentation that all lines
// except the first have in common, removes blank lines at both ends, and normalizes line
// terminators to \n.
//
// It reads raw twice, first to find the indentation and then to copy, so that it needs no slice of
// lines.
func dedent(raw string) string {
	// BlockStringValue applies to the text after its only escape is resolved.
	raw = strings.ReplaceAll(raw, `\"""`, `"""`)
	// first and last are the indexes of the outermost lines that are not blank, and n is the index
	// of the current line. common, first and last are -1 until a line sets them.
	common, first, last, n := -1, -1, -1, 0
	for line, rest, more := cutLine(raw); ; line, rest, more = cutLine(rest) {
		// Lines that are blank do not count towards the common indentation. Neither does the first
		// line, because it begins after the quotation marks.
		if indent := indentation(line); indent < len(line) {
			if first < 0 {
				first = n
			}
			last = n
			if n > 0 && (common < 0 || indent < common) {
				common = indent
			}
		}
		if n++; !more {
			break
		}
	}
	if first < 0 {
		return ""
	}
	// A single line keeps its indentation: only lines after the first lose theirs.
	if n == 1 {
		return raw
	}
	b := make([]byte, 0, len(raw))
	n = 0
	for line, rest, more := cutLine(raw); n <= last; line, rest, more = cutLine(rest) {
		// A blank line may be shorter than the common indentation.
		if n > 0 {
			line = line[min(max(common, 0), len(line)):]
		}
		if n > first {
			b = append(b, '\n')
		}
		if n >= first {
			b = append(b, line...)
		}
		if n++; !more {
			break
		}
	}
	return string(b)
}

// cutLine returns the first line of s and the text after its line terminator, which is \n, \r or
// \r\n. more is false if s has no line terminator.
func cutLine(s string) (line, rest string, more bool) {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\r' && i+1 < len(s) && s[i+1] == '\n':
			return s[:i], s[i+2:], true
		case c == '\n' || c == '\r':
			return s[:i], s[i+1:], true
		}
	}
	return s, "", false
}

// indentation returns the number of tabs and spaces at the start of line. A tab counts as one.
func indentation(line string) int {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return i
}
