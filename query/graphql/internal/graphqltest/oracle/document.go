package oracle

// Generate and the selections of a document. Values are made in document_value.go, mistakes in
// document_defect.go. Called by the tests of this package and by those in .ci/clients, which
// compare the responses of two executors.
//
// The generator walks the schema from a root and writes text. It does not build a tree of package
// parser, so that the syntax is generated, too: strings, commas and escapes.

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
)

// Options selects the documents that Generate makes. The zero value allows all queries without
// mistakes.
type Options struct {
	// Mutation requests mutations in place of queries. A test then needs a World for each executor.
	Mutation bool
	// Defects requests documents with one mistake each, in the text or in the variables.
	Defects bool
	// Field and Argument report whether a field or an argument may be used. If nil, all may be.
	Field    func(parent *model.Type, f *model.Field) bool
	Argument func(f *model.Field, a *model.Input) bool
	// Without lists features that documents must not have; see [Document]. A test that compares
	// with graphql-go lists the features that it gets wrong.
	Without []string
	// Texts returns values for inputs of type String or ID, such as cursors for the argument after.
	// If it is nil or returns no values, Generate chooses.
	Texts func(in *model.Input) []string
}

// Document is a GraphQL request.
type Document struct {
	Text      string
	Operation string
	Variables map[string]jsontext.Value
	// Features lists the features of the document that some executors do not support correctly,
	// such as "null literal". The names are those of [Options].Without.
	Features []string
	// Defect describes the mistake. It is empty for a valid document.
	Defect string
}

// Generate makes a document for a schema. The result depends only on its arguments. A document
// without a mistake is valid and its variables can be coerced. Its execution may still fail.
func Generate(s *model.Schema, data []byte, opts Options) *Document {
	g := &generator{Rand: newRand(data), s: s, opts: opts,
		variables: map[string]jsontext.Value{}, fragments: map[*model.Type][]string{}}
	return g.document()
}

// generator holds the state of one call of Generate.
type generator struct {
	*rand.Rand
	s    *model.Schema
	opts Options

	names int // number of generated names
	size  int // number of selections and values so far
	// definition has the variable definitions of the operation, such as "$v1: Int". Their number is
	// limited to 12.
	definition []string
	variables  map[string]jsontext.Value
	features   []string
	fragments  map[*model.Type][]string // names of complete fragments, which can be spread again
	texts      []string                 // definitions of fragments
	directives int
	lists      int // depth of nested lists of introspection
	// defect describes the mistake that has been made. A document gets at most one.
	defect string

	breakFields bool // breakField may make the mistake
}

// chance returns true with probability 1/n. All randomness of the generator is read through it,
// pick, IntN and Shuffle.
func (g *generator) chance(n int) bool { return g.IntN(n) == 0 }

// may reports whether a feature is allowed, and records that the document has it. Callers evaluate
// it last in a condition, so that a feature is recorded only if the document gets it.
func (g *generator) may(feature string) bool {
	if slices.Contains(g.opts.Without, feature) {
		return false
	}
	if !slices.Contains(g.features, feature) {
		g.features = append(g.features, feature)
	}
	return true
}

// name returns a unique name. Names of aliases, variables and fragments share the counter.
func (g *generator) name(prefix string) string {
	g.names++
	return fmt.Sprint(prefix, g.names)
}

// pick returns a random element.
func pick[T any](g *generator, list []T) T { return list[g.IntN(len(list))] }

