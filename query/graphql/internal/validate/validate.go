// Package validate decides whether a document means something to a schema, and whether it asks for too much.
//
// It is for query/graphql alone. One walk over the tree applies all rules, those of the specification's section 5 and
// limits of our own, and it stops when there are enough errors.
//
// The rules run in an order that makes each safe: first fragments in a circle, so that whoever follows spreads comes to
// an end; then the limits, so that nobody follows too many; then everything else. Rules bear the names, and errors the
// words, of the reference implementation (graphql-js 16), which .ci/clients compares with.
package validate

import (
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Limits bound what one operation may ask for. A field that is 0 or below has the default that its comment names.
type Limits struct {
	// Depth is how many levels of fields stand in each other; 16. Fields below __schema and __type count apart and may
	// go twice as deep.
	Depth int
	// RootFields is how many fields an operation selects at its root, those of fragments included; 100.
	RootFields int
	// Fields is how many fields an operation selects in all, each as often as fragments bring it; 10,000.
	Fields int
	// Errors is how many errors are enough; 20.
	Errors int
}

// orDefault puts the defaults where nothing was said.
func (l Limits) orDefault() Limits {
	set := func(field *int, value int) {
		if *field <= 0 {
			*field = value
		}
	}
	set(&l.Depth, 16)
	set(&l.RootFields, 100)
	set(&l.Fields, 10_000)
	set(&l.Errors, 20)
	return l
}

// Error is one reason why a document is refused. Its message is fit for clients.
type Error struct {
	// Rule names the rule: one of the specification's in the spelling of the reference implementation, such as
	// "KnownTypeNames", or "Limits".
	Rule    string
	Message string
	// Places has where the document shows it, most telling first; at most 20.
	Places []Place
}

// Place is a place in the text of the document. Both numbers count from 1, the column in UTF-16 code units.
type Place struct{ Line, Column int }

// Document checks a document. The result is empty if it is valid, and has at most Limits.Errors errors if it is not;
// after that many, nobody has looked at the rest. The schema is only read, so calls may run side by side.
func Document(schema *model.Schema, doc *parser.Document, limits Limits) []Error {
	v := &validator{schema: schema, doc: doc, limits: limits.orDefault()}
	v.collect()
	if v.cycles(); len(v.errors) > 0 {
		return v.errors
	}
	// Nothing follows spreads before this line, and nothing follows too many behind the next.
	if v.measure(); len(v.errors) > 0 {
		return v.errors
	}
	v.names()
	for _, op := range v.operations {
		v.checkOperation(op)
	}
	for _, f := range v.fragments {
		v.checkFragment(f)
	}
	for _, op := range v.operations {
		if v.operationVariables(op); v.reached > reachBudget {
			return v.errors
		}
	}
	v.unusedFragments()
	v.overlaps()
	return v.errors
}

// validator is the state of one call of [Document].
type validator struct {
	schema *model.Schema
	doc    *parser.Document
	limits Limits
	errors []Error

	operations []*operation
	fragments  []*fragment
	byName     map[string]*fragment
	current    *definition // whose fields are being walked over
	visits     int         // traversals of the fragments so far
	reached    int         // fragments, by operations

	compared pairs // of fields, when conflicts are explained
}

// definition is what operations and fragments have in common.
type definition struct {
	set    *parser.SelectionSet
	spread []*fragment // what it spreads, anywhere in it, each once
	usages []usage     // of variables, those of spread fragments not included
	seen   map[usageKey]bool
}

type operation struct {
	definition
	node *parser.OperationDefinition
	root *model.Type // nil if the schema has none for this kind of operation
}

type fragment struct {
	definition
	node *parser.FragmentDefinition
	on   *model.Type // nil if there is no such composite type
	size measures

	visit int // the last traversal that came by
	used  bool

	searched bool // for cycles
	entered  int  // where on the path of that search it stands, or -1
}

// collect sorts the definitions. Of fragments with the same name the last is the one that spreads mean.
func (v *validator) collect() {
	v.byName = map[string]*fragment{}
	for _, def := range v.doc.Definitions {
		switch def := def.(type) {
		case *parser.OperationDefinition:
			op := &operation{node: def, root: v.schema.Root(def.Operation)}
			op.set = def.SelectionSet
			v.operations = append(v.operations, op)
		case *parser.FragmentDefinition:
			f := &fragment{node: def, entered: -1}
			f.set = def.SelectionSet
			f.on = v.composite(def.TypeCondition)
			v.fragments = append(v.fragments, f)
			v.byName[def.Name.Value] = f
		}
	}
	// Only now are all fragments known by name.
	for _, op := range v.operations {
		op.spread = v.spreads(op.set)
	}
	for _, f := range v.fragments {
		f.spread = v.spreads(f.set)
	}
}

// composite returns the type that a name stands for if fields can be selected from it, or nil.
func (v *validator) composite(named *parser.NamedType) *model.Type {
	if t := v.schema.Type(named.Name.Value); t != nil && t.IsComposite() {
		return t
	}
	return nil
}

// enough reports whether to look no further.
func (v *validator) enough() bool { return len(v.errors) >= v.limits.Errors }

// report adds an error, unless there are enough.
func (v *validator) report(rule, message string, at ...*parser.Location) {
	if v.enough() {
		return
	}
	const most = 20
	e := Error{Rule: rule, Message: message, Places: make([]Place, 0, min(len(at), most))}
	for _, loc := range at[:min(len(at), most)] {
		e.Places = append(e.Places, Place(*loc))
	}
	v.errors = append(v.errors, e)
}
