// Package memory stores a collection in memory. A [Store] implements every capability of package
// resource except Watcher, so it is suited to prototypes, tests and small data sets.
//
// A [DB] is shared by collections that take part in the same transactions. [Tombstones] remembers
// the deletions of a collection that has no Tombstoner.
//
//	type Order struct {
//		ID     int64  `json:"id" readOnly:"true"`
//		Status string `json:"status"`
//	}
//
//	orders := memory.New(&memory.Options[Order]{Index: []string{"status"}})
//	item, err := orders.Create(ctx, Order{Status: "placed"}) // item.ID is "1", and item.Value.ID is 1
//
// All data is lost when the process ends. Revisions are unique across processes.
//
// # Implementation
//
// Each version of an item is an immutable record; a write replaces the record. Records are found by
// id in a map, and in order in indexes, of which a reader takes a snapshot. Locks are held only to
// find one record or to take one snapshot. Consumers of a list may therefore be slow, and may call
// the store. A transaction keeps the records that it replaces, and a rollback restores them.
//
// A write passes through write.go, db.go and package sorted. A list passes through list.go,
// plan.go, which chooses an index, and scan.go, which reads it.
package memory

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options configures a [Store]. Nil means the zero value.
type Options[T any] struct {
	// ID is the JSON name of the id field, which must be an integer, a string, or a type that
	// marshals to text. Default "id". With the tag id it is computed from other fields.
	ID string
	// DB is the transaction scope of the collection. Nil means a DB of its own.
	DB *DB
	// NewID returns the id of a created item. It must be safe for concurrent use. Nil means
	// consecutive numbers from 1 for an integer field, above all inserted ids and without reuse,
	// and UUIDs of version 7 for other fields, which sort by creation.
	NewID func() string
	// Index lists fields, by JSON name, for which an index is kept. Sorting and filtering by an
	// indexed field reads little more than the result. The id and fields tagged unique:"true" are
	// always indexed.
	Index []string
	// Search lists fields, by JSON name, for which an index of words is kept. A search of some or all of
	// these fields reads the items with its least frequent word. Other searches read all items that the
	// filter selects.
	Search []string
	// References maps a field, by JSON name, to the collection of the same DB with the ids that it holds,
	// like a foreign key; nil means this collection. Several fields, separated by commas, hold the key
	// of a composite id. A write with the id of an item that does not exist is [resource.Invalid] with
	// the code unknown (422), and the deletion of an item that others refer to is a conflict (409). null,
	// an empty string, and a zero that the JSON omits refer to no item. The fields are indexed. An item
	// that was deleted with SoftDelete does not exist, contrary to a row of SQL with a time of deletion.
	References map[string]Parent
	// Recreate allows Insert to use the id of a deleted item. By default Insert returns
	// [resource.ErrGone].
	Recreate bool
	// SoftDelete keeps deleted items, so that [Store.Restore] can restore them. Their values of unique
	// fields may be used again. With Recreate, Insert replaces the item, which then cannot be restored.
	SoftDelete bool
	// Clone returns a deep copy of an item. It must be safe for concurrent use. Nil means a copy by
	// reflection, which has no cost for a T without pointers, slices, maps and interfaces.
	Clone func(T) T
	// Now is the clock for Item.Modified and for deletions. Default [time.Now] in UTC.
	Now func() time.Time
}

// Store is a collection in memory. It implements [resource.Collection], [resource.Creator],
// [resource.Inserter], [resource.Replacer], [resource.Deleter], [resource.Tombstoner],
// [resource.Counter], [resource.Aggregator], [resource.Searcher], [resource.MultiGetter],
// [resource.BatchLister], [resource.BatchCounter], [resource.Transactor] and [resource.Locker], with
// Options.SoftDelete [resource.Restorer], and everything that [query.Support] can declare except Natural.
// All methods are safe for concurrent use.
//
// A field with the tag default:"db" that is absent in a new item has its zero value.
//
// Items are copied when they are stored and when they are returned. The ids of deleted items are
// remembered forever, at about 100 bytes each, and with Options.SoftDelete also their values.
type Store[T any] struct {
	*store
	clone func(T) T // nil if assignment is enough
}

// store is the part of a Store that does not depend on T, so that it is compiled once.
type store struct {
	opts  Options[any] // without Clone
	db    *DB
	typ   *schema.Type
	id    *schema.Field
	newID func() string

	// Not undone by a rollback, and therefore atomic.
	revPrefix string
	revs      atomic.Uint64 // number of revisions created
	lastID    atomic.Uint64 // largest integer id of new items, and of chosen ones up to lastRaise

	// Guarded by db.mu.
	records map[string]*record    // live items by id
	tombs   map[string]*tombstone // deleted items by id; disjoint from records
	indexes []*index              // of live items; the first is by id
	uniques []*uniqueList         // of live items; fields that are unique together
	words   *wordIndex            // of live items; nil without Options.Search

	references []*reference
	children   []func(id string) bool // whether items of another collection refer to an id
	arriving   map[string]bool        // the ids of a running InsertMany
}

// record is an immutable version of an item. Readers may use it after they have released the lock.
type record struct {
	id       string
	rev      resource.Rev
	modified time.Time
	value    any   // a pointer to a T
	keys     []any // value of each indexed field, so that comparing does not use reflection
	// indexes in which the value must be unique; not null or omitted values
	unique []int
	// values of the fields of each uniqueList; nil if they need not be unique
	lists [][]any
	refs  []string // the id of each reference; "" if it refers to none
	words []string // of the fields of Options.Search; sorted
}

