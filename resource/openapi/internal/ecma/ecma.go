// Package ecma writes patterns in the syntax of ECMA-262 with the flag u, in which JSON Schema
// validators read them.
package ecma

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"
)

// Patterns of these parts mean the same in both syntaxes. Among the others are a dot and \s, which in
// ECMA-262 depend on more kinds of line breaks and spaces, literal braces and brackets, a hyphen after
// a class in a class, and \p, which depends on the version of Unicode.
const (
	escape     = `\\(?:[\^$\\.*+?()\[\]{}|/tnrfv]|x[0-9A-Fa-f]{2})`
	class      = `\\[dDwW]`
	char       = `[^\\\^$.*+?()\[\]{}|\x00-\x1f]|` + escape + `|` + class
	member     = `(?:[^\\\[\]\^\-\x00-\x1f]|\\-|` + escape + `)`
	set        = `\[\^?-?(?:` + class + `|` + member + `(?:-` + member + `)?)+-?\]`
	quantifier = `(?:(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})\??)?`
)

var shared = regexp.MustCompile(
	`^(?:(?:` + char + `|` + set + `|\))` + quantifier + `|\((?:\?:)?|[\^$|]|\\[bB])*$`)

// maxRanges limits the ranges of a class. A larger one is usually that of a property of Unicode, of
// which a list of ranges is hard to read.
const maxRanges = 32

// Pattern returns a valid pattern of package regexp in ECMA-262: the pattern itself if it has the same
// meaning there, and otherwise one that is made of the parsed pattern. It returns "" and false if there
// is none, or none that a person can read.
func Pattern(pattern string) (converted string, ok bool) {
	if shared.MatchString(pattern) {
		return pattern, true
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "", false
	}
	p := printer{ok: true}
	if p.print(re); !p.ok {
		return "", false
	}
	return p.String(), true
}

// printer writes parsed patterns. ok is false after a part that ECMA-262 does not have.
type printer struct {
	strings.Builder
	ok bool
}

// constant has the operators without operands.
var constant = map[syntax.Op]string{
	syntax.OpEmptyMatch: `(?:)`, syntax.OpAnyCharNotNL: `[^\n]`, syntax.OpAnyChar: `[\s\S]`,
	syntax.OpBeginText: `^`, syntax.OpEndText: `$`,
	syntax.OpWordBoundary: `\b`, syntax.OpNoWordBoundary: `\B`,
}

func (p *printer) print(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			all, fold := []rune{r, r}, re.Flags&syntax.FoldCase != 0
			for f := unicode.SimpleFold(r); fold && f != r; f = unicode.SimpleFold(f) {
				all = append(all, f, f)
			}
			slices.Sort(all)
			p.class(all)
		}
	case syntax.OpCharClass:
		p.class(re.Rune)
	case syntax.OpCapture:
		p.group("(", re.Sub[0])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest:
		p.group("(?:", re.Sub[0])
		p.WriteByte("*+?"[re.Op-syntax.OpStar])
	case syntax.OpRepeat:
		p.group("(?:", re.Sub[0])
		fmt.Fprintf(p, "{%d", re.Min)
		if re.Max < 0 {
			p.WriteByte(',')
		} else if re.Max > re.Min {
			fmt.Fprintf(p, ",%d", re.Max)
		}
		p.WriteByte('}')
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			if sub.Op == syntax.OpAlternate {
				p.group("(?:", sub)
			} else {
				p.print(sub)
			}
		}
	case syntax.OpAlternate:
		for i, sub := range re.Sub {
			if i > 0 {
				p.WriteByte('|')
			}
			p.print(sub)
		}
	default: // begins and ends of lines, and classes without characters, have no text
		text, ok := constant[re.Op]
		p.WriteString(text)
		p.ok = p.ok && ok
	}
}

// group writes a group, unless a repetition of the operand needs none.
func (p *printer) group(open string, re *syntax.Regexp) {
	single := re.Op == syntax.OpLiteral && len(re.Rune) == 1 || re.Op == syntax.OpCharClass ||
		re.Op == syntax.OpAnyChar || re.Op == syntax.OpAnyCharNotNL || re.Op == syntax.OpCapture
	if single && open != "(" {
		p.print(re)
		return
	}
	p.WriteString(open)
	p.print(re)
	p.WriteByte(')')
}

// class writes a class of pairs of a first and a last character. A class with the last character of
// Unicode is written as its complement, which is shorter.
func (p *printer) class(pairs []rune) {
	if len(pairs) == 2 && pairs[0] == pairs[1] {
		p.char(pairs[0], `^$\.*+?()[]{}|`)
		return
	}
	open := "["
	if n := len(pairs); n > 0 && pairs[n-1] == unicode.MaxRune {
		open, pairs = "[^", slices.Concat([]rune{-1}, pairs[:n-1])
		for i := range pairs {
			pairs[i] += rune(1 - 2*(i%2))
		}
		if pairs[1] < 0 {
			pairs = pairs[2:]
		}
	}
	p.ok = p.ok && len(pairs) > 0 && len(pairs) <= 2*maxRanges
	p.WriteString(open)
	for i := 0; i < len(pairs); i += 2 {
		p.char(pairs[i], `^-[]\`)
		if pairs[i+1] > pairs[i] {
			if pairs[i+1] > pairs[i]+1 {
				p.WriteByte('-')
			}
			p.char(pairs[i+1], `^-[]\`)
		}
	}
	p.WriteByte(']')
}

// char writes a character, with an escape if it is one of special or cannot be printed.
func (p *printer) char(r rune, special string) {
	switch i := strings.IndexRune("\t\n\v\f\r", r); {
	case utf16.IsSurrogate(r):
		p.ok = false // two of them could be one character
	case strings.ContainsRune(special, r):
		p.WriteString(`\` + string(r))
	case i >= 0:
		p.WriteString(`\` + "tnvfr"[i:i+1])
	case r == ' ' || unicode.IsPrint(r):
		p.WriteRune(r)
	case r < 0x100:
		fmt.Fprintf(p, `\x%02x`, r)
	default:
		fmt.Fprintf(p, `\u{%x}`, r)
	}
}
