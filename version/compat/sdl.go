package compat

// A parser of the schema definition language (GraphQL, September 2025, section 3), without executable
// documents. Called by sdl_normalize.go and compare_sdl.go. The parser of query/graphql is internal to
// that package, and this package must work with schemas of any server.

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// sdlSchema is a GraphQL schema.
type sdlSchema struct {
	roots      map[string]string // query, mutation, subscription
	types      map[string]*sdlType
	directives map[string]*sdlDirective
}

// sdlType is a type definition of any kind.
type sdlType struct {
	kind       string // scalar, type, interface, union, enum or input
	interfaces []string
	fields     []*sdlField // fields, input fields, or values of an enum
	members    []string    // of a union
	applied    []string    // directives, as text
	defined    bool        // not only extended
}

// sdlField is a field, an argument, an input field or a value of an enum.
type sdlField struct {
	name       string
	args       []*sdlField
	typ        string // as written without spaces, such as [Order!]!
	initial    string // the default value, as text
	hasDefault bool
	applied    []string
}

// sdlDirective is the definition of a directive.
type sdlDirective struct {
	args       []*sdlField
	repeatable bool
	locations  []string
}

// maxSDLDepth limits nested types and values.
const maxSDLDepth = 64

// sdlParser reads definitions from tokens.
type sdlParser struct {
	tokens []string
	pos    int
	depth  int
	err    error
}

// parseSDL parses a schema. Extensions are merged into their types.
func parseSDL(text string) (*sdlSchema, error) {
	tokens, err := sdlTokens(text)
	if err != nil {
		return nil, err
	}
	p := &sdlParser{tokens: tokens}
	s := &sdlSchema{roots: map[string]string{}, types: map[string]*sdlType{},
		directives: map[string]*sdlDirective{}}
	for p.pos < len(p.tokens) && p.err == nil {
		p.definition(s)
	}
	if p.err != nil {
		return nil, p.err
	}
	if len(s.roots) == 0 {
		for root, name := range map[string]string{"query": "Query", "mutation": "Mutation",
			"subscription": "Subscription"} {
			if s.types[name] != nil {
				s.roots[root] = name
			}
		}
	}
	return s, nil
}

// fail records the first error.
func (p *sdlParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
		p.pos = len(p.tokens)
	}
}

// peek returns the next token; "" at the end.
func (p *sdlParser) peek() string {
	if p.pos < len(p.tokens) {
		return p.tokens[p.pos]
	}
	return ""
}

// next returns the next token and advances.
func (p *sdlParser) next() string {
	t := p.peek()
	if t == "" {
		p.fail("the schema ends within a definition")
	}
	p.pos++
	return t
}

// skip advances if the next token is t.
func (p *sdlParser) skip(t string) bool {
	if p.peek() == t {
		p.pos++
		return true
	}
	return false
}

func (p *sdlParser) expect(t string) {
	if got := p.next(); got != t {
		p.fail("%q in place of %q", got, t)
	}
}

func (p *sdlParser) name() string {
	t := p.next()
	if t != "" && !isNameStart(t[0]) {
		p.fail("%q in place of a name", t)
	}
	return t
}

// description skips a description.
func (p *sdlParser) description() {
	if strings.HasPrefix(p.peek(), `"`) {
		p.pos++
	}
}

func (p *sdlParser) definition(s *sdlSchema) {
	p.description()
	extend := p.skip("extend")
	switch kind := p.name(); kind {
	case "schema":
		p.directives()
		if p.peek() != "{" && extend {
			return
		}
		p.expect("{")
		for p.err == nil && !p.skip("}") {
			p.description()
			root := p.name()
			p.expect(":")
			s.roots[root] = p.name()
		}
	case "directive":
		p.directive(s)
	case "scalar", "type", "interface", "union", "enum", "input":
		name := p.name()
		t := s.types[name]
		switch {
		case t != nil && t.defined && !extend:
			p.fail("type %s is defined twice", name)
			return
		case t != nil && t.kind != kind:
			p.fail("type %s is extended as another kind", name)
			return
		case t == nil:
			t = &sdlType{kind: kind}
			s.types[name] = t
		}
		t.defined = t.defined || !extend
		p.typeDefinition(t)
	default:
		p.fail("%q in place of a definition", kind)
	}
}

func (p *sdlParser) typeDefinition(t *sdlType) {
	if p.skip("implements") {
		p.skip("&")
		t.interfaces = append(t.interfaces, p.name())
		for p.skip("&") {
			t.interfaces = append(t.interfaces, p.name())
		}
	}
	t.applied = append(t.applied, p.directives()...)
	switch t.kind {
	case "union":
		if p.skip("=") {
			p.skip("|")
			t.members = append(t.members, p.name())
			for p.skip("|") {
				t.members = append(t.members, p.name())
			}
		}
	case "type", "interface", "enum", "input":
		if p.skip("{") {
			t.fields = append(t.fields, p.fields("}", t.kind == "enum")...)
		}
	}
}

