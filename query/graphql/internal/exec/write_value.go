package exec

import (
	"reflect"
	"strconv"

	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/schema"
)

// structured appends a member of which fields are selected, or whose elements have to be looked at one by one. What it
// finds by reflection are addresses in the parent's memory, and making an any of one costs no memory.
func (r *run) structured(n *field, p *parent) bool {
	m := n.def.Member
	if n.def.ZeroNull && m.IsZero(p.value) {
		return false // which is null, and no error
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

// appendCustom appends what custom code has given for one item.
func (r *run) appendCustom(n *field, v any) bool {
	r.path = append(r.path, segment{key: n.key})
	ok := r.appendOutput(n, v)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// appendOutput appends what custom code or a command has given. A command without an output was done, which is all that there
// is to say.
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

// value appends a Go value that can be addressed, or the one that it points to.
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

// meta appends a field of introspection.
func (r *run) meta(n *field, parent any) bool {
	r.path = append(r.path, segment{key: n.key})
	ok := r.metaField(n, parent)
	r.path = r.path[:len(r.path)-1]
	return ok
}

// metaField is meta when the key is in the path.
func (r *run) metaField(n *field, parent any) bool {
	args, err := r.args(n)
	if err != nil {
		return r.fail(n, err)
	}
	return r.metaValue(n, n.def.Type, n.def.Meta(parent, args))
}

// metaValue appends what introspection has for a field: package introspect gives plain Go values, and the type says what
// they are.
func (r *run) metaValue(n *field, ref *model.Ref, v any) bool {
	if v == nil {
		return r.null(n, ref)
	}
	if list, ok := v.([]any); ok && ref.Elem != nil {
		return r.each(ref.Elem, len(list), func(i int) bool { return r.metaValue(n, ref.Elem, list[i]) })
	}
	if n.sub != nil {
		if r.described++; r.described > r.e.described {
			return r.fail(n, problem.New(problem.BadRequest,
				"This is more introspection than one request may ask for."))
		}
		return r.object(n.sub, parent{value: v})
	}
	if err := r.metaLeaf(v); err != nil {
		return r.fail(n, err)
	}
	return true
}

// paged appends a field of a connection, of one of its edges, or of its page info. These have no values of their own:
// everything is looked up in the page.
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
		r.dst = strconv.AppendInt(r.dst, int64(r.loaded[n.fetchIndex].total), 10)
	case edgeCursor:
		return r.cursor(n, page, p.i)
	case connectionPlace:
		if err := p.list.conn.PlaceErr; err != nil {
			return r.failAt(n, err)
		}
		r.appendFeedCursor(p.list.conn.Place)
	case pageHasNext:
		r.dst = strconv.AppendBool(r.dst, page.Next != "")
	case pageHasPrevious:
		r.dst = strconv.AppendBool(r.dst, page.Prev != "")
	case pageStart, pageEnd:
		return r.pageEdge(n, p)
	}
	return true
}

// inside appends what a connection holds.
func (r *run) inside(n *field, p *parent) bool {
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

// cursor appends the cursor of an item. One of a store with an order of its own may have none.
func (r *run) cursor(n *field, page *resource.Page, i int) bool {
	text := page.Cursor(i)
	if text == "" {
		return n.nonNull && r.failAt(n, errNull)
	}
	return r.finish(n, r.text(text))
}

// pageEdge appends the cursor of the first or the last item. An empty page has none.
func (r *run) pageEdge(n *field, p *parent) bool {
	page := &p.list.conn.Page
	if len(page.Entries) == 0 {
		if n.nonNull {
			return r.failAt(n, errNull)
		}
		return false
	}
	i := 0
	if n.write == pageEnd {
		i = len(page.Entries) - 1
	}
	return r.cursor(n, page, i)
}
