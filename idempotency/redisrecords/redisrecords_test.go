package redisrecords_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/idempotencytest"
	"github.com/stoa-go/stoa/idempotency/redisrecords"
	"github.com/stoa-go/stoa/resource/problem"
)

func TestKit(t *testing.T) {
	t.Parallel()
	idempotencytest.Run(t, func(t *testing.T) idempotency.Store {
		c, prefix := client(t)
		return redisrecords.New(c, &redisrecords.Options{Prefix: prefix})
	}, &idempotencytest.Options{Forgets: true})
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{"nowhere:1"}})
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": "nowhere:1"}})
	const tag = ` needs a hash tag for a cluster, such as {once}:`
	tests := []struct {
		name   string
		client redis.UniversalClient
		prefix string
		want   any
	}{
		{"no client", nil, "", "redisrecords: New needs a client, and client is nil"},
		{"a cluster", cluster, "", `redisrecords: Options.Prefix "once:"` + tag},
		{"a ring", ring, "", `redisrecords: Options.Prefix "once:"` + tag},
		{
			"an empty tag",
			cluster,
			"{}once",
			`redisrecords: Options.Prefix "{}once"` + tag,
		},
		{
			"a tag that does not end",
			cluster,
			"{once:",
			`redisrecords: Options.Prefix "{once:"` + tag,
		},
		{"a cluster with a tag", cluster, "{once}:", nil},
		{"one server", redis.NewClient(&redis.Options{}), "", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if diff := cmp.Diff(tt.want, recover()); diff != "" {
					t.Errorf("the panic (-want +got):\n%s", diff)
				}
			}()
			redisrecords.New(tt.client, &redisrecords.Options{Prefix: tt.prefix})
		})
	}
}

// claimAs returns a claim with a token, an expiry of an hour and a lease of a minute.
func claimAs(token string) idempotency.Claim {
	now := time.Now()
	return idempotency.Claim{
		Token:   token,
		Now:     now,
		Until:   now.Add(time.Minute),
		Expires: now.Add(time.Hour),
		Quota:   2,
	}
}

// TestNeverExactlyOnce: a Store is not a Transactor.
func TestNeverExactlyOnce(t *testing.T) {
	t.Parallel()
	var store idempotency.Store = redisrecords.New(redis.NewClient(&redis.Options{}), nil)
	if _, ok := store.(idempotency.Transactor); ok {
		t.Error("a Store is a Transactor")
	}
}

