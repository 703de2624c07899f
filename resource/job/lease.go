package job

import (
	"context"
	"errors"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// renew keeps the lease of a job until it ends. Where another process has ended it, the job is told to stop.
func (j *Jobs) renew(r *run) {
	tick := time.NewTicker(j.opts.Lease / 3)
	defer tick.Stop()
	for {
		select {
		case <-r.done:
			return
		case <-tick.C:
		}
		renewed, err := j.change(r.store, r.id, func(v *Job) bool {
			v.Lease = j.now().Add(j.opts.Lease)
			return v.State == Running
		})
		switch {
		case err != nil: // perhaps the next time
			j.logger().ErrorContext(r.store, "stoa: the lease of a job cannot be renewed", "job", r.id,
				"error", err.Error())
		case !renewed:
			r.cancel(errLost)
			return
		}
	}
}

// Run reports the jobs of processes that have ended, and removes what is old: at once, and then each third of
// Options.Lease until ctx is done. Call it in a goroutine of every process that has jobs. Errors of the store are logged.
func (j *Jobs) Run(ctx context.Context) {
	tick := time.NewTicker(j.opts.Lease / 3)
	defer tick.Stop()
	for {
		_, swept := j.Recover(ctx)
		if err := errors.Join(swept, j.purge(ctx)); err != nil && ctx.Err() == nil {
			j.logger().ErrorContext(ctx, "stoa: jobs cannot be looked after", "error", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Recover reports as failed the jobs whose lease is over, with Options.Alone all that this process has not begun, and
// returns how many there were. [Jobs.Run] calls it; a program may do so before it begins to serve.
func (j *Jobs) Recover(ctx context.Context) (int, error) {
	dead := query.And(query.Where("state", query.Eq, Running), query.Where("lease", query.Lt, j.now()))
	if j.opts.Alone {
		dead = query.And(query.Where("state", query.Eq, Running), query.Where("owner", query.Ne, j.owner))
	}
	doc := interrupted().Append(nil)
	return j.each(ctx, dead, func(item resource.Item[Job]) (bool, error) {
		return j.end(ctx, item.Value.ID, Failed, doc, func(v *Job) bool { // perhaps there was a sign of life
			return !j.opts.Alone && !v.Lease.Before(j.now())
		})
	})
}

// purge removes what ended longer ago than it is kept.
func (j *Jobs) purge(ctx context.Context) error {
	if j.opts.Keep < 0 || j.ops.Delete == nil {
		return nil
	}
	// null, until it has ended, is not less
	old := query.Where("finishedAt", query.Lt, j.now().Add(-j.opts.Keep))
	_, err := j.each(ctx, old, func(item resource.Item[Job]) (bool, error) {
		err := j.ops.Delete(ctx, item.Value.ID, item.Rev)
		return err == nil, err
	})
	return err
}

// batch is how many jobs are read at once.
const batch = 100

// each calls fn for the jobs that a filter selects, and returns for how many it was true. A page is read before anything is
// changed, and what somebody else has changed meanwhile is left to them.
func (j *Jobs) each(
	ctx context.Context, f query.Filter, fn func(item resource.Item[Job]) (bool, error),
) (n int, err error) {
	q := query.Query{Filter: f, Sort: []query.Order{{Field: "id"}}, Limit: batch}
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
		if len(page) < batch {
			return n, nil
		}
		q.After = []any{page[len(page)-1].Value.ID}
	}
}
