package job

import (
	"context"
	"fmt"
	"time"
)

// Drain prepares the end of the process: no further job is started, and Drain waits for those that
// are running. If ctx is done first, their contexts are canceled, they are stored as failed with
// the problem outcome-unknown, and the returned error contains their number. Drain may be called
// more than once.
func (j *Jobs) Drain(ctx context.Context) error {
	j.mu.Lock()
	j.closed = true
	j.signalIdle()
	j.mu.Unlock()
	select {
	case <-j.idle:
		return nil
	case <-ctx.Done():
	}
	left := j.cancelRunning()
	if len(left) == 0 {
		return nil
	}
	storeCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	for _, r := range left { // jobs may ignore their context, so do not wait for them
		if _, err := j.finish(storeCtx, r.id, Failed, interrupted().Append(nil), nil); err != nil {
			j.logError(storeCtx, "stoa: job outcome not stored", err, "job", r.id)
		}
	}
	return fmt.Errorf("job: canceled %d running jobs: %w", len(left), context.Cause(ctx))
}

// recordTimeout limits how long Drain takes to store the canceled jobs.
const recordTimeout = 5 * time.Second

// cancelRunning cancels the jobs that are still running, and returns them.
func (j *Jobs) cancelRunning() []*execution {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopped = true
	var left []*execution
	for r := range j.running {
		if r.started { // a reserved job that has not started is canceled by markStarted
			left = append(left, r)
			r.cancel(errStopped)
		}
	}
	return left
}
