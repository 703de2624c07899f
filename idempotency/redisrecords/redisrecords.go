// Package redisrecords stores idempotency records in Redis, for several processes with data in
// other systems or in the same Redis.
//
//	client := redis.NewClient(&redis.Options{Addr: "localhost:6379"})
//	guard := idempotency.New(redisrecords.New(client, nil), nil)
//
// # Guarantee
//
// The guarantee is at most once, because effects in other systems share no transaction with Redis.
// The record is claimed before the effect and finished after it. If the process crashes in between,
// a repetition receives outcome-unknown. A Store is not an idempotency.Transactor, so a catalog
// never reports exactly once. For data in SQLite or PostgreSQL use package sqlrecords, in the same
// database.
//
// For data in the same Redis use [Effect]: a script that runs once per operation and stores its
// result in the same atomic step. Operations that did not finish can then run again:
//
//	guard := idempotency.New(store, &idempotency.Options{AtLeastOnce: true})
//
// # Requirements
//
// Redis 6.2 or later, or Valkey. A record that Redis loses makes a repetition execute again, so
// durability matters. With an append-only file and appendfsync always, a crash loses no record;
// with everysec it loses up to a second, and without the file up to minutes. A failover to a
// replica loses what was not replicated. Eviction loses records when memory is full; set
// maxmemory-policy to noeviction. [Store.Check] checks the settings that a client can read. With
// noeviction, new requests with a key are 503 while memory is full, and nothing is done. Requests in
// progress are finished and earlier ones replayed.
//
// Each step is one script and therefore atomic. Each attempt has a token, and only the token of the
// claim can finish it. If a response of Redis is lost, the client library repeats the step; the
// scripts recognize the repetition by a call number.
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

// Options configures a Store. The zero value selects the defaults.
type Options struct {
	// Prefix is the prefix of all key names. Default "once:". Services that share a Redis have
	// different ones, or Guards with another Service. On a cluster it needs a hash tag,
	// such as "{once}:", because a record and the list of its owner are changed together; all
	// records are then on one node. Effects need the hash tag of their data.
	Prefix string
	// Results is how long results of effects are kept. Default 72h. It must exceed the Lease of the
	// Guard and the time it keeps records, which is its TTL, or TTL plus four times Skew with
	// TimeOrdered.
	Results time.Duration
}

// Store is an [idempotency.Store] in Redis. It is safe for concurrent use, also by several
// processes.
type Store struct {
	client  redis.UniversalClient
	prefix  string
	results time.Duration
	name    string // unique among all Stores
	calls   atomic.Uint64
}

var _ idempotency.Store = (*Store)(nil)

// New returns a Store. It does not connect. A nil opts selects the defaults. New panics if client
// is nil, or if it is a cluster client and Options.Prefix has no hash tag.
func New(client redis.UniversalClient, opts *Options) *Store {
	if client == nil {
		panic("redisrecords: New needs a client, and client is nil")
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
		panic(
			fmt.Sprintf("redisrecords: Options.Prefix %q needs a hash tag for a cluster, such as {once}:",
				o.Prefix),
		)
	}
	return &Store{client: client, prefix: o.Prefix, results: o.Results, name: rand.Text()}
}

// scattered reports whether the client distributes keys over several servers.
func scattered(client redis.UniversalClient) bool {
	switch client.(type) {
	case *redis.ClusterClient, *redis.Ring:
		return true
	}
	return false
}

// tagged reports whether prefix has a hash tag, a text in braces.
func tagged(prefix string) bool {
	_, rest, _ := strings.Cut(prefix, "{")
	return strings.Index(rest, "}") > 0
}

// key returns the name of a key that ends with a hash.
func (s *Store) key(kind string, hash [32]byte) string {
	return s.prefix + kind + base64.RawURLEncoding.EncodeToString(hash[:])
}

func (s *Store) record(id [32]byte) string { return s.key("record:", id) }

// call returns a unique number, by which scripts recognize a repeated call.
func (s *Store) call() string { return s.name + "-" + strconv.FormatUint(s.calls.Add(1), 36) }

// moment returns t in microseconds, which Lua numbers represent exactly.
func moment(t time.Time) int64 { return t.UnixMicro() }

