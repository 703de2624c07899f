package exec

// The second phase: it walks the plan and the fetched values together and appends JSON to run.dst.
// It runs in one goroutine and calls no application code, except for marshalers of values.

import (
	"context"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// parent is the object that contains the fields being written.
type parent struct {
	value   any // a pointer to the Go value, or an introspection object
	entries []resource.Entry
	i       int     // index of the item in entries
	list    *loaded // of connections, edges and page infos
}

// answer appends the response for the fetched values. Errors are collected while data is written
// and then inserted before it. Most responses have none.
func (r *run) answer(ctx context.Context, dst []byte) ([]byte, Outcome) {
	r.ctx, r.most = ctx, len(dst)+r.e.cfg.Answer
	start, outcome := len(dst), Done
	// Responses to one plan have similar sizes. Allocating the size of the last one avoids repeated
	// growth, which would need twice the memory.
	last := int(r.plan.last.Load())
	r.dst = grown(dst, last+last/64)
	r.dst = append(r.dst, '{')
	front := len(r.dst)
	r.dst = append(r.dst, `"data":`...)
	if data := len(r.dst); !r.object(r.plan.root, parent{}) {
		r.dst, outcome = append(r.dst[:data], "null"...), NoData
	}
	// A response that is too long has no data: a part of it would look complete.
	if r.long {
		reply := r.tooLong()
		r.errs, r.cause = []*gqlerror.Error{reply}, reply
	}
	r.dst = append(r.dst, '}')
	if r.rec != nil {
		r.rec.SetStatus(observedStatus(r.cause))
	}
	if len(r.errs) > 0 {
		r.dst = inFront(r.dst, front, r.errs)
	}
	r.plan.last.Store(int64(len(r.dst) - start))
	return r.dst, outcome
}

// grown returns dst with space for exactly n more bytes. append alone could double the size of a
// large buffer.
func grown(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return append(make([]byte, 0, len(dst)+n), dst...)
}

// inFront inserts errors at a position of dst.
func inFront(dst []byte, at int, errs []*gqlerror.Error) []byte {
	data := append([]byte(nil), dst[at:]...)
	dst = append(gqlerror.List(append(dst[:at], `"errors":`...), errs), ',')
	return append(dst, data...)
}

// object appends an object. It returns false if a non-null field is null. The caller then truncates
// what object has appended. A null therefore moves up to the nearest nullable parent (section
// 6.4.4).
func (r *run) object(s *selectionSet, p parent) bool {
	start := len(r.dst)
	for i := 0; i < len(s.ops); i++ {
		st := &s.ops[i]
		if !r.on[st.when] {
			continue
		}
		if len(r.dst) > r.most {
			r.long = true
			return false
		}
		// A joined field is unconditional, so the ops that it replaces are all on.
		if st.joined != nil && r.appendJoined(st.joined, p.value) == nil {
			i += st.joined.more
			continue
		} // after an error, write the fields one by one to find the one with the error
		n := st.field
		r.dst = append(r.dst, n.label...)
		if n.write == constant {
			continue
		}
		value := len(r.dst)
		if r.appendField(n, s, &p) {
			continue
		}
		if n.nonNull || r.long {
			return false
		}
		r.dst = append(r.dst[:value], "null"...)
	}
	// All fields may be switched off.
	if len(r.dst) == start {
		r.dst = append(r.dst, '{', '}')
		return true
	}
	r.dst[start] = '{' // replaces the comma of the first label
	r.dst = append(r.dst, '}')
	return true
}

// appendField appends the value of a field. It returns false if there is no value. Errors have been
// recorded.
func (r *run) appendField(n *field, s *selectionSet, p *parent) bool {
	switch n.write {
	case member:
		start := len(r.dst)
		err := r.leafMember(n, s.typ.Go, p.value)
		if err != nil && n.def.Type.Elem != nil && !n.def.Member.Quoted {
			// write element by element: one of them is null (section 6.4.3)
			r.dst = r.dst[:start]
			return r.structured(n, p)
		}
		return r.finish(n, err)
	case structured:
		return r.structured(n, p)
	case toOne:
		return r.toOne(n, p)
	case toMany:
		return r.toMany(n, p)
	case toPage:
		return r.toPage(n, p)
	case computed:
		l := &r.loaded[n.fetchIndex]
		if l.err != nil {
			return r.failAt(n, l.err)
		}
		return r.appendCustom(n, l.values[p.i])
	case entityTag:
		return r.finish(n, r.text(s.typ.Resource.ETag(&p.entries[p.i])))
	case entityID:
		r.globalID(s.typ.Resource, p.entries[p.i].ID)
		return true
	case item, connection, invoked, changed, nodeByID, nodesByID:
		return r.rootField(n)
	case changeKind, changeID, changeItem, changeCursor:
		return r.changeField(n)
	case meta:
		if s == r.plan.root {
			return r.rootField(n)
		}
		return r.meta(n, p.value)
	}
	return r.paged(n, p)
}

// finish records the error of a leaf field, and reports whether there is none.
func (r *run) finish(n *field, err error) bool { return err == nil || r.failAt(n, err) }

// null handles a missing value. It records an error if ref is non-null.
func (r *run) null(n *field, ref *model.Ref) bool { return ref.NonNull && r.fail(n, errNull) }

// rootField appends a root field. An unexpected panic is an error of this field. Other panics, in
// marshalers of values, are errors of the leaf.
func (r *run) rootField(n *field) (ok bool) {
	depth := len(r.path)
	r.path = append(r.path, segment{key: n.key})
	defer func() {
		if v := recover(); v != nil {
			ok = r.fail(n, r.panicked(r.ctx, v))
		}
		r.path = r.path[:depth]
	}()
	if n.write == meta {
		return r.metaField(n, nil)
	}
	if n.write == changed {
		return r.object(n.sub, parent{})
	}
	l := &r.loaded[n.fetchIndex]
	switch {
	case l.err != nil:
		return r.fail(n, l.err)
	case n.write == connection:
		return r.object(n.sub, parent{list: l})
	case n.write == nodeByID:
		return r.node(n, l, 0)
	case n.write == nodesByID:
		return r.each(n.def.Type.Elem, len(l.nodes), func(i int) bool { return r.node(n, l, i) })
	case n.write == invoked:
		return r.appendOutput(n, l.value)
	case !l.found:
		return r.null(n, n.def.Type)
	}
	return r.object(n.sub, parent{value: l.item[0].Value, entries: l.item[:]})
}

// toOne appends the item of a relation. A missing item is null without an error, because it may be
// hidden from the caller, which the response must not reveal.
func (r *run) toOne(n *field, p *parent) bool {
	l := &r.loaded[n.fetchIndex]
	if l.err != nil {
		return r.failAt(n, l.err)
	}
	ends := l.page.Ends(p.i)
	if len(ends) > 0 && r.relatedWhole(n, l, int(ends[0])) {
		return true
	}
	r.path = append(r.path, segment{key: n.key})
	ok := false
	if len(ends) > 0 {
		ok = r.related(n, l, int(ends[0]))
	} else {
		ok = r.null(n, n.def.Type)
	}
	r.path = r.path[:len(r.path)-1]
	return ok
}

// toMany appends the items of a relation.
func (r *run) toMany(n *field, p *parent) bool {
	l := &r.loaded[n.fetchIndex]
	if l.err != nil {
		return r.failAt(n, l.err)
	}
	ends := l.page.Ends(p.i)
	if len(l.spans) == 0 && r.wholeList(n.sub, l.page.Entries, ends) {
		return true
	}
	r.path = append(r.path, segment{key: n.key})
	ok := r.each(n.def.Type.Elem, len(ends), func(i int) bool { return r.related(n, l, int(ends[i])) })
	r.path = r.path[:len(r.path)-1]
	return ok
}

// sample is the number of elements of a long list after which its size is estimated. Growing a
// large buffer step by step would need more memory than the response.
const sample = 32

// grownForList returns dst with space for the rest of a list of count elements. first is where its
// elements begin; sample of them have been appended.
func (r *run) grownForList(dst []byte, first, count int) []byte {
	rest := min((len(dst)-first)/sample*(count-sample), r.most-len(dst))
	// The size of the previous response is a better estimate, if it is close.
	if cap(dst)-len(dst) < rest*3/4 {
		dst = grown(dst, rest+rest/16)
	}
	return dst
}

// each appends a list. one appends an element. An element that is null in a list of non-null
// elements makes the whole list null.
func (r *run) each(elem *model.Ref, count int, one func(i int) bool) bool {
	r.path = append(r.path, segment{})
	at := len(r.path) - 1
	r.dst = append(r.dst, '[')
	first := len(r.dst)
	for i := range count {
		if i > 0 {
			r.dst = append(r.dst, ',')
		}
		if i == sample && count > 4*sample {
			r.dst = r.grownForList(r.dst, first, count)
		}
		r.path[at].index = i
		start := len(r.dst)
		if one(i) {
			continue
		}
		if elem.NonNull || r.long {
			r.path = r.path[:at]
			return false
		}
		r.dst = append(r.dst[:start], "null"...)
	}
	r.path = r.path[:at]
	r.dst = append(r.dst, ']')
	return true
}
