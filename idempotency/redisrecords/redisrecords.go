// Package redisrecords keeps idempotency records in Redis, for services of several processes whose data is elsewhere, or in
// that same Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
//	keeper := idempotency.New(redisrecords.New(client, nil), nil)
//
// # What a key is worth
//
// At most once, and never more: what happens elsewhere shares no transaction with Redis. The record is claimed before the
// effect and finished behind it, and if the process dies in between, a repetition is told that nobody knows
// (outcome-unknown). A Store is therefore no idempotency.Transactor, and a catalog never calls it exactly once. Data in
// SQLite or PostgreSQL is better off with package sqlrecords, in the same database.
//
// For data that is in the same Redis there is [Effect]: a script does the effect, once for each operation, and keeps what it
// returned in the same step. Then what was begun and not finished can be done again:
//
//	keeper := idempotency.New(store, &idempotency.Options{AtLeastOnce: true})
//
// # What Redis has to do
//
// Claims and records are worth what Redis still knows after a crash. With an append-only file and appendfsync always that is
// all of it; with everysec the last second is forgotten, and without it minutes. A replica that takes over forgets what had
// not reached it. Eviction forgets whatever there is no room for (maxmemory-policy, which has to be noeviction). What is
// forgotten is done again when the client asks again. [Store.Check] tells what can be told by a client. Redis 6.2 and later
// will do, and Valkey.
//
// Each step is a script, so that nothing comes between its reading and its writing. Every attempt has a token, and only the
// one that holds the claim can finish it. A step whose answer was lost is repeated by the client by itself; the scripts know
// a repetition by a number of their own, so that an attempt is not in its own way.
package redisrecords

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/idempotency"
)

// Options adjust a Store. The zero value is meaningful.
type Options struct {
	// Prefix is what the names of all keys begin with; "once:" if empty. On a cluster it needs a hash tag, such as "{once}:",
	// since a record and the list of its owner are changed together, and so all records are on one node. Effects need the
	// hash tag of their data.
	Prefix string
	// Results is how long the results of effects are kept; 72 hours if zero. It has to be longer than the Guard keeps its
	// records (its TTL, or TTL and four times Skew for keys that are TimeOrdered) and its Lease.
	Results time.Duration
}

// Store is an [idempotency.Store] in Redis. It is safe for concurrent use, also by several processes.
type Store struct {
	client  redis.UniversalClient
	prefix  string
	results time.Duration
	name    string // of this Store among all there are
	calls   atomic.Uint64
}

var _ idempotency.Store = (*Store)(nil)

// New returns a Store. opts may be nil. It panics if client is nil, and if it is of a cluster and Options.Prefix has no hash
// tag. It does not connect.
func New(client redis.UniversalClient, opts *Options) *Store {
	if client == nil {
		panic("redisrecords: New without a client")
	}
	o := Options{}
	if opts != nil {
		o = *opts
	}
	if o.Prefix == "" {
		o.Prefix = "once:"
	}
	if o.Results <= 0 {
		o.Results = 72 * time.Hour
	}
	if scattered(client) && !tagged(o.Prefix) {
		panic(fmt.Sprintf("redisrecords: New with a cluster and Options.Prefix %q, which needs a hash tag, such as {once}:", o.Prefix))
	}
	return &Store{client: client, prefix: o.Prefix, results: o.Results, name: rand.Text()}
}

// scattered reports whether keys are on several servers.
func scattered(client redis.UniversalClient) bool {
	switch client.(type) {
	case *redis.ClusterClient, *redis.Ring:
		return true
	}
	return false
}

// tagged reports whether there is a hash tag: something between the first brace and the next closing one.
func tagged(prefix string) bool {
	_, rest, _ := strings.Cut(prefix, "{")
	return strings.Index(rest, "}") > 0
}

// key is the name of something by its hash.
func (s *Store) key(kind string, hash [32]byte) string {
	return s.prefix + kind + base64.RawURLEncoding.EncodeToString(hash[:])
}

func (s *Store) record(id [32]byte) string { return s.key("record:", id) }

// call numbers a call, so that a repetition by the client is known.
func (s *Store) call() string { return s.name + "-" + strconv.FormatUint(s.calls.Add(1), 36) }

