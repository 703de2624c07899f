package natsfeed

// Tail and Read. A position is looked up in the window, then in the stream, then in the log. All
// three return the same events, so the order affects only the cost.

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// Tail implements [feed.Log]. It reads from memory if possible, otherwise from the stream,
// otherwise from the log.
func (l *Log) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	if err := ctx.Err(); err != nil {
		return nil, feed.Cursor{}, err
	}
	events, where := l.window.after(after, noLimit, max)
	switch {
	// The reader is at the end of the stream, and a relay publishes: the log has nothing newer.
	case where == inWindow && len(events) == 0 && !l.stale():
		return nil, after, nil
	case where == beforeWindow:
		events, _ = l.page(ctx, after, noLimit, max)
	}
	if n := len(events); n > 0 {
		return events, events[n-1].Cursor, nil
	}
	events, end, err := l.source.Tail(ctx, after, max)
	switch {
	case err == nil && len(events) == 0:
		l.lastEmpty.Store(time.Now().UnixNano())
	// The log does not know the end of the stream, so it was restored from a backup.
	case where == inWindow && errors.Is(err, feed.ErrExpired):
		l.window.trust(after, false)
	}
	return events, end, err
}

// stale reports whether the log has to be read because no relay may be publishing. It remains true
// until an event arrives or the log has no new event.
func (l *Log) stale() bool {
	return l.window.silent(l.opts.Check) && time.Since(time.Unix(0, l.lastEmpty.Load())) >= l.opts.Check
}

// Read implements [feed.Log].
func (l *Log) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	// Positions of two epochs cannot be compared by their numbers.
	if after.Epoch == until.Epoch {
		events, where := l.window.after(after, until.Seq, max)
		if where == inWindow {
			return events, nil
		}
		if where == beforeWindow {
			if events, ok := l.page(ctx, after, until.Seq, max); ok {
				return events, nil
			}
		}
	}
	return l.source.Read(ctx, after, until, max)
}

// page reads events from the stream, up to the log's number until. complete is true if the result
// is a full page or reaches until. Otherwise the stream may have more events, or may have lost
// them. Each message names the position before it, which shows gaps and a stream that was replaced.
func (l *Log) page(ctx context.Context, after feed.Cursor, until uint64,
	max int) (events []*feed.Event, complete bool) {
	seq, ok := l.locate(ctx, after)
	if !ok {
		return nil, false
	}
	defer func() { l.cursors.put(after, seq) }() // where the next page starts
	for bytes := 0; len(events) < max && bytes < feed.PageBytes; {
		got, err := l.get(ctx, seq, max-len(events))
		if err != nil || len(got) == 0 {
			return events, false
		}
		for _, m := range got {
			switch {
			case m.at.Seq > until:
				return events, true
			case m.after != after || l.complete(ctx, m) != nil:
				return events, false
			}
			events, after, seq = append(events, m.event), m.at, m.seq+1
			bytes += len(m.event.Before) + len(m.event.After)
			if bytes >= feed.PageBytes {
				break
			}
		}
		if after.Seq >= until {
			return events, true
		}
	}
	return events, true
}

// locate returns the sequence number of the message after a position, if the stream has it. The
// search needs no index: numbers of the log increase with those of the stream.
func (l *Log) locate(ctx context.Context, after feed.Cursor) (uint64, bool) {
	if seq, ok := l.cursors.take(after); ok {
		return seq, true // the caller checks that the message follows
	}
	low, high := uint64(1), l.window.next()
	for low < high {
		middle := low + (high-low)/2
		got, err := l.get(ctx, middle, 1)
		switch {
		case err != nil:
			return 0, false
		case len(got) == 0 || got[0].at.Seq > after.Seq:
			high = middle
		default:
			low = got[0].seq + 1
		}
	}
	got, err := l.get(ctx, low, 1)
	if err != nil || len(got) == 0 || got[0].after != after {
		return 0, false
	}
	return got[0].seq, true
}

// seqCache maps the positions of readers that read page by page to sequence numbers, so that each
// page does not need a binary search.
type seqCache struct {
	mu   sync.Mutex
	next map[feed.Cursor]uint64
}

// put remembers the position of the stream at which a reader continues.
func (p *seqCache) put(at feed.Cursor, seq uint64) {
	const most = 1024
	p.mu.Lock()
	defer p.mu.Unlock()
	// Entries of readers that have stopped are never taken, so a full map is discarded.
	if p.next == nil || len(p.next) >= most {
		p.next = map[feed.Cursor]uint64{}
	}
	p.next[at] = seq
}

// take returns and removes an entry, because the stream may be another one at the next use.
func (p *seqCache) take(at feed.Cursor) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seq, ok := p.next[at]
	delete(p.next, at)
	return seq, ok
}
