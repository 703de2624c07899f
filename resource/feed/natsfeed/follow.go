package natsfeed

// Run, and the reader that keeps the window at the end of the stream. It receives messages as news
// when they are stored, and reads those that it has missed from the stream.

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/pace"
)

// pageMax is how many messages are requested at a time.
const pageMax = 256

// errStreamChanged reports that the stream was replaced or truncated while it was followed.
var errStreamChanged = errors.New("natsfeed: stream was recreated or has lost messages")

// Run follows the stream and publishes to it until ctx is done. It creates the stream if it does
// not exist. Failures of NATS are logged and retried with backoff. Call Run once, in a goroutine of
// its own.
func (l *Log) Run(ctx context.Context) {
	var wg sync.WaitGroup
	wg.Go(func() { l.repeat(ctx, l.follow) })
	wg.Go(func() { l.repeat(ctx, l.announce) })
	if !l.opts.ReadOnly {
		wg.Go(func() { l.repeat(ctx, l.relay) })
	}
	wg.Wait()
}

// repeat calls do, which always ends with an error, with increasing delays.
func (l *Log) repeat(ctx context.Context, do func(ctx context.Context) error) {
	pace.Repeat(ctx, do, func(err error) {
		l.opts.Logger.Warn("natsfeed: NATS failed; reading the log and retrying", "error", err, "stream",
			l.opts.Stream)
	})
}

// announce wakes the relays after appends of this process. A publish without a stream is enough: a
// lost hint only delays a relay until its next poll.
func (l *Log) announce(ctx context.Context) error {
	const gap = 2 * time.Millisecond // the minimum between two messages
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-l.appended:
		}
		if err := l.js.Conn().Publish(l.wakes(), nil); err != nil {
			return err
		}
		if err := pace.Pause(ctx, gap); err != nil {
			return err
		}
	}
}

// follow keeps the window at the end of the stream. It subscribes before it reads the state, so
// that no message is missed in between.
func (l *Log) follow(ctx context.Context) error {
	news := make(chan *nats.Msg, 2*pageMax)
	sub, err := l.js.Conn().ChanSubscribe(l.news(), news)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	defer l.window.invalidate()
	info, err := l.state(ctx)
	if err != nil {
		return err
	}
	last := info.State.LastSeq
	l.window.restart(max(1, info.State.FirstSeq, last+1-min(last, uint64(l.opts.Events))))
	if err := l.catchUp(ctx, last); err != nil {
		return err
	}
	check := time.NewTicker(l.opts.Check)
	defer check.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case msg := <-news:
			err = l.receive(ctx, msg)
		case <-check.C:
			err = l.check(ctx, info.Created)
		}
		if err != nil {
			return err
		}
	}
}

// receive processes a message that was just stored.
func (l *Log) receive(ctx context.Context, msg *nats.Msg) error {
	m, err := stored(msg)
	if err != nil {
		return err
	}
	next := l.window.next()
	switch {
	case m.seq > next:
		return l.catchUp(ctx, m.seq)
	case m.seq < next && l.window.contradicts(m):
		return errStreamChanged
	case m.seq < next:
		return nil // it was already read from the stream
	}
	if err := l.add(ctx, m); err != nil {
		return err
	}
	return l.verify(ctx)
}

// catchUp reads messages up to the given sequence number, which the stream has or had. Direct gets
// may be answered by a replica that lags, so an empty answer is tried again.
func (l *Log) catchUp(ctx context.Context, to uint64) error {
	const tries = 10
	for empty := 0; l.window.next() <= to; {
		got, err := l.get(ctx, l.window.next(), pageMax)
		if err != nil {
			return err
		}
		for _, m := range got {
			if err := l.add(ctx, m); err != nil {
				return err
			}
		}
		if len(got) > 0 {
			continue
		}
		// The server that responds has fewer messages than the leader, or the messages were
		// removed.
		if empty++; empty > tries {
			// The messages are gone. The window begins after them, and readers of earlier positions
			// use the log.
			l.window.restart(to + 1)
			return nil
		}
		if err := pace.Pause(ctx, time.Duration(empty)*time.Millisecond); err != nil {
			return err
		}
	}
	return l.verify(ctx)
}

// add appends a message to the window. The event is completed before the lock of the window is
// taken.
func (l *Log) add(ctx context.Context, m *message) error {
	if err := l.complete(ctx, m); err != nil {
		return err
	}
	l.window.add(m)
	pace.Hint(l.wake)
	return nil
}

// verify checks that the end of the window is a position of the log. After a restore of the log it
// is not; the stream is then not used until it has been restarted.
func (l *Log) verify(ctx context.Context) error {
	end, trusted := l.window.end()
	if trusted || end.IsZero() {
		return nil
	}
	_, err := l.source.Read(ctx, end, end, 1)
	if err != nil && !errors.Is(err, feed.ErrExpired) {
		return err
	}
	l.window.trust(end, err == nil)
	pace.Hint(l.wake)
	return nil
}

// check verifies that the stream is still the same and reads messages that were not received.
func (l *Log) check(ctx context.Context, created time.Time) error {
	if !l.window.silent(l.opts.Check) {
		return nil
	}
	next := l.window.next()
	info, err := l.state(ctx)
	switch {
	case err != nil:
		return err
	case info.Created != created || info.State.LastSeq+1 < next:
		return errStreamChanged
	case info.State.LastSeq >= next:
		return l.catchUp(ctx, info.State.LastSeq)
	}
	return l.verify(ctx)
}
