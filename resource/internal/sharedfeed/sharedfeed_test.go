package sharedfeed_test

import (
	"context"
	"iter"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/internal/sharedfeed"
)

// idle is a collection without changes.
func idle(ctx context.Context, _ feed.Cursor) iter.Seq2[*feed.Event, error] {
	return func(func(*feed.Event, error) bool) { <-ctx.Done() }
}

func TestLifetime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var s sharedfeed.Source
		first, second := s.Join(idle), s.Join(idle)
		if first != second {
			t.Error("two subscribers have two feeds")
		}
		s.Leave()
		time.Sleep(2 * time.Minute)
		if s.Join(idle) != first {
			t.Error("the feed was closed while it had a subscriber")
		}
		s.Leave()
		s.Leave()
		time.Sleep(30 * time.Second)
		if s.Join(idle) != first {
			t.Error("the feed was closed at once")
		}
		s.Leave()
		time.Sleep(2 * time.Minute)
		if s.Join(idle) == first {
			t.Error("the feed runs without subscribers")
		}
		s.Leave()
		time.Sleep(2 * time.Minute)
	})
}

func TestAttach(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := feed.New(feed.FromWatch(idle), nil), feed.New(feed.FromWatch(idle), nil)
		defer a.Close()
		defer b.Close()
		var s sharedfeed.Source
		if s.Logger() != slog.Default() {
			t.Error("without a logger it is not the default")
		}
		logger := slog.New(slog.DiscardHandler)
		if !s.Attach(a, logger) || !s.Attach(a, nil) || s.Attach(b, nil) {
			t.Error("Attach accepts another parent, or not the same one")
		}
		if s.Logger() != logger {
			t.Error("the logger is another")
		}
	})
}
