package model

// Output types: items, structs within items, and connections. Called by roots.go and watch.go. Each
// field has a Source, by which package exec resolves it.

import (
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strconv"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/schema"
)

// fields adds fields to a type and reports invalid and duplicate names.
type fields struct {
	b      *builder
	t      *Type
	owners map[string]owner // owners of the names of fields; an error names both owners
}

// fieldsOf returns a set that adds fields to t, which has none.
func (b *builder) fieldsOf(t *Type) *fields { return &fields{b: b, t: t, owners: map[string]owner{}} }

// add adds a field, or reports that its name is invalid or taken.
func (s *fields) add(f *Field, o owner) {
	other, taken := s.owners[f.Name]
	switch {
	case !isName(f.Name):
		s.b.fail("%s cannot be the field %q of %s: %s; %s", o.what, f.Name, s.t.Name, badName, o.fix)
	case taken:
		s.b.fail("%s and %s would both be the field %s of %s; %s", other.what, o.what, f.Name, s.t.Name,
			joinFixes(other.fix, o.fix))
	default:
		s.owners[f.Name] = o
		s.t.Fields = append(s.t.Fields, f)
	}
}

// item returns the type of a resource's items, or nil if it has no valid name. The type is entered
// in b.items before its fields, because relations may lead back to it.
func (b *builder) item(r *resource.Resource) *Type {
	name := b.names[r]
	if t := b.items[r]; t != nil || name == "" {
		return t
	}
	t := b.define(Object, name, ofResource(r, "the items"))
	b.items[r] = t
	t.Doc = cmp.Or(typeDoc(r.Type()), "An item of `"+r.Name()+"`.")
	t.Go, t.Resource = r.Type(), r
	set := b.fieldsOf(t)
	if b.opts.GlobalIDs {
		b.addGlobalID(set, r)
	}
	b.addMembers(set, b.membersOf(r.Type(), "resource "+r.Name()), name, r.Describe().ID)
	// A resource that is never written has no use for an entity tag.
	if changes(r) || r.Can(resource.OpDelete) {
		set.add(&Field{Name: "etag", Type: nonNull(b.scalar("String")), Source: ETag, Resource: r,
			Doc: "The ETag of this revision, for the argument `ifMatch`."},
			owner{what: "the entity tag"})
	}
	b.addRelations(set, r)
	b.addComputed(set, r)
	b.addRelatedPages(set, r)
	return t
}

// addMembers adds the members that are not write-only. base is the prefix for the names of enums,
// and id the JSON name of the id.
func (b *builder) addMembers(set *fields, members []member, base, id string) {
	for _, m := range members {
		if m.WriteOnly {
			continue
		}
		s := position{m.Field, m.name, base, m.Name == id}
		f := &Field{Name: m.name, Doc: m.Doc, Deprecated: m.Deprecated, Source: Member, Member: m.Field}
		f.Type = b.ref(m.Type, s, m.Nullable || m.Type.Kind == schema.Any, b.object)
		// REST leaves such a member out. GraphQL has no absent members, so it is null here.
		if (m.OmitZero || m.OmitEmpty) && !m.Nullable && !s.id && f.Type.Elem == nil &&
			mayLackZero(f.Type.Type, m.Type) {
			f.ZeroNull, f.Type.NonNull = true, false
		}
		set.add(f, ofMember(m.Field))
	}
}

// mayLackZero reports whether the zero value of a Go type may be invalid for t: it may not be a
// value of an enum, the empty string is no decimal, and the text methods of a type may reject it. Null
// replaces such a value, which would be an error of the field.
func mayLackZero(t *Type, goType *schema.Type) bool {
	if t.Kind != Scalar || t.Name == "Decimal" {
		return true
	}
	p := reflect.PointerTo(goType.GoType)
	return goType.Kind == schema.String && goType.Format == "" &&
		(p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
			p.Implements(reflect.TypeFor[encoding.TextAppender]()))
}

// changes reports whether existing items can be changed. An Inserter alone supports PUT for new
// items only.
func changes(r *resource.Resource) bool { return r.Can(resource.OpPatch) }

