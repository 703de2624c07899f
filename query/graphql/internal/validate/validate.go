// Package validate checks documents against a schema (section 5) and against size limits.
//
// Package graphql calls [Document] before it plans an operation. One traversal of the document
// checks all rules and stops at a maximum number of errors.
//
// The order of the checks makes each of them safe. Cycles of fragments are first, so that all later
// checks terminate. The size limits are second, so that all later work is bounded. Rules have the
// names, and errors the messages, of the reference implementation, graphql-js 16. A test in
// .ci/clients compares both.
package validate

import (
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
)

// Limits bounds the size of an operation. A field that is 0 or negative has its default.
type Limits struct {
	// Depth is the maximum number of levels of fields. Default 16. Levels below __schema and __type
	// count separately and are limited to twice the value.
	Depth int
	// RootFields is the maximum number of fields at the root of an operation, including those of
	// fragments. Default 100.
	RootFields int
	// Fields is the maximum number of fields of an operation. A field of a fragment counts for each
	// spread. Default 10,000.
	Fields int
	// Errors is the maximum number of errors that [Document] returns. Default 20.
	Errors int
}

// orDefault returns l with defaults for the fields that are not set.
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

// Error reports a rule that a document breaks. Its message may be sent to clients.
type Error struct {
	// Rule is the name of the rule in the reference implementation, such as "KnownTypeNames", or
	// "Limits".
	Rule    string
	Message string
	// Hint is a sentence that names similar names of the schema, or "". The reference implementation
	// has it at the end of the message, unless the option hideSuggestions is set.
	Hint string
	// Locations has up to 20 locations in the document, the most relevant one first.
	Locations []Location
}

// Location is a position in the document. Both numbers count from 1; Column is in UTF-16 code
// units.
type Location struct{ Line, Column int }

// Document returns the errors of doc, or nil if it is valid. It stops after Limits.Errors errors.
// It does not modify schema and doc, so concurrent calls may share them. doc must have passed
// lexer.Guard: its limits keep the recursion of the rules short.
func Document(schema *model.Schema, doc *parser.Document, limits Limits) []Error {
	v := &validator{schema: schema, doc: doc, limits: limits.orDefault()}
	v.collect()
	if v.cycles(); len(v.errors) > 0 {
		return v.errors
	}
	// The checks above follow no spreads. Those below follow them, but the measure limits how many.
	if v.measure(); len(v.errors) > 0 {
		return v.errors
	}
	v.uniqueNames()
	for _, op := range v.operations {
		v.checkOperation(op)
	}
	for _, f := range v.fragments {
		v.checkFragment(f)
	}
	// The checks above have recorded the usages of variables.
	for _, op := range v.operations {
		if v.operationVariables(op); v.reached > reachBudget {
			return v.errors
		}
	}
	v.unusedFragments()
	v.overlaps()
	return v.errors
}

// validator holds the state of one call of [Document]. It is used by one goroutine.
type validator struct {
	schema *model.Schema
	doc    *parser.Document
	limits Limits  // with defaults
	errors []Error // in the order in which the rules found them

	operations []*operation         // in the order of the document
	fragments  []*fragment          // in the order of the document, including those with equal names
	byName     map[string]*fragment // the last fragment of each name
	current    *definition          // the operation or fragment being checked
	in         enclosing            // the field being checked
	visits     int                  // number of traversals of fragments so far
	reached    int                  // number of fragments reached, summed over operations

	compared pairs // compared pairs of fields, used to explain conflicts
}

// definition is the common part of operations and fragments. Values are checked once per
// definition. The usages are then compared with the variables of each operation that reaches it.
type definition struct {
	set    *parser.SelectionSet
	spread []*fragment       // fragments spread at any depth, each once
	usages []usage           // usages of variables, without those in spread fragments
	seen   map[usageKey]bool // keys of usages; nil until there is one
}

// operation is an operation and its root type.
type operation struct {
	definition
	node *parser.OperationDefinition
	root *model.Type // nil if the schema has no root type for this kind of operation
}

// fragment is a fragment definition and the state of the traversals that visit it. Traversals mark
// a fragment with their number, so two traversals must not overlap.
type fragment struct {
	definition
	node *parser.FragmentDefinition
	on   *model.Type // nil if the type condition is unknown or not composite
	size measures

	visit int  // number of the last traversal that visited it
	used  bool // reached by an operation

	searched bool // visited by the search for cycles
	entered  int  // index in the path of that search, or -1
}

// collect fills in the operations and fragments. If several fragments have the same name, spreads
// refer to the last one. It reports nothing: types and names that do not exist are left nil, and
// the rules about them follow.
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
	// Spreads are resolved by name, so all fragments have to be known first.
	for _, op := range v.operations {
		op.spread = v.spreads(op.set)
	}
	for _, f := range v.fragments {
		f.spread = v.spreads(f.set)
	}
}

// composite returns the type with this name if it is composite, and nil otherwise.
func (v *validator) composite(named *parser.NamedType) *model.Type {
	if t := v.schema.Type(named.Name.Value); t != nil && t.IsComposite() {
		return t
	}
	return nil
}

// enough reports whether the maximum number of errors is reached. Loops over the document check it,
// so that an invalid document stops early.
func (v *validator) enough() bool { return len(v.errors) >= v.limits.Errors }

// report adds an error with at most 20 locations, unless the maximum number of errors is reached.
// Names of the document in a message are not shortened here; package exec shortens messages.
func (v *validator) report(rule, message string, at ...*parser.Location) {
	if v.enough() {
		return
	}
	const most = 20
	e := Error{Rule: rule, Message: message, Locations: make([]Location, 0, min(len(at), most))}
	for _, loc := range at[:min(len(at), most)] {
		e.Locations = append(e.Locations, Location(*loc))
	}
	v.errors = append(v.errors, e)
}

// reportHint is report with a hint, which is computed only if the error is added.
func (v *validator) reportHint(rule, message string, hint func() string, at *parser.Location) {
	if !v.enough() {
		v.report(rule, message, at)
		v.errors[len(v.errors)-1].Hint = hint()
	}
}
