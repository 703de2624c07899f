package rest

// Commands that run as jobs (202, RFC 9110 section 15.3.3). Called by command.go if the command has
// Jobs. The job runs in the catalog, and clients read its state from the resource that stores it.

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

// maxJobWait limits the wait preference of a client, unless Options.Wait of the command is longer.
const maxJobWait = 30 * time.Second

// awaitJob responds to a POST that has started a job. It sends the output if the job ends in time,
// and otherwise 202 with the location of the job. The job continues if the client disconnects.
// There is no wait inside a transaction, because the job starts after the commit. There is none
// with an idempotency key, because the recorded result is the job.
func (c *call) awaitJob(w *writeRequest, res *command.Result) error {
	if w.opts.Key != nil {
		return c.sendAccepted(w, res.Job)
	}
	wait, granted, async := c.jobWait(w.prefer)
	// The caller has opened a transaction around the request. Its commit starts the job.
	if tx.Active(c.r.Context()) {
		wait, granted = 0, ""
	}
	if granted != "" {
		c.applied(granted)
	}
	switch ended, err := waitFor(c.r.Context(), res.Done, wait); {
	case err != nil:
		return err
	case ended:
		// The error of a job is the response of the request that has waited for it.
		doc, err := res.Outcome()
		return c.sendOutput(w, doc, err)
	}
	// A preference is confirmed only if it had an effect. For this client, a job that has ended in
	// time was not asynchronous.
	if async {
		c.applied("respond-async")
	}
	return c.sendAccepted(w, res.Job)
}

// jobWait returns how long to wait for a job: the preference wait in seconds (RFC 7240 section
// 4.3), otherwise zero with respond-async (section 4.1), otherwise the default of the command.
// granted is the preference to confirm in the response. async reports the preference respond-async.
func (c *call) jobWait(p header.Prefer) (wait time.Duration, granted string, async bool) {
	wait = c.route.command.Wait()
	most := max(maxJobWait, wait)
	_, async = p.Get("respond-async")
	// respond-async alone means not to wait. With the preference wait, that limit applies (RFC 7240
	// section 4.3).
	if async {
		wait = 0
	}
	text, _ := p.Get("wait")
	// 31 bits keep the product with time.Second from overflowing. A value that is not a number is
	// ignored, as any preference that is not understood (RFC 7240 section 2).
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		wait = min(time.Duration(seconds)*time.Second, most)
		granted = "wait=" + strconv.Itoa(int(wait/time.Second))
	}
	return wait, granted, async
}

// waitFor waits for done and reports whether it was closed in time. With no time to wait it does
// not check done, so that the response does not depend on which of two goroutines is faster. A
// request that reaches its deadline gets the same response as a wait that has ended, because the
// job runs and must not be started again. The error is that of a client that has disconnected.
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

// reportJob logs an internal error of a job, with the stack of a panic. It returns the instance id.
func (c *call) reportJob(ctx context.Context, err error) string {
	var p interface{ Stack() string }
	if errors.As(err, &p) {
		logger := c.h.catalog.Logger()
		logger.ErrorContext(ctx, "stoa: panic", "error", safe.Truncate(err.Error()), "stack", p.Stack())
	}
	return c.logError(err)
}

// sendAccepted sends 202 with the current state of the job.
func (c *call) sendAccepted(w *writeRequest, id string) error {
	h, jobs := c.w.Header(), c.route.jobs
	// Clients poll the job at this URL (RFC 9110 section 15.3.3).
	location := []string{c.href(jobs.Name(), id, "")}
	h["Location"] = location
	h["Retry-After"] = []string{"1"}
	if w.minimal {
		c.applied("return=minimal")
		return c.sendEmpty(http.StatusAccepted)
	}
	doc := buffers.Get()
	defer buffers.Put(doc)
	e, err := jobs.Get(c.r.Context(), id)
	if err == nil {
		*doc, err = jobs.Type().Append(*doc, e.Value)
	}
	if err != nil {
		// The caller may not be allowed to read the job, and a canceled request is not an error.
		if !errors.Is(err, resource.ErrNotFound) && c.r.Context().Err() == nil {
			c.logError(err)
		}
		return c.sendEmpty(http.StatusAccepted)
	}
	c.applyReturn(w)
	// GET of the job does not return the version member, so with it the body is another
	// representation (RFC 9110 section 8.7).
	if w.selection.versionMember == nil {
		h["Content-Location"] = location
	}
	// The client asked for the vendor type of the output, but the body is a job.
	if c.mediaType[0] != mediaJSON {
		c.mediaType = []string{c.sel.MediaType(c.route.jobsMedia)}
	}
	return c.sendDocument(http.StatusAccepted, w.withVersionMember(*doc), w.enc)
}
