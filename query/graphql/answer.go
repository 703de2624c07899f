package graphql

// Requests over HTTP with a single response: GET, POST and batches. exchange.go calls this file;
// stream.go sends responses as events.

import (
	"bytes"

	"github.com/stoa-go/stoa/query/graphql/internal/gqlerror"
	"github.com/stoa-go/stoa/resource/httpbody"
)

// get handles GET and HEAD: a query, or the page.
func (x *exchange) get() error {
	if err := x.negotiate(x.h.page != nil); err != nil {
		return err
	}
	if x.form == html {
		x.servePage()
		return nil
	}
	// The page is public and may be linked from anywhere. The responses below contain data of the
	// user.
	if err := x.checkOrigin(); err != nil {
		return err
	}
	q, err := parseQuery(x.r.URL.RawQuery, &x.h.opts.Limits)
	if err != nil {
		return err
	}
	return x.one(&q)
}

// post handles POST: a request, or a batch if batches are enabled. All requests are parsed before
// the first is executed, so that invalid content has no effect.
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
	// The variables share memory with the content, so both buffers are released after the response
	// is sent.
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
		return malformed("", "a batch cannot be answered with text/event-stream")
	}
	buf := buffers.Get()
	defer buffers.Put(buf)
	if *buf, err = x.answerAll(list, *buf); err != nil {
		return err
	}
	x.sendAnswer(*buf, done)
	return nil
}

// one responds to a request that is not part of a batch.
func (x *exchange) one(q *parsedRequest) error {
	plan, errs := x.plan(x.r.Context(), q)
	if x.form == events || x.acceptsEvents && plan != nil && plan.Kind == subscription {
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
	// A response with errors is not cacheable, because the errors may be temporary.
	if x.reads() && how == done && !bytes.HasPrefix(*buf, errorsFirst) {
		x.sendCacheable(*buf)
		return nil
	}
	x.sendAnswer(*buf, how)
	return nil
}

// answerAll executes the requests of a batch in order. An error of one request is part of the
// response.
func (x *exchange) answerAll(list []parsedRequest, dst []byte) ([]byte, error) {
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
			dst = x.appendError(x.r.Context(), dst, err)
		}
	}
	return append(dst, ']'), nil
}

// errorsFirst is the prefix of a response with errors. Errors precede data, as section 7.1
// recommends.
var errorsFirst = []byte(`{"errors":`)
