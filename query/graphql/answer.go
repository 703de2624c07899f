package graphql

import (
	"bytes"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// get answers GET and HEAD: a query, or the page.
func (x *exchange) get() error {
	if err := x.negotiate(x.h.page != nil); err != nil {
		return err
	}
	if x.form == html {
		x.servePage()
		return nil
	}
	// The page above tells everybody the same, and may be linked to from anywhere; what follows is somebody's data.
	if err := x.checkOrigin(); err != nil {
		return err
	}
	q, err := parseQuery(x.r.URL.RawQuery, &x.h.opts.Limits)
	if err != nil {
		return err
	}
	return x.one(&q)
}

// post answers POST: a request or, if that is allowed, several. All of them are read before any is executed, so that a
// content which is not what it should be has done nothing.
func (x *exchange) post() error {
	if err := x.negotiate(false); err != nil {
		return err
	}
	if err := x.checkOrigin(); err != nil {
		return err
	}
	if err := x.checkBody(); err != nil {
		return err
	}
	// The variables share the memory of the content, so both are given back when the answer is sent.
	content := buffers.Get()
	defer buffers.Put(content)
	var err error
	if *content, err = httpbody.Append(*content, x.r, x.h.opts.Limits.Body); err != nil {
		return err
	}
	list, isBatch, err := readRequests(*content, &x.h.opts.Limits, x.h.opts.Batch)
	if err != nil {
		return err
	}
	if !isBatch {
		return x.one(&list[0])
	}
	if x.form == events {
		return malformed("", "several requests at once are not answered with events")
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if *buf, err = x.answerAll(list, *buf); err != nil {
		return err
	}
	x.sendAnswer(*buf, done)
	return nil
}

// one answers a request that came alone.
func (x *exchange) one(q *request) error {
	plan, errs := x.plan(q)
	if x.form == events || x.eventful && plan != nil && plan.Kind == subscription {
		return x.stream(plan, errs, q)
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	how := refused
	var err error
	if len(errs) > 0 {
		*buf = gqlerror.Answer(*buf, errs...)
	} else if *buf, how, err = x.run(x.r.Context(), plan, q, *buf); err != nil {
		return err
	}
	// An error may be gone in a moment, and is nothing to keep.
	if x.reads() && how == done && !bytes.HasPrefix(*buf, errorsFirst) {
		x.sendCacheable(*buf)
		return nil
	}
	x.sendAnswer(*buf, how)
	return nil
}

// answerAll answers a batch, in its order. Whatever becomes of one request, the batch itself was understood.
func (x *exchange) answerAll(list []request, dst []byte) ([]byte, error) {
	dst = append(dst, '[')
	for i := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		list[i].place = i + 1
		var err error
		if dst, _, err = x.answer(x.r.Context(), &list[i], dst); err != nil {
			if x.r.Context().Err() != nil {
				return dst, err
			}
			x.fresh++
			dst = x.told(x.r.Context(), dst, err)
		}
	}
	return append(dst, ']'), nil
}

// errorsFirst is how an answer begins that has errors (section 7.1: they come first, so that people see them).
var errorsFirst = []byte(`{"errors":`)
