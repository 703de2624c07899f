package natsfeed

// Access to the stream: its configuration and state, direct gets, and purges. Each call has a
// timeout of its own, because servers without a leader do not answer.

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
)

// noLimit is greater than every sequence number.
const noLimit = math.MaxUint64

// apiWait limits how long a call may take. Without a leader servers do not respond, and the call is
// repeated.
const apiWait = 2 * time.Second

// errConfig reports an existing stream with an unsuitable configuration.
var errConfig = errors.New(
	"natsfeed: stream must have the subject NAME.events, republish to NAME.news and allow direct access",
)

// create creates the stream unless it exists, and returns its state.
func (l *Log) create(ctx context.Context) (*jetstream.StreamInfo, error) {
	info, err := l.state(ctx)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return info, err
	}
	ctx, cancel := context.WithTimeout(ctx, apiWait)
	defer cancel()
	_, err = l.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: l.opts.Stream, Subjects: []string{l.events()}, Description: "events of a log, in order",
		Replicas: l.opts.Replicas, MaxAge: l.opts.Age, MaxBytes: l.opts.Bytes, AllowDirect: true,
		RePublish: &jetstream.RePublish{Source: l.events(), Destination: l.news()},
	})
	// another process may have created it
	if err != nil && !errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return nil, fmt.Errorf("natsfeed: stream %s: %w", l.opts.Stream, err)
	}
	return l.state(ctx)
}

// state returns the state of the stream from its leader. CachedInfo is that of the response to the
// lookup just before.
func (l *Log) state(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, apiWait)
	defer cancel()
	stream, err := l.js.Stream(ctx, l.opts.Stream)
	if err != nil {
		return nil, fmt.Errorf("natsfeed: stream %s: %w", l.opts.Stream, err)
	}
	info := stream.CachedInfo()
	if c := info.Config; !c.AllowDirect || !slices.Equal(c.Subjects, []string{l.events()}) ||
		c.RePublish == nil || c.RePublish.Destination != l.news() {
		return nil, errConfig
	}
	return info, nil
}

// wasRemoved asks the leader of the stream whether a message was removed.
func (l *Log) wasRemoved(ctx context.Context, seq uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, apiWait)
	defer cancel()
	stream, err := l.js.Stream(ctx, l.opts.Stream)
	if err != nil {
		return false, err
	}
	info, err := stream.Info(ctx, jetstream.WithDeletedDetails(true))
	if err != nil {
		return false, err
	}
	return seq < info.State.FirstSeq || slices.Contains(info.State.Deleted, seq), nil
}

// remove removes messages up to and including a sequence number.
func (l *Log) remove(ctx context.Context, through uint64) error {
	ctx, cancel := context.WithTimeout(ctx, apiWait)
	defer cancel()
	stream, err := l.js.Stream(ctx, l.opts.Stream)
	if err != nil {
		return err
	}
	return stream.Purge(ctx, jetstream.WithPurgeSequence(through+1))
}

// getSubject returns the subject of batched direct gets, which the client library does not offer.
func (l *Log) getSubject() string {
	o := l.js.Options()
	prefix := "$JS.API."
	switch {
	case o.APIPrefix != "":
		prefix = strings.TrimSuffix(o.APIPrefix, ".") + "."
	case o.Domain != "":
		prefix = "$JS." + o.Domain + ".API."
	}
	return prefix + "DIRECT.GET." + l.opts.Stream
}

// get returns at most max messages, starting at a sequence number. Any replica may respond, so the
// newest messages may be missing. The result has no gaps except those of the stream.
func (l *Log) get(ctx context.Context, seq uint64, max int) ([]*message, error) {
	// The server ends a batch at this size, so that a page of large events does not fill the
	// memory.
	const bytes = 4 << 20
	ctx, cancel := context.WithTimeout(ctx, apiWait)
	defer cancel()
	ask, err := json.Marshal(map[string]uint64{"seq": seq, "batch": uint64(max), "max_bytes": bytes})
	if err != nil {
		return nil, err
	}
	nc := l.js.Conn()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer func() { _ = sub.Unsubscribe() }() // fails only if the connection is closed
	if err := nc.PublishRequest(l.getSubject(), inbox, ask); err != nil {
		return nil, err
	}
	var got []*message
	for {
		msg, err := sub.NextMsgWithContext(ctx)
		if err != nil {
			return nil, err
		}
		switch status := msg.Header.Get("Status"); {
		case status == "204" || status == "404": // end of batch; no messages
			return got, nil
		case status != "":
			return nil, fmt.Errorf("natsfeed: direct get: status %s", status)
		}
		m, err := stored(msg)
		if err != nil {
			return nil, err
		}
		got = append(got, m)
	}
}

// stored parses a message with the sequence number that the server has added.
func stored(msg *nats.Msg) (*message, error) {
	seq, err := strconv.ParseUint(msg.Header.Get(jetstream.SequenceHeader), 10, 64)
	if err != nil {
		return nil, errMessage
	}
	return decode(seq, msg.Header, msg.Data)
}

// complete reads an event that was too large for a message from the log. The event may have been
// purged from the log since; the error is then that of an expired cursor.
func (l *Log) complete(ctx context.Context, m *message) error {
	if m.event != nil {
		return nil
	}
	events, err := l.source.Read(ctx, m.after, m.at, 1)
	if err != nil {
		return err
	}
	if len(events) != 1 || events[0].Cursor != m.at {
		return feed.ErrExpired
	}
	m.event, m.size = events[0], len(events[0].Before)+len(events[0].After)
	return nil
}
