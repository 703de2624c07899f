package main

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

// Stale says which orders nobody waits for any more.
type Stale struct {
	OlderThan string `json:"olderThan" required:"true" maxLength:"40" pattern:"^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$" doc:"Of orders that were placed and not paid, how old they must be: 24h, or 1h30m."`
}

// Cancelled says how many there were.
type Cancelled struct {
	Cancelled int `json:"cancelled"`
}

// newJobs keeps what becomes of commands that are answered before they are done. A shop that has no other beside it knows as
// soon as it starts that what is running has been killed; with PostgreSQL it knows when the others are silent.
func (c *collections) newJobs(kept resource.Ops[job.Job]) *job.Jobs {
	opts := &job.Options{Alone: c.db.sql == nil || c.db.sql.Dialect() == sqltx.SQLite, Lease: 10 * time.Second,
		Now: func() time.Time { return c.now() }}
	if c.auth {
		opts.Principal = c.principal
	}
	return job.New("jobs", kept, opts)
}

// cancelCommand cancels stale orders behind its answer: there may be many.
func (c *collections) cancelCommand(orders *resource.Resource, jobs command.Jobs) *command.Command {
	opts := &command.Options[Stale]{Doc: "Cancels orders that are not paid and were placed longer ago than a duration.", Jobs: jobs}
	if c.auth {
		opts.Authorize = func(ctx context.Context, _ *Stale) error { return c.mustBe(ctx, clerk, admin) }
	}
	return command.New("orders/cancel-stale", func(ctx context.Context, in Stale) (Cancelled, error) {
		age, err := time.ParseDuration(in.OlderThan)
		if err != nil { // too long for the clock
			return Cancelled{}, resource.Invalid("olderThan", "range")
		}
		return c.cancelPlaced(ctx, orders, toMillisecond(c.now().Add(-age)))
	}, opts)
}

// cancelPlaced cancels the orders that were placed before an instant. It goes on behind the last one of each page, so that
// an order which cannot be cancelled does not come again.
func (c *collections) cancelPlaced(ctx context.Context, orders *resource.Resource, before time.Time) (Cancelled, error) {
	var done Cancelled
	q := query.Query{
		Filter: query.And(query.Where("status", query.Eq, "placed"), query.Where("createdAt", query.Lte, before)),
		Sort:   []query.Order{{Field: "id"}}, Limit: 100,
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

// orderIDs reads a page to its end before anything is written, as an iterator may hold the only connection.
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

// cancel goes the way of every other write, policy and hooks included. An order that somebody has paid or deleted in the
// meantime is left as it is.
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
