package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
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

// redisRun is one run.
type redisRun struct {
	mode   string
	writes int // of each phase

	keyNodes
	redis   *redis.Client
	source  string // of SQLite, which has the items
	sent    []*keyedWrite
	refused atomic.Int64 // new writes that were refused while the memory was full
	wrong   history.Violations
}

func redisFull(ctx context.Context, e *env) error {
	for _, mode := range []string{server.Redis, server.LateRedis} {
		r, err := (&redisRun{mode: mode, writes: size(e, 40, 1000)}).run(ctx, e)
		if err != nil {
			return err
		}
		if err := e.finish(r); err != nil {
			return err
		}
	}
	return nil
}

func (s *redisRun) run(ctx context.Context, e *env) (*result, error) {
	if err := s.open(ctx, e); err != nil {
		return nil, err
	}
	defer s.redis.Close()
	defer s.KillAll()
	early, begun, late := s.newWrites("early"), s.newWrites("begun"), s.newWrites("late")
	s.each(early, func(w *keyedWrite) { s.expect(w, s.sendKeyed(ctx, s.URL(0), w, ""), false) })
	if err := s.fillDuring(ctx, begun); err != nil {
		return nil, err
	}
	s.each(append(early[:len(early):len(early)], begun...), func(w *keyedWrite) {
		s.expect(w, s.sendKeyed(ctx, s.URL(1), w, ""), true)
	})
	for i := range 3 {
		s.each(late, func(w *keyedWrite) { s.expectRefusal(w, s.sendKeyed(ctx, s.URL(i%2), w, "")) })
	}
	left, err := s.effects(ctx)
	if err != nil {
		return nil, err
	}
	s.checkRefused(late, left)
	if err := s.free(ctx); err != nil {
		return nil, err
	}
	s.each(late, func(w *keyedWrite) { s.expect(w, s.sendKeyed(ctx, s.URL(0), w, ""), false) })
	s.each(s.sent, func(w *keyedWrite) { s.expect(w, s.sendKeyed(ctx, s.URL(1), w, ""), true) })
	effects, err := s.checkEffects(ctx, s.sent)
	if err != nil {
		return nil, err
	}
	return s.result(effects), ctx.Err()
}

// open starts Redis and two nodes on a file of SQLite.
func (s *redisRun) open(ctx context.Context, e *env) error {
	script, err := filepath.Abs("../redis")
	if err != nil {
		return err
	}
	records, err := database.StartServer(ctx, script)
	if err != nil {
		return err
	}
	e.closers = append(e.closers, func() { records.Stop() })
	opts, err := redis.ParseURL(records.URL())
	if err != nil {
		return err
	}
	s.redis = redis.NewClient(opts)
	if s.source, err = e.newDatabase(ctx, sqlite); err != nil {
		return err
	}
	s.Client = client.New(s.writes)
	s.Fleet, err = e.startServer(ctx, 2, nil, "keyed", "-db", s.source, "-mode", s.mode, "-redis", records.URL())
	if err != nil {
		return err
	}
	return s.createShared(ctx)
}

func (s *redisRun) newWrites(prefix string) []*keyedWrite {
	first := len(s.sent)
	for i := range s.writes {
		s.sent = append(s.sent, newKeyedWrite(history.WriteKind(i%int(history.Remove)), fmt.Sprintf("%s-%d", prefix, i), i))
	}
	return s.sent[first:]
}

// each calls do for all writes concurrently.
func (s *redisRun) each(writes []*keyedWrite, do func(*keyedWrite)) {
	var wg sync.WaitGroup
	for _, w := range writes {
		wg.Go(func() { do(w) })
	}
	wg.Wait()
}

// expect adds a violation unless the write was done, or replayed.
func (s *redisRun) expect(w *keyedWrite, a client.Answer, replayed bool) {
	if !a.OK() || a.Replayed() != replayed {
		s.wrong.Add(history.Unexpected, 1, "%s, replayed %v: %v", w.Key, replayed, a.Unexpected(w.method+" "+w.path))
	}
}

