package walk

import (
	"regexp/syntax"
	"strings"
)

// matching makes a string that a regular expression matches.
func (w *walker) matching(pattern string) string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return ""
	}
	var b strings.Builder
	w.match(&b, re.Simplify())
	return b.String()
}

func (w *walker) match(b *strings.Builder, re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		i := 2 * w.rand.IntN(len(re.Rune)/2)
		// The first characters of a range are the plain ones.
		b.WriteRune(re.Rune[i] + w.rand.Int32N(min(64, re.Rune[i+1]-re.Rune[i]+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		b.WriteRune(pick(w.rand, alphabet))
	case syntax.OpAlternate:
		w.match(b, pick(w.rand, re.Sub))
	case syntax.OpStar:
		w.repeat(b, re.Sub[0], w.rand.IntN(4))
	case syntax.OpPlus:
		w.repeat(b, re.Sub[0], 1+w.rand.IntN(4))
	case syntax.OpQuest:
		w.repeat(b, re.Sub[0], w.rand.IntN(2))
	default: // groups, sequences, and what is empty
		for _, sub := range re.Sub {
			w.match(b, sub)
		}
	}
}

func (w *walker) repeat(b *strings.Builder, re *syntax.Regexp, n int) {
	for range n {
		w.match(b, re)
	}
}
