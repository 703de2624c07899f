package oracle

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Options say which documents are wanted. The zero value has all of them.
type Options struct {
	// Mutation makes mutations in place of queries.
	Mutation bool
	// Defects makes documents that have one mistake each, in what it says or in its variables.
	Defects bool
	// Field and Argument, unless nil, tell which fields and arguments are to be used.
	Field    func(parent *model.Type, f *model.Field) bool
	Argument func(f *model.Field, a *model.Input) bool
	// Without names features of documents that are not wanted; see [Document].
	Without []string
	// Texts, unless nil, gives values for a String or an ID, such as cursors for the argument after.
	Texts func(in *model.Input) []string
}

// Document is a request.
type Document struct {
	Text      string
	Operation string
	Variables map[string]jsontext.Value
	// Features names what it has that not every executor gets right, such as "null literal".
	Features []string
	// Defect describes the mistake; empty for none.
	Defect string
}

// Generate makes a document for a schema: the same for the same data. Without a mistake it is valid and, with its
// variables, fit to be executed; what comes of that is another matter.
func Generate(s *model.Schema, data []byte, opts Options) *Document {
	g := &generator{Rand: newRand(data), s: s, opts: opts,
		variables: map[string]jsontext.Value{}, fragments: map[*model.Type][]string{}}
	return g.document()
}

// generator makes one document.
type generator struct {
	*rand.Rand
	s    *model.Schema
	opts Options

	names      int // how many were made up
	size       int // of what there is so far: selections and values
	definition []string
	variables  map[string]jsontext.Value
	features   []string
	fragments  map[*model.Type][]string // names of those that are complete, and may be used again
	texts      []string                 // of fragments
	directives int
	lists      int // of introspection, which stand in each other
	defect     string

	breakFields bool
}

// chance is true once in n times.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// may reports whether a feature is wanted, and notes that it is there.
func (g *generator) may(feature string) bool {
	if slices.Contains(g.opts.Without, feature) {
		return false
	}
	if !slices.Contains(g.features, feature) {
		g.features = append(g.features, feature)
	}
	return true
}

// name makes up a name that nothing else has.
func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// pick returns one of several.
func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

func (g *generator) document() *Document {
	kind, root := "query", g.s.Query
	if g.opts.Mutation {
		kind, root = "mutation", g.s.Mutation
	}
	g.breakFields = g.opts.Defects && g.chance(2) // else what is around them
	body := g.selections(&model.Ref{Type: root}, 0)
	if g.opts.Defects {
		g.breakVariables() // before they are defined in the head, and after it is known which there are
	}
	var operation string
	head := kind
	if g.chance(3) || len(g.definition) > 0 && g.chance(2) {
		operation = "Op"
		head += " Op"
	}
	if len(g.definition) > 0 {
		head += "(" + strings.Join(g.definition, ", ") + ")"
	}
	if head == "query" && g.chance(2) {
		head = ""
	}
	parts := append([]string{head + body}, g.texts...)
	// Fragments may stand in front of what uses them, and after it.
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	if operation != "" && g.chance(4) {
		parts = append(parts, "query Other { __typename }")
	} else if g.chance(2) {
		operation = ""
	}
	if g.opts.Defects && g.defect == "" {
		parts, operation = g.breakDocument(parts, operation)
	}
	return &Document{Text: strings.Join(parts, "\n"), Operation: operation, Variables: g.variables,
		Features: g.features,
		Defect:   g.defect}
}

// enough selections and values for one document. What still has to be there then is as small as can be.
const enough = 150

func (g *generator) full() bool { return g.size > enough }

// scope is one selection set, with what was selected in it: what has the same key must be the same.
type scope struct {
	typ   *model.Type
	in    *model.Ref // the type as a field has it
	depth int
	made  []made
}

// made is a field that was selected, up to its selection set.
type made struct {
	field *model.Field
	text  string
}

// selections makes a selection set of a type.
func (g *generator) selections(t *model.Ref, depth int) string {
	return g.more(&scope{typ: t.Named(), in: t, depth: depth})
}

// more makes a selection set whose fields merge with those that the scope has.
func (g *generator) more(sc *scope) string {
	var parts []string
	for range 1 + g.IntN(5-min(sc.depth/2, 3)) {
		if g.size++; g.full() && parts != nil {
			break
		}
		parts = append(parts, g.selection(sc))
	}
	return " { " + strings.Join(parts, " ") + " }"
}

func (g *generator) selection(sc *scope) string {
	switch n := g.IntN(20); {
	case n == 0 || g.full() && n < 5:
		return g.rename("__typename") + g.directive()
	case n < 3 && sc.depth < 8:
		condition := " on " + sc.typ.Name
		plain := sc.in.Elem == nil && !sc.in.NonNull
		if g.chance(2) && (plain || g.may("fragment without a type in what is not just nullable")) {
			condition = ""
		}
		sc.depth++
		inner := g.more(sc)
		sc.depth--
		return "..." + condition + g.directive() + inner
	case n < 5 && sc.depth < 8 && !isMeta(sc.typ) &&
		(sc.typ != g.s.Mutation || g.may("mutations in a fragment with a name")):
		return "..." + g.fragment(sc) + g.directive()
	}
	if g.breakFields && g.defect == "" && g.chance(4) {
		if text := g.breakField(sc); text != "" {
			return text
		}
	}
	return g.field(sc)
}

