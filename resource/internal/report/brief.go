package report

// The brief form of the start-up report. It parses the text of the full report, so that other
// packages can add lines to that without a second form.

import (
	"slices"
	"strings"
)

// Brief shortens a report to a line for each path, followed by a line for each weakness with the
// paths that have it. The path of items is part of the line of its list. Lines that are neither
// about a path nor indented are kept, and precede the others. The order of paths is that of the
// report.
func Brief(report string) string {
	var b briefReport
	for line := range strings.Lines(report) {
		b.add(strings.TrimSuffix(line, "\n"))
	}
	return b.String()
}

// briefReport is a report that is being shortened.
type briefReport struct {
	kept  []*briefLine
	lines []*briefLine // about paths
	last  *briefLine   // the one that indented lines are about; nil if there is none
	weak  []weakness
}

// briefLine is a line about a path, or a line that is kept.
type briefLine struct {
	name         string // the path, or what precedes the colon of a kept line
	text         string
	methods      []string
	keys, events string
}

// weakness is a setting and the names of the lines that have it.
type weakness struct {
	text string
	at   []string
}

// add reads the next line of the report. Details of a path are indented by four spaces and have a
// label before a colon. Labels other than weak, keys and feed are dropped.
func (b *briefReport) add(line string) {
	detail, indented := strings.CutPrefix(line, "    ")
	label, value, _ := strings.Cut(strings.TrimSpace(detail), ": ")
	switch {
	case label == "weak":
		b.addWeakness(value, indented)
	case !indented:
		b.head(line)
	// Details before the first path belong to nothing.
	case b.last == nil:
	// Only the first of several details. The part after the colon is the reason.
	case label == "keys" && b.last.keys == "":
		b.last.keys, _, _ = strings.Cut(value, ": ")
	case label == "feed":
		b.last.events, _, _ = strings.Cut(value, ": ")
	}
}

// head begins the line about a path, or adds to it.
func (b *briefReport) head(line string) {
	name, text, _ := strings.Cut(line, "  ")
	if !strings.HasPrefix(line, "/") {
		name, _, _ = strings.Cut(line, ":")
		b.last = &briefLine{name: name, text: line}
		b.kept = append(b.kept, b.last)
		return
	}
	name = strings.TrimSuffix(name, "/{id}")
	at := slices.IndexFunc(b.lines, func(l *briefLine) bool { return l.name == name })
	if at < 0 {
		at = len(b.lines)
		b.lines = append(b.lines, &briefLine{name: name})
	}
	b.last = b.lines[at]
	// A text that is not a list of methods, such as that of a command, is kept as it is.
	for word := range strings.SplitSeq(text, ", ") {
		switch {
		case word == "", slices.Contains(usualMethods, word), slices.Contains(b.last.methods, word):
		case slices.Contains(briefMethods, word):
			b.last.methods = append(b.last.methods, word)
		default:
			b.last.text = text
		}
	}
}

// usualMethods are the methods of every path, and of every list, which a brief report leaves out.
var usualMethods = []string{"HEAD", "OPTIONS", "QUERY"}

// briefMethods are the methods of a brief report, in its order.
var briefMethods = []string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// addWeakness adds a weakness of the last line, or of the whole program if it is not indented.
// Equal texts are one weakness, so texts must not contain names.
func (b *briefReport) addWeakness(text string, indented bool) {
	at := slices.IndexFunc(b.weak, func(w weakness) bool { return w.text == text })
	if at < 0 {
		at = len(b.weak)
		b.weak = append(b.weak, weakness{text: text})
	}
	w := &b.weak[at]
	if indented && b.last != nil && !slices.Contains(w.at, b.last.name) {
		w.at = append(w.at, b.last.name)
	}
}

// String returns the kept lines, those of paths, and the weaknesses. A weakness of several paths is
// one line, because most settings are missing everywhere or nowhere.
func (b *briefReport) String() string {
	var out strings.Builder
	for _, l := range append(b.kept, b.lines...) {
		out.WriteString(l.String() + "\n")
	}
	for _, w := range b.weak {
		out.WriteString("weak: ")
		if w.at != nil {
			out.WriteString(strings.Join(w.at, " ") + ": ")
		}
		out.WriteString(w.text + "\n")
	}
	return out.String()
}

// String returns a line such as "/orders  GET POST; keys: exactly once".
func (l *briefLine) String() string {
	if !strings.HasPrefix(l.name, "/") {
		return l.text
	}
	// A path with methods only has no text of its own.
	text := l.text
	if text == "" {
		slices.SortFunc(l.methods, func(a, b string) int {
			return slices.Index(briefMethods, a) - slices.Index(briefMethods, b)
		})
		text = strings.Join(l.methods, " ")
	}
	line := strings.TrimSuffix(l.name+"  "+text, "  ")
	if l.keys != "" {
		line += "; keys: " + l.keys
	}
	if l.events != "" {
		line += "; events: " + l.events
	}
	return line
}
