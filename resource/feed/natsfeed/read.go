package natsfeed

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// Tail is that of feed.Log: out of memory where the stream is followed, else out of the stream, else out of the log.
func (l *Log) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	if err := ctx.Err(); err != nil {
		return nil, feed.Cursor{}, err
	}
	events, where := l.window.after(after, all, max)
	switch {
	case where == inside && len(events) == 0 && !l.stale():
		return nil, after, nil
	case where == behind:
		events, _ = l.page(ctx, after, all, max)
	}
	if n := len(events); n > 0 {
		return events, events[n-1].Cursor, nil
	}
	events, end, err := l.source.Tail(ctx, after, max)
	switch {
	case err == nil && len(events) == 0:
		l.looked.Store(time.Now().UnixNano())
	case where == inside && errors.Is(err, feed.ErrExpired):
		l.window.trust(after, false)
	}
	return events, end, err
}

// stale reports whether the log has to be looked at, as nobody may be publishing: it goes on being so until either of them
// says that there is nothing new.
func (l *Log) stale() bool {
	return l.window.silent(l.opts.Check) && time.Since(time.Unix(0, l.looked.Load())) >= l.opts.Check
}

// Read is that of feed.Log.
func (l *Log) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if after.Epoch == until.Epoch {
		events, where := l.window.after(after, until.Seq, max)
		if where == inside {
			return events, nil
		}
		if where == behind {
			if events, ok := l.page(ctx, after, until.Seq, max); ok {
				return events, nil
			}
		}
	}
	return l.source.Read(ctx, after, until, max)
}

// page reads in the stream, up to and with a number of the log. It reports whether less than max are all: without that the
// stream may have more, or not have them any more.
func (l *Log) page(ctx context.Context, after feed.Cursor, until uint64, max int) (events []*feed.Event, complete bool) {
	seq, ok := l.locate(ctx, after)
	if !ok {
		return nil, false
	}
	defer func() { l.places.put(after, seq) }() // where the next page begins
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

// locate finds the number of the message that follows a place, if the stream has it.
func (l *Log) locate(ctx context.Context, after feed.Cursor) (uint64, bool) {
	if seq, ok := l.places.take(after); ok {
		return seq, true // that it follows is seen in the message itself
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

// places are where those who read page by page have come to, so that a place is not looked for again for each page.
type places struct {
	mu   sync.Mutex
	next map[feed.Cursor]uint64
}

func (p *places) put(at feed.Cursor, seq uint64) {
	const most = 1024
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.next == nil || len(p.next) >= most {
		p.next = map[feed.Cursor]uint64{}
	}
	p.next[at] = seq
}

// take forgets the place: who comes again looks for it anew, should the stream be another by then.
func (p *places) take(at feed.Cursor) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	seq, ok := p.next[at]
	delete(p.next, at)
	return seq, ok
}
