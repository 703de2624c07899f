package job

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
)

// Options adjust [New]. The zero value is fine for processes that share a store; nil is the zero value.
type Options struct {
	// Principal names the caller, as resource.CatalogOptions.Principal does. A caller sees only its own jobs, and one
	// without a name ("") sees none. Nil means that everybody sees all of them.
	Principal func(ctx context.Context) string
	// Alone says that no other process uses the store, as with a store in memory or SQLite. Then there are no leases, and
	// what is found running at the start is known to be dead.
	Alone bool
	// Lease is how long a process may be silent before its jobs are reported as failed; 30 seconds if zero. It renews them
	// each third of that. The clocks of the processes must agree better than this.
	Lease time.Duration
	// Limit is how many jobs run at once in this process; 64 if zero. What is beyond is refused with
	// [resource.ErrUnavailable], which is 503 with Retry-After.
	Limit int
	// Keep is how long a job that has ended can be asked for; 24 hours if zero, and for ever if negative or if the store
	// cannot delete.
	Keep time.Duration
	// Logger is told why jobs failed where clients are not. Nil means [slog.Default].
	Logger *slog.Logger
	// Now is the clock; nil means [time.Now].
	Now func() time.Time
}

// Jobs runs jobs and keeps them in a store. It is the [resource.Jobs] of any number of commands, and safe for concurrent
// use.
type Jobs struct {
	name  string
	ops   resource.Ops[Job]
	opts  Options
	owner string // this process, as long as it lives
	res   *resource.Resource

	mu      sync.Mutex
	running map[*run]bool
	closed  bool          // Drain waits
	stopped bool          // Drain does not wait any more
	idle    chan struct{} // closed when the last one has ended after that
}

var _ resource.Jobs = (*Jobs)(nil)

// New returns jobs that are kept in ops and served under a name, such as "jobs". opts may be nil. It panics if the store
// cannot replace, or neither insert nor create, or if the name cannot be that of a resource.
//
// What was left by processes that have ended is reported, and what is old removed, once [Jobs.Run] runs.
func New(name string, ops resource.Ops[Job], opts *Options) *Jobs {
	if ops.Replace == nil || ops.Insert == nil && ops.Create == nil {
		panic(fmt.Sprintf("job: the store of %s must have Replace, and Insert or Create", name))
	}
	j := &Jobs{name: name, ops: ops, owner: rand.Text(), running: map[*run]bool{}, idle: make(chan struct{})}
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
	j.res = j.serve()
	return j
}

// serve makes the resource: for reading only, and for each caller what is its own.
func (j *Jobs) serve() *resource.Resource {
	ops := j.ops
	ops.Create, ops.Insert, ops.Replace, ops.Delete = nil, nil, nil, nil
	opts := &resource.Options[Job]{Samples: samples(), Public: j.opts.Principal == nil, NoEvents: true,
		Query: query.Support{
			Filter: map[string][]query.Op{"state": {query.Eq, query.In}, "command": {query.Eq, query.In}},
			Sort:   []string{"createdAt", "finishedAt"},
		}}
	if j.opts.Principal != nil {
		ops.Deleted = nil // whose it was is gone with it
		opts.Scope = func(ctx context.Context) (query.Filter, error) {
			if by := j.opts.Principal(ctx); by != "" {
				return query.Where("by", query.Eq, by), nil
			}
			return query.Or(), nil
		}
	}
	return resource.FromOps(j.name, ops, opts)
}

// samples are jobs as they could be, for descriptions.
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

// interrupted is what is told of a job whose end nobody has seen.
func interrupted() *problem.Details {
	return problem.New(problem.OutcomeUnknown,
		"The server was stopped before this was done. How far it came is not known.")
}

// unkept is what is told of a job whose end cannot be told.
func unkept() *problem.Details {
	return problem.New(problem.OutcomeUnknown, "This has ended, but what became of it cannot be kept.")
}

// Name returns the name of the resource.
func (j *Jobs) Name() string { return j.name }

// Resource returns the jobs as they are served: for reading only. Filters are by state and command, sorts by createdAt and
// finishedAt. Nobody can listen to them: they are written past it.
func (j *Jobs) Resource() *resource.Resource { return j.res }

func (j *Jobs) logger() *slog.Logger {
	if j.opts.Logger != nil {
		return j.opts.Logger
	}
	return slog.Default()
}

func (j *Jobs) now() time.Time {
	if j.opts.Now != nil {
		return j.opts.Now().UTC()
	}
	return time.Now().UTC()
}
