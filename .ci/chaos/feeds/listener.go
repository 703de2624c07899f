package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/stoa-go/stoa/ci/chaos/internal/fleet"
)

// listener is somebody who listens, breaks off, and goes on from its cursor elsewhere.
type listener struct {
	name  string
	ear   ear
	view  view
	drops int // breaks off after so many frames at most; 0 is never

	cursor     string
	heard      []frame
	reconnects int
	// resets are how often it was told that it cannot go on. A listener with a log that lasts has no reason to be.
	resets int
	ended  bool // it has heard of the last thing
	err    error
}

// run listens until it has heard of the last thing. ready is called once it listens for the first time.
func (l *listener) run(ctx context.Context, f *fleet.Fleet, rng *rand.Rand, ready func()) {
	for first := true; ctx.Err() == nil && !l.ended && l.err == nil; {
		s := l.connect(ctx, f, rng)
		if s == nil {
			continue
		}
		if first {
			first = false
			ready()
		} else {
			l.reconnects++
		}
		l.hear(s, rng)
		s.close()
	}
}

// connect returns a stream, or nil if it has to try again.
func (l *listener) connect(ctx context.Context, f *fleet.Fleet, rng *rand.Rand) stream {
	base, err := f.Pick(ctx, rng)
	if err != nil {
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
	pauseFor(ctx, time.Duration(rng.Int64N(int64(20*time.Millisecond))))
	return nil
}

// hear reads frames until the stream ends, or until it breaks off.
func (l *listener) hear(s stream, rng *rand.Rand) {
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
			return
		}
		if f.kind == "" {
			continue
		}
		if f.name == endName {
			l.ended = true
			return
		}
		l.heard = append(l.heard, f)
	}
}

func pauseFor(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
