package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// stepwise kills a process at every step of a write, again and again, and nothing else happens. Each process has one
// write at a time to die of.
type stepwise struct {
	settings
	kills  int
	client *client
	writes [len(points)][]*write

	mu        sync.Mutex
	survivors []string // processes that were to die and did not
}

// stepsOf runs the check, and the control on a database of its own.
func stepsOf(ctx context.Context, args []string, out io.Writer) error {
	s := &stepwise{}
	flags := s.flags("steps")
	flags.IntVar(&s.kills, "kills", 20, "at each step")
	control := flags.Int("control-kills", 4, "at each step of the control")
	controlDB := flags.String("control-db", "", "its `database`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	began := time.Now()
	found, err := s.run(ctx)
	if err != nil {
		return err
	}
	c := &stepwise{settings: s.settings, kills: *control}
	c.mode, c.db = three, *controlDB
	controlled, err := c.run(ctx)
	if err != nil {
		return fmt.Errorf("control: %w", err)
	}
	fmt.Fprintf(out, "%s: %d kills at each step of a write, %d processes, %.0f s, -seed %d\n", s.name, s.kills, s.processes,
		time.Since(began).Seconds(), s.seed)
	printSteps(out, found, controlled)
	return s.verdict(found, c, controlled)
}

// run kills, and counts for each step.
func (s *stepwise) run(ctx context.Context) (perStep [len(points)]counts, err error) {
	s.client = newClient(s.processes)
	f, stop, err := s.start(ctx)
	if err != nil {
		return perStep, err
	}
	defer stop()
	if err := s.plan(f); err != nil {
		return perStep, err
	}
	if err := s.killAll(ctx, f); err != nil {
		return perStep, err
	}
	left, err := look(s.client, f.URL(0))
	for i := range points {
		perStep[i] = judge(s.writes[i], left)
	}
	return perStep, err
}

func (s *stepwise) plan(f *fleet.Fleet) error {
	var removed []*write
	for i := range points {
		for n := range s.kills {
			w := newWrite(kind(n%int(kinds)), fmt.Sprintf("step-%d-%d-%d", s.seed, i, n), n, "")
			if w.kind == remove {
				removed = append(removed, w)
			}
			s.writes[i] = append(s.writes[i], w)
		}
	}
	return prepare(s.client, f.URL(0), removed)
}

// killAll hands out the writes, each to a process that is up.
func (s *stepwise) killAll(ctx context.Context, f *fleet.Fleet) error {
	type death struct {
		w     *write
		point string
	}
	work := make(chan death)
	errs := make([]error, f.Len())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var wg sync.WaitGroup
	for i := range f.Len() {
		wg.Go(func() {
			rng := s.random(uint64(i))
			for d := range work {
				if errs[i] = s.kill(ctx, f, i, rng, d.w, d.point); errs[i] != nil {
					stop()
					return
				}
			}
		})
	}
	for n := range s.kills {
		for i, point := range points {
			select {
			case work <- death{s.writes[i][n], point}:
			case <-ctx.Done():
			}
		}
	}
	close(work)
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// kill sends a write to a process, which dies of it, and then again to whoever is there until it is answered, and once
// more. Meanwhile the process is started again.
func (s *stepwise) kill(ctx context.Context, f *fleet.Fleet, i int, rng *rand.Rand, w *write, point string) error {
	soon, cancel := context.WithTimeout(ctx, 10*time.Minute)
	defer cancel()
	for {
		a := s.client.send(soon, f.URL(i), w, point)
		w.note(a)
		if a.status == 0 || !a.again() || pause(soon, rng) != nil {
			break
		}
		// It did not get that far: the database had no time, or not enough of it before the lease ended.
	}
	if f.Wait(soon, i) != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.survivors = append(s.survivors, fmt.Sprintf("%s, of %s: %v", point, w.key, w.answers))
		return ctx.Err()
	}
	var started error
	var wg sync.WaitGroup
	wg.Go(func() { started = f.StartNode(ctx, i) })
	p := &writer{s.client, f}
	err := p.persist(ctx, rng, w, 1, "")
	wg.Wait()
	if started != nil {
		return started
	}
	if err != nil {
		return err
	}
	return p.once(ctx, rng, w)
}

func printSteps(out io.Writer, found, control [len(points)]counts) {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "keys\teffects\tacknowledged\tduplicates\tmissing\twrong\tcontrol: keys\tduplicates\twrong\t")
	for i, point := range points {
		n, c := found[i], control[i]
		fmt.Fprintf(w, "%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t  killed %s\n", n.keys, n.effects, n.acknowledged, n.duplicates,
			n.missing, n.wrong, c.keys, c.duplicates, c.wrong+c.other, point)
	}
	w.Flush()
	fmt.Fprintln(out)
}

// verdict wants everything once at every step, and of the control that it does something twice at those where the effect
// is committed and the record is not.
func (s *stepwise) verdict(found [len(points)]counts, c *stepwise, control [len(points)]counts) error {
	var wrong []string
	for i := range points {
		if err := found[i].verdict(s.mode); err != nil {
			wrong = append(wrong, points[i]+": "+err.Error())
		}
		if at := points[i]; (at == effected || at == finishing) && control[i].duplicates == 0 {
			wrong = append(wrong, at+": the control did nothing twice, so this check cannot fail")
		}
	}
	for _, survivor := range s.survivors { // those of the control only make it weaker
		wrong = append(wrong, "a process did not die "+survivor)
	}
	if wrong != nil {
		return fmt.Errorf("%s: %s; -seed %d", s.name, strings.Join(wrong, "\n  "), s.seed)
	}
	return nil
}