// Claim implements [idempotency.Store].
func (s *Store) Claim(ctx context.Context, id [32]byte, c idempotency.Claim) (idempotency.Prior, error) {
	if err := ctx.Err(); err != nil {
		return idempotency.Prior{}, err
	}
	gone := max(moment(c.Expires), moment(c.Until)) // a claim is kept until the end of its lease
	// a duration in milliseconds, independent of the server's clock
	life := max((gone-moment(c.Now)+999)/1000, 1)
	takeOver := 0
	if c.TakeOver {
		takeOver = 1
	}
	keys := []string{s.record(id), s.key("owner:", c.Owner)}
	answer, err := claimScript.Run(ctx, s.client, keys, c.Fingerprint[:], c.Token, s.call(),
		moment(c.Now), moment(c.Until), gone, c.Quota, takeOver, life, c.Members).
		Slice()
	if err != nil {
		return idempotency.Prior{}, fault("claim", err)
	}
	return prior(answer)
}

// prior parses the result of claimScript: the state and what belongs to it.
func prior(answer []any) (idempotency.Prior, error) {
	invalid := errors.New("redisrecords: claim: unexpected result of the script")
	if len(answer) == 0 {
		return idempotency.Prior{}, invalid
	}
	state, ok := answer[0].(int64)
	p := idempotency.Prior{State: idempotency.State(state)}
	text := make([]string, len(answer)) // the first is empty
	for i := range answer[1:] {
		text[i+1], ok = answer[i+1].(string)
		if !ok {
			break
		}
	}
	switch {
	case !ok:
		return idempotency.Prior{}, invalid
	case p.State == idempotency.Finished && len(text) == 2:
		var err error
		p.Record, err = idempotency.DecodeRecord([]byte(text[1]))
		return p, err
	case p.State == idempotency.Mismatch && len(text) == 3:
		copy(p.Fingerprint[:], text[1])
		p.Members = []byte(text[2])
	case len(text) != 1:
		return idempotency.Prior{}, invalid
	}
	return p, nil
}

// Finish implements [idempotency.Store].
func (s *Store) Finish(ctx context.Context, id [32]byte, token string, r idempotency.Record,
	expires time.Time) error {
	return s.settle(ctx, "finish", id, func(owner string) *redis.Cmd {
		return finishScript.Run(ctx, s.client, []string{s.record(id), owner}, token, s.call(),
			moment(expires), idempotency.EncodeRecord(r))
	})
}

// Release implements [idempotency.Store]. It may return ErrLost for a claim that it has released,
// if the response of Redis was lost.
func (s *Store) Release(ctx context.Context, id [32]byte, token string) error {
	return s.settle(ctx, "release", id, func(owner string) *redis.Cmd {
		return releaseScript.Run(ctx, s.client, []string{s.record(id), owner}, token)
	})
}

// settle reads the owner of a claim before it runs a script, because on a cluster a script must
// declare all keys that it changes. All claims of an id have the same owner.
func (s *Store) settle(ctx context.Context, what string, id [32]byte,
	run func(owner string) *redis.Cmd) error {
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

// Purge implements [idempotency.Store]. It does nothing, because Redis removes expired keys.
func (s *Store) Purge(ctx context.Context, _ time.Time, _ int) (int, error) { return 0, ctx.Err() }

func fault(what string, err error) error { return fmt.Errorf("redisrecords: %s: %w", what, err) }

// Check returns an error if the server has no append-only file or an eviction policy, because it
// may then lose records. Call it when the program starts. On a cluster it checks one node. It
// cannot check appendfsync.
func (s *Store) Check(ctx context.Context) error {
	info, err := s.client.Info(ctx, "everything").Result()
	if err != nil {
		return fault("read configuration", err)
	}
	var errs []error
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch {
		case name == "aof_enabled" && value != "1":
			errs = append(errs, errors.New("redisrecords: no append-only file, so a crash loses records"))
		case name == "maxmemory_policy" && value != "noeviction":
			errs = append(
				errs,
				fmt.Errorf("redisrecords: the server evicts records when it is full (maxmemory-policy %s)",
					value),
			)
		}
	}
	return errors.Join(errs...)
}
