package feed

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"time"

	"github.com/stoa-go/stoa/resource/internal/pace"
)

const (
	// tailMax is how many events the tailer asks for at a time.
	tailMax = 512
	// maxRest is how long the tailer rests at most after the log has failed.
	maxRest = 5 * time.Second
	// purgeMax is how many events are purged at a time, so that nobody waits for that for long.
	purgeMax = 1000
)

// tail moves what is new in the log to the ring, until the Feed is closed.
func (f *Feed) tail() {
	if u, ok := f.log.(*upstream); ok {
		defer u.stop()
	}
	wake := f.log.Wake()
	failures := 0
	for f.life.Err() == nil {
		more, err := f.step()
		switch {
		case f.life.Err() != nil:
			return
		case err != nil:
			failures++
			f.opts.Logger.Warn("feed: the log failed; it is tried again", "error", err, "failures", failures)
			f.rest(failures)
			continue
		case failures > 0:
			f.opts.Logger.Info("feed: the log works again", "failures", failures)
			failures = 0
		}
		if more {
			continue
		}
		poll := time.NewTimer(f.opts.PollInterval)
		select {
		case <-wake:
		case <-f.poke:
		case <-poll.C:
		case <-f.life.Done():
		}
		poll.Stop()
	}
}

// step moves a batch, and reports whether there may be more.
func (f *Feed) step() (more bool, err error) {
	defer survive(&err)
	from := f.position.Load()
	if from == nil {
		return true, f.begin()
	}
	ctx, cancel := f.limited(f.life)
	events, end, err := f.log.Tail(ctx, *from, tailMax)
	cancel()
	if errors.Is(err, ErrExpired) {
		// Everybody has to begin anew, this process too: what it has told may be of a future that is lost.
		f.opts.Logger.Warn("feed: the log does not go on where it was read; cursors may have expired", "error", err)
		if f.expired++; f.expired > 1 {
			f.rest(f.expired - 1) // it forgets what it has just named, and may do so again
		}
		return true, f.begin()
	}
	if err != nil {
		return false, err
	}
	if err := follow(events, *from, end); err != nil {
		return false, err
	}
	f.expired = 0
	if end != *from {
		f.publish(events, end)
	}
	return full(events, tailMax), nil
}

// errFault says that a log does not do what it has to.
var errFault = errors.New("feed: the log is at fault")

// follow reports events that may not come behind a place: told all the same, they would be told twice, or be passed over.
func follow(events []*Event, at, end Cursor) error {
	for _, e := range events {
		if e == nil || e.Cursor.Epoch != at.Epoch || e.Cursor.Seq <= at.Seq {
			return fmt.Errorf("%w: Tail does not go on behind %v", errFault, at)
		}
		at = e.Cursor
	}
	if len(events) > 0 && end != at {
		return fmt.Errorf("%w: the last event of Tail is at %v, and it says %v", errFault, at, end)
	}
	return nil
}

// survive makes an error of a panic of the log: the goroutine is that of all who listen, and of nobody who could be told.
func survive(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: panic: %v\n%s", errFault, v, debug.Stack())
	}
}

// limited bounds one look at the log. The Watch of a collection lasts as long as it is followed, beyond the look.
func (f *Feed) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := f.log.(*upstream); ok || f.opts.ReadTimeout < 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, f.opts.ReadTimeout)
}

// full reports whether there may be more behind a page.
func full(events []*Event, most int) bool {
	bytes := 0
	for _, e := range events {
		bytes += len(e.Before) + len(e.After)
	}
	return len(events) >= most || bytes >= PageBytes
}

// begin has the ring begin at the head of the log.
func (f *Feed) begin() error {
	ctx, cancel := f.limited(f.life)
	defer cancel()
	head, err := f.log.Head(ctx)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ring.begin(head)
	f.advance(head)
	return nil
}

// publish adds events to the ring and wakes those who wait for them.
func (f *Feed) publish(events []*Event, end Cursor) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ring.add(events, end)
	f.advance(end)
	// One call for each collection, however many events of it there are.
	woken := make([]*collection, 0, 8)
	for _, e := range events {
		if c := f.ring.of(e.Collection); !slices.Contains(woken, c) {
			woken = append(woken, c)
			c.wakeUp()
		}
	}
}

// advance says that the ring ends elsewhere.
func (f *Feed) advance(end Cursor) {
	f.position.Store(&end)
	if f.moved != nil {
		close(f.moved)
		f.moved = nil
	}
}

// rest waits after a failure: twice as long after each, and not as long as others who fail at the same time.
func (f *Feed) rest(failures int) {
	most := maxRest
	if doublings := failures - 1; doublings < 10 {
		most = min(f.opts.PollInterval<<doublings, max(maxRest, f.opts.PollInterval))
	}
	f.sleep(most/2 + rand.N(most/2+1))
}

// sleep waits for some time, or for Close. It reports whether the Feed is open.
func (f *Feed) sleep(d time.Duration) bool { return pace.Pause(f.life, d) == nil }

// purge removes what Options.Keep and KeepEvents are not for, now and then: as several processes may share the log, each at
// times of its own.
func (f *Feed) purge() {
	pause := time.Minute
	if f.opts.Retention > 0 {
		pause = min(max(f.opts.Retention/100, time.Second), pause)
	}
	for f.sleep(pause/2 + rand.N(pause)) {
		var before time.Time // nothing is
		if f.opts.Retention > 0 {
			before = time.Now().Add(-f.opts.Retention)
		}
		for more := true; more; {
			n, err := f.purgeOnce(before)
			if err != nil && f.life.Err() == nil {
				f.opts.Logger.Warn("feed: the log could not be purged", "error", err)
			}
			more = err == nil && n >= purgeMax
		}
	}
}

func (f *Feed) purgeOnce(before time.Time) (n int, err error) {
	defer survive(&err)
	ctx, cancel := f.limited(f.life)
	defer cancel()
	return f.log.Purge(ctx, before, f.opts.MaxEvents, purgeMax)
}

// read reads the log for a listener, when it is its turn. Whether that is all, full says.
func (f *Feed) read(ctx context.Context, after, until Cursor, max int) ([]*Event, error) {
	select {
	case f.reads <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-f.life.Done():
		return nil, ErrClosed
	}
	defer func() { <-f.reads }()
	if f.life.Err() != nil { // select may have chosen to read all the same
		return nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(f.life, cancel)()
	ctx, enough := f.limited(ctx)
	defer enough()
	events, err := f.log.Read(ctx, after, until, max)
	if err != nil && f.life.Err() != nil {
		return nil, ErrClosed
	}
	return events, err
}
