package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// endings are those of streams whose users log out, are given another password or may not come in any more. Each change asks
// for the rights of who listens, but where nothing changes nobody would notice.
type endings struct {
	mu   sync.Mutex
	open map[*ending]struct{}
}

type ending struct {
	*session
	end context.CancelFunc
}

// endedSessions is where the feed tells whose sessions have ended. It is no collection, and nobody else can listen there.
const endedSessions = "sessions"

// of returns a context that ends with the session. It is registered until then, or until ctx ends.
func (e *endings) of(ctx context.Context, s *session) context.Context {
	within, cancel := context.WithCancel(ctx)
	stream := &ending{s, cancel}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.open == nil {
		e.open = map[*ending]struct{}{}
	}
	e.open[stream] = struct{}{}
	context.AfterFunc(within, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.open, stream)
	})
	return within
}

// those returns the streams of a user; "" is everybody.
func (e *endings) those(user string) (found []*ending) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for stream := range e.open {
		if user == "" || stream.user == user {
			found = append(found, stream)
		}
	}
	return found
}

// endStreams ends streams as the feed tells of their users, in this process or another, until it is closed. A stream that has
// begun too late to be found asks for its rights once before it says anything.
func (c *collections) endStreams(ctx context.Context, collection string) {
	for ctx.Err() == nil {
		for e, err := range c.changes.Watch(ctx, feed.Cursor{}, collection) {
			if errors.Is(err, feed.ErrClosed) {
				return
			}
			if err != nil {
				break // what was told meanwhile, the bookmark that comes first makes up for
			}
			c.endThose(ctx, e.ID)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Second):
		}
	}
}

// endThose ends the streams of a user whose tokens are not good any more; a bookmark is about everybody. If the database does
// not answer, the next one has them looked at again.
func (c *collections) endThose(ctx context.Context, user string) {
	streams := c.endings.those(user)
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