// expectRefusal adds a violation unless the write was refused as one that can be repeated.
func (s *redisRun) expectRefusal(w *keyedWrite, a client.Answer) {
	if a.Status != http.StatusServiceUnavailable || !a.RetryAfter() || a.Problem("outcome-unknown") {
		s.wrong.Add(history.Unexpected, 1, "%s, with full memory: %v", w.Key, a.Unexpected(w.method+" "+w.path))
		return
	}
	s.refused.Add(1)
}

// checkRefused adds a violation for each refused write that has an effect.
func (s *redisRun) checkRefused(writes []*keyedWrite, left map[string][]string) {
	for _, w := range writes {
		if len(left[w.Key]) > 0 {
			s.wrong.Add(history.Unexpected, 1, "%s was refused and done", w.Key)
		}
	}
}

// fillDuring fills Redis while writes are in progress. They have claimed their keys, and wait for a lock of SQLite.
func (s *redisRun) fillDuring(ctx context.Context, writes []*keyedWrite) error {
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
		s.each(writes, func(w *keyedWrite) { s.expect(w, s.sendKeyed(ctx, s.URL(0), w, ""), false) })
	}()
	for n := before; err == nil && n < before+len(writes); n, err = s.claims(ctx) {
		select {
		case <-done:
			return fmt.Errorf("the writes ended before all had claimed their keys: %w", s.wrong.Err())
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
func (s *redisRun) claims(ctx context.Context) (n int, err error) {
	keys := s.redis.Scan(ctx, 0, "once:record:*", 1000).Iterator()
	for keys.Next(ctx) {
		n++
	}
	return n, errors.Join(keys.Err(), ctx.Err())
}

// fill limits the memory of Redis to 8 MiB more than it uses, and writes until it refuses. Then it lowers the limit by 1 MiB,
// because Redis also counts the buffers of connections, which it frees.
func (s *redisRun) fill(ctx context.Context) error {
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
func (s *redisRun) free(ctx context.Context) error {
	keys := s.redis.Scan(ctx, 0, "filler:*", 1000).Iterator()
	for keys.Next(ctx) {
		if err := s.redis.Del(ctx, keys.Val()).Err(); err != nil {
			return err
		}
	}
	return keys.Err()
}

func (s *redisRun) limit(ctx context.Context, bytes int64) error {
	return s.redis.ConfigSet(ctx, "maxmemory", fmt.Sprint(bytes)).Err()
}

// used returns the memory that Redis uses.
func (s *redisRun) used(ctx context.Context) (n int64, err error) {
	info, err := s.redis.Info(ctx, "memory").Result()
	for lines := bufio.NewScanner(strings.NewReader(info)); err == nil && lines.Scan(); {
		if text, ok := strings.CutPrefix(lines.Text(), "used_memory:"); ok {
			_, err = fmt.Sscan(text, &n)
		}
	}
	return n, err
}

func (s *redisRun) result(effects *history.Effects) *result {
	conflicts := s.Client.Writes(http.StatusConflict, http.StatusConflict)
	s.wrong.Merge(&effects.Violations)
	r := &result{Violations: &s.wrong, title: "two nodes with keys in Redis, whose memory is full"}
	r.line("%d writes: while the memory was full, %d requests were refused; of all requests %d were 409", len(s.sent),
		s.refused.Load(), conflicts)
	r.line("%v", effects)
	if s.mode == server.LateRedis {
		r.title = "control: the full memory refuses the finish instead of the claim"
		r.control = []history.Kind{history.Unexpected}
		return r
	}
	if conflicts > 0 {
		r.fail(fmt.Errorf("%d responses of status 409", conflicts))
	}
	r.fail(effects.Check(history.ExactlyOnce))
	r.fail(s.Check())
	return r
}
