package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// stepKills kills a node at each step of a write, several times, and does nothing else. Each node has one write at a time.
type stepKills struct {
	*keyed
	kills  int // at each step
	writes [len(server.Steps)][]*keyedWrite
	found  [len(server.Steps)]*history.Effects

	mu        sync.Mutex
	survivors []string // nodes that did not die
}

const stepNodes = 3

// keySteps runs the scenario and its control, and reports them in one table.
func keySteps(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		subject := newStepKills(engine, server.Together, size(e, 20, 100))
		control := newStepKills(engine, server.ThreeCommits, size(e, 4, 20))
		subject.title = fmt.Sprintf("%s: %d kills at each step of a write, %d nodes", engine, subject.kills, stepNodes)
		subject.do = func(ctx context.Context) error {
			if err := subject.run(ctx); err != nil {
				return err
			}
			subject.KillAll()
			if err := errors.Join(control.begin(ctx, e), control.run(ctx)); err != nil {
				return fmt.Errorf("control: %w", err)
			}
			control.KillAll()
			subject.judge(control.found)
			return nil
		}
		return e.try(ctx, &subject.trial)
	}
}

func newStepKills(engine, mode string, kills int) *stepKills {
	s := &stepKills{keyed: newKeyed(engine, mode, stepNodes), kills: kills}
	s.nodes = stepNodes
	return s
}

// run kills, and counts the effects of the writes of each step.
func (s *stepKills) run(ctx context.Context) (err error) {
	if err := s.createShared(ctx); err != nil {
		return err
	}
	for i := range server.Steps {
		for n := range s.kills {
			kind := history.WriteKind(n % int(history.WriteKinds))
			s.writes[i] = append(s.writes[i], newKeyedWrite(kind, fmt.Sprintf("step-%d-%d-%d", s.seed, i, n), n))
		}
		if err := s.createItems(ctx, s.writes[i]); err != nil {
			return err
		}
	}
	if err := s.killAtSteps(ctx); err != nil {
		return err
	}
	for i := range server.Steps {
		if s.found[i], err = s.checkEffects(ctx, s.writes[i]); err != nil {
			return err
		}
	}
	return nil
}

// killAtSteps gives each write to a node that is up.
func (s *stepKills) killAtSteps(ctx context.Context) error {
	type death struct{ step, n int }
	deaths := func(yield func(death) bool) {
		for n := range s.kills {
			for step := range server.Steps {
				if !yield(death{step, n}) {
					return
				}
			}
		}
	}
	return share(ctx, s.Len(), deaths, func(node int, d death) error {
		survived, err := s.killAt(ctx, node, s.random(uint64(node)), s.writes[d.step][d.n], server.Steps[d.step])
		if survived != "" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.survivors = append(s.survivors, survived)
		}
		return err
	})
}

// killAt sends a write to a node, which dies at a step. Then it sends the write to other nodes until it is answered, and once more,
// while the node is restarted. It returns a description if the node did not die.
func (k *keyed) killAt(ctx context.Context, i int, rng *rand.Rand, w *keyedWrite, step string) (survived string, err error) {
	limited, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		a := k.sendKeyed(limited, k.URL(i), w, step)
		if a.Status == 0 || a.Err != nil || !a.Retry() || pauseBeforeRetry(limited, rng) != nil {
			break
		}
		// The write did not reach the step: the database was busy until the lease ended.
	}
	if k.Wait(limited, i) != nil {
		return fmt.Sprintf("%s, of %s", step, w.Key), ctx.Err()
	}
	var started error
	var wg sync.WaitGroup
	wg.Go(func() { started = k.StartNode(ctx, i) })
	err = k.persist(ctx, rng, w, 1, "")
	wg.Wait()
	if err = errors.Join(started, err); err != nil {
		return "", err
	}
	return "", k.replay(ctx, rng, w)
}

// judge wants each effect once at each step, and of the control a duplicate at the steps between the commits of the effect and
// of the record.
func (s *stepKills) judge(control [len(server.Steps)]*history.Effects) {
	var rows [][]any
	for i, step := range server.Steps {
		n, c := s.found[i], control[i]
		rows = append(rows, []any{n.Keys, n.Effects, n.Acknowledged, n.Count(history.Duplicate), n.Count(history.Lost),
			n.Count(history.Changed), c.Keys, c.Count(history.Duplicate), c.Count(history.Changed, history.Unexpected), "killed " + step})
		s.Merge(&n.Violations)
		if err := n.Check(history.ExactlyOnce); err != nil {
			s.fail(fmt.Errorf("%s: %w", step, err))
		}
		s.failIf((step == server.AfterEffect || step == server.BeforeFinish) && c.Count(history.Duplicate) == 0,
			"%s: the control did nothing twice, so this check cannot fail", step)
	}
	for _, survivor := range s.survivors { // those of the control only make it weaker
		s.failIf(true, "a node did not die %s", survivor)
	}
	s.table("keys\teffects\tacknowledged\tduplicate\tlost\tchanged\tcontrol: keys\tduplicate\tchanged\t", rows...)
}
