package graphql

import (
	"bytes"
	"context"
	"errors"
	"net/http"

	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/query/graphql/internal/fault"
	"github.com/stoa-go/stoa/resource/problem"
)

// outcome is what the status of an answer depends on.
type outcome uint8

const (
	done    outcome = iota // it has data, even null
	refused                // the request is well formed, and still was not executed
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
	if err := x.meant(); err != nil {
		return err
	}
	q, err := parseQuery(x.r.URL.RawQuery, &x.h.opts.Limits)
	if err != nil {
		return err
	}
	buf := getBuffer()
	defer putBuffer(buf)
	var how outcome
	if *buf, how, err = x.answer(&q, *buf); err != nil {
		return err
	}
	// An error may be gone in a moment, and is nothing to keep.
	if how == done && !bytes.HasPrefix(*buf, errorsFirst) {
		x.sendCacheable(*buf)
		return nil
	}
	x.sendAnswer(*buf, how)
	return nil
}

// post answers POST: a request or, if that is allowed, several. All of them are read before any is executed, so that a
// content which is not what it should be has done nothing.
func (x *exchange) post() error {
	if err := x.negotiate(false); err != nil {
		return err
	}
	if err := x.meant(); err != nil {
		return err
	}
	if err := x.claimed(); err != nil {
		return err
	}
	// The variables share the memory of the content, so both are given back when the answer is sent.
	content, buf := getBuffer(), getBuffer()
	defer putBuffer(content)
	defer putBuffer(buf)
	if err := x.content(content); err != nil {
		return err
	}
	list, isBatch, err := readRequests(*content, &x.h.opts.Limits, x.h.opts.Batch)
	if err != nil {
		return err
	}
	how := done
	if isBatch {
		*buf, err = x.answerAll(list, *buf)
	} else {
		*buf, how, err = x.answer(&list[0], *buf)
	}
	if err != nil {
		return err
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
		if dst, _, err = x.answer(&list[i], dst); err != nil {
			if x.r.Context().Err() != nil {
				return dst, err
			}
			x.fresh++
			dst = x.told(dst, err)
		}
	}
	return append(dst, ']'), nil
}

// told appends what would have had a status of its own, had it come alone.
func (x *exchange) told(dst []byte, err error) []byte {
	e := fault.Of(err)
	if e.Code == fault.Internal && e.Problem != nil && e.Problem.Kind == problem.Internal {
		x.report(e.Problem.Instance, err)
	}
	return fault.Answer(dst, e)
}

// answer executes a request and appends the answer. An error means that there is none: what was appended is nothing to
// send, and what to say instead has its own status.
func (x *exchange) answer(q *request, dst []byte) ([]byte, outcome, error) {
	text, wrong := x.h.document(q)
	if wrong != nil {
		return fault.Answer(dst, wrong), refused, nil
	}
	plan, errs := x.h.engine.Plan(text, q.operation)
	if len(errs) > 0 {
		return fault.Answer(dst, errs...), refused, nil
	}
	// Only what is valid is kept, or strangers could fill the memory with anything.
	if q.hash != "" && q.hasText && x.h.learned != nil {
		x.h.learned.keep(q.hash, text)
	}
	switch {
	case plan.Kind == "mutation" && x.r.Method != http.MethodPost:
		return dst, refused, notAllowed(allowChange, "A mutation is sent with POST.")
	case plan.Kind == "subscription": // which has many answers, and HTTP one
		return fault.Answer(dst, &fault.Error{Message: "Subscriptions are not served over this connection.",
			Code: fault.BadUserInput}), refused, nil
	}
	ctx := x.r.Context()
	if x.h.opts.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, x.h.opts.Timeout)
		defer cancel()
	}
	dst, how, err := x.execute(ctx, plan, q, dst)
	if err := x.r.Context().Err(); errors.Is(err, context.Canceled) {
		return dst, refused, err // nobody is there any more
	}
	return dst, how, err
}

// execute runs a plan. A mutation with a key is done once.
func (x *exchange) execute(ctx context.Context, plan *exec.Plan, q *request, dst []byte) ([]byte, outcome, error) {
	if plan.Kind == "mutation" {
		if x.h.once != nil {
			if key, err := x.key(q); err != nil {
				return dst, refused, err
			} else if key != "" {
				return x.answerOnce(ctx, plan, q, key, dst)
			}
		}
		x.fresh++
	}
	dst, how := x.h.engine.Run(ctx, plan, q.variables, dst)
	if how == exec.Refused {
		return dst, refused, nil
	}
	return dst, done, nil
}

// errorsFirst is how an answer begins that has errors (section 7.1: they come first, so that people see them).
var errorsFirst = []byte(`{"errors":`)
