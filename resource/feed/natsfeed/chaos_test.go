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

// load appends while something happens, as two processes that both relay, and two more that only follow, one of them with a
// small window. It fails unless all four have told everything, once and in order.
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
				last = i + n // that many come behind all that happens
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

// relayed is a process that relays. When it is killed its Log stays, as that of somebody who has lost its relay.
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

// TestRelaysComeAndGo: two at a time, none at all, and others.
func TestRelaysComeAndGo(t *testing.T) {
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

// TestLeaderStops: one server after the other goes, the one that leads the stream, and comes again.
func TestLeaderStops(t *testing.T) {
	t.Parallel()
	c, err := startCluster()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.stop) // which is called after what the test starts has ended
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

// TestStreamIsLost: somebody deletes it, or what is in it, or its last message.
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

// damage does something to a stream, again where the servers do not say whether it is done, or it was done to it already.
func damage(t *testing.T, js jetstream.JetStream, name string, lose func(ctx context.Context, stream jetstream.Stream) error) {
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

// TestBackupRestored: places that the log has lost are told to be so, by processes that ran all the time, too, and the stream
// goes on without them.
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
				t.Fatalf("%s: events behind a place that is lost", name)
			}
		}
		if !told {
			t.Errorf("%s: a place that is lost goes on", name)
		}
		wantAll(t, source, after, tailed(t, l, after, count(50)))
	}
	appendSome(t, log, 50, 50)
	settledSoon(t, js, name, source)
	audit(t, js, name)
}