// recordOf is a record and its value, in one allocation.
type recordOf[T any] struct {
	record
	value T
}

// tombstone is the time of a deletion. was is the deleted record with Options.SoftDelete, otherwise nil.
type tombstone struct {
	at  time.Time
	was *record
}

// index contains the live records, sorted by a field and then by id.
type index struct {
	field     *schema.Field
	unique    bool
	omitsZero bool // the zero value is omitted from the JSON and need not be unique
	*sorted.List[*record]
}

// New returns an empty collection. opts may be nil. New panics if T is a pointer, has no usable id
// field, has no schema (see [schema.For]) or cannot be copied without Options.Clone, and if Index or
// Search names an unknown field or one that has no order.
func New[T any](opts *Options[T]) *Store[T] {
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Pointer {
		panic(fmt.Sprintf("memory: New[%v] is a collection of pointers; use New[%v]", t, t.Elem()))
	}
	var o Options[T]
	if opts != nil {
		o = *opts
	}
	typ, clone := schema.For[T](), o.Clone
	if clone == nil {
		clone = cloner[T]()
	}
	return &Store[T]{newStore(typ, Options[any]{
		ID: o.ID, DB: o.DB, NewID: o.NewID, Index: o.Index, Search: o.Search, References: o.References,
		Recreate: o.Recreate, SoftDelete: o.SoftDelete, Now: o.Now,
	}), clone}
}

func newStore(typ *schema.Type, o Options[any]) *store {
	s := &store{opts: o, db: o.DB, typ: typ, records: map[string]*record{}, tombs: map[string]*tombstone{}}
	if s.db == nil {
		s.db = NewDB()
	}
	if s.opts.Now == nil {
		s.opts.Now = func() time.Time { return time.Now().UTC().Round(0) } // without the monotonic reading
	}
	s.id = s.field("id field", cmp.Or(s.opts.ID, "id"))
	s.newID = s.chooseNewID()
	s.revPrefix = newRevPrefix()
	s.addIndex(s.id)
	if s.id.Key != nil {
		s.addIndex(s.id.Key[0]) // lists are in the order of the fields of the key
	}
	for _, name := range s.opts.Index {
		s.addIndex(s.field("field to index", name))
	}
	// The uniqueness check is a search in the field's index, which also serves queries.
	for _, f := range s.typ.Fields {
		if f.Unique && f.Comparable() { // the elements of an array have no index
			s.addIndex(f)
		}
	}
	s.uniques = uniqueLists(s.typ)
	if len(s.opts.Search) > 0 {
		for _, name := range s.opts.Search {
			s.field("field to search", name)
		}
		s.words = newWordIndex(slices.Clone(s.opts.Search))
	}
	s.addReferences()
	return s
}

// field returns the field with the given JSON name. It panics if there is none or it has no order.
func (s *store) field(role, name string) *schema.Field {
	f := s.typ.Field(name)
	if f == nil {
		panic(fmt.Sprintf("memory: %v has no %s with the JSON name %q", s.typ.GoType, role, name))
	}
	if !f.Comparable() {
		panic(fmt.Sprintf("memory: the %s %q of %v cannot be sorted: it is a JSON %v", role, name,
			s.typ.GoType,
			f.Type.Kind))
	}
	return f
}

// addIndex adds an index for a field, unless it has one. The first index is that of the id.
func (s *store) addIndex(f *schema.Field) {
	if s.indexOf(f.Name) >= 0 {
		return
	}
	i := len(s.indexes)
	// Indexes are sorted by field and then by id, so there are no ties, and equal values are a run
	// in the order of the ids.
	byID := func(a, b *record) int { return query.Compare(a.keys[0], b.keys[0]) }
	compare := byID
	if i > 0 {
		compare = func(a, b *record) int {
			if c := query.Compare(a.keys[i], b.keys[i]); c != 0 {
				return c
			}
			return byID(a, b)
		}
	}
	s.indexes = append(s.indexes, &index{f, f.Unique && i > 0, f.OmitZero || f.OmitEmpty,
		sorted.New(compare)})
}

// indexOf returns the position of the index by the named field, or -1.
func (s *store) indexOf(name string) int {
	return slices.IndexFunc(s.indexes, func(ix *index) bool { return ix.field.Name == name })
}

// Transactions returns Options.DB, or the DB that only this collection uses.
func (s *Store[T]) Transactions() tx.Runner { return s.db }

// InMemory returns true: reads need no time limit. See [resource.Ops].
func (s *Store[T]) InMemory() bool { return true }

// CheckSupport returns an error for a natural order, with which a list would end after its first page. See
// [resource.Ops].
func (s *Store[T]) CheckSupport(q query.Support) error {
	if q.Natural {
		return errors.New("a Store in memory has no natural order")
	}
	return nil
}

// copyOf returns a copy for a caller that may change it. It must be called without the lock,
// because Options.Clone is user code.
func (s *Store[T]) copyOf(r *record) (item resource.Item[T]) {
	item.ID, item.Rev, item.Modified, item.Value = r.id, r.rev, r.modified, *r.value.(*T)
	if s.clone != nil {
		item.Value = s.clone(item.Value)
	}
	return item
}
