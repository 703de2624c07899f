package natsfeed

// Removal of purged events from the stream. Purge of natsfeed.go calls purgeStream after the log
// has purged.

import (
	"context"
	"errors"

	"github.com/stoa-go/stoa/resource/feed"
)

// purgeStream removes messages of events that the log has purged. The position after the last of
// them remains valid, because the next message refers to it. It finds the first position that the
// log still has by binary search: purging is in order.
func (l *Log) purgeStream(ctx context.Context) error {
	info, err := l.state(ctx)
	if err != nil || info.State.Msgs == 0 {
		return err
	}
	low, high := info.State.FirstSeq, info.State.LastSeq
	for low < high {
		middle := low + (high-low)/2
		m, err := l.oldest(ctx, middle)
		if err != nil {
			return err
		}
		switch _, err := l.source.Read(ctx, m.at, m.at, 1); {
		case errors.Is(err, feed.ErrExpired):
			low = m.seq + 1
		case err != nil:
			return err
		default:
			high = middle
		}
	}
	m, err := l.oldest(ctx, low)
	if err != nil {
		return err
	}
	// keep the last message, because the next relay needs the end of the stream
	if m.seq >= info.State.LastSeq {
		return l.remove(ctx, info.State.LastSeq-1)
	}
	l.window.trim(m.at)
	return l.remove(ctx, m.seq)
}

// oldest returns the message with the given sequence number or the next one that exists. The caller
// has read the state, so a stream without such a message has changed since.
func (l *Log) oldest(ctx context.Context, seq uint64) (*message, error) {
	got, err := l.get(ctx, seq, 1)
	if err == nil && len(got) == 0 {
		err = errStreamChanged
	}
	if err != nil {
		return nil, err
	}
	return got[0], nil
}
