package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
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

// standbyLoss is a trial on PostgreSQL with a standby.
type standbyLoss struct {
	*keyed
	writes int // in each phase; more than the pool of the node has connections
	reads  int // while the standby is away

	primary, standby *database.Server
	early            atomic.Int64 // writes that were acknowledged while the standby was away
	failed           int          // reads that failed during that
	visible          int          // effects that reads have shown before the standby had them
	exposed          int          // the same after the crash, when PostgreSQL shows them
	longest          time.Duration
}

// standbyCommit is Options.CommitTimeout of the node.
const standbyCommit = 500 * time.Millisecond

func syncStandby(ctx context.Context, e *env) error {
	control := newStandbyLoss(e, server.Hasty)
	control.title, control.control = "control: replays do not wait for the standby", []history.Kind{history.Lost}
	return e.try(ctx, &newStandbyLoss(e, server.Together).trial, &control.trial)
}

func newStandbyLoss(e *env, mode string) *standbyLoss {
	s := &standbyLoss{writes: size(e, 24, 200), reads: size(e, 100, 1000)}
	s.keyed = newKeyed(postgres, mode, 4*s.writes, "-commit", standbyCommit.String())
	s.title, s.nodes, s.do = "a node on PostgreSQL with a synchronous standby", 1, inOrder(s.steps()...)
	return s
}

func (s *standbyLoss) steps() []step {
	before, away, lost := s.newWrites("before", s.writes), s.newWrites("away", s.writes), s.newWrites("lost", s.writes)
	var acknowledged *history.Effects
	return []step{
		{"the standby confirms commits", s.connect},
		{"writes are done", func(ctx context.Context) error { return s.persistAll(ctx, before) }},
		{"the standby is away", func(ctx context.Context) error { return s.away(ctx, away, false) }},
		{"the standby is back", func(ctx context.Context) error {
			return errors.Join(s.standby.Up(ctx), s.synchronous(ctx), s.persistAll(ctx, away))
		}},
		{"the standby is away, and the primary crashes", func(ctx context.Context) error { return s.away(ctx, lost, true) }},
		{"the primary is lost", s.failOver},
		{"acknowledged writes are counted", func(ctx context.Context) (err error) {
			acknowledged, err = s.checkEffects(ctx, s.settled())
			return err
		}},
		{"all writes are repeated", func(ctx context.Context) error { return s.persistAll(ctx, s.sent) }},
		{"all writes are counted", func(ctx context.Context) error {
			all, err := s.checkEffects(ctx, s.sent)
			if err == nil {
				s.judge(acknowledged, all)
			}
			return err
		}},
	}
}

// connect starts a standby that has to confirm each commit.
func (s *standbyLoss) connect(ctx context.Context) (err error) {
	s.primary = s.postgres
	s.postgres = nil // each trial has a server of its own, because it loses it
	if s.standby, err = s.primary.Standby(ctx); err != nil {
		return err
	}
	s.closers = append(s.closers, func() { s.standby.Stop() })
	if err := s.createShared(ctx); err != nil {
		return err
	}
	return errors.Join(database.Ask(ctx, s.source, "ALTER SYSTEM SET synchronous_standby_names = '*'"),
		database.Ask(ctx, s.source, "SELECT pg_reload_conf()"), s.synchronous(ctx))
}

// synchronous waits until the standby confirms commits.
func (s *standbyLoss) synchronous(ctx context.Context) error {
	return s.await(ctx, "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'")
}

// await waits until the primary counts more than zero.
func (s *standbyLoss) await(ctx context.Context, count string) (err error) {
	awaited := client.Await(ctx, count, 20*time.Millisecond, func() bool {
		var n int
		err = database.Ask(ctx, s.source, count, &n)
		return err != nil || n > 0
	})
	return errors.Join(awaited, err)
}

