package exec

// Values with subfields: structs within items, results of functions, introspection, and the objects
// of connections. Called by write.go, and calls its object and each for the elements.

import (
	"reflect"
	"strconv"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// structured appends a member that has subfields, or elements that are checked one by one.
// Reflection yields addresses within the parent, which convert to any without allocation.
func (r *run) structured(n *field, p *parent) bool {
	m := n.def.Member
	if n.def.ZeroNull && m.IsZero(p.value) {
		return false // null without an error
	}
	v := reflect.ValueOf(p.value).Elem()
	for _, i := range m.Index {
		v = v.Field(i)
	}
	r.path = append(r.path, segment{key: n.key})
	ok := r.value(n, n.def.Type, m.Type, v)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// appendCustom appends the result of a computed field for one item.
func (r *run) appendCustom(n *field, v any) bool {
	r.path = append(r.path, segment{key: n.key})
	ok := r.appendOutput(n, v)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// appendOutput appends the result of a command or custom function. It is true if there is no
// output.
func (r *run) appendOutput(n *field, v any) bool {
	t := outputType(n.def)
	if t == nil {
		r.dst = append(r.dst, "true"...)
		return true
	}
	if v == nil {
		return r.null(n, n.def.Type)
	}
	return r.value(n, n.def.Type, t, reflect.ValueOf(v))
}

// value appends an addressable Go value, or the value that a pointer refers to.
func (r *run) value(n *field, ref *model.Ref, t *schema.Type, v reflect.Value) bool {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return r.null(n, ref)
		}
		v = v.Elem()
	}
	switch {
	case ref.Elem != nil:
		return r.each(ref.Elem, v.Len(), func(i int) bool { return r.value(n, ref.Elem, t.Elem, v.Index(i)) })
	case n.sub != nil:
		return r.object(n.sub, parent{value: v.Addr().Interface()})
	}
	if err := r.leafValue(n, t, v.Addr().Interface(), ref.NonNull); err != nil {
		return r.fail(n, err)
	}
	return true
}

// meta appends an introspection field.
func (r *run) meta(n *field, parent any) bool {
	r.path = append(r.path, segment{key: n.key})
	ok := r.metaField(n, parent)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// metaField is meta for a field that is already in the path.
func (r *run) metaField(n *field, parent any) bool {
	args, err := r.args(n)
	if err != nil {
		return r.fail(n, err)
	}
	return r.metaValue(n, n.def.Type, n.def.Meta(parent, args))
}

// metaValue appends a value that package introspect has returned for type ref. The number of
// objects is limited here, because no cost is known before.
func (r *run) metaValue(n *field, ref *model.Ref, v any) bool {
	if v == nil {
		return r.null(n, ref)
	}
	if list, ok := v.([]any); ok && ref.Elem != nil {
		return r.each(ref.Elem, len(list), func(i int) bool { return r.metaValue(n, ref.Elem, list[i]) })
	}
	if n.sub != nil {
		if r.introspected++; r.introspected > r.e.introspected {
			return r.fail(n, problem.New(problem.BadRequest,
				"The request selects too much of the introspection schema."))
		}
		return r.object(n.sub, parent{value: v})
	}
	if err := r.metaLeaf(v); err != nil {
		return r.fail(n, err)
	}
	return true
}

// paged appends a field of a connection, an edge or a page info, from the fetched page. Only fields
// with objects are added to the path, because the others have no fields below them.
func (r *run) paged(n *field, p *parent) bool {
	page := &p.list.conn.Page
	switch n.write {
	case connectionNodes, connectionEdges, connectionPage, edgeNode:
		r.path = append(r.path, segment{key: n.key})
		ok := r.inside(n, p)
		r.path = r.path[:len(r.path)-1]
		return ok
	case connectionTotal:
		if err := r.loaded[n.fetchIndex].err; err != nil {
			return r.failAt(n, err)
		}
		r.dst = strconv.AppendInt(r.dst, int64(r.total(n, p)), 10)
	case edgeCursor:
		return r.cursor(n, page, p.i)
	case connectionEventCursor:
		if err := p.list.conn.EventCursorErr; err != nil {
			return r.failAt(n, err)
		}
		r.appendFeedCursor(p.list.conn.EventCursor)
	case pageHasNext:
		r.dst = strconv.AppendBool(r.dst, page.Next != "" || p.list.part.next)
	case pageHasPrevious:
		r.dst = strconv.AppendBool(r.dst, page.Prev != "")
	case pageStart, pageEnd:
		return r.pageEdge(n, p)
	}
	return true
}

// inside appends the objects of a connection.
func (r *run) inside(n *field, p *parent) bool {
	if p.list.conn.Related {
		return r.insidePart(n, p)
	}
	entries, ref := p.list.conn.Page.Entries, n.def.Type
	switch n.write {
	case connectionNodes:
		return r.each(ref.Elem, len(entries), func(i int) bool { return r.item(n, entries, i) })
	case connectionEdges:
		return r.each(ref.Elem, len(entries), func(i int) bool {
			return r.object(n.sub,
				parent{list: p.list, i: i})
		})
	case edgeNode:
		return r.item(n, entries, p.i)
	}
	return r.object(n.sub, parent{list: p.list})
}

// cursor appends the cursor of an item. A store with natural order may have none.
func (r *run) cursor(n *field, page *resource.Page, i int) bool {
	text := page.Cursor(i)
	if text == "" {
		return n.nonNull && r.failAt(n, errNull)
	}
	return r.finish(n, r.text(text))
}

// pageEdge appends the cursor of the first or last item, or null for an empty page. A page with
// limit 0 has no items, so it has no cursors either.
func (r *run) pageEdge(n *field, p *parent) bool {
	page := &p.list.conn.Page
	count := len(page.Entries)
	if p.list.conn.Related {
		count = len(p.list.part.ends)
	}
	if count == 0 {
		if n.nonNull {
			return r.failAt(n, errNull)
		}
		return false
	}
	i := 0
	if n.write == pageEnd {
		i = count - 1
	}
	if p.list.conn.Related {
		i = int(p.list.part.ends[i])
	}
	return r.cursor(n, page, i)
}
