package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario sync-standby: PostgreSQL confirms a commit when a standby has it, and the standby is stopped twice. During that no
// write may be acknowledged, however often it is repeated with its key, and reads have to be served. The first time the standby
// is started again, and each write has to be done once. The second time the primary is restarted, which makes writes visible that the
// standby does not have. Then the primary is lost and the standby promoted: it must have each acknowledged write.
//
// The control does not make replays wait for the standby, and has to lose acknowledged writes.

// standbyRun is one run.
type standbyRun struct {
	mode   string
	writes int // in each phase; more than the pool of the node has connections
	reads  int // while the standby is away

	keyNodes
	source           string
	primary, standby *database.Server
	sent             []*keyedWrite
	early            atomic.Int64 // writes that were acknowledged while the standby was away
	failed           atomic.Int64 // reads that failed during that
	visible          int          // effects that reads have shown before the standby had them
	exposed          int          // the same after the crash, when PostgreSQL shows them
	longest          time.Duration
}

// standbyCommit is Options.CommitTimeout of the node.
const standbyCommit = 500 * time.Millisecond

func syncStandby(ctx context.Context, e *env) error {
	var errs [2]error
	for i, mode := range []string{server.Together, server.Hasty} {
		s := &standbyRun{mode: mode, writes: size(e, 24, 200), reads: size(e, 100, 1000)}
		r, err := s.run(ctx, e)
		if err != nil {
			return err
		}
		errs[i] = e.finish(r)
	}
	return errors.Join(errs[:]...)
}

func (s *standbyRun) run(ctx context.Context, e *env) (*result, error) {
	if err := s.open(ctx, e); err != nil {
		return nil, err
	}
	defer s.KillAll()
	before := s.newWrites("before")
	if err := s.persistAll(ctx, e, before); err != nil {
		return nil, err
	}
	if err := s.away(ctx, e, s.newWrites("away"), nil); err != nil {
		return nil, err
	}
	if err := errors.Join(s.standby.Up(ctx), s.synchronous(ctx), s.persistAll(ctx, e, s.sent)); err != nil {
		return nil, err
	}
	// After a crash the primary shows what it has committed without the standby.
	restart := func() error { return s.primary.Crash(ctx) }
	if err := s.away(ctx, e, s.newWrites("lost"), restart); err != nil {
		return nil, err
	}
	if err := s.failOver(ctx, e); err != nil {
		return nil, err
	}
	effects, err := s.checkEffects(ctx, s.settled())
	if err != nil {
		return nil, err
	}
	if err := s.persistAll(ctx, e, s.sent); err != nil {
		return nil, err
	}
	all, err := s.checkEffects(ctx, s.sent)
	if err != nil {
		return nil, err
	}
	return s.result(effects, all), nil
}

// open starts the servers and a node, with a standby that has to confirm each commit.
func (s *standbyRun) open(ctx context.Context, e *env) (err error) {
	if s.source, err = e.newDatabase(ctx, postgres); err != nil {
		return err
	}
	s.primary = e.postgres
	e.postgres = nil // each run has a server of its own, because it loses it
	if s.standby, err = s.primary.Standby(ctx); err != nil {
		return err
	}
	e.closers = append(e.closers, func() { s.standby.Stop() })
	s.keyNodes.Client = client.New(4 * s.writes)
	if err := s.start(ctx, e, s.source); err != nil {
		return err
	}
	if err := s.createShared(ctx); err != nil {
		return err
	}
	err = s.ask(ctx, "ALTER SYSTEM SET synchronous_standby_names = '*'")
	return errors.Join(err, s.ask(ctx, "SELECT pg_reload_conf()"), s.synchronous(ctx))
}

func (s *standbyRun) start(ctx context.Context, e *env, source string) (err error) {
	s.Fleet, err = e.startServer(ctx, 1, nil, "keyed", "-db", source, "-mode", s.mode, "-commit", standbyCommit.String())
	return err
}