// TestLostResponses loses the response of each step, which go-redis then repeats; each step must
// recognize its repetition.
func TestLostResponses(t *testing.T) {
	t.Parallel()
	c, w, prefix := lossyClient(t)
	store := redisrecords.New(c, &redisrecords.Options{Prefix: prefix})
	id := func(n byte) [32]byte { return [32]byte{n} }
	claim := func(n byte, token string) idempotency.State {
		t.Helper()
		prior, err := store.Claim(t.Context(), id(n), claimAs(token))
		if err != nil {
			t.Fatal(err)
		}
		return prior.State
	}
	// loads the script into the server
	if _, err := store.Claim(t.Context(), id(0), claimAs("t")); err != nil {
		t.Fatal(err)
	}
	w.loseNext(1)
	if got := claim(1, "t1"); got != idempotency.Fresh {
		t.Errorf("a claim with a lost response is %v, want Fresh", got)
	}
	if got := claim(1, "t1"); got != idempotency.InFlight {
		t.Errorf("another call with its token is %v, want InFlight", got)
	}
	finish := func(status int) error {
		return store.Finish(t.Context(), id(1), "t1", idempotency.Record{Status: status},
			time.Now().Add(time.Hour))
	}
	// as above
	if err := store.Finish(t.Context(), id(0), "t", idempotency.Record{},
		time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.loseNext(2) // for the owner and for the script
	if err := finish(201); err != nil {
		t.Errorf("Finish with lost responses: %v", err)
	}
	if err := finish(202); !errors.Is(err, idempotency.ErrLost) {
		t.Errorf("another Finish: %v, want ErrLost", err)
	}
	if prior, err := store.Claim(t.Context(), id(1), claimAs("t2")); err != nil ||
		prior.Record.Status != 201 {
		t.Errorf("the record is %+v, %v, want 201", prior, err)
	}
	if w.lost() {
		t.Error("no answer was lost")
	}
}

// TestRecordsExpire: the server removes all keys at their expiry.
func TestRecordsExpire(t *testing.T) {
	t.Parallel()
	c, prefix := client(t)
	store := redisrecords.New(c, &redisrecords.Options{Prefix: prefix})
	claim := claimAs("t")
	if _, err := store.Claim(t.Context(), [32]byte{1}, claim); err != nil {
		t.Fatal(err)
	}
	check := func(when string, least, most time.Duration) {
		t.Helper()
		keys, err := c.Keys(t.Context(), prefix+"*").Result()
		if err != nil || len(keys) != 2 {
			t.Fatalf("%s there are the keys %q, %v, want a record and the list of its owner", when, keys, err)
		}
		for _, key := range keys {
			if life := c.PTTL(t.Context(), key).Val(); life < least || life > most {
				t.Errorf("%s %s lasts for %v, want %v to %v", when, key, life, least, most)
			}
		}
	}
	check("claimed", 30*time.Minute, time.Hour)
	if err := store.Finish(t.Context(), [32]byte{1}, "t", idempotency.Record{Status: 201},
		claim.Now.Add(3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	check("finished", 150*time.Minute, 3*time.Hour)
	claim.Expires = claim.Now.Add(-time.Hour)
	claim.Until = claim.Now
	if prior, err := store.Claim(t.Context(), [32]byte{2}, claim); err != nil ||
		prior.State != idempotency.Fresh {
		t.Errorf("a claim that is over: %v, %v, want Fresh", prior.State, err)
	}
}

// TestServerDown: without Redis no operation runs.
func TestServerDown(t *testing.T) {
	t.Parallel()
	c := redis.NewClient(
		&redis.Options{Network: "unix", Addr: t.TempDir() + "/nobody", MaxRetries: -1, DialerRetries: 1},
	)
	defer c.Close()
	keeper := idempotency.New(redisrecords.New(c, nil), nil)
	_, _, err := keeper.Do(t.Context(), idempotency.Operation{Key: "k"}, idempotency.AtMostOnce, nil,
		func(context.Context) (idempotency.Record, error) {
			t.Error("it was done")
			return idempotency.Record{}, nil
		})
	var refused *problem.Details
	if !errors.As(err, &refused) || refused.Kind != problem.Unavailable {
		t.Errorf("the error is %v, want %s", err, problem.Unavailable)
	}
}

// TestRule142FullMemory: when the memory of its own server is full, no operation begins, and those that have
// begun are finished or released.
func TestRule142FullMemory(t *testing.T) {
	t.Parallel()
	s, err := start()
	unless(t, err)
	defer s.stop()
	c := redis.NewClient(s.options())
	defer c.Close()
	store := redisrecords.New(c, nil)
	limit := func(bytes string) {
		t.Helper()
		if err := c.ConfigSet(t.Context(), "maxmemory", bytes).Err(); err != nil {
			t.Fatal(err)
		}
	}
	// do returns "done", "replayed" or the error. Each guard is new, because a guard remembers records.
	do := func(key string, fn func() error) string {
		guard := idempotency.New(store, nil)
		_, replayed, err := guard.Do(t.Context(), idempotency.Operation{Key: key}, idempotency.AtMostOnce, nil,
			func(context.Context) (idempotency.Record, error) { return idempotency.Record{Status: 201}, fn() })
		var refused *problem.Details
		switch {
		case errors.As(err, &refused):
			return string(refused.Kind) + ", retry after " + refused.Header.Get("Retry-After")
		case err != nil:
			return err.Error()
		case replayed:
			return "replayed"
		}
		return "done"
	}
	nothing := func() error { return nil }
	fill := func() error { limit("1"); return nil }
	fillAndFail := func() error { limit("1"); return fmt.Errorf("no: %w", idempotency.ErrNothingDone) }
	var got []string
	note := func(key string, fn func() error) { got = append(got, key+": "+do(key, fn)) }
	note("before", nothing)
	note("finished", fill)
	limit("0")
	note("released", fillAndFail)
	for _, key := range []string{"before", "finished", "released", "new"} {
		note(key, func() error { t.Error("done while full: " + key); return nil })
	}
	limit("0")
	for _, key := range []string{"finished", "released", "new"} {
		note(key, nothing)
	}
	want := []string{
		"before: done", "finished: done", "released: no: idempotency: operation had no effect",
		// full
		"before: replayed", "finished: replayed",
		"released: unavailable, retry after 1", "new: unavailable, retry after 1",
		// not full
		"finished: replayed", "released: done", "new: done",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestCheck changes the configuration of its own server.
func TestCheck(t *testing.T) {
	t.Parallel()
	s, err := start()
	unless(t, err)
	defer s.stop()
	c := redis.NewClient(s.options())
	defer c.Close()
	store := redisrecords.New(c, nil)
	if err := store.Check(t.Context()); err != nil {
		t.Errorf("of a server that keeps everything: %v", err)
	}
	c.ConfigSet(t.Context(), "appendonly", "no")
	c.ConfigSet(t.Context(), "maxmemory-policy", "allkeys-lru")
	err = store.Check(t.Context())
	for _, want := range []string{"append-only", "allkeys-lru"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("of one that does not: %v, want %s in it", err, want)
		}
	}
	s.kill()
	if err := store.Check(t.Context()); err == nil {
		t.Error("of one that is not there: no error")
	}
}
