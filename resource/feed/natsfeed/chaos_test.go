package natsfeed_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
)

// load appends events through two relaying processes while happens runs. Two more processes only
// follow, one of them with a small window. All four must deliver all events, once and in order.
func load(t *testing.T, c *cluster, source feed.Log, name string, n int, happens func(relays []*relayed)) {
	t.Helper()
	at := head(t, source)
	relays := []*relayed{{t: t, c: c, source: source, name: name}, {t: t, c: c, source: source, name: name}}
	var logs []*natsfeed.Log
	for _, r := range relays {
		r.start()
		logs = append(logs, r.log)
	}
	for _, events := range []int{0, 5} {
		log, _ := run(t, c, source, natsfeed.Options{Stream: name, ReadOnly: true, Events: events})
		logs = append(logs, log)
	}
	var over sync.WaitGroup
	var total atomic.Int64
	total.Store(1 << 30)
	happened := make(chan struct{})
	over.Go(func() {
		i := 0
		for last := n; i < last; i += 10 {
			appendSome(t, logs[i/10%2], i, 10)
			time.Sleep(5 * time.Millisecond)
			select {
			case <-happened:
			default:
				last = i + n // events after the failure
			}
		}
		total.Store(int64(i))
	})
	got := make([][]*feed.Event, len(logs))
	for i, log := range logs {
		over.Go(func() { got[i] = tailed(t, log, at, &total) })
	}
	happens(relays)
	close(happened)
	over.Wait()
	t.Logf("%d events", total.Load())
	for i := range got {
		t.Run(fmt.Sprintf("process %d", i), func(t *testing.T) { wantAll(t, source, at, got[i]) })
	}
}

// relayed is a process with a relay. When it is killed its Log remains, like that of a process with
// a failed relay.
type relayed struct {
	t      *testing.T
	c      *cluster
	source feed.Log
	name   string
	log    *natsfeed.Log
	kill   func()
}

func (r *relayed) start() {
	log, kill := run(r.t, r.c, r.source, natsfeed.Options{Stream: r.name})
	if r.kill = kill; r.log == nil {
		r.log = log
	}
}

// TestRelaysStopAndStart: two relays at a time, none, and others.
func TestRelaysStopAndStart(t *testing.T) {
	t.Parallel()
	c, name := theCluster(t), streamName()
	source, _ := start(t, c, name)
	load(t, c, source, name, 500, func(relays []*relayed) {
		for i := range 6 {
			time.Sleep(100 * time.Millisecond)
			relays[i%2].kill()
			if i == 3 {
				relays[0].kill()
				relays[1].kill()
				time.Sleep(300 * time.Millisecond)
				relays[(i+1)%2].start()
			}
			relays[i%2].start()
		}
	})
	settled(t, c.connect(t), name, source)
	audit(t, c.connect(t), name)
}

// TestLeaderStops: each server in turn is stopped while it leads the stream, and started again.
func TestLeaderStops(t *testing.T) {
	t.Parallel()
	c, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop) // runs after everything that the test starts has ended
	name := streamName()
	source, _ := start(t, c, name)
	js := c.connect(t)
	load(t, c, source, name, 500, func([]*relayed) {
		for range 2 {
			time.Sleep(200 * time.Millisecond)
			stopped := c.stopLeader(t, js, name)
			time.Sleep(200 * time.Millisecond)
			if err := c.restart(stopped); err != nil {
				t.Error(err)
				return
			}
		}
	})
	settled(t, js, name, source)
	t.Logf("the stream has %d events", audit(t, js, name))
}

// TestStreamIsLost: the stream, its content, or its last message is deleted.
func TestStreamIsLost(t *testing.T) {
	t.Parallel()
	c, name := theCluster(t), streamName()
	source, _ := start(t, c, name)
	js := c.connect(t)
	load(t, c, source, name, 500, func([]*relayed) {
		ways := []func(ctx context.Context, stream jetstream.Stream) error{
			func(ctx context.Context, stream jetstream.Stream) error { return js.DeleteStream(ctx, name) },
			func(ctx context.Context, stream jetstream.Stream) error { return stream.Purge(ctx) },
			func(ctx context.Context, stream jetstream.Stream) error {
				return stream.DeleteMsg(ctx, stream.CachedInfo().State.LastSeq)
			},
		}
		for _, lose := range ways {
			time.Sleep(150 * time.Millisecond)
			damage(t, js, name, lose)
		}
	})
	settledSoon(t, js, name, source)
	t.Logf("the stream has %d events", audit(t, js, name))
}

// damage applies lose to a stream, and repeats it if the servers do not report the outcome.
func damage(t *testing.T, js jetstream.JetStream, name string,
	lose func(ctx context.Context, stream jetstream.Stream) error) {
	var err error
	for end := time.Now().Add(patience); time.Now().Before(end); {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		var stream jetstream.Stream
		if stream, err = js.Stream(ctx, name); err == nil {
			err = lose(ctx, stream)
		}
		cancel()
		if err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("the stream could not be damaged: %v", err)
}

// TestBackupRestored: lost cursors expire, also in processes that were running, and the stream
// continues without the lost events.
func TestBackupRestored(t *testing.T) {
	t.Parallel()
	c, name := theCluster(t), streamName()
	source := newRestorable()
	log, _ := run(t, c, source, natsfeed.Options{Stream: name})
	follows, _ := run(t, c, source, natsfeed.Options{Stream: name, ReadOnly: true})
	js := c.connect(t)
	settledSoon(t, js, name, source)
	lost := head(t, source)
	source.restore(t, nil)
	after := head(t, source)
	appendSome(t, log, 0, 50)
	for name, l := range map[string]feed.Log{"relays": log, "follows": follows} {
		told := false
		for end := time.Now().Add(patience); !told && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			events, _, err := l.Tail(t.Context(), lost, 10)
			if told = errors.Is(err, feed.ErrExpired); !told && len(events) > 0 {
				t.Fatalf("%s: events after a lost cursor", name)
			}
		}
		if !told {
			t.Errorf("%s: a lost cursor is accepted", name)
		}
		wantAll(t, source, after, tailed(t, l, after, count(50)))
	}
	appendSome(t, log, 50, 50)
	settledSoon(t, js, name, source)
	audit(t, js, name)
}
