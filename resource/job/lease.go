package job

// Leases: how processes learn that another one has died while it ran a job.

import (
	"context"
	"errors"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// renew renews the lease of a job until it ends. If another process has reported the job as failed,
// its context is canceled.
func (j *Jobs) renew(r *execution) {
	tick := time.NewTicker(j.opts.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-tick.C:
		}
		renewed, err := j.change(r.storeCtx, r.id, func(v *Job) bool {
			v.Lease = j.now().Add(j.opts.Lease)
			return v.State == Running
		})
		switch {
		case err != nil: // try again at the next tick
			j.logger().ErrorContext(r.storeCtx, "stoa: job lease not renewed", "job", r.id,
				"error", err.Error())
		case !renewed:
			r.cancel(errLost)
			return
		}
	}
}

// Run reports the jobs of dead processes as failed and purges jobs older than Options.Keep:
// immediately, and then every third of Options.Lease until ctx is done. Call it in a goroutine of
// every process that runs jobs. Errors of the store are logged.
//
// After an error of the store, and after a pause of this process or a jump of its clock that is
// longer than Options.Lease, Run waits for one Lease before it reports jobs. Until then expired
// leases prove nothing: other processes could not renew them, or have not done so yet.
func (j *Jobs) Run(ctx context.Context) {
	tick := time.NewTicker(j.opts.Lease / 3)
	defer tick.Stop()
	var from time.Time // leases are judged from here on
	last := j.sample()
	for {
		began := j.sample()
		if j.paused(last, began) {
			from = began.monotonic.Add(j.opts.Lease)
		}
		last = began
		_, swept := j.recover(ctx, func() bool {
			now := j.sample()
			return !now.monotonic.Before(from) && !j.paused(began, now)
		})
		if err := errors.Join(swept, j.purge(ctx)); err != nil && ctx.Err() == nil {
			from = time.Now().Add(j.opts.Lease)
			j.logger().ErrorContext(ctx, "stoa: job maintenance failed", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// instant is a time on both clocks. The monotonic clock does not jump, but may stop in suspension.
type instant struct{ monotonic, wall time.Time }

func (j *Jobs) sample() instant { return instant{time.Now(), j.now()} }

// paused reports whether more than a lease has passed between two instants, so that the
// process was paused, a call of the store took as long, or the clock has jumped.
func (j *Jobs) paused(from, to instant) bool {
	return max(to.monotonic.Sub(from.monotonic), to.wall.Sub(from.wall)) > j.opts.Lease
}

// Recover reports as failed the jobs with an expired lease, or with Options.Alone all running jobs
// of other processes. It leaves out jobs that this process runs: after a pause their leases may have
// expired. It returns the number of jobs, and the first error of the store. [Jobs.Run] calls it; a
// program may call it before it starts to serve.
func (j *Jobs) Recover(ctx context.Context) (int, error) {
	return j.recover(ctx, func() bool { return true })
}

// recover is Recover, which reports no job while judge returns false.
func (j *Jobs) recover(ctx context.Context, judge func() bool) (int, error) {
	dead := query.And(query.Where("state", query.Eq, Running), query.Where("lease", query.Lt, j.now()))
	if j.opts.Alone {
		dead = query.And(query.Where("state", query.Eq, Running), query.Where("owner", query.Ne, j.owner))
	}
	doc := interrupted().Append(nil)
	return j.forEach(ctx, dead, func(item resource.Item[Job]) (bool, error) {
		if j.runs(item.Value.ID) {
			return false, nil
		}
		// the lease may have been renewed since the job was listed
		return j.finish(ctx, item.Value.ID, Failed, doc, func(v *Job) bool {
			return !j.opts.Alone && (!v.Lease.Before(j.now()) || !judge())
		})
	})
}

// runs reports whether this process runs a job.
func (j *Jobs) runs(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for r := range j.running {
		if r.started && r.id == id {
			return true
		}
	}
	return false
}

// purge deletes jobs that ended before the retention time.
func (j *Jobs) purge(ctx context.Context) error {
	if j.opts.Keep < 0 || j.ops.Delete == nil {
		return nil
	}
	// running jobs have null, which does not match Lt
	old := query.Where("finishedAt", query.Lt, j.now().Add(-j.opts.Keep))
	_, err := j.forEach(ctx, old, func(item resource.Item[Job]) (bool, error) {
		err := j.ops.Delete(ctx, item.Value.ID, item.Rev)
		return err == nil, err
	})
	return err
}

// pageSize is the number of jobs that are read at once.
const pageSize = 100

// forEach calls fn for the jobs that match f, and returns the number of calls that returned true.
// It reads a page before it calls fn for its jobs. Jobs that are changed or deleted concurrently
// are skipped.
func (j *Jobs) forEach(
	ctx context.Context, f query.Filter, fn func(item resource.Item[Job]) (bool, error),
) (n int, err error) {
	q := query.Query{Filter: f, Sort: []query.Order{{Field: "id"}}, Limit: pageSize}
	for {
		var page []resource.Item[Job]
		for item, err := range j.ops.List(ctx, q) {
			if err != nil {
				return n, err
			}
			if item.Value.ID == "" {
				item.Value.ID = item.ID
			}
			page = append(page, item)
		}
		for _, item := range page {
			ok, err := fn(item)
			switch {
			case ok:
				n++
			case errors.Is(err, resource.ErrNotFound), errors.Is(err, resource.ErrGone),
				errors.Is(err, resource.ErrStale):
			case err != nil:
				return n, err
			}
		}
		if len(page) < pageSize {
			return n, nil
		}
		q.After = []any{page[len(page)-1].Value.ID}
	}
}
