// Package memory holds a collection in memory: a [Store] offers every capability of package resource but Watcher, so
// that everything the library can serve works before there is a database, and in tests.
//
// Its nouns are a Store, one collection; a [DB], which collections share to take part in the same transactions; and
// [Tombstones], which remembers what was deleted from a collection that cannot.
//
//	type Order struct {
//		ID     int64  `json:"id" readOnly:"true"`
//		Status string `json:"status"`
//	}
//
//	orders := memory.New(&memory.Options[Order]{Index: []string{"status"}})
//	item, err := orders.Create(ctx, Order{Status: "placed"}) // item.ID is "1", and item.Value.ID is 1
//
// Nothing outlives the process, and no revision is ever given out again by the next one.
//
// # Inside
//
// An item is a record that never changes; to write is to put another record in its place. Records are found by id in a
// map, and in order in indexes of which a reader takes a snapshot. So a lock is held only to find one record or to take
// one snapshot: what a list does with it, how long its consumer takes, and whether that calls the store again concerns
// nobody else. What a transaction replaces it keeps, and a rollback puts back.
//
// The way of a write is write.go, db.go, the sorted package. The way of a list is list.go, plan.go, which chooses an
// index, and walk.go, which reads it.
package memory

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory/internal/sorted"
	"github.com/stoa-go/stoa/resource/schema"
	"github.com/stoa-go/stoa/resource/tx"
)

// Options are what can be chosen about a [Store]. The zero value is fine.
type Options[T any] struct {
	// ID is the JSON name of the id field, "id" if empty. It is an integer or a string, or a type that marshals itself
	// to text.
	ID string
	// DB is where the collection takes part in transactions with others. Nil gives it one of its own.
	DB *DB
	// NewID makes the id of an item that is created. Nil means 1, 2, 3 and so on for an integer, going on above
	// whatever is inserted and not coming back to what is deleted, and a UUID of version 7 for anything else: unique,
	// and in the order of creation. It is called by many goroutines at once.
	NewID func() string
	// Index names fields, by JSON name, that are kept in order. To sort by one of them, or to ask for a few of its
	// values, then reads not much more than what is returned, however large the collection. The id and the fields
	// tagged unique always are.
	Index []string
	// Recreate lets an id that was deleted be inserted again. Otherwise it is gone for ever.
	Recreate bool
	// Clone makes a copy of an item that shares nothing which could be changed. It is called by many goroutines at once.
	// Nil means one by reflection, which is free for a T without pointers, slices, maps and interfaces.
	Clone func(T) T
	// Now is the clock for Item.Modified and for deletions. Nil means [time.Now], in UTC.
	Now func() time.Time
}

// Store is a collection in memory. It implements [resource.Collection], [resource.Creator], [resource.Inserter],
// [resource.Replacer], [resource.Deleter], [resource.Tombstoner], [resource.Counter], [resource.MultiGetter],
// [resource.BatchLister] and [resource.Transactor], and answers whatever [query.Support] can declare, Natural apart.
//
// What it takes in and gives out are copies. It remembers the ids of deleted items for ever, which costs about a
// hundred bytes for each.
type Store[T any] struct {
	opts  Options[T]
	db    *DB
	typ   *schema.Type
	id    *schema.Field
	clone func(T) T // nil: assigning is enough
	newID func() string

	// Revisions and ids are not taken back by a rollback, so these need no lock.
	revPrefix string
	revs      atomic.Uint64 // revisions given out
	lastID    atomic.Uint64 // the largest integer id so far

	// What follows is guarded by db.mu.
	records map[string]*record[T] // the living
	tombs   map[string]*tombstone // the dead; no id is in both
	indexes []*index[T]           // of the living; the first is by id
}

// record is one version of an item. It never changes, so that readers may keep it when they have let go of the lock.
type record[T any] struct {
	item resource.Item[T]
	keys []any // the value of each index's field, so that comparing does not reflect
	// the indexes in which no other item may have the same; null, and what is left out, may repeat
	unique []int
}

// tombstone is what remains of a deleted item.
type tombstone struct{ at time.Time }

// index keeps the live records in the order of a field, and of the id where that is equal.
type index[T any] struct {
	field     *schema.Field
	unique    bool
	leavesOut bool // the zero value is left out of the JSON, so it is no value that could be taken
	*sorted.List[*record[T]]
}

// New returns an empty collection; opts may be nil. It panics if T has no usable id field, is no schema (see
// [schema.For]) or cannot be copied without Options.Clone, and if Index names a field that cannot be ordered.
func New[T any](opts *Options[T]) *Store[T] {
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
	// Whether a unique value is taken is a search in its index, and the index serves queries besides.
	for _, f := range s.typ.Fields {
		if f.Unique && f.Comparable() { // a unique array is a matter of its elements
			s.addIndex(f)
		}
	}
	return s
}

// field returns the field with the given JSON name, and panics if it cannot be ordered.
func (s *Store[T]) field(role, name string) *schema.Field {
	f := s.typ.Field(name)
	if f == nil {
		panic(fmt.Sprintf("memory: %v has no %s with the JSON name %q", s.typ.GoType, role, name))
	}
	if !f.Comparable() {
		panic(fmt.Sprintf("memory: the %s %q of %v has no order: it is a JSON %v", role, name, s.typ.GoType,
			f.Type.Kind))
	}
	return f
}

func (s *Store[T]) addIndex(f *schema.Field) {
	if s.indexOf(f.Name) >= 0 {
		return
	}
	i := len(s.indexes)
	// An index by a field is by field and id: then there are no ties, and equal values are a run in the order of the ids.
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

// indexOf returns which index is by the field with this name, or -1.
func (s *Store[T]) indexOf(name string) int {
	return slices.IndexFunc(s.indexes, func(ix *index[T]) bool { return ix.field.Name == name })
}

// Transactions returns the DB that was given as Options.DB, or else one that only this collection uses.
func (s *Store[T]) Transactions() tx.Runner { return s.db }

// copied returns an item for somebody who may change it. It is called without the lock, as Options.Clone may do what it
// likes.
func (s *Store[T]) copied(r *record[T]) resource.Item[T] {
	item := r.item
	if s.clone != nil {
		item.Value = s.clone(item.Value)
	}
	return item
}
