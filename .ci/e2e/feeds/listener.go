package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// listener is somebody who listens, breaks off, and goes on from its cursor elsewhere.
type listener struct {
	name  string
	ear   ear
	view  view
	line  *line // nil where nobody asks
	drops int   // breaks off after so many frames at most; 0 is never
	// native is which process it listens to and to no other, unless it is told so; 1 is the first, and 0 is any.
	native int
	// away is what it waits for before it comes back for the first time, if anything.
	away func(ctx context.Context)

	cursor     string
	visits     []visit
	heard      []frame
	reconnects int
	// resets are how often it was told that it cannot go on. A listener with a log that lasts has no reason to be.
	resets int
	ended  bool // it has heard of the last thing
	err    error

	mu   sync.Mutex
	home int                // native, or where it was told to go
	move context.CancelFunc // ends the visit
}

// visit is one stream of a listener, from which place to which.
type visit struct {
	base         string
	began, ended time.Time
	from, to     string
	dropped      bool // by the server; clients leave, too
}

// settle has a listener listen to one process only from now on, and break off what it listens to.
func (l *listener) settle(process int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.home = 1 + process
	if l.move != nil {
		l.move()
	}
}

// choose returns where to listen, and "" if nobody is there.
func (l *listener) choose(ctx context.Context, f *fleet.Fleet, rng *rand.Rand) (context.Context, context.CancelFunc, string) {
	l.mu.Lock()
	home := l.home
	ctx, l.move = context.WithCancel(ctx)
	leave := l.move
	l.mu.Unlock()
	if home > 0 {
		return ctx, leave, f.URL(home - 1)
	}
	base, err := f.Pick(ctx, rng)
	if err != nil {
		base = ""
	}
	return ctx, leave, base
}

// run listens until it has heard of the last thing. ready is called once it listens for the first time.
func (l *listener) run(ctx context.Context, f *fleet.Fleet, rng *rand.Rand, ready func()) {
	for first := true; ctx.Err() == nil && !l.ended && l.err == nil; {
		if !first && l.away != nil {
			l.away(ctx)
			l.away = nil
		}
		visiting, leave, base := l.choose(ctx, f, rng)
		if s := l.connect(visiting, base); s != nil {
			if first {
				first = false
				ready()
			} else {
				l.reconnects++
			}
			v := visit{base: base, began: time.Now(), from: l.cursor}
			err := l.hear(s, rng)
			v.dropped = err != nil && !errors.Is(err, os.ErrDeadlineExceeded) && visiting.Err() == nil
			s.close()
			v.to, v.ended = l.cursor, time.Now()
			l.visits = append(l.visits, v)
		} else {
			pauseFor(ctx, time.Duration(rng.Int64N(int64(20*time.Millisecond))))
		}
		leave()
	}
}

// connect returns a stream, or nil if it has to try again.
func (l *listener) connect(ctx context.Context, base string) stream {
	if base == "" {
		return nil
	}
	s, err := l.ear.listen(ctx, base, l.cursor, l.view)
	var status statusError
	switch {
	case err == nil:
		return s
	case errors.Is(err, errExpired):
		l.resets++
		l.cursor = ""
	case errors.Is(err, errMalformed) || errors.As(err, &status) && status < 500:
		l.err = fmt.Errorf("%s, at %q: %w", l.name, l.cursor, err)
	}
	return nil
}

// hear reads frames until the stream ends, which is an error, or until it breaks off.
func (l *listener) hear(s stream, rng *rand.Rand) error {
	left := -1
	if l.drops > 0 {
		left = 1 + rng.IntN(l.drops)
	}
	for ; left != 0; left-- {
		f, err := s.next()
		if f.cursor != "" {
			l.cursor = f.cursor
		}
		if errors.Is(err, errExpired) {
			l.resets++
			l.cursor = ""
		}
		if err != nil {
			return err
		}
		if f.kind == "" {
			continue
		}
		if f.name == endName {
			l.ended = true
			return nil
		}
		l.heard = append(l.heard, f)
	}
	return nil
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