// moment is how times are written: in microseconds, which are exact in Lua's numbers.
func moment(t time.Time) int64 { return t.UnixMicro() }

// Claim is that of idempotency.Store.
func (s *Store) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	if err := ctx.Err(); err != nil {
		return idempotency.Prior{}, err
	}
	gone := max(moment(c.Expires), moment(c.Until)) // a claim whose lease lasts is not forgotten
	life := max((gone-moment(c.Now)+999)/1000, 1)   // in milliseconds: the clock of the server need not be right
	takeOver := 0
	if c.TakeOver {
		takeOver = 1
	}
	answer, err := claimScript.Run(ctx, s.client, []string{s.record(id), s.key("owner:", c.Owner)}, c.Fingerprint[:], c.Token, s.call(),
		moment(c.Now), moment(c.Until), gone, c.Quota, takeOver, life).Slice()
	if err != nil {
		return idempotency.Prior{}, fault("claiming", err)
	}
	return prior(answer)
}

// prior reads what claimScript returns: the state and, if it is Finished, the record.
func prior(answer []any) (idempotency.Prior, error) {
	if len(answer) > 0 {
		state, isNumber := answer[0].(int64)
		p := idempotency.Prior{State: idempotency.State(state)}
		if p.State != idempotency.Finished {
			if isNumber {
				return p, nil
			}
		} else if text, ok := answer[len(answer)-1].(string); ok {
			var err error
			p.Record, err = idempotency.DecodeRecord([]byte(text))
			return p, err
		}
	}
	return idempotency.Prior{}, errors.New("redisrecords: the script has returned something else than it does")
}

// Finish is that of idempotency.Store.
func (s *Store) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record, expires time.Time) error {
	return s.settle(ctx, "finishing", id, func(owner string) *redis.Cmd {
		return finishScript.Run(ctx, s.client, []string{s.record(id), owner}, token, s.call(), moment(expires), idempotency.EncodeRecord(r))
	})
}

// Release is that of idempotency.Store. It may be ErrLost for a claim that was released, if the answer of Redis was lost.
func (s *Store) Release(ctx context.Context, id [32]byte, token string) error {
	return s.settle(ctx, "releasing", id, func(owner string) *redis.Cmd {
		return releaseScript.Run(ctx, s.client, []string{s.record(id), owner}, token)
	})
}

// settle asks for the owner of a claim first: a script has to be told the names of all keys that it changes, as a cluster
// looks at them. All claims of an id are of one owner.
func (s *Store) settle(ctx context.Context, what string, id [32]byte, run func(owner string) *redis.Cmd) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	owner, err := s.client.HGet(ctx, s.record(id), "owner").Result()
	switch {
	case errors.Is(err, redis.Nil):
		return idempotency.ErrLost
	case err != nil:
		return fault(what, err)
	}
	switch held, err := run(owner).Bool(); {
	case err != nil:
		return fault(what, err)
	case !held:
		return idempotency.ErrLost
	}
	return nil
}

// Purge is that of idempotency.Store. There is nothing to do: Redis forgets by itself what has expired.
func (s *Store) Purge(ctx context.Context, _ time.Time, _ int) (int, error) { return 0, ctx.Err() }

func fault(what string, err error) error { return fmt.Errorf("redisrecords: %s: %w", what, err) }

// Check asks the server for what makes it forget early, and returns an error that says so: no append-only file, or an
// eviction policy. It is for the start of a program, which decides whether it can live with that. On a cluster one node is
// asked. How often the file is written to the disk (appendfsync) it cannot tell.
func (s *Store) Check(ctx context.Context) error {
	info, err := s.client.Info(ctx, "everything").Result()
	if err != nil {
		return fault("asking for its configuration", err)
	}
	var faults []error
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case name == "aof_enabled" && value != "1":
			faults = append(faults, errors.New("redisrecords: there is no append-only file, so that a crash forgets records"))
		case name == "maxmemory_policy" && value != "noeviction":
			faults = append(faults, fmt.Errorf("redisrecords: the server forgets records when it is full (maxmemory-policy %s)", value))
		}
	}
	return errors.Join(faults...)
}
