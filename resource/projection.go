package resource

// Projections: the type of an item in one contract, and conversion from and to the stored type.
// Made by resource.go and view.go; used by everything that reads, writes or publishes.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/cache"
	"github.com/stoa-go/stoa/resource/contract"
	"github.com/stoa-go/stoa/resource/internal/etag"
	"github.com/stoa-go/stoa/resource/internal/fielderr"
	"github.com/stoa-go/stoa/resource/internal/keyed"
	"github.com/stoa-go/stoa/resource/internal/mistakes"
	"github.com/stoa-go/stoa/resource/internal/pointer"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/schema"
)

// projection is the type of a resource in one contract: the stored type, or that of a [View]. The
// projection of the stored type has no down, no up and no maps of names.
type projection struct {
	name      string // in entity tags, and unique in the resource
	typ       *schema.Type
	id        *schema.Field
	parent    *projection                    // down converts from its type
	down      func(any) (any, error)         // *Parent -> *V
	up        func(v, base any) (any, error) // *V, *Parent -> *Parent
	where     []query.Filter                 // the items of the projection, in names of the stored type
	relations []*relation
	reset     bool // PUT resets fields that the projection does not have
	hides     bool // some of what the collection stores; see hidesFields
	variants  etag.Variants
	shape     cache.Shape // in keys of items in the cache
	pageShape cache.Shape // in those of pages
	pages     recentPages

	// Maps of field names, nil for the stored type. The parent can have fields that the stored type
	// does not have, so its names are mapped separately.
	storeNames, shownNames        map[string]string // V <-> core
	parentNames, shownParentNames map[string]string // V <-> T
	assumed                       []*schema.Field   // of V, mapped to those of T for nothing but their names
	// blank is the result of blankItem.
	blank     any
	blankOnce sync.Once
	// lossy are the fields of the stored type that down and up change in a sample.
	lossy []string
}

// fieldOf returns the name in this projection of a field of the stored type, and "" if it has none.
func (p *projection) fieldOf(stored string) string {
	if p.storeNames == nil {
		return stored
	}
	return p.shownNames[stored]
}

// fieldAbove returns the name in this projection of a field of above, which is an ancestor, and ""
// if it has none.
func (p *projection) fieldAbove(above *projection, field string) string {
	if p == above {
		return field
	}
	return p.shownParentNames[p.parent.fieldAbove(above, field)]
}

// storeField returns the name in the stored type of a field of this projection, and "" if it has
// none.
func (p *projection) storeField(name string) string {
	if p.storeNames == nil {
		return name
	}
	return p.storeNames[name]
}

// filterToStore translates the field names of a filter to those of the store.
func (p *projection) filterToStore(f query.Filter) (query.Filter, error) {
	if p.storeNames == nil || f.IsZero() {
		return f, nil
	}
	return f.Map(func(c query.Filter) (query.Filter, error) {
		stored, ok := p.storeNames[c.Field]
		if c.Op == query.SomeOp {
			return c, nil
		}
		if !ok {
			return c, fmt.Errorf("field %s cannot be filtered", c.Field)
		}
		c.Field = stored
		return c, nil
	})
}

// querySupport returns the supported queries in the names of this projection. A catalog adds the sort keys
// and groups that are fields of related items.
func (p *projection) querySupport(stored query.Support) query.Support {
	stored = withoutPaths(stored, p.root().typ)
	if p.storeNames == nil {
		return stored
	}
	out := query.Support{Natural: stored.Natural, Filter: map[string][]query.Op{}}
	out.Search = p.searchSupport(stored.Search)
	for field, ops := range stored.Filter {
		if f := p.fieldOf(field); f != "" && !p.typ.Field(f).WriteOnly {
			out.Filter[f] = ops
		}
	}
	for _, field := range stored.Sort {
		if f := p.fieldOf(field); f != "" && !p.typ.Field(f).WriteOnly {
			out.Sort = append(out.Sort, f)
		}
	}
	for _, field := range stored.Group {
		if f := p.fieldOf(field); f != "" && !p.typ.Field(f).WriteOnly && !mistakes.IsAggregateName(f) {
			out.Group = append(out.Group, f)
		}
	}
	for field, funcs := range stored.Aggregate {
		if f := p.fieldOf(field); f != "" && !p.typ.Field(f).WriteOnly {
			if out.Aggregate == nil {
				out.Aggregate = map[string][]query.Func{}
			}
			out.Aggregate[f] = funcs
		}
	}
	for _, name := range stored.Relations {
		if slices.ContainsFunc(p.relations, func(rel *relation) bool { return rel.Name == name }) {
			out.Relations = append(out.Relations, name)
		}
	}
	return out
}