// fields reads fields, arguments or values of an enum up to the token end.
func (p *sdlParser) fields(end string, enum bool) (all []*sdlField) {
	for p.err == nil && !p.skip(end) {
		p.description()
		f := &sdlField{name: p.name()}
		if !enum {
			if p.skip("(") {
				f.args = p.fields(")", false)
			}
			p.expect(":")
			f.typ = p.typeRef()
			if p.skip("=") {
				f.hasDefault, f.initial = true, p.value()
			}
		}
		f.applied = p.directives()
		all = append(all, f)
	}
	return all
}

func (p *sdlParser) typeRef() (t string) {
	if p.depth++; p.depth > maxSDLDepth {
		p.fail("types are nested too deeply")
	}
	defer func() { p.depth-- }()
	if p.err == nil && p.skip("[") {
		t = "[" + p.typeRef() + "]"
		p.expect("]")
	} else {
		t = p.name()
	}
	if p.skip("!") {
		t += "!"
	}
	return t
}

// value reads a constant value and returns it in one spelling. The members of objects are sorted.
func (p *sdlParser) value() string {
	if p.depth++; p.depth > maxSDLDepth {
		p.fail("values are nested too deeply")
	}
	defer func() { p.depth-- }()
	if p.err != nil {
		return ""
	}
	switch t := p.next(); {
	case t == "[":
		var list []string
		for p.err == nil && !p.skip("]") {
			list = append(list, p.value())
		}
		return "[" + strings.Join(list, ", ") + "]"
	case t == "{":
		var list []string
		for p.err == nil && !p.skip("}") {
			name := p.name()
			p.expect(":")
			list = append(list, name+": "+p.value())
		}
		slices.Sort(list)
		return "{" + strings.Join(list, ", ") + "}"
	case t == "" || strings.ContainsAny(t[:1], "!$&()=@]|}:"):
		p.fail("%q in place of a value", t)
		return ""
	default:
		return t
	}
}

// directives reads applied directives and returns each in one spelling.
func (p *sdlParser) directives() (all []string) {
	for p.err == nil && p.skip("@") {
		d := "@" + p.name()
		if p.skip("(") {
			var args []string
			for p.err == nil && !p.skip(")") {
				name := p.name()
				p.expect(":")
				args = append(args, name+": "+p.value())
			}
			slices.Sort(args)
			d += "(" + strings.Join(args, ", ") + ")"
		}
		all = append(all, d)
	}
	return all
}

func (p *sdlParser) directive(s *sdlSchema) {
	p.expect("@")
	name := p.name()
	d := &sdlDirective{}
	if p.skip("(") {
		d.args = p.fields(")", false)
	}
	d.repeatable = p.skip("repeatable")
	p.expect("on")
	p.skip("|")
	d.locations = append(d.locations, p.name())
	for p.skip("|") {
		d.locations = append(d.locations, p.name())
	}
	s.directives[name] = d
}

// sdlTokens splits a schema into tokens. Strings keep their quotes. Commas and comments are ignored.
func sdlTokens(text string) (tokens []string, err error) {
	for i := 0; i < len(text); {
		c := text[i]
		start := i
		switch {
		case strings.IndexByte(" \t\n\r,\xEF\xBB\xBF", c) >= 0: // also a byte order mark
			i++
			continue
		case c == '#':
			for i < len(text) && text[i] != '\n' && text[i] != '\r' {
				i++
			}
			continue
		case isNameStart(c):
			for i < len(text) && (isNameStart(text[i]) || isNumberPart(text[i])) {
				i++
			}
		case c == '-' || '0' <= c && c <= '9':
			for i++; i < len(text) && (isNumberPart(text[i]) || strings.IndexByte(".eE+-", text[i]) >= 0); {
				i++
			}
		case c == '"':
			n := stringLength(text[i:])
			if n == 0 {
				return nil, errors.New("a string is not terminated")
			}
			i += n
		case strings.IndexByte("!$&():=@[]{|}", c) >= 0:
			i++
		default:
			return nil, fmt.Errorf("unexpected character %q", c)
		}
		tokens = append(tokens, text[start:i])
	}
	return tokens, nil
}

func isNameStart(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_'
}

func isNumberPart(c byte) bool { return '0' <= c && c <= '9' }

// stringLength returns the length of the string at the beginning of s, with its quotes; 0 if it has
// no end.
func stringLength(s string) int {
	if strings.HasPrefix(s, `"""`) {
		for i := 3; i < len(s); i++ {
			if strings.HasPrefix(s[i:], `\"""`) {
				i += 3
			} else if strings.HasPrefix(s[i:], `"""`) {
				return i + 3
			}
		}
		return 0
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		case '\n', '\r':
			return 0
		}
	}
	return 0
}
