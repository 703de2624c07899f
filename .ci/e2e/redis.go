package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario redis-full: two nodes keep idempotency keys in Redis, whose memory is filled up to its limit. Then writes with
// earlier keys have to be replayed, writes in progress to be finished and replayed, and new writes to be refused without effect.
// When memory is freed, each write has to be done once. No repeat may be 409.
//
// The control refuses the finish instead of the claim: writes are done, and their repeats are 409.

// fullRedis is a trial with keys in Redis.
type fullRedis struct {
	*keyed
	redis   *redis.Client
	refused atomic.Int64 // new writes that were refused while the memory was full
}

func redisFull(ctx context.Context, e *env) error {
	trials := make([]*trial, 2)
	for i, mode := range []string{server.Redis, server.LateRedis} {
		records, err := e.startDatabase(ctx, "../redis")
		if err != nil {
			return err
		}
		opts, err := redis.ParseURL(records.URL())
		if err != nil {
			return err
		}
		s := &fullRedis{redis: redis.NewClient(opts)}
		s.keyed = newKeyed(sqlite, mode, size(e, 40, 1000), "-redis", records.URL())
		s.title, s.nodes, s.do = "two nodes with keys in Redis, whose memory is full", 2, inOrder(s.steps()...)
		if mode == server.LateRedis {
			s.title = "control: the full memory refuses the finish instead of the claim"
			s.control = []history.Kind{history.Unexpected}
		}
		trials[i] = &s.trial
	}
	return e.try(ctx, trials...)
}

func (s *fullRedis) steps() []step {
	n := s.connections
	early, begun, late := s.newWrites("early", n), s.newWrites("begun", n), s.newWrites("late", n)
	return []step{
		{"lists and accounts are created", s.createShared},
		{"writes are done", s.sending(0, early, s.expectDone)},
		{"the memory becomes full during writes", func(ctx context.Context) error { return s.fillDuring(ctx, begun) }},
		{"writes that are done are replayed", s.sending(1, append(early, begun...), s.expectReplayed)},
		{"new writes are refused", s.sending(0, late, s.expectRefusal)},
		{"at the other node, too", s.sending(1, late, s.expectRefusal)},
		{"and again", s.sending(0, late, s.expectRefusal)},
		{"refused writes have no effect", func(ctx context.Context) error {
			left, err := s.effects(ctx)
			s.checkRefused(late, left)
			return err
		}},
		{"memory is freed", s.free},
		{"refused writes are done", s.sending(0, late, s.expectDone)},
		{"all writes are replayed", s.sending(1, s.sent, s.expectReplayed)},
		{"effects are counted", func(ctx context.Context) error {
			effects, err := s.checkEffects(ctx, s.sent)
			if err != nil {
				return err
			}
			s.judge(effects)
			return s.redis.Close()
		}},
	}
}

// sending returns a step that sends writes to a node at once, and checks each response.
func (s *fullRedis) sending(
	node int, writes []*keyedWrite, check func(w *keyedWrite, a client.Answer),
) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		return concurrently(len(writes), func(i int) error {
			check(writes[i], s.sendKeyed(ctx, s.URL(node), writes[i], ""))
			return nil
		})
	}
}

func (s *fullRedis) expectDone(w *keyedWrite, a client.Answer)     { s.expect(w, a, false) }
func (s *fullRedis) expectReplayed(w *keyedWrite, a client.Answer) { s.expect(w, a, true) }

// expect adds a violation unless the write was done, or replayed.
func (s *fullRedis) expect(w *keyedWrite, a client.Answer, replayed bool) {
	if !a.OK() || a.Replayed() != replayed {
		s.Add(history.Unexpected, 1, "%s, replayed %v: %v", w.Key, replayed, a.Unexpected(w.String()))
	}
}

