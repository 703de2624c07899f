package redisrecords_test

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/redisrecords"
)

// within runs fn inside an operation, as a Guard does.
func within(t *testing.T, key string, fn func(ctx context.Context)) {
	t.Helper()
	keeper := idempotency.New(idempotency.NewMemory(nil), nil)
	_, _, err := keeper.Do(t.Context(), idempotency.Operation{Key: key}, idempotency.AtMostOnce, nil,
		func(ctx context.Context) (idempotency.Record, error) {
			fn(ctx)
			return idempotency.Record{}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
}

// TestEffect: an effect of an operation occurs once, however often it runs.
func TestEffect(t *testing.T) {
	t.Parallel()
	c, prefix := client(t)
	store := redisrecords.New(c, &redisrecords.Options{Prefix: prefix})
	n := prefix + "n"
	add := store.Effect("add", "return redis.call('INCRBY', KEYS[1], ARGV[1])")
	other := store.Effect("other", "redis.call('INCRBY', KEYS[1], ARGV[1]) return 'text ' .. #KEYS .. #ARGV")
	silent := store.Effect("silent", "redis.call('INCR', KEYS[1])")
	refuse := store.Effect("refuse",
		"if ARGV[1] == 'no' then return redis.error_reply('NO') end return redis.call('INCR', KEYS[1])")
	run := func(ctx context.Context, e *redisrecords.Effect, arg any) string {
		result, err := e.Run(ctx, []string{n}, arg)
		if err != nil {
			return "error"
		}
		return result
	}
	var got []string
	for range 2 {
		within(t, "first", func(ctx context.Context) {
			got = append(got, run(ctx, add, 5), run(ctx, add, 6), run(ctx, other, 1), run(ctx, silent, 0),
				run(ctx, refuse, "no"), run(ctx, refuse, ""), run(ctx, refuse, "no"))
		})
	}
	within(t, "second", func(ctx context.Context) { got = append(got, run(ctx, add, 5)) })
	got = append(got, run(t.Context(), add, 5), run(t.Context(), add, 5), run(t.Context(), refuse, "no"))
	want := []string{
		"5",
		"5",
		"text 11",
		"",
		"error",
		"8",
		"8",
		"5",
		"5",
		"text 11",
		"",
		"8",
		"8",
		"8",
		"13",
		"18",
		"23",
		"error",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	keys, err := c.Keys(t.Context(), prefix+"effect:*").Result()
	if err != nil || len(keys) != 5 {
		t.Errorf("%d results are kept, %v, want 5", len(keys), err)
	}
	for _, key := range keys {
		if life := c.PTTL(t.Context(), key).Val(); life < 71*time.Hour || life > 72*time.Hour {
			t.Errorf("a result is kept for %v, want 72h", life)
		}
	}
}

func TestEffectPanics(t *testing.T) {
	t.Parallel()
	store := redisrecords.New(redis.NewClient(&redis.Options{}), nil)
	for _, args := range [][2]string{{"", "return 1"}, {"x", ""}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("Effect(%q, %q) does not panic", args[0], args[1])
				}
			}()
			store.Effect(args[0], args[1])
		}()
	}
}

// TestEffectWithLostResponse: the client repeats a call with a lost response. The plain script
// counts twice, which shows that the test detects that.
func TestEffectWithLostResponse(t *testing.T) {
	t.Parallel()
	const script = "return tostring(redis.call('INCR', KEYS[1]))"
	c, w, prefix := lossyClient(t)
	store := redisrecords.New(c, &redisrecords.Options{Prefix: prefix})
	add := store.Effect("add", script)
	plain := redis.NewScript(script)
	twice := func(name string, run func(key string) (string, error)) string {
		if _, err := run(prefix + "warm"); err != nil { // loads the script into the server
			t.Fatal(err)
		}
		w.loseNext(1)
		result, err := run(prefix + name)
		if err != nil || w.lost() {
			t.Errorf("%s: %v, or nothing was lost", name, err)
		}
		return result
	}
	got := map[string]string{}
	got["plain"] = twice("plain",
		func(key string) (string, error) { return plain.Run(t.Context(), c, []string{key}).Text() })
	got["effect"] = twice("effect", func(key string) (result string, err error) {
		within(t, key, func(ctx context.Context) { result, err = add.Run(ctx, []string{key}) })
		return result, err
	})
	if diff := cmp.Diff(map[string]string{"plain": "2", "effect": "1"}, got); diff != "" {
		t.Errorf("after one call (-want +got):\n%s", diff)
	}
}

// TestRule142RedisIsKilled kills the server with SIGKILL repeatedly while clients run effects with
// keys, and repeat each until it succeeds. No acknowledged effect may be lost, and none may occur
// twice.
func TestRule142RedisIsKilled(t *testing.T) {
	t.Parallel()
	const clients, each, kills = 8, 40, 4
	s, err := start()
	unless(t, err)
	defer s.stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	c := redis.NewClient(s.options())
	defer c.Close()
	store := redisrecords.New(c, nil)
	add := store.Effect("add", "redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[2])")
	keeper := idempotency.New(store, &idempotency.Options{AtLeastOnce: true, Lease: 200 * time.Millisecond})
	var answers sync.Map // by key
	ask := func(key string) {
		for ctx.Err() == nil {
			rec, _, err := keeper.Do(ctx, idempotency.Operation{Key: key}, idempotency.AtMostOnce, nil,
				func(ctx context.Context) (idempotency.Record, error) {
					id, err := add.Run(ctx, []string{"total", "of " + key})
					return idempotency.Record{Status: 201, ID: id}, err
				})
			if err == nil {
				answers.Store(key, rec.ID)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
	var wg sync.WaitGroup
	done := make(chan struct{}, clients*each)
	for n := range clients {
		wg.Go(func() {
			for i := range each {
				ask(fmt.Sprint(n, "-", i))
				done <- struct{}{}
			}
		})
	}
	for range kills {
		for range clients * each / (kills + 2) { // leaves work for the next round
			<-done
		}
		s.kill()
		if err := s.run(); err != nil {
			t.Fatal(err)
		}
	}
	wg.Wait()
	count := 0
	answers.Range(func(key, id any) bool {
		count++
		if n := c.Get(ctx, "of "+key.(string)).Val(); n != "1" || id != "1" {
			t.Errorf("%s was done %q times, and answered %q", key, n, id)
		}
		return true
	})
	if total := c.Get(ctx, "total").Val(); count != clients*each || total != strconv.Itoa(clients*each) {
		t.Errorf("%d were answered, and %s done, of %d", count, total, clients*each)
	}
}
