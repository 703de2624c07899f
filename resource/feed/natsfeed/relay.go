package natsfeed

// The relay, which publishes events of the log to the stream. Run repeats it. Correctness does not
// depend on how many relays publish: the server stores a message only after the expected one.

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
	// batchMax is how many events are published before waiting for their acknowledgements.
	batchMax = 256
	// maxConflicts is after how many consecutive conflicts a relay stops publishing.
	maxConflicts = 3
)

var (
	// errConflict reports that the stream has another end than expected.
	errConflict = errors.New("natsfeed: another relay has published")
	// errMisplaced reports that the stream has the event at another sequence number.
	errMisplaced = errors.New("natsfeed: event has another sequence number in the stream")
	// errLagging reports that followers do not have the leader's messages yet.
	errLagging = errors.New("natsfeed: followers do not have the messages of the leader")
	// errNoAck reports that servers have not acknowledged a message in time.
	errNoAck = errors.New("natsfeed: no acknowledgement")
)

// relay publishes events, or waits until no other relay does.
func (l *Log) relay(ctx context.Context) error {
	sub, err := l.js.Conn().Subscribe(l.wakes(), func(*nats.Msg) { pace.Hint(l.wakeRelay) })
	if err != nil {
		return err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	// A separate publisher, because messages that are never acknowledged count as pending until it
	// is closed.
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

// term is a period in which this relay publishes.
type term struct {
	log       *Log
	publisher jetstream.Publisher

	// at is the position of the end of the stream.
	at feed.Cursor
	// seq is the sequence number of the last message.
	seq uint64
	// new is true if this relay has published nothing after it determined the end.
	new bool
	// conflicts counts consecutive batches that another relay had published first.
	conflicts int
}

// lead publishes the events of the log after the end of the stream. It returns nil if another relay
// publishes and is faster. An error ends it too, and repeat starts it again with a delay.
func (l *Log) lead(ctx context.Context, publisher jetstream.Publisher) error {
	t := &term{log: l, publisher: publisher}
	err := t.resume(ctx)
	for err == nil && t.conflicts < maxConflicts {
		err = t.step(ctx)
	}
	return err
}

// step publishes a batch or waits for events.
func (t *term) step(ctx context.Context) error {
	events, end, err := t.log.source.Tail(ctx, t.at, batchMax)
	switch {
	// the log was restored from a backup, or the next events were purged
	case errors.Is(err, feed.ErrExpired):
		return t.restart(ctx)
	case err != nil:
		return err
	case len(events) == 0:
		return t.log.idle(ctx)
	}
	first, err := t.publish(ctx, events)
	switch {
	case errors.Is(err, errMisplaced) && t.new:
		return t.restart(ctx)
	case errors.Is(err, errMisplaced), errors.Is(err, errConflict):
		t.conflicts++
		return t.resume(ctx)
	case err != nil:
		return err
	}
	// The sequence number of each acknowledgement was checked, so seq is known without a request.
	t.at, t.seq, t.new = end, t.seq+uint64(len(events)), false
	if t.conflicts++; first {
		t.conflicts = 0
	}
	return nil
}

// restart makes the stream start again at the head of the log. Readers at earlier positions then
// read the log.
func (t *term) restart(ctx context.Context) error {
	if err := t.log.remove(ctx, t.seq); err != nil {
		return err
	}
	return t.resume(ctx)
}

// resume determines the end of the stream, at the beginning of a term and after each conflict.
func (t *term) resume(ctx context.Context) (err error) {
	t.at, t.seq, err = t.log.resume(ctx)
	t.new = true
	return err
}

// idle waits until there may be events to publish.
func (l *Log) idle(ctx context.Context) error {
	poll := time.NewTimer(l.opts.Poll)
	defer poll.Stop()
	select {
	case <-l.source.Wake():
	case <-l.wakeRelay:
	case <-poll.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

// resume returns the end of the stream: its position and its last sequence number. If the stream is
// empty or its end is not readable, resume starts it again at the head of the log.
func (l *Log) resume(ctx context.Context) (at feed.Cursor, seq uint64, err error) {
	info, err := l.create(ctx)
	if err != nil {
		return at, 0, err
	}
	seq = info.State.LastSeq
	if info.State.Msgs > 0 {
		at, err = l.lastCursor(ctx, seq)
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

// lastCursor returns the cursor of the last message. The error is errMessage if that message was
// removed or is not an event.
func (l *Log) lastCursor(ctx context.Context, seq uint64) (at feed.Cursor, err error) {
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
	// Followers may lag for any time, so only the leader can decide.
	switch lost, err := l.wasRemoved(ctx, seq); {
	case err != nil:
		return at, err
	case lost:
		return at, errMessage
	}
	return at, errLagging
}

// publish publishes events after the end of the stream and waits for all acknowledgements. It
// reports whether the first event was new.
func (t *term) publish(ctx context.Context, events []*feed.Event) (first bool, err error) {
	limit := t.log.js.Conn().MaxPayload()
	acks := make([]jetstream.PubAckFuture, len(events))
	at := t.at
	for i, e := range events {
		// Each message names the expected previous number, so none is stored after a gap.
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
				return false, errMisplaced
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

// conflict maps the error of an acknowledgement to errConflict if another relay has published.
func conflict(err error) error {
	const inProcess = 10158 // a duplicate of this message is being stored
	var api *jetstream.APIError
	if errors.As(err, &api) &&
		(api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == inProcess) {
		return errConflict
	}
	return err
}

// standBy returns nil when the log has new events and the stream has not. The random pause keeps
// several relays from taking over at the same time.
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
			return nil // lead will report the error
		}
	}
}
