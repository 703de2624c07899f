package exec

// The compiled form of an operation. plan_compile.go and plan_collect.go build it, run*.go and
// write*.go read it. A plan refers to the syntax tree only for arguments with variables.

import (
	"crypto/sha256"
	"sync/atomic"

	"github.com/stoa-go/stoa/query/graphql/internal/coerce"
	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/query/graphql/internal/parser"
	"github.com/stoa-go/stoa/resource/schema"
)

// Plan is a compiled operation. It is safe for concurrent use. Apart from the atomic fields, it is
// not modified after it is compiled.
type Plan struct {
	// Kind is "query", "mutation" or "subscription". [Engine.Run] rejects subscriptions.
	Kind string

	id        uint64 // unique within the engine
	root      *selectionSet
	variables []coerce.Variable // nil if there are none
	// fields with arguments that depend on variables; field.dynamic is the index plus one
	dynamic  []*field
	uses     map[string]int // number of uses of each variable in arguments
	fetches  int            // number of fetched fields; field.fetchIndex is the index
	levels   bool           // several relations by id of one level lead to one resource
	joins    int            // number of joined sequences; joined.index is the index
	choices  []choice
	switches int // number of switches, including 0, which is always on

	meaning [sha256.Size]byte // of a mutation: see Prepared.Meaning

	answer []byte       // the response, if it is constant
	bytes  int          // size in the cache
	last   atomic.Int64 // length of the last response; see run.answer
}

// selectionSet is the merged selection on objects of one type (section 6.3.2). Its type is an
// object type, so the fields do not depend on the value.
type selectionSet struct {
	typ     *model.Type
	ops     []fieldOp
	whole   *joined   // writes the whole object; nil if not applicable
	fetches []fetchOp // fields that are fetched for all objects at once
	columns []string  // of items: the members that are used; nil means all
}

// fieldOp writes a field at one position of the response. A field has several ops if its first
// occurrence is conditional. The first op with a switch that is on writes the field.
type fieldOp struct {
	*field
	when   int     // switch of this occurrence
	joined *joined // writes the field together with following ones; nil if not applicable
}

// fetchOp fetches a field. Below a connection it also depends on the switches of the fields
// between.
type fetchOp struct {
	*field
	via [2]int // switches of the fields between
}

// field is the compiled form of all selected fields with one response key. Runs share it. The
// results of a run are in run.loaded and run.argued, indexed by fetchIndex and dynamic.
type field struct {
	def       *model.Field // definition in the schema
	key       string
	label     []byte              // the key as JSON, with a comma before it and a colon after it
	locations []gqlerror.Location // of the selected fields, at most 20, for errors
	nonNull   bool                // null is an error and makes the parent null
	write     writer
	leaf      leaf
	group     int // switch that is on if any occurrence is on

	constant map[string]any     // arguments, if they do not depend on variables
	fixed    error              // error of the constant arguments
	dynamic  int                // index in Plan.dynamic plus one; 0 if constant
	given    []*parser.Argument // arguments with variables; nil if constant

	sub        *selectionSet // nil for leaf fields and interfaces
	parts      []*field      // of an interface: one for each possible type, in this order
	fetchIndex int           // index in run.loaded, if the field is fetched
	byID       bool          // a relation to items by their ids
	// duration of the last fetch with its subfields, in nanoseconds; 0 if unknown
	took atomic.Int64
}

// writer selects the code that writes the value of a field. It is decided at compile time, so that
// writing a field is a single switch.
type writer uint8

const (
	constant   writer = iota // label contains the value
	member                   // one JSON value, written by package schema
	structured               // a member that has subfields or elements to check

	// Of an item: values that were fetched for all items of the level.
	toOne
	toMany
	toPage
	computed

	// These need the Entry of the item, not only its value.
	entityTag
	entityID

	// Of a root type.
	item
	connection
	nodeByID
	nodesByID
	invoked
	meta

	// Of a connection, an edge and a PageInfo.
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
	connectionEventCursor

	// Of a subscription and its change.
	changed
	changeKind
	changeID
	changeItem
	changeCursor
)

// writers maps sources to writers, for sources with a single one.
var writers = [...]writer{
	model.Related: toOne, model.RelatedPage: toPage, model.Computed: computed, model.ETag: entityTag,
	model.GlobalID: entityID,
	model.ByID:     nodeByID, model.ByIDs: nodesByID,
	model.Nodes: connectionNodes, model.Edges: connectionEdges, model.PageInfo: connectionPage,
	model.TotalCount: connectionTotal, model.Node: edgeNode, model.Cursor: edgeCursor,
	model.HasNext:     pageHasNext,
	model.HasPrevious: pageHasPrevious, model.StartCursor: pageStart, model.EndCursor: pageEnd,
	model.Get: item, model.List: connection, model.Lookup: item, model.Create: item, model.Replace: item,
	model.Patch: item, model.Delete: item, model.Restore: item, model.Link: item, model.Unlink: item,
	model.Invoke: invoked, model.Custom: invoked, model.Aggregate: invoked, model.Meta: meta,
	model.EventCursor: connectionEventCursor, model.Watch: changed, model.ChangeKind: changeKind,
	model.ChangeID:   changeID,
	model.ChangeItem: changeItem, model.ChangeCursor: changeCursor,
}

// fetched reports whether values of a source are fetched in the first phase. The others are read
// from a value that is already present, such as a member of an item. ChangeItem needs no call, but
// relations of the item may be fetched, which follow it.
func fetched(s model.Source) bool {
	switch s {
	case model.Related, model.RelatedPage, model.Computed, model.TotalCount, model.Get, model.List,
		model.Lookup, model.Create, model.Replace, model.Patch, model.Delete, model.Restore, model.Link,
		model.Unlink, model.Invoke, model.Custom, model.Aggregate, model.ChangeItem, model.ByID, model.ByIDs:
		return true
	}
	return false
}

// writerOf returns the writer for a field. A list needs structured if its elements are checked,
// because a null or invalid element is an error with an index in its path.
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

// listOf returns the element type of a list, and nil for other types.
func listOf(r *model.Ref) *model.Ref { return r.Elem }

// outputType returns the Go type of a field's value, or nil if it has none.
func outputType(f *model.Field) *schema.Type {
	switch {
	case f.Source == model.Member:
		return f.Member.Type
	case f.Groups != nil:
		return f.Groups.Page
	case f.Custom != nil:
		return f.Custom.Out
	case f.Command != nil:
		return f.Command.Output()
	}
	return nil
}
