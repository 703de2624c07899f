package main

// The command that cancels orders that were not paid in time. It runs as a job, because it may have
// to cancel many orders. catalog.go adds it to the contracts.

import (
	"context"
	"strconv"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// The pattern is part of the API's description, so clients can check a duration before they send it.

// Stale is the input of the command that cancels unpaid orders.
type Stale struct {
	// OlderThan is the minimum age of the orders, such as `24h` or `1h30m`.
	OlderThan string `json:"olderThan" required:"true" maxLength:"40" pattern:"^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$"`
}

// Cancelled is the result of the command that cancels unpaid orders.
type Cancelled struct {
	Cancelled int `json:"cancelled"` // the number of orders that it has cancelled
}

// newJobs returns the jobs of the shop. A job runs a command after the response has been sent, and
// stores its result.
//
// One shop at a time uses a SQLite file or memory. Options.Alone states that, and jobs that were
// running when the shop was killed are reported as failed on start. Do not set it if several
// processes share a store: each would report the running jobs of the others. On PostgreSQL jobs
// have leases, and those of a dead shop are reported within two leases.
func (c *collections) newJobs(kept resource.Ops[job.Job]) *job.Jobs {
	// A short lease reports a crash soon, at the cost of a write for each job every third of it.
	// The clocks of the servers must differ by less than the lease.
	opts := &job.Options{
		Alone: c.db.sql == nil || c.db.sql.Dialect() == sqltx.SQLite,
		Lease: 10 * time.Second,
		Now:   func() time.Time { return c.now() },
	}
	// Callers then see their own jobs only, because a result may be private.
	if c.auth {
		opts.Principal = c.principal
	}
	return job.New("jobs", kept, opts)
}

// cancelCommand cancels stale orders in a job, because there may be many and a request has a time
// limit. Authorize is called before the job starts; the job has the permissions of its caller.
func (c *collections) cancelCommand(orders *resource.Resource, jobs command.Jobs) *command.Command {
	opts := &command.Options[Stale]{
		Doc:  "Cancels unpaid orders that were placed longer ago than a duration.",
		Jobs: jobs,
	}
	if c.auth {
		opts.Authorize = func(ctx context.Context, _ *Stale) error { return c.requireRole(ctx, clerk, admin) }
	}
	return command.New("orders/cancel-stale", func(ctx context.Context, in Stale) (Cancelled, error) {
		age, err := time.ParseDuration(in.OlderThan)
		if err != nil { // out of range of time.Duration
			return Cancelled{}, resource.Invalid("olderThan", "range")
		}
		return c.cancelPlaced(ctx, orders, toMillisecond(c.now().Add(-age)))
	}, opts)
}

// cancelPlaced cancels the orders that were placed before an instant. It lists by id, each page
// after the last id of the previous one, so an order that cannot be cancelled is not read again.
func (c *collections) cancelPlaced(
	ctx context.Context, orders *resource.Resource, before time.Time,
) (Cancelled, error) {
	var done Cancelled
	q := query.Query{
		Filter: query.And(query.Where("status", query.Eq, string(placed)),
			query.Where("createdAt", query.Lte, before)),
		Sort:  []query.Order{{Field: "id"}},
		Limit: 100,
	}
	for {
		ids, last, err := c.orderIDs(ctx, q)
		if err != nil || len(ids) == 0 {
			return done, err
		}
		for _, id := range ids {
			cancelled, err := cancel(ctx, orders, id)
			if err != nil {
				return done, err
			}
			if cancelled {
				done.Cancelled++
			}
		}
		q.After = []any{last}
	}
}

// orderIDs returns the ids of one page. It reads the whole page before any write, because an open
// iterator may hold the only connection.
func (c *collections) orderIDs(ctx context.Context, q query.Query) (ids []string, last int64, err error) {
	for it, err := range c.orders.List(ctx, q) {
		if err != nil {
			return nil, 0, err
		}
		last = it.Value.ID
		ids = append(ids, strconv.FormatInt(last, 10))
	}
	return ids, last, nil
}

// cancel patches the order through the resource, so policy, hooks and events apply. The test
// operation makes it atomic: the order is cancelled only if it is still placed. It returns false if
// the order has been paid or deleted since it was listed.
func cancel(ctx context.Context, orders *resource.Resource, id string) (bool, error) {
	p, err := patch.Parse(patch.JSONType, []byte(`[{"op":"test","path":"/status","value":"placed"},`+
		`{"op":"replace","path":"/status","value":"cancelled"}]`), patch.Limits{})
	if err != nil {
		return false, err
	}
	_, err = orders.Patch(ctx, id, p, nil)
	if isAbsent(err) || err != nil && resource.Problem(err).Kind == problem.PatchConflict {
		return false, nil
	}
	return err == nil, err
}
