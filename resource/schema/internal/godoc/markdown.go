package godoc

// Doc comments as CommonMark: comment.Parser finds paragraphs, lists, headings, code and links, and
// this file prints them for clients, for which Go names and links mean nothing.

import (
	"go/ast"
	"go/constant"
	"go/doc/comment"
	"go/types"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// textOf returns the text of a comment group, which may be nil. names are the names of the described
// element, with which the comment may begin.
func (p *pkg) textOf(group *ast.CommentGroup, imports map[string]string, names ...string) text {
	if group == nil {
		return text{}
	}
	parser := comment.Parser{
		LookupPackage: func(name string) (string, bool) {
			if target, ok := imports[name]; ok {
				return target, true
			}
			return comment.DefaultLookupPackage(name)
		},
		LookupSym: p.hasName,
	}
	var t text
	var blocks []string
	// Text drops directives such as //go:generate.
	for _, block := range parser.Parse(group.Text()).Content {
		printed := p.block(block)
		if _, ok := block.(*comment.Paragraph); ok {
			if reason, ok := strings.CutPrefix(printed, "Deprecated: "); ok {
				t.deprecated = strings.TrimSpace(t.deprecated + " " + reason)
				continue
			}
			if len(blocks) == 0 {
				printed = trimName(printed, names)
			}
			printed = endSentence(guardStart(printed))
		}
		blocks = append(blocks, printed)
	}
	t.doc = strings.Join(blocks, "\n\n")
	return t
}

// hasName reports whether the package declares a name, or a type a field or a method.
func (p *pkg) hasName(recv, name string) bool {
	if recv == "" {
		return p.scope.Lookup(name) != nil
	}
	return p.member(recv, name) != nil
}

// member returns a field or a method of a type, or nil.
func (p *pkg) member(recv, name string) types.Object {
	t, ok := p.scope.Lookup(recv).(*types.TypeName)
	if !ok {
		return nil
	}
	obj, _, _ := types.LookupFieldOrMethod(t.Type(), true, p.types, name)
	return obj
}

// codeLine matches a line of code that is not empty.
var codeLine = regexp.MustCompile(`(?m)^.+$`)

// block prints a block.
func (p *pkg) block(b comment.Block) string {
	switch b := b.(type) {
	case *comment.Heading:
		return "### " + p.inline(b.Text)
	case *comment.Code:
		return strings.TrimRight(codeLine.ReplaceAllString(b.Text, "    $0"), "\n")
	case *comment.List:
		return p.list(b)
	case *comment.Paragraph:
		return p.inline(b.Text)
	}
	return ""
}

// list prints a list. Paragraphs of an item after the first are indented to the first.
func (p *pkg) list(list *comment.List) string {
	var items []string
	for _, item := range list.Items {
		marker := "- "
		if item.Number != "" {
			marker = item.Number + ". "
		}
		var parts []string
		for _, b := range item.Content {
			parts = append(parts, guardStart(p.block(b)))
		}
		indent := "\n\n" + strings.Repeat(" ", len(marker))
		items = append(items, marker+strings.Join(parts, indent))
	}
	if list.BlankBetween() {
		return strings.Join(items, "\n\n")
	}
	return strings.Join(items, "\n")
}

// inline prints the text of a block in one line.
func (p *pkg) inline(list []comment.Text) string {
	var b strings.Builder
	for _, t := range list {
		switch t := t.(type) {
		case comment.Plain:
			b.WriteString(escape(oneLine(string(t))))
		case comment.Italic:
			b.WriteString(escape(oneLine(string(t))))
		case *comment.Link:
			label := p.inline(t.Text)
			if !t.Auto {
				label = "[" + label + "](" + t.URL + ")"
			}
			b.WriteString(label)
		case *comment.DocLink:
			b.WriteString(p.docLink(t))
		}
	}
	return strings.TrimSpace(b.String())
}

// docLink prints a link to a Go name: the name that clients know for fields and constants of the
// package, and otherwise the Go name.
func (p *pkg) docLink(link *comment.DocLink) string {
	if link.ImportPath == "" {
		if link.Recv != "" {
			if name := p.jsonName(link.Recv, link.Name); name != "" {
				return "`" + name + "`"
			}
		} else if c, ok := p.scope.Lookup(link.Name).(*types.Const); ok && c.Val().Kind() == constant.String {
			return "`" + constant.StringVal(c.Val()) + "`"
		}
	}
	return p.inline(link.Text)
}

// jsonName returns the JSON name of a field, and "" if the type has no such field. Fields of
// embedded structs have theirs in the struct tag, too.
func (p *pkg) jsonName(recv, name string) string {
	v, ok := p.member(recv, name).(*types.Var)
	if !ok {
		return ""
	}
	for _, decl := range p.decls {
		s, ok := decl.spec.Type.(*ast.StructType)
		if !ok || v.Pos() < s.Pos() || v.Pos() > s.End() {
			continue
		}
		for _, f := range s.Fields.List {
			if f.Pos() <= v.Pos() && v.Pos() < f.End() {
				return memberName(f, name)
			}
		}
	}
	return name
}

// oneLine replaces line breaks by spaces.
func oneLine(s string) string { return strings.ReplaceAll(s, "\n", " ") }

// escape escapes characters that CommonMark would interpret although Go does not. Text in backticks
// remains code. Characters that have no effect where they are stay as they are, because many clients
// show the source.
func escape(s string) string {
	if !strings.ContainsAny(s, "`\\*_<[") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == '`' {
			if n := strings.IndexByte(s[i+1:], '`'); n > 0 {
				b.WriteString(s[i : i+n+2])
				i += n + 2
				continue
			}
		}
		if isSpecial(s, i) {
			b.WriteByte('\\')
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// isSpecial reports whether CommonMark may interpret the character at i.
func isSpecial(s string, i int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+1:])
	isWord := func(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }
	isSpace := func(r rune) bool { return r == utf8.RuneError || unicode.IsSpace(r) }
	switch s[i] {
	case '`', '\\':
		return true
	case '*':
		return !isSpace(before) || !isSpace(after)
	case '_':
		return (!isWord(before) || !isWord(after)) && (!isSpace(before) || !isSpace(after))
	case '<':
		return unicode.IsLetter(after) || strings.ContainsRune("/!?", after)
	case '[':
		end := strings.IndexByte(s[i:], ']')
		return end > 0 && strings.HasPrefix(s[i+end:], "](")
	}
	return false
}

// blockStart matches the start of a paragraph that CommonMark would interpret as another block.
var blockStart = regexp.MustCompile(`^(#{1,6} |[-+] |>|-{3}|~{3}|[0-9]{1,9}[.)] )`)

// guardStart escapes the start of a paragraph if it looks like another block.
func guardStart(s string) string {
	m := blockStart.FindString(s)
	if m == "" {
		return s
	}
	at := len(strings.TrimLeft(m, "0123456789")) // of "1. ", the marker is after the digits
	if at == len(m) {
		return `\` + s
	}
	digits := len(m) - at
	return s[:digits] + `\` + s[digits:]
}

// trimName removes the name with which Go comments begin, because clients see the description next
// to the name. An article before the name is removed with it. Any other beginning stays.
func trimName(s string, names []string) string {
	rest := s
	for _, article := range []string{"A ", "An ", "The "} {
		if cut, ok := strings.CutPrefix(rest, article); ok {
			rest = cut
			break
		}
	}
	for _, name := range names {
		after, ok := strings.CutPrefix(rest, name)
		if !ok {
			continue
		}
		for _, verb := range []string{" is ", " are ", " was ", " were ", " means that ", " means ", ": "} {
			if text, ok := strings.CutPrefix(after, verb); ok {
				return capitalize(text)
			}
		}
		if strings.HasPrefix(after, " reports whether ") {
			return capitalize(strings.TrimPrefix(after, " reports "))
		}
	}
	return capitalize(s)
}

// capitalize begins a sentence with an upper-case letter, unless its first word has a spelling of
// its own, such as iPhone or v2.
func capitalize(s string) string {
	word, _, _ := strings.Cut(s, " ")
	for _, r := range strings.TrimRight(word, ".,;:") {
		if !unicode.IsLower(r) && r != '-' && r != '\'' {
			return s
		}
	}
	first, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(first)) + s[n:]
}

// endSentence ends a paragraph without punctuation with a period.
func endSentence(s string) string {
	last, _ := utf8.DecodeLastRuneInString(s)
	if unicode.IsLetter(last) || unicode.IsDigit(last) || strings.ContainsRune(")`\"”", last) {
		return s + "."
	}
	return s
}

// quote returns a Go string literal.
func quote(s string) string { return strconv.Quote(s) }