// ask runs a statement at the primary.
func (s *standbyRun) ask(ctx context.Context, statement string, into ...any) error {
	pool, err := database.Pool(s.source, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	if into == nil {
		_, err = pool.ExecContext(ctx, statement)
		return err
	}
	return pool.QueryRowContext(ctx, statement).Scan(into...)
}

// synchronous waits until the standby confirms commits.
func (s *standbyRun) synchronous(ctx context.Context) error {
	return s.await(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
}

// await waits until the primary counts more than zero.
func (s *standbyRun) await(ctx context.Context, count string) error {
	for limit := time.Now().Add(5 * time.Minute); ; client.Pause(ctx, 20*time.Millisecond) {
		var n int
		err := s.ask(ctx, count, &n)
		switch {
		case err != nil || n > 0:
			return err
		case ctx.Err() != nil || time.Now().After(limit):
			return errors.Join(fmt.Errorf("0 after five minutes: %s", count), ctx.Err())
		}
	}
}

func (s *standbyRun) newWrites(prefix string) []*keyedWrite {
	first := len(s.sent)
	for i := range s.writes {
		s.sent = append(s.sent, newKeyedWrite(history.WriteKind(i%int(history.Remove)), fmt.Sprintf("%s-%d", prefix, i), i))
	}
	return s.sent[first:]
}

// settled returns the writes that were acknowledged.
func (s *standbyRun) settled() (done []*keyedWrite) {
	for _, w := range s.sent {
		if w.Settled() {
			done = append(done, w)
		}
	}
	return done
}

// persistAll repeats writes until they are acknowledged.
func (s *standbyRun) persistAll(ctx context.Context, e *env, writes []*keyedWrite) error {
	errs := make([]error, len(writes))
	var wg sync.WaitGroup
	for i, w := range writes {
		if !w.Settled() {
			wg.Go(func() { errs[i] = s.persist(ctx, e.random(uint64(i)), w, 1, "") })
		}
	}
	wg.Wait()
	return errors.Join(errs...)
}

// away stops the standby, and repeats writes and reads. If between is not nil, away calls it, and repeats the writes that reads show
// afterwards.
func (s *standbyRun) away(ctx context.Context, e *env, writes []*keyedWrite, between func() error) error {
	if err := s.standby.Down(ctx); err != nil {
		return err
	}
	s.repeat(ctx, writes)
	s.read(ctx)
	early, err := s.shown(ctx, writes)
	if s.visible += len(early); err != nil || between == nil {
		return errors.Join(err, ctx.Err())
	}
	// A commit that waits for the standby is in the log of the primary, which shows it after a crash.
	waiting := "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	if err := errors.Join(s.await(ctx, waiting), between()); err != nil {
		return err
	}
	if early, err = s.shown(ctx, writes); err != nil {
		return err
	}
	s.exposed += len(early)
	if s.mode == server.Hasty { // replays need no standby, so all of these are lost for certain
		err = s.persistAll(ctx, e, early)
	} else {
		s.repeat(ctx, early)
	}
	s.read(ctx)
	return errors.Join(err, ctx.Err())
}

// shown returns the writes whose effects can be read.
func (s *standbyRun) shown(ctx context.Context, writes []*keyedWrite) (shown []*keyedWrite, err error) {
	left, err := s.effects(ctx)
	for _, w := range writes {
		if len(left[w.Key]) > 0 {
			shown = append(shown, w)
		}
	}
	return shown, err
}

// repeat sends each write four times, with pauses, until it is acknowledged. The first commits end after standbyCommit. Later
// attempts meet a commit that waits, a node that begins no transactions, or the record.
func (s *standbyRun) repeat(ctx context.Context, writes []*keyedWrite) {
	var wg sync.WaitGroup
	for _, w := range writes {
		wg.Go(func() {
			for range 4 {
				if s.sendKeyed(ctx, s.URL(0), w, "").Acknowledged() {
					s.early.Add(1)
					return
				}
				client.Pause(ctx, 200*time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// read reads while commits wait.
func (s *standbyRun) read(ctx context.Context) {
	for i := range s.reads {
		a := s.Client.Send(ctx, http.MethodGet, s.URL(0)+fmt.Sprint("/accounts/", i%sharedItems), "")
		if s.longest = max(s.longest, a.Ended.Sub(a.Began)); !a.OK() {
			s.failed.Add(1)
		}
	}
}

// failOver kills the primary, promotes the standby, and starts a node on it.
func (s *standbyRun) failOver(ctx context.Context, e *env) error {
	s.KillAll()
	if err := errors.Join(s.primary.Down(ctx), s.standby.Up(ctx), s.standby.Promote(ctx)); err != nil {
		return err
	}
	return s.start(ctx, e, s.standby.At(s.source, s.primary))
}

func (s *standbyRun) result(acknowledged, all *history.Effects) *result {
	r := &result{Violations: &acknowledged.Violations}
	r.title = "a node on PostgreSQL with a synchronous standby"
	r.line("%d writes; while the standby was away, %d were acknowledged, %d visible, and %d reads failed (longest %v)", len(s.sent),
		s.early.Load(), s.visible, s.failed.Load(), rounded(s.longest))
	r.line("after a crash of the primary %d more were visible, and repeated", s.exposed)
	r.line("on the promoted standby: %v", acknowledged)
	r.line("after all were repeated: %v", all)
	if s.exposed == 0 {
		r.fail(errors.New("the primary has no write that the standby does not have, so this check cannot fail"))
	}
	if s.mode == server.Hasty {
		r.title = "control: replays do not wait for the standby"
		r.control = []history.Kind{history.Lost}
		return r
	}
	if s.early.Load() > 0 || s.visible > 0 || s.failed.Load() > 0 {
		r.fail(fmt.Errorf("while the standby was away, %d writes were acknowledged, %d visible, and %d reads failed", s.early.Load(),
			s.visible, s.failed.Load()))
	}
	r.fail(acknowledged.Check(history.ExactlyOnce))
	r.fail(all.Check(history.ExactlyOnce))
	r.fail(s.Check())
	return r
}