// document makes the operation first, then its head, because the selections determine which
// variables the head has to define.
func (g *generator) document() *Document {
	kind, root := "query", g.s.Query
	if g.opts.Mutation {
		kind, root = "mutation", g.s.Mutation
	}
	// otherwise breakVariables or breakDocument makes the mistake
	g.breakFields = g.opts.Defects && g.chance(2)
	body := g.selections(&model.Ref{Type: root}, 0)
	if g.opts.Defects {
		g.breakVariables() // all variables are known here, and the head does not define them yet
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
	// The shorthand form is valid for an anonymous query without variables.
	if head == "query" && g.chance(2) {
		head = ""
	}
	parts := append([]string{head + body}, g.texts...)
	// Fragments may precede or follow the operations that use them.
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	// A second operation is valid only if all have names, and the request selects one.
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

// enough is the size at which a document is complete. The parts that the grammar still requires are
// then as small as possible. It bounds the time of a test and the size of a failing document.
const enough = 150

// full reports whether the document has reached its size. Callers then choose what ends soonest.
func (g *generator) full() bool { return g.size > enough }

// scope is one selection set and the fields selected in it. Fields with the same response key must
// be identical. Inline fragments share the scope of the set that contains them, because their
// fields are merged with it.
type scope struct {
	typ   *model.Type
	in    *model.Ref // the type with its lists and NonNull
	depth int
	made  []made // candidates to select again
}

// made is a selected field without its selection set.
type made struct {
	field *model.Field
	text  string
}

// selections returns a selection set for a type.
func (g *generator) selections(t *model.Ref, depth int) string {
	return g.more(&scope{typ: t.Named(), in: t, depth: depth})
}

// more returns a selection set. Its fields can be merged with those in sc. It has at least one
// selection, which the grammar requires.
func (g *generator) more(sc *scope) string {
	var parts []string
	// Deeper selection sets are smaller, so the expected size of a document is finite.
	for range 1 + g.IntN(5-min(sc.depth/2, 3)) {
		if g.size++; g.full() && parts != nil {
			break
		}
		parts = append(parts, g.selection(sc))
	}
	return " { " + strings.Join(parts, " ") + " }"
}

// selection returns a field, an inline fragment or a spread. About three of four are fields.
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

// rename adds an alias to a field in one of three calls. The alias is unique, so it never
// conflicts.
func (g *generator) rename(field string) string {
	if g.chance(3) {
		return g.name("a") + ": " + field
	}
	return field
}

// fragment returns the name of a new or an existing fragment. The fields of an existing fragment
// must not conflict with those where it is spread. Therefore fields in fragments either have a
// unique alias or no arguments; see field.
func (g *generator) fragment(sc *scope) string {
	// Only complete fragments are in the map, so fragments form no cycles.
	if known := g.fragments[sc.typ]; len(known) > 0 && g.chance(2) {
		return pick(g, known)
	}
	name := g.name("F")
	text := "fragment " + name + " on " + sc.typ.Name + g.selections(&model.Ref{Type: sc.typ}, sc.depth+1)
	g.texts = append(g.texts, text)
	g.fragments[sc.typ] = append(g.fragments[sc.typ], name)
	return name
}

// directive returns @skip, @include, both or, most often, "". The total is limited, because
// lexer.Guard permits 50 in a document.
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

// condition returns the definition of the argument of @skip and @include.
func condition() *model.Input {
	return &model.Input{Name: "if", Type: &model.Ref{Type: &model.Type{Name: "Boolean"}, NonNull: true}}
}

// field returns a new field, or one that sc has already with another selection set. The selection
// sets of both are merged (section 5.3.2).
func (g *generator) field(sc *scope) string {
	if len(sc.made) > 0 && g.chance(5) {
		m := pick(g, sc.made)
		return m.text + g.directive() + g.below(m.field, sc.depth)
	}
	f := g.choose(sc)
	if f == nil {
		return "__typename"
	}
	// Fields with the same response key must have the same arguments wherever they are merged.
	// Therefore each field with arguments gets a unique alias. A field that is to be merged with it
	// repeats its text.
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

// choose returns a field of the type that may be selected here, or nil. At a certain depth or size
// only leaves remain.
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
		// Some executors reject deeper lists in introspection.
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
	// Prefer objects: they are rarer than leaves, and exercise more of the executor.
	if !f.Type.Named().IsComposite() && g.chance(3) {
		f = pick(g, list)
	}
	return f
}

// below returns the selection set of a field, or "" for a leaf.
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

// isMeta reports whether t is an introspection type. Named fragments on these types are not
// generated, because their list depth would depend on where they are spread.
func isMeta(t *model.Type) bool { return strings.HasPrefix(t.Name, "__") }

// arguments returns the arguments of a field, or "". Optional ones may be absent.
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

// given selects arguments. It rarely combines first or after with last or before. Required ones are
// always among them.
func (g *generator) given(f *model.Field) []*model.Input {
	var out []*model.Input
	backward := g.chance(3)
	for _, a := range f.Args {
		switch {
		case g.opts.Argument != nil && !g.opts.Argument(f, a):
			continue
		case f.Source == model.List && (a.Name == "first" || a.Name == "after") && backward,
			f.Source == model.List && (a.Name == "last" || a.Name == "before") && !backward:
			if !g.chance(15) { // invalid combinations are rare, so most requests reach the list
				continue
			}
		}
		if required(a) || !g.full() && g.chance(3) {
			out = append(out, a)
		}
	}
	return out
}

// required reports whether a document must give the input (section 5.4.3).
func required(in *model.Input) bool { return in.Type.NonNull && !in.HasDefault }

// sortedKeys returns the keys of a map in ascending order. Iteration over a map would make
// documents irreproducible.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
