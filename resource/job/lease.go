package job

// Leases, by which processes find the jobs of processes that have died, and the deletion of old jobs.

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/internal/safe"
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
			j.logError(r.storeCtx, "stoa: job lease not renewed", err, "job", r.id)
		case !renewed:
			r.cancel(errLost)
			return
		}
	}
}

// Run reports the jobs of dead processes as failed and deletes jobs older than Options.Keep:
// immediately, and then every third of Options.Lease until ctx is done. Call it in a goroutine of
// every process that runs jobs. Errors of the store are logged.
//
// A process counts as dead if Run has not seen it renew the lease of a job for one Options.Lease. Run
// measures that itself, so the clocks of the processes may differ and may be set. After a restart, or
// an error of the store, it waits for at least one Lease before it reports jobs. So it does after a
// pause of this process of more than two thirds of Lease, because other processes may have been paused
// as well.
//
// If the store rejects the write or the deletion of one job, the others are not affected. The write is
// repeated after one Lease, the deletion after a 24th of Keep.
func (j *Jobs) Run(ctx context.Context) {
	tick := time.NewTicker(j.opts.Lease / 3)
	defer tick.Stop()
	s := &sweeper{Jobs: j, last: time.Now(), seen: map[string]*sighting{}}
	for {
		err := s.reportDead(ctx)
		if err = errors.Join(err, s.purge(ctx)); err != nil && ctx.Err() == nil {
			j.logError(ctx, "stoa: job maintenance failed", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// sweeper is the state of one call of Run. Its times are those of the monotonic clock, which is
// never set.
type sweeper struct {
	*Jobs
	last    time.Time // the last call of observe
	from    time.Time // jobs are reported from here on
	pass    int       // number of the current call of reportDead
	seen    map[string]*sighting
	after   string    // id of the last job that purge has tried to delete; empty at the end of the list
	purgeAt time.Time // when purge continues, after the store has refused deletions
}

// sighting is a running job that this process does not run.
type sighting struct {
	lease         time.Time // as last seen
	since         time.Time // when the lease was seen first, or the last attempt to report the job
	listed, tried int       // the last pass in which it was listed, and in which it was to be reported
}

// reportDead reports the jobs of dead processes.
func (s *sweeper) reportDead(ctx context.Context) error {
	s.pass++
	s.observe()
	_, refused, err := s.report(ctx, query.Where("state", query.Eq, Running), s.dead)
	if err != nil { // other processes may not reach the store either
		s.from = time.Now().Add(s.opts.Lease)
		return errors.Join(refused, err)
	}
	maps.DeleteFunc(s.seen, func(_ string, seen *sighting) bool { return seen.listed != s.pass })
	return refused
}

// observe finds out whether this process was paused: it is called at least every third of a lease.
// A pause that it does not find leaves other processes the time to renew.
func (s *sweeper) observe() {
	now := time.Now()
	if now.Sub(s.last) > s.opts.Lease*2/3 {
		s.from = now.Add(s.opts.Lease)
	}
	s.last = now
}

// dead reports whether a job has been seen with one lease for the time of a lease. It is called for
// the job as listed, and again with the job as read before the write.
func (s *sweeper) dead(v *Job) bool {
	s.observe()
	if s.opts.Alone && v.Owner != s.owner {
		return true
	}
	seen := s.seen[v.ID]
	if seen == nil || !seen.lease.Equal(v.Lease) {
		seen = &sighting{lease: v.Lease, since: s.last}
		s.seen[v.ID] = seen
	}
	seen.listed = s.pass
	switch {
	case s.last.Before(s.from):
		return false
	case seen.tried == s.pass: // the second call
		return true
	case s.last.Before(seen.since.Add(s.opts.Lease)):
		return false
	}
	// If the write fails, a lease passes before the next one, as the owner may have failed as well.
	seen.tried, seen.since = s.pass, s.last
	return true
}

// purge deletes jobs that ended before the retention time. It returns when the next call of reportDead
// is due, and the next call continues after the last job.
func (s *sweeper) purge(ctx context.Context) error {
	if s.opts.Keep < 0 || s.ops.Delete == nil || time.Now().Before(s.purgeAt) {
		return nil
	}
	end := time.Now().Add(s.opts.Lease / 3)
	// running jobs have null, which does not match Lt
	old := query.Where("finishedAt", query.Lt, s.now().Add(-s.opts.Keep))
	var refused refusals
	for item, err := range s.each(ctx, old, s.after) {
		if err != nil {
			return errors.Join(refused.err(), err)
		}
		s.after = item.Value.ID
		refused.add(s.after, safe.Call(func() error { return s.ops.Delete(ctx, s.after, item.Rev) }))
		s.observe()
		if !time.Now().Before(end) {
			return refused.err()
		}
	}
	s.after = ""
	if refused.jobs > 0 {
		s.purgeAt = time.Now().Add(s.opts.Keep / 24)
	}
	return refused.err()
}

// Recover reports as failed the jobs with a lease that expired more than one Options.Lease ago, or with
// Options.Alone all running jobs of other processes. It leaves out jobs that this process runs. It
// returns the number of jobs, and the errors of the store; an error of one job does not affect the
// others. A program may call it before it starts to serve, to report jobs earlier than [Jobs.Run].
//
// Without Alone, Recover compares the leases with Options.Now. A living job is reported if the clocks
// of the processes differ by Options.Lease or more.
func (j *Jobs) Recover(ctx context.Context) (int, error) {
	other := query.Where("owner", query.Ne, j.owner)
	dead := func(*Job) bool { return true }
	if !j.opts.Alone {
		other = query.Where("lease", query.Lt, j.now().Add(-j.opts.Lease))
		dead = func(v *Job) bool { return v.Lease.Before(j.now().Add(-j.opts.Lease)) }
	}
	n, refused, err := j.report(ctx, query.And(query.Where("state", query.Eq, Running), other), dead)
	return n, errors.Join(refused, err)
}

// report reports as failed the jobs that match f, if this process does not run them and dead returns
// true, for the job as listed and as read before the write. It returns their number, the errors of
// single jobs, and the error that has ended the list.
func (j *Jobs) report(
	ctx context.Context, f query.Filter, dead func(v *Job) bool,
) (n int, refused, failed error) {
	doc := interrupted().Append(nil)
	var errs refusals
	for item, err := range j.each(ctx, f, "") {
		if err != nil {
			return n, errs.err(), err
		}
		if j.runs(item.Value.ID) || !dead(&item.Value) {
			continue
		}
		reported, err := j.finish(ctx, item.Value.ID, Failed, doc, func(v *Job) bool { return !dead(v) })
		if errs.add(item.Value.ID, err); reported {
			n++
		}
	}
	return n, errs.err(), nil
}

// runs reports whether this process runs a job, or is about to.
func (j *Jobs) runs(id string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	for r := range j.running {
		if r.id == id {
			return true
		}
	}
	return false
}

// refusals are the errors of single jobs. Jobs that are changed or deleted concurrently are none.
type refusals struct {
	jobs  int
	first error
}

func (r *refusals) add(id string, err error) {
	if err == nil || errors.Is(err, resource.ErrNotFound) || errors.Is(err, resource.ErrGone) ||
		errors.Is(err, resource.ErrStale) {
		return
	}
	if r.jobs++; r.jobs == 1 {
		r.first = fmt.Errorf("job %s: %w", id, err)
	}
}

// err returns the first error with the number of the others, or nil.
func (r *refusals) err() error {
	if r.jobs > 1 {
		return fmt.Errorf("%w (and %d other jobs)", r.first, r.jobs-1)
	}
	return r.first
}

// pageSize is the number of jobs that are read at once.
const pageSize = 100

// each yields the jobs that match f and have an id after the given one, in the order of ids. It
// reads a page before it yields it. After an error, which may be that of ctx, it ends.
func (j *Jobs) each(ctx context.Context, f query.Filter, after string) iter.Seq2[resource.Item[Job], error] {
	return func(yield func(resource.Item[Job], error) bool) {
		q := query.Query{Filter: f, Sort: []query.Order{{Field: "id"}}, Limit: pageSize}
		for {
			if after != "" {
				q.After = []any{after}
			}
			page, err := j.page(ctx, q)
			for _, item := range page {
				if err = ctx.Err(); err != nil {
					break
				}
				if !yield(item, nil) {
					return
				}
				after = item.Value.ID
			}
			if err != nil {
				yield(resource.Item[Job]{}, err)
			}
			if err != nil || len(page) < pageSize {
				return
			}
		}
	}
}

// page returns one page of jobs with their ids, or an error. A panic of the store is an error, because in a
// goroutine of its own it would end the process.
func (j *Jobs) page(ctx context.Context, q query.Query) (page []resource.Item[Job], err error) {
	err = safe.Call(func() error {
		for item, err := range j.ops.List(ctx, q) {
			if err != nil {
				return err
			}
			item.Value.ID = cmp.Or(item.Value.ID, item.ID)
			page = append(page, item)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return page, nil
}
