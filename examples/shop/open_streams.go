package main

// The registry of open event streams, by user. It ends the streams of a session that is no longer
// valid. streams.go registers them.

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// openStreams registers the open streams, so that they end if the user logs out, gets another password
// or is deactivated. Each event checks the permissions of its subscribers, but an idle stream has
// no events.
type openStreams struct {
	mu   sync.Mutex
	open map[*openStream]struct{}
}

// openStream is one stream and the function that ends it.
type openStream struct {
	*session
	end context.CancelFunc
}

// endedSessions is the name under which ended sessions are published in the feed. It is not a
// collection, so clients cannot subscribe to it.
const endedSessions = "sessions"

// register returns a context that is cancelled if the session ends. The session is registered until
// then, or until ctx is done. Without the removal, the map would grow with every stream.
func (e *openStreams) register(ctx context.Context, s *session) context.Context {
	within, cancel := context.WithCancel(ctx)
	stream := &openStream{s, cancel}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open = map[*openStream]struct{}{}
	}
	e.open[stream] = struct{}{}
	context.AfterFunc(within, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.open, stream)
	})
	return within
}

// ofUser returns the streams of a user. The empty user selects all streams.
func (e *openStreams) ofUser(user string) (found []*openStream) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for stream := range e.open {
		if user == "" || stream.user == user {
			found = append(found, stream)
		}
	}
	return found
}

// endStreams ends streams when the feed reports a change of their users, in this process or
// another. It returns when the feed is closed. A stream that is registered too late for an event is
// safe, because it is authorized again before its first event.
func (c *collections) endStreams(ctx context.Context, collection string) {
	for ctx.Err() == nil {
		for e, err := range c.changes.Watch(ctx, feed.Cursor{}, collection) {
			if errors.Is(err, feed.ErrClosed) {
				return
			}
			if err != nil {
				break // the next subscription begins with a bookmark, which checks all streams
			}
			c.endInvalid(ctx, e.ID)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// endInvalid ends the streams of a user with tokens that are no longer valid. The empty user of a
// bookmark selects all streams. If the database fails, the next bookmark checks the streams again.
func (c *collections) endInvalid(ctx context.Context, user string) {
	streams := c.openStreams.ofUser(user)
	tokens := map[string]bool{}
	for _, s := range streams {
		tokens[s.token] = true
	}
	if len(tokens) == 0 {
		return
	}
	good, err := c.usersOfTokens(ctx, slices.Collect(maps.Keys(tokens)))
	if err != nil {
		return
	}
	for _, s := range streams {
		if _, ok := good[s.token]; !ok {
			s.end()
		}
	}
}
