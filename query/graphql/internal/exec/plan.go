package exec

import (
	"crypto/sha256"
	"sync/atomic"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource/schema"
)

// Plan is an operation that can be executed any number of times, at the same time too.
type Plan struct {
	// Kind is "query", "mutation" or "subscription". A plan of the last kind is for Subscribe: Run refuses it.
	Kind string

	id        uint64 // its alone, among those of one engine
	root      *selectionSet
	variables []coerce.Variable // nil if it has none
	dynamic   []*field          // whose arguments depend on variables; field.dynamic is the place in here
	uses      map[string]int    // of variables in arguments: how often each is there
	fetches   int               // fields that are fetched; field.fetchIndex counts them
	choices   []choice
	switches  int // how many there are of what choices decide; 0 is always on

	meaning [sha256.Size]byte // of a mutation: see Prepared.Meaning

	answer []byte // if it is always the same
	bytes  int    // what it counts for in the cache
	last   atomic.Int64
}

// selectionSet is what is selected from objects of one type, all occurrences merged (section 6.3.2).
type selectionSet struct {
	typ     *model.Type
	ops     []fieldOp
	whole   *joined   // what writes all of an object; nil if nothing does
	fetches []fetchOp // what is fetched for all objects at once
	columns []string  // of items: the members that somebody will look at; nil for all
}

// fieldOp writes a field at one position of the answer. A field whose first occurrence may be skipped has several: it is
// written at the position of the first occurrence that is not skipped.
type fieldOp struct {
	*field
	when   int     // switch of this place
	joined *joined // what writes it together with the next ones; nil for nothing
}

// fetchOp fetches a field. Below a connection, it is on only if the fields between are.
type fetchOp struct {
	*field
	via [2]int // their switches
}

// field is the compiled form of all selected fields with one response key.
type field struct {
	def     *model.Field
	key     string
	label   []byte // the key as it stands in an object, behind a comma
	places  []gqlerror.Place
	nonNull bool
	write   writer
	leaf    leaf
	group   int // switch that is on if any occurrence is

	constant map[string]any // arguments without variables
	fixed    error          // why these are none
	dynamic  int            // place in Plan.dynamic, from 1; 0 if constant
	given    []*parser.Argument

	sub        *selectionSet // nil for leaves
	fetchIndex int           // place in run.loaded, if it is fetched
	// how many nanoseconds that took the last time, with what is below it; 0 if it is not known
	took atomic.Int64
}

// writer says how the value of a field comes into the answer.
type writer uint8

const (
	constant   writer = iota // label has it already
	member                   // one JSON value that package schema writes as it is
	structured               // a member of which fields are selected, or whose parts have to be looked at
	toOne
	toMany
	computed
	entityTag
	item
	connection
	invoked
	meta

	connectionNodes
	connectionEdges
	connectionPage
	connectionTotal
	edgeNode
	edgeCursor
	pageHasNext
	pageHasPrevious
	pageStart
	pageEnd
	connectionPlace

	changed
	changeKind
	changeID
	changeItem
	changeCursor
)

// writers are those of sources that have just one.
var writers = [...]writer{
	model.Related: toOne, model.Computed: computed, model.Tag: entityTag,
	model.Nodes: connectionNodes, model.Edges: connectionEdges, model.PageInfo: connectionPage,
	model.TotalCount: connectionTotal, model.Node: edgeNode, model.Cursor: edgeCursor,
	model.HasNext:     pageHasNext,
	model.HasPrevious: pageHasPrevious, model.StartCursor: pageStart, model.EndCursor: pageEnd,
	model.Get: item, model.List: connection, model.Lookup: item, model.Create: item, model.Replace: item,
	model.Patch: item, model.Delete: item, model.Invoke: invoked, model.Custom: invoked, model.Meta: meta,
	model.Place: connectionPlace, model.Watch: changed, model.ChangeKind: changeKind,
	model.ChangeID:   changeID,
	model.ChangeItem: changeItem, model.ChangeCursor: changeCursor,
}

// fetched reports whether the values of a source are to be loaded.
func fetched(s model.Source) bool {
	switch s {
	case model.Related, model.Computed, model.TotalCount, model.Get, model.List, model.Lookup, model.Create,
		model.Replace, model.Patch, model.Delete, model.Invoke, model.Custom, model.ChangeItem:
		return true
	}
	return false
}

// writerOf decides how the value of a field is written.
func writerOf(f *model.Field, l *leaf) writer {
	switch {
	case f.Source == model.Related && listOf(f.Type) != nil:
		return toMany
	case f.Source != model.Member:
		return writers[f.Source]
	case f.Type.Named().IsComposite() || listOf(f.Type) != nil && l.form != plain:
		return structured
	}
	return member
}

// listOf returns the type of the elements of a list, nil for anything else.
func listOf(r *model.Ref) *model.Ref { return r.Elem }

// outputType returns the Go type behind a field whose values are custom.
func outputType(f *model.Field) *schema.Type {
	switch {
	case f.Source == model.Member:
		return f.Member.Type
	case f.Custom != nil:
		return f.Custom.Out
	case f.Command != nil:
		return f.Command.Output()
	}
	return nil
}
