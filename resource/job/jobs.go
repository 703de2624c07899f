package job

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/internal/safe"
	"github.com/stoa-go/stoa/resource/problem"
)

// Options configures [New]. The zero value is for processes that share a store. Nil means the zero
// value.
type Options struct {
	// Principal returns the caller, like resource.CatalogOptions.Principal. Callers see their own
	// jobs only, and an anonymous caller ("") sees none. Nil makes all jobs visible to all callers.
	Principal func(ctx context.Context) string
	// Alone declares that no other process uses the store, as with an in-memory or SQLite store.
	// Leases are not renewed then, and jobs found running at the start are reported as failed. Default
	// false.
	Alone bool
	// Lease is the time after which the jobs of a process that does not renew its leases are
	// reported as failed, by each process that calls [Jobs.Run], which needs at most twice this time.
	// Default 30s. Leases are renewed every third of it. The clocks of the processes may differ, except
	// for [Jobs.Recover], which needs a difference of less than Lease.
	Lease time.Duration
	// Limit is the maximum number of concurrent jobs in this process. Default 64. Further ones are
	// rejected with [resource.ErrUnavailable], which is 503 with Retry-After. A job that is started in a
	// transaction counts at once, until it has ended or the transaction is rolled back.
	Limit int
	// Keep is the retention of jobs that have ended. Default 24h; negative keeps them forever, and
	// so does a store without Delete. A table of jobs should have sqltable.Options.Forget: otherwise it
	// keeps the id of each deleted job forever.
	Keep time.Duration
	// Logger receives the errors of jobs that clients do not see, and those of the store. Default
	// [slog.Default].
	Logger *slog.Logger
	// Now is the clock. Default [time.Now].
	Now func() time.Time
}

// Jobs runs jobs and stores them. It implements [command.Jobs] for any number of commands. All
// methods are safe for concurrent use.
type Jobs struct {
	name  string
	ops   resource.Ops[Job]
	opts  Options
	owner string // random id of this process
	res   *resource.Resource

	mu       sync.Mutex
	running  map[*execution]bool
	reserved map[*execution]time.Time // started in open transactions; until when they count at most
	closed   bool                     // Drain is waiting; no job starts
	stopped  bool                     // Drain has canceled the running jobs
	idle     chan struct{}            // closed when closed is set and no job is running
}

var _ command.Jobs = (*Jobs)(nil)

// New returns a Jobs that stores jobs in ops and serves them under a name such as "jobs". opts may
// be nil. New panics if ops has no Replace, or neither Insert nor Create, or if name is not valid
// as the name of a resource.
//
// [Jobs.Run] reports jobs of dead processes and purges old ones, so call it in a goroutine.
func New(name string, ops resource.Ops[Job], opts *Options) *Jobs {
	if ops.Replace == nil || ops.Insert == nil && ops.Create == nil {
		panic(fmt.Sprintf("job: the store of %s needs Replace, and Insert or Create", name))
	}
	j := &Jobs{name: name, ops: ops, owner: rand.Text(), running: map[*execution]bool{},
		reserved: map[*execution]time.Time{}, idle: make(chan struct{})}
	if opts != nil {
		j.opts = *opts
	}
	if j.opts.Lease <= 0 {
		j.opts.Lease = 30 * time.Second
	}
	if j.opts.Limit <= 0 {
		j.opts.Limit = 64
	}
	if j.opts.Keep == 0 {
		j.opts.Keep = 24 * time.Hour
	}
	j.res = j.newResource()
	return j
}

// newResource returns the read-only resource, in which callers see their own jobs.
func (j *Jobs) newResource() *resource.Resource {
	ops := j.ops
	ops.Create, ops.Insert, ops.Replace, ops.Delete = nil, nil, nil, nil
	opts := &resource.Options[Job]{Samples: samples(), Public: j.opts.Principal == nil, NoEvents: true,
		Query: query.Support{
			Filter: map[string][]query.Op{"state": {query.Eq, query.In}, "command": {query.Eq, query.In}},
			Sort:   []string{"createdAt", "finishedAt"},
		}}
	if j.opts.Principal != nil {
		ops.Deleted = nil // a deleted job has no owner to compare
		opts.Scope = func(ctx context.Context) (query.Filter, error) {
			if by := j.opts.Principal(ctx); by != "" {
				return query.Where("by", query.Eq, by), nil
			}
			return query.Or(), nil
		}
	}
	return ops.Resource(j.name, opts)
}

// samples are the examples in API descriptions.
func samples() []Job {
	created := time.Date(2026, time.November, 20, 12, 0, 0, 0, time.UTC)
	finished := created.Add(3 * time.Second)
	const id = "019ab0c4-9c00-7000-8000-00000000000"
	done := Job{ID: id + "1", Command: "orders/sweep", State: Succeeded, Result: []byte(`{"cancelled":3}`),
		CreatedAt: created, FinishedAt: &finished}
	failed := Job{ID: id + "2", Command: "orders/sweep", State: Failed, CreatedAt: created,
		FinishedAt: &finished,
		Problem:    interrupted().Append(nil)}
	return []Job{done, {ID: id + "3", Command: "orders/sweep", State: Running, CreatedAt: created}, failed}
}

// interrupted returns the problem of a job that was running when its process ended.
func interrupted() *problem.Details {
	return problem.New(problem.OutcomeUnknown,
		"The server was stopped before this was done. How far it came is not known.")
}

// outcomeLost returns the problem of a job if the store rejects its outcome.
func outcomeLost() *problem.Details {
	return problem.New(problem.OutcomeUnknown, "This has ended, but what became of it cannot be kept.")
}

// Name returns the name of the resource.
func (j *Jobs) Name() string { return j.name }

// Resource returns the read-only resource of the jobs. Filters are state and command, sort fields
// are createdAt and finishedAt. It has no events, because jobs are written directly to the store.
func (j *Jobs) Resource() *resource.Resource { return j.res }

func (j *Jobs) logger() *slog.Logger {
	if j.opts.Logger != nil {
		return j.opts.Logger
	}
	return slog.Default()
}

// logError logs an error, with the stack of a panic.
func (j *Jobs) logError(ctx context.Context, text string, err error, args ...any) {
	args = append(args, "error", err.Error())
	var p *safe.PanicError
	if errors.As(err, &p) {
		args = append(args, "stack", p.Stack())
	}
	j.logger().ErrorContext(ctx, text, args...)
}

func (j *Jobs) now() time.Time {
	if j.opts.Now != nil {
		return j.opts.Now().UTC()
	}
	return time.Now().UTC()
}
