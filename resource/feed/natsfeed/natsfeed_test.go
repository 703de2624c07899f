package natsfeed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
)

// TestNewPanics: New panics with the reason for invalid arguments.
func TestNewPanics(t *testing.T) {
	t.Parallel()
	var js jetstream.JetStream = struct{ jetstream.JetStream }{}
	tests := []struct {
		name   string
		source feed.Log
		js     jetstream.JetStream
		opts   *natsfeed.Options
		want   string
	}{
		{"no log", nil, js, nil, "needs a source"},
		{"no JetStream", feed.NewMemory(nil), nil, nil, "needs a source and a JetStream"},
		{"a name with a dot", feed.NewMemory(nil), js, &natsfeed.Options{Stream: "a.b"}, "dot"},
		{"a name with a wildcard", feed.NewMemory(nil), js, &natsfeed.Options{Stream: "a>"}, "wildcard"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			defer func() {
				if said := fmt.Sprint(recover()); !strings.Contains(said, tt.want) {
					t.Errorf("New panicked with %q, want text with %q", said, tt.want)
				}
			}()
			natsfeed.New(tt.source, tt.js, tt.opts)
		})
	}
}

// TestPurge: events purged from the log are removed from the stream, and the others remain.
func TestPurge(t *testing.T) {
	t.Parallel()
	c, name := theCluster(t), streamName()
	source := feed.NewMemory(nil)
	log, _ := run(t, c, source, natsfeed.Options{Stream: name})
	js := c.connect(t)
	settledSoon(t, js, name, source)
	at := head(t, source)
	appendSome(t, log, 0, 100)
	settled(t, js, name, source)
	for end := time.Now().Add(patience); ; {
		purgeAll(t, log)
		n := audit(t, js, name)
		if n == 1 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the stream has %d events, want the newest alone", n)
		}
		appendSome(t, log, 0, 1) // the servers were too slow; the next purge removes the rest
		settled(t, js, name, source)
	}
	if _, _, err := log.Tail(t.Context(), at, 10); err == nil {
		t.Error("Tail continued from a cursor with the next events purged")
	}
	at = head(t, log)
	appendSome(t, log, 0, 10)
	wantAll(t, source, at, tailed(t, log, at, count(10)))
}

// purgeAll purges until no event can be purged.
func purgeAll(t *testing.T, log feed.Log) {
	t.Helper()
	for left := true; left; {
		n, err := log.Purge(t.Context(), time.Now().Add(time.Hour), 0, 1000)
		if err != nil {
			t.Fatal(err)
		}
		left = n > 0
	}
}

// TestForeignStream: an unsuitable stream is not changed, and all events are read from the log.
func TestForeignStream(t *testing.T) {
	t.Parallel()
	c, name := theCluster(t), streamName()
	js := c.connect(t)
	for end := time.Now().Add(patience); ; {
		_, err := js.CreateStream(t.Context(),
			jetstream.StreamConfig{Name: name, Subjects: []string{name + ".events"}})
		if err == nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	source := feed.NewMemory(nil)
	log, _ := run(t, c, source, natsfeed.Options{Stream: name})
	at := head(t, log)
	appendSome(t, log, 0, 100)
	wantAll(t, source, at, tailed(t, log, at, count(100)))
	if n := audit(t, js, name); n != 0 {
		t.Errorf("%d messages were published in a stream that is not ours", n)
	}
}
