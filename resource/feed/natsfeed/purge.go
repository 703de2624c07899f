package natsfeed

import (
	"context"
	"errors"

	"github.com/stoa-go/stoa/resource/feed"
)

// purgeStream removes the messages of events that the log does not have any more. The last place of those stays one, as the
// next message names it.
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
	if m.seq >= info.State.LastSeq { // who comes next needs to know where the stream ends
		return l.remove(ctx, info.State.LastSeq-1)
	}
	l.window.trim(m.at)
	return l.remove(ctx, m.seq)
}

// oldest returns the message with a number, or the next that there is.
func (l *Log) oldest(ctx context.Context, seq uint64) (*message, error) {
	got, err := l.get(ctx, seq, 1)
	if err == nil && len(got) == 0 {
		err = errOther
	}
	if err != nil {
		return nil, err
	}
	return got[0], nil
}
