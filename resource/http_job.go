package resource

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/tx"
)

// maxPatience is the longest that a client can ask to wait for a job, unless CommandOptions.Wait is more.
const maxPatience = 30 * time.Second

// outcome is what became of a job: it is there when the job is done.
type outcome struct {
	doc jsontext.Value
	err error
}

var errLost = errors.New("the job has ended without an outcome")

// commandJob answers POST on a command that has Jobs: with what it gave, if it is done in time, and else with 202 and where
// to ask (RFC 9110 section 15.3.3). A client that goes away does not stop it. Inside a transaction the job begins when that
// has been committed, so there is nothing to wait for.
func (x *call) commandJob(w *writeRequest, in any) error {
	wait, granted, async := x.patience(w.prefer)
	if tx.Active(x.r.Context()) {
		wait, granted = 0, ""
	}
	o := &outcome{err: errLost}
	id, done, err := x.route.command.jobs.Start(x.r.Context(), x.route.name, x.job(o, in))
	if err != nil {
		return x.route.command.wrap(err)
	}
	if granted != "" {
		x.applied(granted)
	}
	switch ended, err := endsWithin(x.r.Context(), done, wait); {
	case err != nil:
		return err
	case ended:
		return x.sendOutput(w, o.doc, o.err)
	}
	if async {
		x.applied("respond-async")
	}
	return x.accepted(w, id)
}

// patience returns how long to wait for a job: what the client prefers, in seconds (RFC 7240 sections 4.1 and 4.3), or else
// what the command says. granted is what to tell the client of its wish; async, that it wishes no more than that.
func (x *call) patience(p header.Prefer) (wait time.Duration, granted string, async bool) {
	wait = x.route.command.wait
	most := max(maxPatience, wait)
	_, async = p.Get("respond-async")
	if async {
		wait = 0
	}
	text, _ := p.Get("wait")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = min(time.Duration(seconds)*time.Second, most)
		granted = "wait=" + strconv.Itoa(int(wait/time.Second))
	}
	return wait, granted, async
}

// endsWithin waits for done, and reports whether it came. Without time to wait it does not look, so that what a client is
// answered does not depend on whether the job or the request was faster. A request whose time is up before that is answered
// like one that has waited long enough, since the job runs, and must not be asked for once more. The error is that of a
// client which has gone.
func endsWithin(ctx context.Context, done <-chan struct{}, wait time.Duration) (bool, error) {
	if wait <= 0 {
		return false, nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-done:
		return true, nil
	case <-timer.C:
		return false, nil
	case <-ctx.Done():
		if err := ctx.Err(); errors.Is(err, context.Canceled) {
			return false, err
		}
		return false, nil
	}
}

// job is what the job of a command does. It outlives the request, of which it knows no more than whose it was.
func (x *call) job(o *outcome, in any) func(ctx context.Context) (jsontext.Value, error) {
	c := x.route.command
	return func(ctx context.Context) (doc jsontext.Value, err error) {
		defer func() {
			if v := recover(); v != nil {
				err = fmt.Errorf("panic: %v", v)
				x.c.logger().ErrorContext(ctx, "stoa: panic", "error", truncate(err.Error()), "stack", string(debug.Stack()))
			}
			if err != nil {
				doc, err = nil, x.reported(err)
			}
			o.doc, o.err = doc, err
		}()
		out, err := c.run(ctx, in)
		if err != nil || out == nil {
			return nil, err
		}
		return c.out.Append(nil, out)
	}
}

// reportedError is an internal error that the log has, under the instance of the problem.
type reportedError struct {
	problem *problem.Details
	cause   error
}

func (e *reportedError) Error() string   { return e.cause.Error() }
func (e *reportedError) Unwrap() []error { return []error{e.problem, e.cause} }

// reported logs an error that clients are not told, once for all who will be told that there was one: whoever waits, and
// whoever asks for the job.
func (x *call) reported(err error) error {
	d := *Problem(err)
	if d.StatusCode() != http.StatusInternalServerError {
		return err
	}
	d.Instance = x.report(err)
	return &reportedError{problem: &d, cause: err}
}

// accepted answers with the job as it is.
func (x *call) accepted(w *writeRequest, id string) error {
	h, jobs := x.w.Header(), x.route.jobs
	location := []string{x.href(jobs.Name(), id, "")}
	h["Location"] = location
	h["Retry-After"] = []string{"1"}
	if w.minimal {
		x.applied("return=minimal")
		return x.sendNothing(http.StatusAccepted)
	}
	doc := getBuffer()
	defer putBuffer(doc)
	e, err := jobs.Get(x.r.Context(), id)
	if err == nil {
		*doc, err = jobs.Type().Append(*doc, e.Value)
	}
	if err != nil {
		if !errors.Is(err, ErrNotFound) && x.r.Context().Err() == nil { // else it is not for this caller to see, or too late
			x.report(err)
		}
		return x.sendNothing(http.StatusAccepted)
	}
	x.representation(w)
	if w.selection.versionMember == nil {
		h["Content-Location"] = location
	}
	if x.mediaType[0] != mediaJSON {
		x.mediaType = []string{x.sel.MediaType(jobs.Media())}
	}
	return x.sendDocument(http.StatusAccepted, w.echoed(*doc), w.enc)
}