// rename gives a field an alias, sometimes.
func (g *generator) rename(field string) string {
	if g.chance(3) {
		return g.name("a") + ": " + field
	}
	return field
}

// fragment returns the name of a fragment, new or used again. Those that are used again must not clash with what is
// around, so only fields under a name of their own or without arguments stand in fragments; see field.
func (g *generator) fragment(sc *scope) string {
	if known := g.fragments[sc.typ]; len(known) > 0 && g.chance(2) {
		return pick(g, known)
	}
	name := g.name("F")
	text := "fragment " + name + " on " + sc.typ.Name + g.selections(&model.Ref{Type: sc.typ}, sc.depth+1)
	g.texts = append(g.texts, text)
	g.fragments[sc.typ] = append(g.fragments[sc.typ], name)
	return name
}

// directive makes @skip and @include, sometimes, and sometimes both.
func (g *generator) directive() string {
	out := ""
	for _, name := range []string{"skip", "include"} {
		if g.directives >= 20 || !g.chance(12) {
			continue
		}
		g.directives++
		out += " @" + name + "(if: " + g.value(condition(), 0) + ")"
	}
	return out
}

// condition is the argument of @skip and @include.
func condition() *model.Input {
	return &model.Input{Name: "if", Type: &model.Ref{Type: &model.Type{Name: "Boolean"}, NonNull: true}}
}

// field selects a field, or the same as before with other fields below.
func (g *generator) field(sc *scope) string {
	if len(sc.made) > 0 && g.chance(5) {
		m := pick(g, sc.made)
		return m.text + g.directive() + g.below(m.field, sc.depth)
	}
	f := g.choose(sc)
	if f == nil {
		return "__typename"
	}
	// Two fields with one key have to have the same arguments, wherever in the document they come together. So whatever has
	// arguments has a key of its own; where it is to merge with another, the text is that of the other.
	args := g.arguments(f)
	text := f.Name + args
	if args != "" {
		text = g.name("a") + ": " + text
	} else {
		text = g.rename(text)
	}
	sc.made = append(sc.made, made{f, text})
	return text + g.directive() + g.below(f, sc.depth)
}

// choose returns a field of a type that can stand here, nil if there is none.
func (g *generator) choose(sc *scope) *model.Field {
	deep := sc.depth > 8 || g.full()
	if sc.typ == g.s.Query && g.s.MetaType != nil && !deep && g.chance(25) && g.may("introspection") {
		return pick(g, []*model.Field{g.s.MetaType, g.s.MetaSchema})
	}
	var list []*model.Field
	for _, f := range sc.typ.Fields {
		if g.opts.Field != nil && !g.opts.Field(sc.typ, f) {
			continue
		}
		// which is all that every executor lets pass
		if isMeta(sc.typ) && g.lists >= 2 && f.Type.Elem != nil {
			continue
		}
		if deep && f.Type.Named().IsComposite() {
			continue
		}
		list = append(list, f)
	}
	if len(list) == 0 {
		return nil
	}
	f := pick(g, list)
	// what leads on is rarer than what does not, and tells more
	if !f.Type.Named().IsComposite() && g.chance(3) {
		f = pick(g, list)
	}
	return f
}

// below makes the selection set of a field, nothing for a leaf.
func (g *generator) below(f *model.Field, depth int) string {
	if !f.Type.Named().IsComposite() {
		return ""
	}
	if f.Type.Elem != nil && isMeta(f.Type.Named()) {
		g.lists++
		defer func() { g.lists-- }()
	}
	return g.selections(f.Type, depth+1)
}

// isMeta reports whether a type is one of introspection. No fragment has a name there: it would stand deeper in one place
// than in another.
func isMeta(t *model.Type) bool { return strings.HasPrefix(t.Name, "__") }

// arguments makes those of a field. It need not give what may be absent.
func (g *generator) arguments(f *model.Field) string {
	var parts []string
	for _, a := range g.given(f) {
		parts = append(parts, a.Name+": "+g.value(a, 0))
	}
	if len(parts) == 0 {
		return ""
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	return "(" + strings.Join(parts, ", ") + ")"
}

// given chooses which arguments there are: first goes with after and last with before, mostly.
func (g *generator) given(f *model.Field) []*model.Input {
	var out []*model.Input
	backward := g.chance(3)
	for _, a := range f.Args {
		switch {
		case g.opts.Argument != nil && !g.opts.Argument(f, a):
			continue
		case f.Source == model.List && (a.Name == "first" || a.Name == "after") && backward,
			f.Source == model.List && (a.Name == "last" || a.Name == "before") && !backward:
			if !g.chance(15) { // or they would hardly ever get to the list
				continue
			}
		}
		if required(a) || !g.full() && g.chance(3) {
			out = append(out, a)
		}
	}
	return out
}

func required(in *model.Input) bool { return in.Type.NonNull && !in.HasDefault }

// sortedKeys are the keys of a map in an order that is always the same.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
