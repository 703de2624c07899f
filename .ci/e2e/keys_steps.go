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

// stepRun kills a node at each step of a write, several times, and does nothing else. Each node has one write at a time.
type stepRun struct {
	kills int // at each step
	keyNodes
	writes [len(server.Steps)][]*keyedWrite

	mu        sync.Mutex
	survivors []string // nodes that did not die
}

const stepNodes = 3

// keySteps runs the scenario and its control.
func keySteps(engine string) func(ctx context.Context, e *env) error {
	return func(ctx context.Context, e *env) error {
		began := time.Now()
		subject := &stepRun{kills: size(e, 20, 100)}
		found, err := subject.run(ctx, e, engine, server.Together)
		if err != nil {
			return err
		}
		control := &stepRun{kills: size(e, 4, 20)}
		controlled, err := control.run(ctx, e, engine, server.ThreeCommits)
		if err != nil {
			return fmt.Errorf("control: %w", err)
		}
		return e.finish(stepResult(engine, subject, found, controlled, time.Since(began)))
	}
}

// run kills, and counts the effects of the writes of each step.
func (s *stepRun) run(ctx context.Context, e *env, engine, mode string) (perStep [len(server.Steps)]*history.Effects, err error) {
	if s.keyNodes, err = e.startKeyed(ctx, engine, stepNodes, mode, stepNodes); err != nil {
		return perStep, err
	}
	defer s.KillAll()
	for i := range server.Steps {
		for n := range s.kills {
			kind := history.WriteKind(n % int(history.WriteKinds))
			s.writes[i] = append(s.writes[i], newKeyedWrite(kind, fmt.Sprintf("step-%d-%d-%d", e.seed, i, n), n))
		}
		if err := s.prepare(ctx, s.writes[i]); err != nil {
			return perStep, err
		}
	}
	if err := s.killAtSteps(ctx, e); err != nil {
		return perStep, err
	}
	for i := range server.Steps {
		if perStep[i], err = s.checkEffects(ctx, s.writes[i]); err != nil {
			return perStep, err
		}
	}
	return perStep, nil
}

// killAtSteps gives each write to a node that is up.
func (s *stepRun) killAtSteps(ctx context.Context, e *env) error {
	type death struct {
		w    *keyedWrite
		step string
	}
	work := make(chan death)
	errs := make([]error, s.Len())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	for i := range s.Len() {
		wg.Go(func() {
			rng := e.random(uint64(i))
			for d := range work {
				survived, err := s.killAt(ctx, i, rng, d.w, d.step)
				if errs[i] = err; err != nil {
					stop()
					return
				}
				if survived != "" {
					s.mu.Lock()
					s.survivors = append(s.survivors, survived)
					s.mu.Unlock()
				}
			}
		})
	}
	for n := range s.kills {
		for i, step := range server.Steps {
			select {
			case work <- death{s.writes[i][n], step}:
			case <-ctx.Done():
			}
		}
	}
	close(work)
	wg.Wait()
	return errors.Join(append(errs, ctx.Err())...)
}

// killAt sends a write to a node, which dies at a step. Then it sends the write to other nodes until it is answered, and once more,
// while the node is restarted. It returns a description if the node did not die.
func (k keyNodes) killAt(ctx context.Context, i int, rng *rand.Rand, w *keyedWrite, step string) (survived string, err error) {
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

// stepResult wants each effect once at each step, and of the control a duplicate at the steps between the commits of the effect and
// of the record.
func stepResult(engine string, s *stepRun, found, control [len(server.Steps)]*history.Effects, took time.Duration) *result {
	r := &result{Violations: &history.Violations{}}
	r.title = fmt.Sprintf("%s: %d kills at each step of a write, %d nodes, %.0f s", engine, s.kills, stepNodes, took.Seconds())
	var rows [][]any
	for i, step := range server.Steps {
		n, c := found[i], control[i]
		rows = append(rows, []any{n.Keys, n.Effects, n.Acknowledged, n.Count(history.Duplicate), n.Count(history.Lost),
			n.Count(history.Changed), c.Keys, c.Count(history.Duplicate), c.Count(history.Changed, history.Unexpected), "killed " + step})
		r.Merge(&n.Violations)
		if err := n.Check(history.ExactlyOnce); err != nil {
			r.fail(fmt.Errorf("%s: %w", step, err))
		}
		if (step == server.AfterEffect || step == server.BeforeFinish) && c.Count(history.Duplicate) == 0 {
			r.fail(fmt.Errorf("%s: the control did nothing twice, so this check cannot fail", step))
		}
	}
	for _, survivor := range s.survivors { // those of the control only make it weaker
		r.fail(fmt.Errorf("a node did not die %s", survivor))
	}
	r.table("keys\teffects\tacknowledged\tduplicate\tlost\tchanged\tcontrol: keys\tduplicate\tchanged\t", rows...)
	return r
}
