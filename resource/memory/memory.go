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
	// marshals to text. Default "id".
	ID string
	// DB is the transaction scope of the collection. Nil means a DB of its own.
	DB *DB
	// NewID returns the id of a created item. It must be safe for concurrent use. Nil means
	// consecutive numbers from 1 for an integer field, above all inserted ids and without reuse,
	// and UUIDs of version 7 for other fields, which sort by creation.
	NewID func() string
	// Index lists fields, by JSON name, for which an index is kept. Sorting and filtering by an
	// indexed field reads little more than the result. The id and fields tagged unique are always
	// indexed.
	Index []string
	// Recreate allows Insert to use the id of a deleted item. By default Insert returns
	// [resource.ErrGone].
	Recreate bool
	// Clone returns a deep copy of an item. It must be safe for concurrent use. Nil means a copy by
	// reflection, which has no cost for a T without pointers, slices, maps and interfaces.
	Clone func(T) T
	// Now is the clock for Item.Modified and for deletions. Default [time.Now] in UTC.
	Now func() time.Time
}

// Store is a collection in memory. It implements [resource.Collection], [resource.Creator],
// [resource.Inserter], [resource.Replacer], [resource.Deleter], [resource.Tombstoner],
// [resource.Counter], [resource.MultiGetter], [resource.BatchLister], [resource.Transactor] and
// [resource.Locker], and everything that [query.Support] can declare except Natural. All methods are
// safe for concurrent use.
//
// Items are copied when they are stored and when they are returned. The ids of deleted items are
// remembered forever, at about 100 bytes each.
type Store[T any] struct {
	opts  Options[T]
	db    *DB
	typ   *schema.Type
	id    *schema.Field
	clone func(T) T // nil if assignment is enough
	newID func() string

	// Not undone by a rollback, and therefore atomic.
	revPrefix string
	revs      atomic.Uint64 // number of revisions created
	lastID    atomic.Uint64 // largest integer id so far

	// Guarded by db.mu.
	records map[string]*record[T] // live items by id
	tombs   map[string]*tombstone // deleted items by id; disjoint from records
	indexes []*index[T]           // of live items; the first is by id
}

// record is an immutable version of an item. Readers may use it after they have released the lock.
type record[T any] struct {
	item resource.Item[T]
	keys []any // value of each indexed field, so that comparing does not use reflection
	// indexes in which the value must be unique; not null or omitted values
	unique []int
}

// tombstone is the time of a deletion.
type tombstone struct{ at time.Time }

// index contains the live records, sorted by a field and then by id.
type index[T any] struct {
	field     *schema.Field
	unique    bool
	omitsZero bool // the zero value is omitted from the JSON and need not be unique
	*sorted.List[*record[T]]
}

// New returns an empty collection. opts may be nil. New panics if T is a pointer, has no usable id
// field, has no schema (see [schema.For]) or cannot be copied without Options.Clone, and if Index names an
// unknown field or one that has no order.
func New[T any](opts *Options[T]) *Store[T] {
	if t := reflect.TypeFor[T](); t.Kind() == reflect.Pointer {
		panic(fmt.Sprintf("memory: New[%v] is a collection of pointers; use New[%v]", t, t.Elem()))
	}
	s := &Store[T]{typ: schema.For[T](), records: map[string]*record[T]{}, tombs: map[string]*tombstone{}}
	if opts != nil {
		s.opts = *opts
	}
	s.db = s.opts.DB
	if s.db == nil {
		s.db = NewDB()
	}
	if s.opts.Now == nil {
		s.opts.Now = func() time.Time { return time.Now().UTC().Round(0) } // without the monotonic reading
	}
	s.clone = s.opts.Clone
	if s.clone == nil {
		s.clone = cloner[T]()
	}
	s.id = s.field("id field", cmp.Or(s.opts.ID, "id"))
	s.newID = s.chooseNewID()
	s.revPrefix = newRevPrefix()
	s.addIndex(s.id)
	for _, name := range s.opts.Index {
		s.addIndex(s.field("field to index", name))
	}
	// The uniqueness check is a search in the field's index, which also serves queries.
	for _, f := range s.typ.Fields {
		if f.Unique && f.Comparable() { // the elements of an array have no index
			s.addIndex(f)
		}
	}
	return s
}

// field returns the field with the given JSON name. It panics if there is none or it has no order.
func (s *Store[T]) field(role, name string) *schema.Field {
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
func (s *Store[T]) addIndex(f *schema.Field) {
	if s.indexOf(f.Name) >= 0 {
		return
	}
	i := len(s.indexes)
	// Indexes are sorted by field and then by id, so there are no ties, and equal values are a run
	// in the order of the ids.
	byID := func(a, b *record[T]) int { return query.Compare(a.keys[0], b.keys[0]) }
	compare := byID
	if i > 0 {
		compare = func(a, b *record[T]) int {
			if c := query.Compare(a.keys[i], b.keys[i]); c != 0 {
				return c
			}
			return byID(a, b)
		}
	}
	s.indexes = append(s.indexes, &index[T]{f, f.Unique && i > 0, f.OmitZero || f.OmitEmpty,
		sorted.New(compare)})
}

// indexOf returns the position of the index by the named field, or -1.
func (s *Store[T]) indexOf(name string) int {
	return slices.IndexFunc(s.indexes, func(ix *index[T]) bool { return ix.field.Name == name })
}

// Transactions returns Options.DB, or the DB that only this collection uses.
func (s *Store[T]) Transactions() tx.Runner { return s.db }

// InMemory returns true: reads need no time limit. See [resource.Ops].
func (s *Store[T]) InMemory() bool { return true }

// copyOf returns a copy for a caller that may change it. It must be called without the lock,
// because Options.Clone is user code.
func (s *Store[T]) copyOf(r *record[T]) resource.Item[T] {
	item := r.item
	if s.clone != nil {
		item.Value = s.clone(item.Value)
	}
	return item
}
