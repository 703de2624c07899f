package lexer

import "strings"

// dedent is BlockStringValue (section 2.9.4): the indentation that all lines but the first share goes, blank lines at
// both ends go, and every line ends in \n. It goes over the lines twice, so that it need not keep them.
func dedent(raw string) string {
	raw = strings.ReplaceAll(raw, `\"""`, `"""`)
	common, first, last, n := -1, -1, -1, 0
	for line, rest, more := cutLine(raw); ; line, rest, more = cutLine(rest) {
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
	if n == 1 {
		return raw
	}
	b := make([]byte, 0, len(raw))
	n = 0
	for line, rest, more := cutLine(raw); n <= last; line, rest, more = cutLine(rest) {
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

// cutLine returns the first line, what is behind it, and whether there was an end of a line: \n, \r or \r\n.
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

// indentation returns how many tabs and spaces a line begins with; a tab counts as one.
func indentation(line string) int {
	i := 0
	for i < len(line) && (line[i] == ' ' || line[i] == '\t') {
		i++
	}
	return i
}