// cacheKey returns the key of an entry in the cache.
func (p *projection) cacheKey(e *Entry) cache.Key {
	return cache.Key{Shape: p.shape, ID: e.ID, Rev: string(e.Rev)}
}

// show converts an entry from the stored type to this projection. The error is errHidden if the
// projection does not have the item.
func (p *projection) show(e *Entry) error {
	if p.down == nil {
		return nil
	}
	if !p.expresses(e.stored) {
		return errHidden
	}
	v, err := p.fromStored(e.stored)
	e.Value = v
	return err
}

// hidesFields reports whether the stored item can change without a change of what the projection shows:
// a field is not mapped, or only a part of its value is.
func (p *projection) hidesFields() bool {
	return p.parent.hides || slices.ContainsFunc(p.root().typ.Fields, func(f *schema.Field) bool {
		own := p.typ.Field(p.shownNames[f.Name])
		return own == nil || own.WriteOnly || f.Nullable && !own.Nullable ||
			own.Type != f.Type && !own.Comparable()
	})
}

// conceal replaces the revision of an entry that leaves the package, if the projection hides fields. The
// revision and the date of the stored item would reveal a change of what the caller may not see. The
// revision becomes a hash of what the caller sees. So it needs no key, and each process computes the same.
// The entries of a page have no revision, because few requests need it: see [Resource.ETag].
func (p *projection) conceal(e *Entry, page bool) {
	if !p.hides {
		return
	}
	e.Rev, e.Modified = "", time.Time{}
	if e.Value != nil && !page {
		e.Rev = p.contentRev(e.Value)
	}
}

// needsMore reports whether a new item of the projection needs a member outside of its key.
func (p *projection) needsMore() bool {
	_, err := p.typ.Decode([]byte("{}"), &schema.DecodeOptions{Mode: schema.Create})
	var bad schema.Violations
	if err == nil || !errors.As(err, &bad) {
		return false
	}
	return slices.ContainsFunc(bad, func(v schema.Violation) bool {
		name, _, _ := strings.Cut(strings.TrimPrefix(v.Pointer, "/"), "/")
		name = pointer.Unescape(name)
		return !slices.ContainsFunc(p.id.Key, func(f *schema.Field) bool { return f.Name == name })
	})
}

// root returns the projection of the stored type.
func (p *projection) root() *projection {
	for p.parent != nil {
		p = p.parent
	}
	return p
}

// expresses reports whether the view can show the stored item without loss of the fields that it
// declares.
func (p *projection) expresses(stored any) bool {
	root := p.root()
	return p.holds(func(name string) any {
		if fld := root.typ.Field(name); fld != nil {
			return fld.Get(stored)
		}
		return nil
	})
}

// holds is expresses for an item with fields that a function returns, by their names in the
// stored type.
func (p *projection) holds(field func(string) any) bool {
	for _, f := range p.where {
		if !query.Match(f, field) {
			return false
		}
	}
	return true
}

// fromStored converts a value of the stored type to this projection, through all parents. The result
// may share memory with stored; for the stored type itself it is stored.
func (p *projection) fromStored(stored any) (any, error) {
	if p.down == nil {
		return stored, nil
	}
	v, err := p.parent.fromStored(stored)
	if err != nil {
		return nil, err
	}
	if v, err = p.down(v); err != nil {
		// Not wrapped: an error of down is not meant for clients. Items that cannot be shown belong
		// in Where.
		return nil, fmt.Errorf("view %s: down: %v", p.name, err)
	}
	return v, nil
}

// toStored converts a value of this projection to the stored type, through all parents. Each call of
// copied returns another deep copy of the current item, which has the fields that the projection
// does not have. It must never return the item itself, because up may change all that its argument
// refers to. copied is nil for a new item. reset sets the hidden fields to their defaults.
func (p *projection) toStored(v any, copied func() (any, error), reset bool) (any, error) {
	for at := p; at.up != nil; at = at.parent {
		base, err := at.parent.baseFor(copied, reset)
		if err != nil {
			return nil, err
		}
		if v, err = at.up(v, base); err != nil {
			return nil, p.inOwnNames(at, err)
		}
	}
	return v, nil
}

