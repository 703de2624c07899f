package memory

// References between collections of one DB, as foreign keys: a write refers to items that exist, and
// items that others refer to are not deleted. write.go calls it, with the locks held.

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// Parent is a collection that items of another collection refer to, a [Store] of the same DB. See
// Options.References.
type Parent interface {
	// has reports whether there is an item with this id.
	has(id string) bool
	// scope returns the DB of the collection.
	scope() *DB
	// keySize returns the number of fields that an id is computed from, and 1 for another id.
	keySize() int
	// addChild adds a function that reports whether an item of another collection refers to an id.
	addChild(refersTo func(id string) bool)
}

func (s *store) has(id string) bool { return s.records[id] != nil }
func (s *store) scope() *DB         { return s.db }
func (s *store) keySize() int       { return max(1, len(s.id.Key)) }
func (s *store) addChild(refersTo func(id string) bool) {
	s.db.mu.Lock()
	defer s.db.mu.Unlock()
	s.children = append(s.children, refersTo)
}

// reference is one entry of Options.References.
type reference struct {
	at     int             // position in Store.references
	fields []*schema.Field // several for a composite id
	index  int             // of the first field
	parent Parent
}

// addReferences applies Options.References. It must be the last step of New: a parent may be in use,
// and from then on its writes read the indexes of s.
func (s *store) addReferences() {
	for _, names := range slices.Sorted(maps.Keys(s.opts.References)) {
		r := &reference{at: len(s.references), parent: s.opts.References[names]}
		if r.parent == nil {
			r.parent = s
		}
		for name := range strings.SplitSeq(names, ",") {
			r.fields = append(r.fields, s.field("field of References", name))
		}
		switch {
		case reflect.ValueOf(r.parent).IsNil():
			panic(fmt.Sprintf("memory: References of %q is a nil pointer", names))
		case r.parent.scope() != s.db:
			panic(fmt.Sprintf(
				"memory: References of %q is a collection of another DB; set Options.DB of both", names))
		case len(r.fields) != r.parent.keySize():
			panic(fmt.Sprintf("memory: References has %q, but ids of the other collection have %d",
				names, r.parent.keySize()))
		}
		s.addIndex(r.fields[0])
		r.index = s.indexOf(r.fields[0].Name)
		s.references = append(s.references, r)
	}
	for _, r := range s.references {
		r.parent.addChild(func(id string) bool { return s.refersTo(r, id) })
	}
}

// keyOf returns the id that an item refers to, to which v is a pointer, and "" if it refers to none: a
// field is null, empty, or a zero that the JSON omits.
func (r *reference) keyOf(v any) string {
	texts := make([]string, len(r.fields))
	for i, f := range r.fields {
		if !(f.OmitZero || f.OmitEmpty) || f.Nullable || !f.IsZero(v) {
			texts[i] = f.Text(v)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return schema.JoinKey(texts)
}

// checkReferences returns an error for each reference of a record to an item that does not exist. A
// record may refer to itself, and to the others of one InsertMany.
func (s *store) checkReferences(r *record) error {
	var unknown []error
	for i, ref := range s.references {
		id := r.refs[i]
		if id == "" || ref.parent.has(id) || ref.parent == Parent(s) && (id == r.id || s.arriving[id]) {
			continue
		}
		unknown = append(unknown, resource.Invalid(ref.fields[0].Name, "unknown"))
	}
	if len(unknown) == 1 {
		return unknown[0]
	}
	return errors.Join(unknown...)
}

// refersTo reports whether a live record refers to an id, by the index of the first field.
func (s *store) refersTo(ref *reference, id string) bool {
	first := id
	if len(ref.fields) > 1 {
		first, _, _ = strings.Cut(id, ",")
		first = strings.NewReplacer("~1", ",", "~0", "~").Replace(first)
	}
	key, err := ref.fields[0].Parse(first)
	if err != nil {
		return false
	}
	view := s.indexes[ref.index].Live()
	p := view.Seek(func(o *record) bool { return query.Compare(o.keys[ref.index], key) < 0 })
	for ; p != view.End() && query.Compare(view.At(p).keys[ref.index], key) == 0; p = view.Next(p) {
		o := view.At(p)
		if o.refs[ref.at] == id && !(ref.parent == Parent(s) && o.id == id) {
			return true
		}
	}
	return false
}

// checkChildren returns an error if items refer to an id that is about to be deleted.
func (s *store) checkChildren(id string) error {
	for _, refersTo := range s.children {
		if refersTo(id) {
			return problem.New(problem.Conflict, "Other items refer to this one.")
		}
	}
	return nil
}
