package scan

import "strings"

// dedent is BlockStringValue (section 2.9.4): the indentation that all lines but the first share goes, blank lines at
// both ends go, and every line ends in \n.
func dedent(raw string) string {
	if !strings.ContainsAny(raw, "\n\r\\") {
		if blank(raw) {
			return ""
		}
		return raw
	}
	lines := splitLines(strings.ReplaceAll(raw, `\"""`, `"""`))
	common, first, last := -1, -1, -1
	for i, line := range lines {
		if blank(line) {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		if indent := indentation(line); i > 0 && (common < 0 || indent < common) {
			common = indent
		}
	}
	if first < 0 {
		return ""
	}
	for i := 1; i < len(lines) && common > 0; i++ {
		lines[i] = lines[i][min(common, len(lines[i])):]
	}
	return strings.Join(lines[first:last+1], "\n")
}

// splitLines splits at \n, \r and \r\n.
func splitLines(s string) []string {
	var lines []string
	for {
		i := strings.IndexAny(s, "\n\r")
		if i < 0 {
			return append(lines, s)
		}
		lines = append(lines, s[:i])
		if hasAt(s, i, "\r\n") {
			i++
		}
		s = s[i+1:]
	}
}

func indentation(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

func blank(line string) bool { return indentation(line) == len(line) }