// addRelations adds the relations of a resource. A relation to one item is nullable, because the
// target may be missing or hidden.
func (b *builder) addRelations(set *fields, r *resource.Resource) {
	for _, name := range r.Describe().Relations {
		target, most := r.Related(name)
		end := b.item(target)
		if end == nil {
			continue // nameItems has reported it
		}
		f := &Field{Name: fieldName(name), Source: Related, Resource: target, Relation: name,
			Type: refTo(end), Limit: 1,
			Doc: "The related item of `" + target.Name() +
				"`; null if it does not exist or you are not allowed to see it."}
		// A list of related items is never null. Its limit bounds the cost of an operation.
		if most > 0 {
			f.Type, f.Limit = listOf(end, true), most
			f.Doc = "The related items of `" + target.Name() + "`, at most " + strconv.Itoa(f.Limit) + "."
		}
		set.add(f, owner{"the relation " + strconv.Quote(name), "give the relation " + strconv.Quote(name) +
			" another name"})
	}
}

// object returns the type of a struct within another. hint is its name if the Go type has none. All
// structs of one Go type share it, so recursive types end. It has no relations: only items of a
// resource do.
func (b *builder) object(t *schema.Type, hint string) *Type {
	if !slices.ContainsFunc(t.Fields, func(f *schema.Field) bool { return !f.WriteOnly }) {
		return b.scalar("JSON") // an object needs a field (section 3.6)
	}
	if known := b.objects[t]; known != nil {
		return known
	}
	name, base := b.valueName(t, hint)
	obj := b.define(Object, name, ofGo(t, "the Go type "))
	b.objects[t] = obj
	obj.Go, obj.Doc = t, typeDoc(t)
	if r := b.itemOf[t]; r != nil {
		obj.Doc = "An item of `" + r.Name() + "`, as a nested object."
	}
	b.addMembers(b.fieldsOf(obj), b.membersOf(t, "Go type "+t.GoType.String()), base, b.idOf(t))
	return obj
}

// connection returns the type of a page of a list, as defined by the Relay Cursor Connections
// Specification. The list of the resource and pages of relations to it share the type.
func (b *builder) connection(r *resource.Resource) *Type {
	if t := b.connections[r]; t != nil {
		return t
	}
	item := b.item(r)
	if t := b.connections[r]; t != nil { // of a relation of the item
		return t
	}
	edge := b.define(Object, item.Name+"Edge", ofResource(r, "the edges"))
	edge.Doc, edge.Resource = "An item of `"+r.Name()+"` in a list, with its cursor.", r
	edge.Fields = []*Field{
		{Name: "cursor", Doc: "The cursor of the item, for `after` and `before`.",
			Type: nonNull(b.scalar("String")), Source: Cursor},
		{Name: "node", Doc: "The item.", Type: nonNull(item), Source: Node, Resource: r},
	}
	if r.Describe().Query.Natural {
		edge.Fields[0].Doc = "The cursor of the item, for `after`; null if the list cannot continue after it."
		// With natural order an item has a cursor only if the store returned a token for it.
		edge.Fields[0].Type.NonNull = false
	}
	info := b.shared(Object, "PageInfo", b.fillPageInfo)
	t := b.define(Object, item.Name+"Connection", ofResource(r, "the pages"))
	b.connections[r] = t
	t.Doc, t.Resource = "A page of `"+r.Name()+"`.", r
	t.Fields = []*Field{
		{Name: "edges", Doc: "The items with their cursors.", Type: listOf(edge, true), Source: Edges,
			Resource: r},
		{Name: "nodes", Doc: "The items.", Type: listOf(item, true), Source: Nodes, Resource: r},
		{Name: "pageInfo", Type: nonNull(info), Source: PageInfo,
			Doc: "The position of the page in the list."},
	}
	if r.Describe().Counts {
		t.Fields = append(t.Fields, &Field{Name: "totalCount", Type: refTo(b.scalar("Int")),
			Source: TotalCount, Resource: r,
			Doc: "The number of items on all pages. It is counted only if it is selected."})
	}
	if r.Watches() {
		t.Fields = append(t.Fields, b.eventCursor(r))
	}
	return t
}

// fillPageInfo fills in the type PageInfo. The names are those of the Relay specification, which
// client libraries expect.
func (b *builder) fillPageInfo(t *Type) {
	t.Doc = "The position of a page in its list."
	flag, text := nonNull(b.scalar("Boolean")), refTo(b.scalar("String"))
	t.Fields = []*Field{
		{Name: "hasNextPage", Doc: "Whether more items follow.", Type: flag, Source: HasNext},
		{Name: "hasPreviousPage", Doc: "Whether items precede the page.", Type: flag, Source: HasPrevious},
		{Name: "startCursor",
			Doc: "The cursor of the first item; null if there is none.", Type: text,
			Source: StartCursor},
		{Name: "endCursor", Type: text,
			Doc: "The cursor of the last item; null if there is none, or if the list cannot continue " +
				"after it.", Source: EndCursor},
	}
}