// settled returns the writes that were acknowledged.
func (s *standbyLoss) settled() (done []*keyedWrite) {
	for _, w := range s.sent {
		if w.Settled() {
			done = append(done, w)
		}
	}
	return done
}

// persistAll repeats writes until they are acknowledged.
func (s *standbyLoss) persistAll(ctx context.Context, writes []*keyedWrite) error {
	return concurrently(len(writes), func(i int) error {
		if writes[i].Settled() {
			return nil
		}
		return s.persist(ctx, s.random(uint64(i)), writes[i], 1, "")
	})
}

// away stops the standby, and repeats writes and reads. With crash it crashes the primary, which then shows what it has
// committed without the standby, and repeats the writes that reads show.
func (s *standbyLoss) away(ctx context.Context, writes []*keyedWrite, crash bool) error {
	if err := s.standby.Down(ctx); err != nil {
		return err
	}
	s.repeat(ctx, writes)
	s.read(ctx)
	early, err := s.shown(ctx, writes)
	if s.visible += len(early); err != nil || !crash {
		return errors.Join(err, ctx.Err())
	}
	// A commit that waits for the standby is in the log of the primary, which shows it after a crash.
	waiting := "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
	if err := errors.Join(s.await(ctx, waiting), s.primary.Crash(ctx)); err != nil {
		return err
	}
	if early, err = s.shown(ctx, writes); err != nil {
		return err
	}
	s.exposed += len(early)
	if s.control != nil { // replays need no standby, so all of these are lost for certain
		err = s.persistAll(ctx, early)
	} else {
		s.repeat(ctx, early)
	}
	s.read(ctx)
	return errors.Join(err, ctx.Err())
}

// shown returns the writes whose effects can be read.
func (s *standbyLoss) shown(ctx context.Context, writes []*keyedWrite) (shown []*keyedWrite, err error) {
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
func (s *standbyLoss) repeat(ctx context.Context, writes []*keyedWrite) {
	concurrently(len(writes), func(i int) error {
		for range 4 {
			if s.sendKeyed(ctx, s.URL(0), writes[i], "").Acknowledged() {
				s.early.Add(1)
				break
			}
			client.Pause(ctx, 200*time.Millisecond)
		}
		return nil
	})
}

// read reads while commits wait.
func (s *standbyLoss) read(ctx context.Context) {
	for i := range s.reads {
		a := s.Client.Send(ctx, http.MethodGet, s.URL(0)+fmt.Sprint("/accounts/", i%sharedItems), "")
		if s.longest = max(s.longest, a.Ended.Sub(a.Began)); !a.OK() {
			s.failed++
		}
	}
}

// failOver kills the primary, promotes the standby, and starts a node on it.
func (s *standbyLoss) failOver(ctx context.Context) error {
	s.KillAll()
	if err := errors.Join(s.primary.Down(ctx), s.standby.Up(ctx), s.standby.Promote(ctx)); err != nil {
		return err
	}
	s.source = s.standby.At(s.source, s.primary)
	return s.serve(ctx, s.command...)
}

// judge checks the effects of the acknowledged writes on the promoted standby, and those of all writes after they were repeated.
func (s *standbyLoss) judge(acknowledged, all *history.Effects) {
	counts := fmt.Sprintf("while the standby was away, %d writes were acknowledged, %d visible, and %d reads failed", s.early.Load(),
		s.visible, s.failed)
	s.line("%d writes; %s (longest %v)", len(s.sent), counts, rounded(s.longest))
	s.line("after a crash of the primary %d more were visible, and repeated", s.exposed)
	s.line("after all were repeated: %v", all)
	s.line("on the promoted standby:")
	s.checkAll(acknowledged, history.ExactlyOnce)
	s.failIf(s.exposed == 0, "the primary has no write that the standby does not have, so this check cannot fail")
	if s.control == nil {
		s.failIf(s.early.Load() > 0 || s.visible > 0 || s.failed > 0, "%s", counts)
		s.fail(all.Check(history.ExactlyOnce))
	}
}
