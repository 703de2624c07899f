package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/header"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/tx"
)

// maxPatience is the longest that a client can ask to wait for a job, unless Options.Wait of the command is longer.
const maxJobWait = 30 * time.Second

// awaitJob answers POST on a command that has Jobs: with its output, if the job is done in time, and otherwise with 202 and the
// location of the job (RFC 9110 section 15.3.3). A client that disconnects does not stop it. Inside a transaction the job starts
// after the commit, and under a key the result is that there is a job, so there is nothing to wait for.
func (x *call) awaitJob(w *writeRequest, res *command.Result) error {
	if w.opts.Key != nil {
		return x.sendAccepted(w, res.Job)
	}
	wait, granted, async := x.jobWait(w.prefer)
	if tx.Active(x.r.Context()) {
		wait, granted = 0, ""
	}
	if granted != "" {
		x.applied(granted)
	}
	switch ended, err := waitFor(x.r.Context(), res.Done, wait); {
	case err != nil:
		return err
	case ended:
		doc, err := res.Outcome()
		return x.sendOutput(w, doc, err)
	}
	if async {
		x.applied("respond-async")
	}
	return x.sendAccepted(w, res.Job)
}

// patience returns how long to wait for a job: what the client prefers, in seconds (RFC 7240 sections 4.1 and 4.3), or else
// what the command says. granted is what to tell the client of its wish; async, that it wishes no more than that.
func (x *call) jobWait(p header.Prefer) (wait time.Duration, granted string, async bool) {
	wait = x.route.command.Wait()
	most := max(maxJobWait, wait)
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
func waitFor(ctx context.Context, done <-chan struct{}, wait time.Duration) (bool, error) {
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

// reportJob logs an internal error of a job, with the stack of a panic.
func (x *call) reportJob(ctx context.Context, err error) string {
	var p interface{ Stack() string }
	if errors.As(err, &p) {
		x.h.catalog.Logger().
			ErrorContext(ctx, "stoa: panic", "error", safe.Truncate(err.Error()), "stack", p.Stack())
	}
	return x.logError(err)
}

// accepted answers with the job as it is.
func (x *call) sendAccepted(w *writeRequest, id string) error {
	h, jobs := x.w.Header(), x.route.jobs
	location := []string{x.href(jobs.Name(), id, "")}
	h["Location"] = location
	h["Retry-After"] = []string{"1"}
	if w.minimal {
		x.applied("return=minimal")
		return x.sendEmpty(http.StatusAccepted)
	}
	doc := buffers.Get()
	defer buffers.Put(doc)
	e, err := jobs.Get(x.r.Context(), id)
	if err == nil {
		*doc, err = jobs.Type().Append(*doc, e.Value)
	}
	if err != nil {
		if !errors.Is(err, resource.ErrNotFound) &&
			x.r.Context().Err() == nil { // else it is not for this caller to see, or too late
			x.logError(err)
		}
		return x.sendEmpty(http.StatusAccepted)
	}
	x.applyReturn(w)
	if w.selection.versionMember == nil {
		h["Content-Location"] = location
	}
	if x.mediaType[0] != mediaJSON {
		x.mediaType = []string{x.sel.MediaType(x.route.jobsMedia)}
	}
	return x.sendDocument(http.StatusAccepted, w.withVersionMember(*doc), w.enc)
}
