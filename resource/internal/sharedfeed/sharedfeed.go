// Package sharedfeed has the feed of a collection that reports its changes itself. The feed is
// started for the first subscriber, and closed some time after the last has left.
package sharedfeed

import (
	"cmp"
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
)

// idleTimeout is how long a feed runs without subscribers: clients reconnect, and lists read its
// position.
const idleTimeout = time.Minute

// Source starts and closes the feed. The zero value is ready. It is safe for concurrent use, and
// must not be copied. users counts calls of Join without Leave. feed is nil while none runs, and
// idle is the timer of the last Leave.
type Source struct {
	mu     sync.Mutex
	parent *feed.Feed
	logger *slog.Logger
	feed   *feed.Feed
	users  int
	idle   *time.Timer
}

// Attach makes the feed a branch of parent, so that it is closed with parent. It reports false if
// the source has another parent already. A collection may be in several catalogs,
// which then need the same feed.
func (s *Source) Attach(parent *feed.Feed, logger *slog.Logger) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.parent == nil {
		s.parent, s.logger = parent, logger
	}
	return s.parent == parent
}

// Logger returns the logger that was attached, or [slog.Default].
func (s *Source) Logger() *slog.Logger {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.logger, slog.Default())
}

// Join returns the feed of watch, and starts it if it does not run. The caller calls Leave once.
// Stop may be too late for a timer that has fired; closeIdle then sees the new user.
func (s *Source) Join(watch func(context.Context, feed.Cursor) iter.Seq2[*feed.Event, error]) *feed.Feed {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle != nil {
		s.idle.Stop()
	}
	s.users++
	if s.feed == nil {
		if log := feed.FromWatch(watch); s.parent != nil {
			s.feed = s.parent.Branch(log)
		} else {
			s.feed = feed.New(log, nil)
		}
	}
	return s.feed
}

// Leave ends the use of a feed that Join has returned. It does not wait for the feed to close.
func (s *Source) Leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.users--
	if s.users == 0 {
		s.idle = time.AfterFunc(idleTimeout, s.closeIdle)
	}
}

// closeIdle closes the feed, unless it has a subscriber again. A Join after it starts another feed,
// which resumes from the cursors of its subscribers.
func (s *Source) closeIdle() {
	s.mu.Lock()
	f := s.feed
	if s.users > 0 {
		f = nil
	} else {
		s.feed = nil
	}
	s.mu.Unlock()
	// Without the lock: Close ends the watch of the collection, which may call Join or Logger.
	if f != nil {
		// Without the lock: Join can start another feed while this one is closed.
		f.Close()
	}
}
