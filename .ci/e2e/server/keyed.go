package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/redisrecords"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/command"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// How a node stores idempotency keys.
const (
	Together     = "together" // in the transactions of the data: exactly once
	Identity     = "identity" // elsewhere, and the id of a created item follows from the key
	Apart        = "apart"    // elsewhere: at most once
	ThreeCommits = "three"    // elsewhere, and a claim whose short lease has ended is taken over: the control
	Hasty        = "hasty"    // together, and the commit of a replay does not wait for a standby: a control
	Redis        = "redis"    // in Redis: at most once
	LateRedis    = "late"     // in Redis, and its full memory refuses the finish instead of the claim: a control
)

// Lease is the time after which the control takes over the claim of another node.
const Lease = 300 * time.Millisecond

// Effect is the item that a POST or a deposit creates. It names the key, so that effects can be counted without the records.
type Effect struct {
	ID     string `json:"id" format:"uuid"`
	Key    string `json:"key" required:"true"`
	Amount int64  `json:"amount"`
}

// List is the item to which a PATCH appends keys.
type List struct {
	ID   string   `json:"id"`
	Keys []string `json:"keys"`
}

// Account is the item to which a deposit adds.
type Account struct {
	ID      string `json:"id"`
	Balance int64  `json:"balance"`
}

type deposit struct {
	Account string `json:"account" required:"true"`
	Key     string `json:"key" required:"true"`
	Amount  int64  `json:"amount" required:"true"`
}

func runKeyed(ctx context.Context, p *program) error {
	mode := p.String("mode", Together, "where keys are stored: together, identity, apart, three, hasty, redis or late")
	redisURL := p.String("redis", "", "`URL` of Redis, for the modes redis and late")
	opts := &sqltx.Options{}
	p.DurationVar(&opts.CommitTimeout, "commit", 0, "time limit of a commit")
	p.DurationVar(&opts.Idle, "idle", 0, "time limit of an idle transaction")
	source, err := p.parse()
	if err != nil {
		return err
	}
	db, err := database.Open(source, opts)
	if err != nil {
		return err
	}
	guard, err := newGuard(ctx, db, source, *mode, *redisURL, p.logger)
	if err != nil {
		return err
	}
	catalog, err := keyedCatalog(ctx, db, guard, *mode)
	if err != nil {
		return err
	}
	for _, g := range catalog.Guarantees() {
		fmt.Fprintf(os.Stderr, "%s: create %v, others %v\n", g.Name, g.Create, g.Others)
	}
	return p.serve(ctx, dieAt(rest.New(catalog, nil)))
}

// newGuard stores the records in Redis or in the same database, there except in mode Together in transactions of their own.
func newGuard(
	ctx context.Context, db *sqltx.DB, source, mode, redisURL string, logger *slog.Logger,
) (*idempotency.Guard, error) {
	opts := &idempotency.Options{Quota: -1, Logger: logger}
	switch mode {
	case Together, Hasty:
	case Redis, LateRedis:
		parsed, err := redis.ParseURL(redisURL)
		if err != nil {
			return nil, err
		}
		client := redis.NewClient(parsed)
		if mode == LateRedis {
			full := redis.NewClient(parsed)
			full.AddHook(allowFull{})
			return idempotency.New(lateRecords{redisrecords.New(full, nil), client}, opts), nil
		}
		return idempotency.New(redisrecords.New(client, nil), opts), nil
	case Identity, Apart, ThreeCommits:
		other, err := database.Open(source, nil)
		if err != nil {
			return nil, err
		}
		db = other
		opts.Lease, opts.AtLeastOnce = Lease, mode == ThreeCommits
	default:
		return nil, fmt.Errorf("server: unknown mode %q", mode)
	}
	records := sqlrecords.New(db, nil)
	if err := database.Retry(ctx, records.CreateTable); err != nil {
		return nil, err
	}
	if mode == Hasty {
		return idempotency.New(hastyRecords{records, db}, opts), nil
	}
	return idempotency.New(mortalRecords{records}, opts), nil
}

// hastyRecords is a store of records whose replays do not wait for a standby.
type hastyRecords struct {
	*sqlrecords.Store
	db *sqltx.DB
}

func (s hastyRecords) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	prior, err := s.Store.Claim(ctx, id, c)
	if err == nil && prior.State == idempotency.Finished {
		_, err = s.db.Writer(ctx).ExecContext(ctx, "SET LOCAL synchronous_commit = local")
	}
	return prior, err
}