// expectRefusal adds a violation unless the write was refused as one that can be repeated.
func (s *fullRedis) expectRefusal(w *keyedWrite, a client.Answer) {
	if a.Status != http.StatusServiceUnavailable || !a.RetryAfter() || a.Problem("outcome-unknown") {
		s.Add(history.Unexpected, 1, "%s, with full memory: %v", w.Key, a.Unexpected(w.String()))
		return
	}
	s.refused.Add(1)
}

// checkRefused adds a violation for each refused write that has an effect.
func (s *fullRedis) checkRefused(writes []*keyedWrite, left map[string][]string) {
	for _, w := range writes {
		if len(left[w.Key]) > 0 {
			s.Add(history.Unexpected, 1, "%s was refused and done", w.Key)
		}
	}
}

// fillDuring fills Redis while writes are in progress. They have claimed their keys, and wait for a lock of SQLite.
func (s *fullRedis) fillDuring(ctx context.Context, writes []*keyedWrite) error {
	pool, err := database.Pool(s.source, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	lock, err := pool.Conn(ctx) // an idle connection of the pool would be closed
	if err != nil {
		return err
	}
	defer lock.Close()
	if _, err := lock.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	before, err := s.claims(ctx)
	if err != nil {
		return err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.sending(0, writes, s.expectDone)(ctx)
	}()
	for n := before; err == nil && n < before+len(writes); n, err = s.claims(ctx) {
		select {
		case <-done:
			return fmt.Errorf("the writes ended before all had claimed their keys: %w", s.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
	if err == nil {
		err = s.fill(ctx)
	}
	_, unlocked := lock.ExecContext(ctx, "ROLLBACK")
	<-done
	return errors.Join(err, unlocked)
}

// claims returns the number of records in Redis.
func (s *fullRedis) claims(ctx context.Context) (n int, err error) {
	keys := s.redis.Scan(ctx, 0, "once:record:*", 1000).Iterator()
	for keys.Next(ctx) {
		n++
	}
	return n, errors.Join(keys.Err(), ctx.Err())
}

// fill limits the memory of Redis to 8 MiB more than it uses, and writes until it refuses. Then it lowers the limit by 1 MiB,
// because Redis also counts the buffers of connections, which it frees.
func (s *fullRedis) fill(ctx context.Context) error {
	used, err := s.used(ctx)
	if err != nil {
		return err
	}
	limit := used + 8<<20
	if err := s.limit(ctx, limit); err != nil {
		return err
	}
	for i := range 1000 {
		err := s.redis.Set(ctx, fmt.Sprint("filler:", i), strings.Repeat("x", 64<<10), 0).Err()
		if err != nil && strings.HasPrefix(err.Error(), "OOM") {
			return s.limit(ctx, limit-1<<20)
		}
		if err != nil {
			return err
		}
	}
	return fmt.Errorf("redis: with %d bytes and a limit of %d accepted 1000 values of 64 KiB", used, limit)
}

// free deletes what fill has written.
func (s *fullRedis) free(ctx context.Context) error {
	keys := s.redis.Scan(ctx, 0, "filler:*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := s.redis.Del(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}

func (s *fullRedis) limit(ctx context.Context, bytes int64) error {
	return s.redis.ConfigSet(ctx, "maxmemory", fmt.Sprint(bytes)).Err()
}

// used returns the memory that Redis uses.
func (s *fullRedis) used(ctx context.Context) (n int64, err error) {
	info, err := s.redis.Info(ctx, "memory").Result()
	for lines := bufio.NewScanner(strings.NewReader(info)); err == nil && lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "used_memory:"); ok {
			_, err = fmt.Sscan(text, &n)
		}
	}
	return n, err
}

// judge checks the effects of all writes, after all were done and replayed.
func (s *fullRedis) judge(effects *history.Effects) {
	conflicts := s.Writes(http.StatusConflict, http.StatusConflict)
	s.line("%d writes: while the memory was full, %d requests were refused; of all requests %d were 409", len(s.sent),
		s.refused.Load(), conflicts)
	s.failIf(conflicts > 0 && s.control == nil, "%d responses of status 409", conflicts)
	s.checkAll(effects, history.ExactlyOnce)
}
