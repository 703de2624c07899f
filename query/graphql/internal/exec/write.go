package exec

import (
	"context"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/query/graphql/internal/model"
	"github.com/stoa-go/stoa/resource"
)

// parent is an object whose fields are being written: whatever of it the fields of its set need.
type parent struct {
	value   any // a pointer to the Go value, or what introspection has
	entries []resource.Entry
	i       int     // of entries: the item
	list    *loaded // of connections, their edges and page infos
}

// answer appends the answer for what was loaded.
func (r *run) answer(ctx context.Context, dst []byte) ([]byte, Outcome) {
	r.ctx, r.most = ctx, len(dst)+r.e.cfg.Answer
	start, outcome := len(dst), Done
	// The answers to one plan are mostly about as long as each other, and growing a long one step by step takes twice its
	// memory, or more.
	last := int(r.plan.last.Load())
	r.dst = grown(dst, last+last/64)
	r.dst = append(r.dst, '{')
	front := len(r.dst)
	r.dst = append(r.dst, `"data":`...)
	if data := len(r.dst); !r.object(r.plan.root, parent{}) {
		r.dst, outcome = append(r.dst[:data], "null"...), NoData
	}
	if r.long {
		told := r.tooLong()
		r.errs, r.cause = []*gqlerror.Error{told}, told
	}
	r.dst = append(r.dst, '}')
	if len(r.errs) > 0 {
		r.dst = inFront(r.dst, front, r.errs)
	}
	r.plan.last.Store(int64(len(r.dst) - start))
	return r.dst, outcome
}

// grown makes room for n more bytes, and no more than that.
func grown(dst []byte, n int) []byte {
	if cap(dst)-len(dst) >= n {
		return dst
	}
	return append(make([]byte, 0, len(dst)+n), dst...)
}

// inFront puts errors in front of what begins at a place of dst.
func inFront(dst []byte, at int, errs []*gqlerror.Error) []byte {
	data := append([]byte(nil), dst[at:]...)
	dst = append(gqlerror.List(append(dst[:at], `"errors":`...), errs), ',')
	return append(dst, data...)
}

// object appends an object. It reports false if there is a null that no field of it can be, and then leaves behind what
// it has appended so far: whoever can be null cuts that off.
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
		if st.joined != nil {
			var err error
			if r.dst, err = st.joined.append(r.dst, p.value); err == nil {
				i += st.joined.more
				continue
			} // else one by one, which finds out what is wrong with which
		}
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
	if len(r.dst) == start {
		r.dst = append(r.dst, '{', '}')
		return true
	}
	r.dst[start] = '{' // the comma of the first label
	r.dst = append(r.dst, '}')
	return true
}

// appendField appends the value of a field. It reports false for no value, which has been told of if that is an error.
func (r *run) appendField(n *field, s *selectionSet, p *parent) bool {
	switch n.write {
	case member:
		start := len(r.dst)
		err := r.leafMember(n, s.typ.Go, p.value)
		if err != nil && n.def.Type.Elem != nil && !n.def.Member.Quoted {
			// once more, element by element: it is one of them that is null (section 6.4.3)
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
	case computed:
		l := &r.loaded[n.fetchIndex]
		if l.err != nil {
			return r.failAt(n, l.err)
		}
		return r.appendCustom(n, l.values[p.i])
	case entityTag:
		return r.finish(n, r.text(s.typ.Resource.ETag(&p.entries[p.i])))
	case item, connection, invoked, changed:
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

// finish is the end of a field that is one value.
func (r *run) finish(n *field, err error) bool { return err == nil || r.failAt(n, err) }

// null is the end of a field without a value: an error where there has to be one.
func (r *run) null(n *field, ref *model.Ref) bool { return ref.NonNull && r.fail(n, errNull) }

// rootField appends a field of a root. Where code fails in a way that nobody has foreseen, it is one field that fails.
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
	case n.write == invoked:
		return r.appendOutput(n, l.value)
	case !l.found:
		return r.null(n, n.def.Type)
	}
	return r.object(n.sub, parent{value: l.item[0].Value, entries: l.item[:]})
}

// toOne appends the item that a relation leads to. None is null without an error: there may have been one that was
// deleted, or there is one that the caller may not see, and nobody is to know which.
func (r *run) toOne(n *field, p *parent) bool {
	l := &r.loaded[n.fetchIndex]
	if l.err != nil {
		return r.failAt(n, l.err)
	}
	r.path = append(r.path, segment{key: n.key})
	ok := false
	if ends := l.page.Ends(p.i); len(ends) > 0 {
		ok = r.related(n, l, int(ends[0]))
	} else {
		ok = r.null(n, n.def.Type)
	}
	r.path = r.path[:len(r.path)-1]
	return ok
}

// toMany appends the items that a relation leads to.
func (r *run) toMany(n *field, p *parent) bool {
	l := &r.loaded[n.fetchIndex]
	if l.err != nil {
		return r.failAt(n, l.err)
	}
	ends := l.page.Ends(p.i)
	r.path = append(r.path, segment{key: n.key})
	ok := r.each(n.def.Type.Elem, len(ends), func(i int) bool { return r.related(n, l, int(ends[i])) })
	r.path = r.path[:len(r.path)-1]
	return ok
}

// sample is after how many elements of a long list there is a guess at how long it will be. To grow a buffer of
// megabytes step by step would take more memory than all that is in it.
const sample = 32

// each appends a list. Its elements are appended by one.
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
			// What the answer before this one has made room for is the better guess, if it is not far off.
			rest := (len(r.dst) - first) / sample * (count - sample)
			if rest = min(rest, r.most-len(r.dst)); cap(r.dst)-len(r.dst) < rest*3/4 {
				r.dst = grown(r.dst, rest+rest/16)
			}
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