// keepUnchanged sets the fields of v that the client has not changed to those of stored. v is the
// result of toStored for a write. down may lose information, such as the boundary between two names
// that it joins, and up would then store a guess. A field is unchanged if up makes the same of what
// the client wrote as of what down shows.
//
// The client has to see what it wrote. So the unchanged fields are set together, or one by one if
// down would then show something different.
func (p *projection) keepUnchanged(v, stored any, copied func() (any, error)) error {
	original, err := copied()
	if err != nil {
		return err
	}
	shown, err := p.fromStored(original)
	if err != nil {
		return err
	}
	unchanged, err := p.toStored(shown, copied, false)
	root := p.root()
	// If up rejects what down shows, there is nothing to compare with.
	if err != nil || root.typ.Equal(unchanged, stored) {
		return nil
	}
	var fields []*schema.Field
	for _, f := range root.typ.Fields {
		if f.Equal(v, unchanged) && !f.Equal(v, stored) {
			fields = append(fields, f)
		}
	}
	written, err := p.fromStored(v)
	if err != nil || fields == nil {
		return nil // checkWrite reports a value that the view cannot show
	}
	kept, err := copied()
	if err != nil || p.setFields(v, kept, fields, written) {
		return err
	}
	for i := range fields {
		p.setFields(v, kept, fields[i:i+1], written)
	}
	return nil
}

// setFields sets fields of v to those of kept if down then still shows written, and reports whether
// it does. Otherwise v stays as it is.
func (p *projection) setFields(v, kept any, fields []*schema.Field, written any) bool {
	to, from := reflect.ValueOf(v).Elem(), reflect.ValueOf(kept).Elem()
	before := reflect.New(to.Type()).Elem()
	before.Set(to)
	for _, f := range fields {
		to.FieldByIndex(f.Index).Set(from.FieldByIndex(f.Index))
	}
	shown, err := p.fromStored(v)
	if err == nil && p.typ.Equal(shown, written) {
		return true
	}
	to.Set(before)
	return false
}

// baseFor returns the base for up of a view of this projection. It makes no copy: it relies on copied,
// because clear and up change the base, and down may share memory with its argument.
//
// Fields are reset here and not in the stored value, because down must never get an item that the
// collection cannot have.
func (p *projection) baseFor(copied func() (any, error), reset bool) (any, error) {
	if copied == nil {
		return p.typ.New(), nil
	}
	v, err := copied()
	if err == nil {
		v, err = p.fromStored(v)
	}
	if err == nil && reset {
		p.clear(v)
	}
	return v, err
}

// clear sets the fields that clients can write to their defaults, as PUT of a document with only
// the id does.
func (p *projection) clear(v any) {
	blank := reflect.ValueOf(p.typ.New()).Elem()
	kept := reflect.ValueOf(v).Elem()
	for _, f := range p.typ.Fields {
		if f != p.id && !f.ReadOnly && !f.WriteOnly {
			kept.FieldByIndex(f.Index).Set(blank.FieldByIndex(f.Index))
		}
	}
}

// inOwnNames converts an error of up of the projection at, which names its fields, to one with the
// names of this projection.
func (p *projection) inOwnNames(at *projection, err error) error {
	d := fielderr.Problem(err, func(field string) string { return pointer.To(p.fieldAbove(at, field)) })
	if d == nil {
		return err
	}
	return errors.Join(d, err)
}

// pointer returns the JSON Pointer of a field of the stored type in this projection, or that of the
// whole document if the projection does not have it.
func (p *projection) pointer(storedField string) string { return pointer.To(p.fieldOf(storedField)) }

// contract returns the contract of a request: that of the version negotiation or, without one, the
// view.
func (p *projection) contract(ctx context.Context) string {
	name := ""
	if p.up != nil {
		name = p.name
	}
	return cmp.Or(contract.From(ctx).Name(), name)
}

// members returns the members of stored, which was decoded from doc and converted, for comparing
// requests with the same key. A member that doc does not name also counts as sent if it differs from
// what a document without members is converted to.
func (p *projection) members(doc []byte, stored any, prefix string) []idempotency.Member {
	d := keyed.Document{JSON: doc, Rename: p.storeField, Blank: p.blankItem(), Prefix: prefix}
	return d.Members(p.root().typ, stored)
}

// blankItem returns the stored item that up makes of an item without members. It is nil for the
// stored type, and if up fails.
func (p *projection) blankItem() any {
	if p.up == nil {
		return nil
	}
	p.blankOnce.Do(func() {
		err := safe.Call(func() (err error) {
			p.blank, err = p.toStored(p.typ.New(), nil, false)
			return err
		})
		if err != nil {
			p.blank = nil
		}
	})
	return p.blank
}
