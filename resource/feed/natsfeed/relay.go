package natsfeed

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/pace"
)

const (
	// batchMax is how many events are published before their acknowledgements are waited for.
	batchMax = 256
	// patience is how often in a row a relay finds that another was faster until it steps back.
	patience = 3
)

var (
	// errConflict says that the stream does not end where the relay thought.
	errConflict = errors.New("natsfeed: another relay has published")
	// errAstray says that the stream has an event already, and elsewhere than where it would go.
	errAstray = errors.New("natsfeed: an event is elsewhere in the stream")
	// errBehind says that servers do not have yet what the one that leads has.
	errBehind = errors.New("natsfeed: the servers that answer are behind the one that leads")
	// errNoAck says that servers have not said whether they have stored something.
	errNoAck = errors.New("natsfeed: no acknowledgement")
)

// relay publishes, or waits until nobody else does.
func (l *Log) relay(ctx context.Context) error {
	sub, err := l.js.Conn().Subscribe(l.wakes(), func(*nats.Msg) { pace.Hint(l.poke) })
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // which fails only where the connection is gone
	// One of its own: what is never acknowledged goes with it, and would count as being on its way for ever.
	publisher, err := jetstream.New(l.js.Conn())
	if err != nil {
		return err
	}
	defer publisher.CleanupPublisher()
	for {
		if err := l.lead(ctx, publisher); err != nil {
			return err
		}
		if err := l.standBy(ctx); err != nil {
			return err
		}
	}
}

// term is the time in which a relay publishes.
type term struct {
	log       *Log
	publisher jetstream.Publisher

	at   feed.Cursor // the stream ends here
	seq  uint64      // with this message
	new  bool        // and nothing was published since that was found out
	late int         // how often in a row another relay was faster
}

// lead publishes what the log has behind the end of the stream. It returns nil when another relay does the same, and is
// faster.
func (l *Log) lead(ctx context.Context, publisher jetstream.Publisher) error {
	t := &term{log: l, publisher: publisher}
	err := t.resume(ctx)
	for err == nil && t.late < patience {
		err = t.step(ctx)
	}
	return err
}

// step publishes a batch, or waits for events.
func (t *term) step(ctx context.Context) error {
	events, end, err := t.log.source.Tail(ctx, t.at, batchMax)
	switch {
	case errors.Is(err, feed.ErrExpired): // a backup was restored, or what follows was purged
		return t.restart(ctx)
	case err != nil:
		return err
	case len(events) == 0:
		return t.log.idle(ctx)
	}
	first, err := t.publish(ctx, events)
	switch {
	case errors.Is(err, errAstray) && t.new:
		return t.restart(ctx)
	case errors.Is(err, errAstray), errors.Is(err, errConflict):
		t.late++
		return t.resume(ctx)
	case err != nil:
		return err
	}
	t.at, t.seq, t.new = end, t.seq+uint64(len(events)), false
	if t.late++; first {
		t.late = 0
	}
	return nil
}

// restart has the stream begin anew at the head of the log.
func (t *term) restart(ctx context.Context) error {
	if err := t.log.remove(ctx, t.seq); err != nil {
		return err
	}
	return t.resume(ctx)
}

func (t *term) resume(ctx context.Context) (err error) {
	t.at, t.seq, err = t.log.resume(ctx)
	t.new = true
	return err
}

// idle waits until there may be something to publish.
func (l *Log) idle(ctx context.Context) error {
	poll := time.NewTimer(l.opts.Poll)
	defer poll.Stop()
	select {
	case <-l.source.Wake():
	case <-l.poke:
	case <-poll.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// resume finds the place that the stream ends at, and the number of its last message. Where it has none, or none that can be
// read, it begins anew at the head of the log, and what is before that is read there.
func (l *Log) resume(ctx context.Context) (at feed.Cursor, seq uint64, err error) {
	info, err := l.create(ctx)
	if err != nil {
		return at, 0, err
	}
	seq = info.State.LastSeq
	if info.State.Msgs > 0 {
		at, err = l.lastPlace(ctx, seq)
		if !errors.Is(err, errMessage) {
			return at, seq, err
		}
		if err := l.remove(ctx, seq); err != nil {
			return at, 0, err
		}
	}
	at, err = l.source.Head(ctx)
	return at, seq, err
}

// lastPlace returns the place that the last message names. It is errMessage if there is none any more, or it is no event.
func (l *Log) lastPlace(ctx context.Context, seq uint64) (at feed.Cursor, err error) {
	const tries = 10
	for n := 1; n <= tries; n++ {
		got, err := l.get(ctx, seq, 1)
		switch {
		case err != nil:
			return at, err
		case len(got) == 1 && got[0].seq == seq:
			return got[0].at, nil
		}
		if err := pace.Pause(ctx, time.Duration(n)*5*time.Millisecond); err != nil {
			return at, err
		}
	}
	// The servers that have answered may be behind the one that leads, for as long as they like: it is asked.
	switch lost, err := l.lost(ctx, seq); {
	case err != nil:
		return at, err
	case lost:
		return at, errMessage
	}
	return at, errBehind
}

// publish publishes events behind the end of the stream. It waits for all acknowledgements, and reports whether the first
// event was not there yet.
func (t *term) publish(ctx context.Context, events []*feed.Event) (first bool, err error) {
	limit := t.log.js.Conn().MaxPayload()
	acks := make([]jetstream.PubAckFuture, len(events))
	at := t.at
	for i, e := range events {
		// Of each the number that precedes it is named, so that none is stored if the one before is not.
		m := encode(t.log.events(), at, e, limit)
		acks[i], err = t.publisher.PublishMsgAsync(m, jetstream.WithExpectLastSequence(t.seq+uint64(i)))
		if err != nil {
			return false, err
		}
		at = e.Cursor
	}
	deadline := time.NewTimer(apiWait)
	defer deadline.Stop()
	for i, future := range acks {
		select {
		case ack := <-future.Ok():
			if ack.Sequence != t.seq+uint64(i)+1 {
				return false, errAstray
			}
			first = first || i == 0 && !ack.Duplicate
		case err := <-future.Err():
			return false, conflict(err)
		case <-deadline.C:
			return false, errNoAck
		case <-ctx.Done():
			return false, ctx.Err()
		}
	}
	return first, nil
}

// conflict says what the error of an acknowledgement means.
func conflict(err error) error {
	const inProcess = 10158 // somebody else's message of the same event is just being stored
	var api *jetstream.APIError
	if errors.As(err, &api) && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == inProcess) {
		return errConflict
	}
	return err
}

// standBy returns nil once the log goes on and the stream does not.
func (l *Log) standBy(ctx context.Context) error {
	before, _ := l.window.end()
	for {
		if err := pace.Pause(ctx, l.opts.Check/2+rand.N(l.opts.Check)); err != nil {
			return err
		}
		end, trusted := l.window.end()
		if !trusted {
			return nil
		}
		if end != before {
			before = end
			continue
		}
		if events, _, err := l.source.Tail(ctx, end, 1); err != nil || len(events) > 0 {
			return nil // what it is, is found out by who leads
		}
	}
}
