package natsfeed

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/pace"
)

// pageMax is how many messages are asked for at a time.
const pageMax = 256

// errOther says that the stream is not the one that was followed.
var errOther = errors.New("natsfeed: the stream was made anew, or has lost its end")

// Run follows the stream, and publishes in it, until ctx ends. It makes the stream where there is none. When NATS fails it
// tries again, and again. It is called once.
func (l *Log) Run(ctx context.Context) {
	var works sync.WaitGroup
	works.Go(func() { l.repeat(ctx, l.follow) })
	works.Go(func() { l.repeat(ctx, l.tell) })
	if !l.opts.ReadOnly {
		works.Go(func() { l.repeat(ctx, l.relay) })
	}
	works.Wait()
}

// repeat calls something that ends in an error, less often as it fails again.
func (l *Log) repeat(ctx context.Context, do func(ctx context.Context) error) {
	pace.Repeat(ctx, do, func(err error) {
		l.opts.Logger.Warn("natsfeed: NATS failed, so the log itself is read; it is tried again", "error", err, "stream", l.opts.Stream)
	})
}

// tell tells the relays that this process has appended.
func (l *Log) tell(ctx context.Context) error {
	const gap = 2 * time.Millisecond // between two calls, however much is appended
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

// follow keeps the window at the end of the stream.
func (l *Log) follow(ctx context.Context) error {
	news := make(chan *nats.Msg, 2*pageMax)
	sub, err := l.js.Conn().ChanSubscribe(l.news(), news)
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // which fails only where the connection is gone
	defer l.window.forget()
	info, err := l.state(ctx)
	if err != nil {
		return err
	}
	last := info.State.LastSeq
	l.window.begin(max(1, info.State.FirstSeq, last+1-min(last, uint64(l.opts.Events))))
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
			err = l.hear(ctx, msg)
		case <-check.C:
			err = l.check(ctx, info.Created)
		}
		if err != nil {
			return err
		}
	}
}

// hear takes a message that was stored just now, if it is the next.
func (l *Log) hear(ctx context.Context, msg *nats.Msg) error {
	m, err := stored(msg)
	if err != nil {
		return err
	}
	next := l.window.next()
	switch {
	case m.seq > next:
		return l.catchUp(ctx, m.seq)
	case m.seq < next && l.window.contradicts(m):
		return errOther
	case m.seq < next:
		return nil // it was taken from the stream before
	}
	if err := l.take(ctx, m); err != nil {
		return err
	}
	return l.confirm(ctx)
}

// catchUp takes messages up to and with a number, which the stream has or had.
func (l *Log) catchUp(ctx context.Context, to uint64) error {
	const tries = 10
	for empty := 0; l.window.next() <= to; {
		got, err := l.get(ctx, l.window.next(), pageMax)
		if err != nil {
			return err
		}
		for _, m := range got {
			if err := l.take(ctx, m); err != nil {
				return err
			}
		}
		if len(got) > 0 {
			continue
		}
		// The server that answers is behind the one that leads, or they were removed.
		if empty++; empty > tries {
			l.window.begin(to + 1)
			return nil
		}
		if err := pace.Pause(ctx, time.Duration(empty)*time.Millisecond); err != nil {
			return err
		}
	}
	return l.confirm(ctx)
}

// take moves the end of the window.
func (l *Log) take(ctx context.Context, m *message) error {
	if err := l.complete(ctx, m); err != nil {
		return err
	}
	l.window.add(m)
	pace.Hint(l.wake)
	return nil
}

// confirm asks the log whether the window ends in a place of its own. It does not if a backup of the log was restored, and
// then the stream is not asked for anything until it is another.
func (l *Log) confirm(ctx context.Context) error {
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

// check asks whether the stream is still the one that is followed, and whether something has not been heard.
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
		return errOther
	case info.State.LastSeq >= next:
		return l.catchUp(ctx, info.State.LastSeq)
	}
	return l.confirm(ctx)
}
