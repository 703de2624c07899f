package reference

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Grammar writes documents that the grammar allows, whatever they mean, with everything in them
// that a lexer or parser may stumble upon.
type Grammar struct {
	*rand.Rand
	depth int
}

// pick returns one of its arguments.
func (g *Grammar) pick(choices ...string) string { return choices[g.IntN(len(choices))] }

// some calls one up to most times and joins what it returns.
func (g *Grammar) some(most int, one func() string) string {
	var parts []string
	for range g.IntN(most + 1) {
		parts = append(parts, one())
	}
	return strings.Join(parts, g.space())
}

// many is some, at least once.
func (g *Grammar) many(most int, one func() string) string {
	return one() + g.space() + g.some(most-1, one)
}

// space returns text that is ignored between two tokens. It is never empty, so that names do not join.
func (g *Grammar) space() string {
	return g.pick(" ", " ", " ", " ", ",", "\n", "\r\n", "\r", "\t", " # \"comment\" é😀 {\n", "\ufeff", "  \n  ", ",,#\r")
}

func (g *Grammar) maybe(text func() string) string {
	if g.IntN(3) == 0 {
		return text() + g.space()
	}
	return ""
}

// Document returns one document.
func (g *Grammar) Document() string {
	return g.maybe(g.space) + g.many(3, g.definition) + g.maybe(g.space)
}

func (g *Grammar) definition() string {
	g.depth = 0
	switch g.IntN(5) {
	case 0:
		return g.selectionSet()
	case 1, 2:
		return g.maybe(g.stringValue) + g.pick("query", "mutation", "subscription") + g.space() + g.maybe(g.name) +
			g.maybe(g.variables) + g.maybe(g.directives) + g.selectionSet()
	}
	return g.maybe(g.stringValue) + "fragment" + g.space() + g.name() + g.space() + "on" + g.space() + g.name() +
		g.space() + g.maybe(g.directives) + g.selectionSet()
}

func (g *Grammar) name() string {
	return g.pick("a", "b", "_", "__typename", "A1", "query", "mutation", "fragment", "type", "on_", "nullx", "True",
		"field_with_a_long_name", "input", "extend", "schema")
}

func (g *Grammar) variables() string {
	return "(" + g.space() + g.many(3, func() string {
		text := g.maybe(g.stringValue) + "$" + g.space() + g.name() + g.space() + ":" + g.typeRef(2) + g.space()
		if g.IntN(2) == 0 {
			text += "=" + g.value(2, true) + g.space()
		}
		return text + g.some(1, func() string { return g.directive(true) })
	}) + ")"
}

func (g *Grammar) typeRef(depth int) string {
	text := g.name()
	if depth > 0 && g.IntN(3) == 0 {
		text = "[" + g.typeRef(depth-1) + g.space() + "]"
	}
	return text + g.pick("", "!", " !")
}

func (g *Grammar) selectionSet() string {
	g.depth++
	defer func() { g.depth-- }()
	return "{" + g.space() + g.many(4, g.selection) + "}"
}

func (g *Grammar) selection() string {
	set := func() string {
		if g.depth > 4 {
			return ""
		}
		return g.selectionSet()
	}
	switch {
	case g.IntN(6) == 0:
		return "..." + g.space() + g.name() + g.space() + g.maybe(g.directives)
	case g.IntN(6) == 0 && g.depth < 5:
		return "..." + g.maybe(func() string { return "on " + g.name() }) + g.maybe(g.directives) + g.selectionSet()
	}
	alias := g.maybe(func() string { return g.name() + g.space() + ":" })
	return alias + g.name() + g.space() + g.maybe(func() string { return g.arguments(false) }) + g.maybe(g.directives) +
		g.maybe(set)
}

func (g *Grammar) arguments(constant bool) string {
	return "(" + g.many(3, func() string { return g.name() + ":" + g.space() + g.value(3, constant) }) + ")"
}

func (g *Grammar) directives() string {
	return g.many(2, func() string { return g.directive(false) })
}

func (g *Grammar) directive(constant bool) string {
	return "@" + g.name() + g.space() + g.maybe(func() string { return g.arguments(constant) })
}

func (g *Grammar) value(depth int, constant bool) string {
	kinds := 8
	if depth == 0 {
		kinds = 6
	}
	switch g.IntN(kinds) {
	case 0:
		if !constant {
			return "$" + g.name()
		}
		return "null"
	case 1:
		return g.pick("0", "-0", "1", "42", "-7", "2147483648", "99999999999999999999")
	case 2:
		return g.pick("0.5", "-0.0", "1e10", "1E+9", "6.02e-23", "1.5e300", "0e0")
	case 3:
		return g.pick("true", "false", "null", "RED", "nulls", "on", "_x")
	case 4, 5:
		return g.stringValue()
	case 6:
		return "[" + g.some(3, func() string { return g.value(depth-1, constant) }) + g.space() + "]"
	}
	return "{" + g.some(3, func() string { return g.name() + g.space() + ":" + g.value(depth-1, constant) }) + g.space() + "}"
}

func (g *Grammar) stringValue() string {
	if g.IntN(3) == 0 {
		return `"""` + g.inside(g.blockPiece) + `"""`
	}
	return `"` + g.inside(g.stringPiece) + `"`
}

func (g *Grammar) inside(piece func() string) string {
	var b strings.Builder
	for range g.IntN(8) {
		b.WriteString(piece())
	}
	return b.String()
}

func (g *Grammar) stringPiece() string {
	return g.pick("a", "word ", "é", "😀", "\t", "\u0001", `\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0041`,
		`\u00e9`, `\uD83D\uDE00`, `\u{1F600}`, `\u{000041}`, `\u{0}`, "\u2028", "#", "{", "''",
		fmt.Sprintf(`\u%04x`, g.IntN(0xd800)))
}

func (g *Grammar) blockPiece() string {
	return g.pick("a", "word", " ", "  ", "\t", "\n", "\n  ", "\r\n", "\r", `\"""`, `\n`, `\`+" ", `" `, `"" `, "é", "😀",
		"\n\n", "\u0001", "\u00a0", "    x\n")
}

// Damage changes a text at a few places, so that it is likely, but not sure, to be wrong.
func (g *Grammar) Damage(text string) string {
	for range 1 + g.IntN(3) {
		runes := []rune(text)
		if len(runes) == 0 {
			return text
		}
		i := g.IntN(len(runes))
		switch g.IntN(4) {
		case 0: // without one character
			text = string(runes[:i]) + string(runes[i+1:])
		case 1: // cut off
			text = string(runes[:i])
		default:
			text = string(runes[:i]) + g.pick("{", "}", "(", ")", "[", "]", ":", "!", "$", "@", "=", "|", "&", ".", "..",
				"...", "\"", "'", `"""`, "\\", "1", "-", "0", "e", "é", "😀", "\u0000", "\u0007", "%", "?", " on ",
				" null ", " true ", " query ", " type ", "\n", "#", `\u`, `\u{`, `\uD800`, "\\u{110000}", ";", "$x",
				"~", "\u200b", "\u00a0") + string(runes[i:])
		}
	}
	return text
}