// lateRecords is a store of records in Redis whose claims succeed with full memory, and whose finishes do not.
type lateRecords struct {
	*redisrecords.Store
	client *redis.Client
}

func (s lateRecords) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	if err := s.client.Set(ctx, "late", "", 0).Err(); err != nil {
		return err
	}
	return s.Store.Finish(ctx, id, token, r, expires)
}

// allowFull is a hook of a client of Redis. It marks each script as one that may run with full memory.
type allowFull struct{}

func (allowFull) DialHook(next redis.DialHook) redis.DialHook { return next }
func (allowFull) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (allowFull) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		switch args := cmd.Args(); cmd.Name() {
		case "evalsha": // the client then sends the text
			cmd.SetErr(noScript{})
			return noScript{}
		case "eval":
			args[1] = fmt.Sprint("#!lua flags=allow-oom\n", args[1])
		}
		return next(ctx, cmd)
	}
}

// noScript is the error of Redis for a script whose text it does not know.
type noScript struct{}

func (noScript) Error() string { return "NOSCRIPT unknown script" }
func (noScript) RedisError()   {}

// keyedCatalog serves four kinds of writes: create, change, remove, and a command that writes to two tables.
func keyedCatalog(ctx context.Context, db *sqltx.DB, guard *idempotency.Guard, mode string) (*resource.Catalog, error) {
	effects, err := mortalTable[Effect](ctx, db, "effects")
	if err != nil {
		return nil, err // at once: the other tables would fail as often as this one
	}
	deposits, err := mortalTable[Effect](ctx, db, "deposits")
	if err != nil {
		return nil, err
	}
	lists, err := mortalTable[List](ctx, db, "lists")
	if err != nil {
		return nil, err
	}
	accounts, err := mortalTable[Account](ctx, db, "accounts")
	if err != nil {
		return nil, err
	}
	if mode == Apart || mode == ThreeCommits { // without Insert, no id follows from a key
		effects.Insert, effects.InsertMany = nil, nil
	}
	opts := &command.Options[deposit]{Public: true}
	if mode == Together || mode == Hasty {
		opts.Transactions = db
	}
	return resource.NewCatalog(
		&resource.CatalogOptions{Idempotency: guard, Principal: onePrincipal},
		public("effects", effects), public("deposits", deposits), public("lists", lists), public("accounts", accounts),
		command.New("accounts/deposit", depositor(db, accounts, deposits), opts),
	), nil
}

func public[T any](name string, ops resource.Ops[T]) resource.Part {
	return ops.Resource(name, &resource.Options[T]{Public: true})
}

// mortalTable is a collection with the steps [BeforeEffect] and [AfterEffect] around each write.
func mortalTable[T any](ctx context.Context, db *sqltx.DB, name string) (resource.Ops[T], error) {
	t := sqltable.New[T](db, name, nil)
	ops := t.Ops()
	create, insert, replace, remove := ops.Create, ops.Insert, ops.Replace, ops.Delete
	ops.Create = func(ctx context.Context, v T) (resource.Item[T], error) {
		return withSteps(ctx, func() (resource.Item[T], error) { return create(ctx, v) })
	}
	ops.Insert = func(ctx context.Context, id string, v T) (resource.Item[T], error) {
		return withSteps(ctx, func() (resource.Item[T], error) { return insert(ctx, id, v) })
	}
	ops.Replace = func(ctx context.Context, id string, rev resource.Rev, v T) (resource.Item[T], error) {
		return withSteps(ctx, func() (resource.Item[T], error) { return replace(ctx, id, rev, v) })
	}
	ops.Delete = func(ctx context.Context, id string, rev resource.Rev) error {
		_, err := withSteps(ctx, func() (struct{}, error) { return struct{}{}, remove(ctx, id, rev) })
		return err
	}
	return ops, database.Retry(ctx, t.CreateTable)
}

// depositor adds to an account and records that, both or neither.
func depositor(
	runner tx.Runner, accounts resource.Ops[Account], deposits resource.Ops[Effect],
) func(context.Context, deposit) (Effect, error) {
	return func(ctx context.Context, in deposit) (made Effect, err error) {
		err = runner.InTx(ctx, func(ctx context.Context) error {
			held, err := accounts.Get(ctx, in.Account)
			if err != nil {
				return err
			}
			held.Value.Balance += in.Amount
			if _, err := accounts.Replace(ctx, in.Account, held.Rev, held.Value); err != nil {
				return err
			}
			item, err := deposits.Create(ctx, Effect{Key: in.Key, Amount: in.Amount})
			made = item.Value
			return err
		})
		return made, err
	}
}
