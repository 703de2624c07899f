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
func (j *Jobs) Run(ctx context.Context) {
	tick := time.NewTicker(j.opts.Lease / 3)
	defer tick.Stop()
	for {
		_, swept := j.Recover(ctx)
		if err := errors.Join(swept, j.purge(ctx)); err != nil && ctx.Err() == nil {
			j.logger().ErrorContext(ctx, "stoa: job maintenance failed", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Recover reports as failed the jobs with an expired lease, or with Options.Alone all running jobs
// of other processes. It returns their number, and the first error of the store. [Jobs.Run] calls
// it; a program may call it before it starts to serve.
func (j *Jobs) Recover(ctx context.Context) (int, error) {
	dead := query.And(query.Where("state", query.Eq, Running), query.Where("lease", query.Lt, j.now()))
	if j.opts.Alone {
		dead = query.And(query.Where("state", query.Eq, Running), query.Where("owner", query.Ne, j.owner))
	}
	doc := interrupted().Append(nil)
	return j.forEach(ctx, dead, func(item resource.Item[Job]) (bool, error) {
		// the lease may have been renewed since the job was listed
		return j.finish(ctx, item.Value.ID, Failed, doc, func(v *Job) bool {
			return !j.opts.Alone && !v.Lease.Before(j.now())
		})
	})
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
