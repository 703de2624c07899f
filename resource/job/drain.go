package job

import (
	"context"
	"fmt"
	"time"
)

// Drain is for the end of a process: from now on no job is begun, and it waits for those that are running. When ctx is
// done before them, their contexts are cancelled and they are noted as failed, with the problem outcome-unknown; the error
// says how many.
func (j *Jobs) Drain(ctx context.Context) error {
	j.mu.Lock()
	j.closed = true
	j.settle()
	j.mu.Unlock()
	select {
	case <-j.idle:
		return nil
	case <-ctx.Done():
	}
	left := j.stop()
	if len(left) == 0 {
		return nil
	}
	note, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	for _, r := range left { // which may never notice
		if _, err := j.end(note, r.id, Failed, interrupted().Append(nil), nil); err != nil {
			j.logger().ErrorContext(note, "stoa: the end of a job cannot be noted", "job", r.id, "error",
				err.Error())
		}
	}
	return fmt.Errorf("job: %d jobs were cancelled: %w", len(left), context.Cause(ctx))
}

// grace is how long Drain takes to note what it has cancelled.
const grace = 5 * time.Second

// stop cancels what is still running, and returns it.
func (j *Jobs) stop() []*run {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.stopped = true
	var left []*run
	for r := range j.running {
		if r.begun { // else begin cancels it
			left = append(left, r)
			r.cancel(errStopped)
		}
	}
	return left
}
