package natsfeed_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
)

// watched counts the reads of a log. When it is closed it only checks positions.
type watched struct {
	feed.Log
	reads  atomic.Int64
	closed atomic.Bool
}

var errClosed = errors.New("the log is not to be read")

func (w *watched) Tail(ctx context.Context, after feed.Cursor, max int) ([]*feed.Event, feed.Cursor, error) {
	if w.reads.Add(1); w.closed.Load() {
		return nil, feed.Cursor{}, errClosed
	}
	return w.Log.Tail(ctx, after, max)
}

func (w *watched) Read(ctx context.Context, after, until feed.Cursor, max int) ([]*feed.Event, error) {
	if w.reads.Add(1); w.closed.Load() && after != until {
		return nil, errClosed
	}
	return w.Log.Read(ctx, after, until, max)
}

// appendSome appends events of ten items and returns their number.
func appendSome(t testing.TB, log feed.Log, from, n int) {
	t.Helper()
	for i := from; i < from+n; i++ {
		e := &feed.Event{
			Kind:       feed.Updated,
			Collection: "orders",
			ID:         fmt.Sprint(i % 10),
			Rev:        fmt.Sprint(i),
			After:      []byte(`{"n":1}`),
		}
		if err := log.Append(context.Background(), e); err != nil {
			t.Errorf("Append: %v", err)
			return
		}
	}
}

// count returns a counter with the given value.
func count(n int64) *atomic.Int64 {
	var c atomic.Int64
	c.Store(n)
	return &c
}

// tailed tails a log until it has n events or a timeout is reached. Errors are retried, as a Feed
// does.
func tailed(t testing.TB, log feed.Log, at feed.Cursor, n *atomic.Int64) (events []*feed.Event) {
	t.Helper()
	for end := time.Now().Add(2 * patience); int64(len(events)) < n.Load() && time.Now().Before(end); {
		got, next, err := log.Tail(context.Background(), at, 1+rand.N(100))
		if errors.Is(err, feed.ErrExpired) {
			t.Errorf("Tail from %+v: %v", at, err)
			return events
		}
		if err != nil || len(got) == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		events, at = append(events, got...), next
	}
	return events
}

// wantAll fails unless events are all events of the source after start, in order.
func wantAll(t testing.TB, source feed.Log, start feed.Cursor, got []*feed.Event) {
	t.Helper()
	var want []*feed.Event
	for at := start; ; {
		events, next, err := source.Tail(context.Background(), at, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if len(events) == 0 {
			break
		}
		want, at = append(want, events...), next
	}
	if len(want) != len(got) {
		t.Errorf("%d events, want %d", len(got), len(want))
		return
	}
	for i, e := range got {
		if e.Cursor != want[i].Cursor || e.ID != want[i].ID || e.Rev != want[i].Rev ||
			string(e.After) != string(want[i].After) {
			t.Errorf("event %d is %v about %s, want %v about %s", i, e.Cursor, e.ID, want[i].Cursor,
				want[i].ID)
			return
		}
	}
}

// audit reads the stream and fails if an event is repeated or missing. It returns the number of
// messages.
func audit(t testing.TB, js jetstream.JetStream, name string) int {
	t.Helper()
	stream, err := again(func() (jetstream.Stream, error) { return js.Stream(t.Context(), name) })
	if err != nil {
		t.Fatal(err)
	}
	state, n, last := stream.CachedInfo().State, 0, ""
	for seq := state.FirstSeq; state.Msgs > 0 && seq <= state.LastSeq; seq++ {
		m, err := again(func() (*jetstream.RawStreamMsg, error) { return stream.GetMsg(t.Context(), seq) })
		if errors.Is(err, jetstream.ErrMsgNotFound) { // a test has removed it
			last = ""
			continue
		}
		if err != nil {
			t.Fatalf("message %d: %v", seq, err)
		}
		if after := m.Header.Get("Stoa-After"); last != "" && after != last {
			t.Fatalf("message %d follows %s, and the one before is %s", seq, after, last)
		}
		last = m.Header.Get(nats.MsgIdHdr)
		n++
	}
	return n
}

// again repeats a call until the servers respond, which they do not during an election.
func again[T any](ask func() (T, error)) (answer T, err error) {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if answer, err = ask(); err == nil || errors.Is(err, jetstream.ErrMsgNotFound) {
			break
		}
	}
	return answer, err
}

// settled waits until the stream ends where the log ends.
func settled(t testing.TB, js jetstream.JetStream, name string, source feed.Log) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if endsAt(t, js, name) == head(t, source).String() {
			return
		}
	}
	t.Fatalf("the stream ends at %q, and the log at %q", endsAt(t, js, name), head(t, source))
}

// endsAt returns the cursor of the last message of a stream, or the text of an error if there is
// none.
func endsAt(t testing.TB, js jetstream.JetStream, name string) string {
	stream, err := js.Stream(t.Context(), name)
	if err != nil {
		return err.Error()
	}
	m, err := stream.GetMsg(t.Context(), stream.CachedInfo().State.LastSeq)
	if err != nil {
		return err.Error()
	}
	return m.Header.Get(nats.MsgIdHdr)
}

// start returns a log with its first position, and creates a stream with one event.
func start(t testing.TB, c *cluster, name string) (source *feed.Memory, at feed.Cursor) {
	t.Helper()
	source = feed.NewMemory(nil)
	at, err := source.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	_, stop := run(t, c, source, natsfeed.Options{Stream: name})
	settledSoon(t, c.connect(t), name, source)
	stop()
	return source, at
}

// settledSoon is settled for a stream that restarts: it appends events, because earlier ones are
// not in it.
func settledSoon(t testing.TB, js jetstream.JetStream, name string, source feed.Log) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		appendSome(t, source, 0, 1)
		for soon := time.Now().Add(300 * time.Millisecond); time.Now().Before(soon); time.Sleep(5 * time.Millisecond) {
			if endsAt(t, js, name) == head(t, source).String() {
				return
			}
		}
	}
	t.Fatalf("the stream ends at %q, and the log at %q", endsAt(t, js, name), head(t, source))
}

// TestStreamIsRead: followers and late readers do not read the log.
func TestStreamIsRead(t *testing.T) {
	t.Parallel()
	c, name := theCluster(t), streamName()
	source, _ := start(t, c, name)
	at, err := source.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	relay, _ := run(t, c, source, natsfeed.Options{Stream: name})
	readers := map[string]*watched{"follows": {Log: source}, "behind": {Log: source}}
	follows, _ := run(t, c, readers["follows"], natsfeed.Options{Stream: name, ReadOnly: true})
	waitTrusted(t, follows, readers["follows"], source)
	readers["follows"].closed.Store(true)
	const n = 3000
	var over sync.WaitGroup
	over.Go(func() { appendSome(t, relay, 0, n) })
	wantAll(t, source, at, tailed(t, follows, at, count(n)))
	over.Wait()
	settled(t, c.connect(t), name, source)
	behind, _ := run(t, c, readers["behind"], natsfeed.Options{Stream: name, ReadOnly: true, Events: 10})
	waitTrusted(t, behind, readers["behind"], source)
	readers["behind"].closed.Store(true)
	wantAll(t, source, at, tailed(t, behind, at, count(n)))
	head, err := source.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var paged []*feed.Event
	for from, end := at, time.Now().Add(patience); len(paged) < n; {
		page, err := behind.Read(t.Context(), from, head, 100)
		// the servers did not respond, so the log was read
		if errors.Is(err, errClosed) && time.Now().Before(end) {
			continue
		}
		if err != nil || len(page) == 0 {
			t.Fatalf("Read after %d events: %d events, %v", len(paged), len(page), err)
		}
		paged, from = append(paged, page...), page[len(page)-1].Cursor
	}
	wantAll(t, source, at, paged)
	// two reads are allowed: the first checks that the stream belongs to the log, the other that no
	// event is missing
	for name, w := range readers {
		t.Logf("%s: of %d events the log was asked %d times", name, n, w.reads.Load())
	}
	if got := audit(t, c.connect(t), name); got < n {
		t.Errorf("the stream has %d events, want %d or more", got, n)
	}
}

// TestLaggingFollowers: while followers lack messages of the leader, nothing is removed from the
// stream.
func TestLaggingFollowers(t *testing.T) {
	t.Parallel()
	c, name := theCluster(t), streamName()
	source, _ := start(t, c, name)
	at := head(t, source)
	js, left := lagging(t, c, 40)
	log := natsfeed.New(source, js, &natsfeed.Options{Stream: name, Replicas: 3,
		Logger: slog.New(slog.DiscardHandler)})
	ctx, cancel := context.WithCancel(context.Background())
	var works sync.WaitGroup
	works.Go(func() { log.Run(ctx) })
	t.Cleanup(func() {
		cancel()
		works.Wait()
	})
	appendSome(t, log, 0, 10)
	plain := c.connect(t)
	settled(t, plain, name, source)
	if left.Load() > 0 {
		t.Errorf("the relay went on before the servers had caught up, after all but %d answers", left.Load())
	}
	stream, err := again(func() (jetstream.Stream, error) { return plain.Stream(t.Context(), name) })
	if err != nil {
		t.Fatal(err)
	}
	if first := stream.CachedInfo().State.FirstSeq; first != 1 {
		t.Errorf("the stream begins with message %d, want the first that there was", first)
	}
	wantAll(t, source, at, tailed(t, log, at, count(10)))
	audit(t, plain, name)
}

// lagging returns a connection on which the given number of direct gets find no message.
func lagging(t *testing.T, c *cluster, calls int64) (jetstream.JetStream, *atomic.Int64) {
	t.Helper()
	nc, left := c.connect(t).Conn(), count(calls)
	api := nc.NewInbox()
	if _, err := nc.Subscribe(api+".>", func(m *nats.Msg) {
		asked := strings.TrimPrefix(m.Subject, api)
		if strings.HasPrefix(asked, ".DIRECT.GET.") && left.Load() > 0 {
			left.Add(-1)
			// the caller repeats the request
			_ = nc.PublishMsg(&nats.Msg{Subject: m.Reply, Header: nats.Header{"Status": {"404"}}})
			return
		}
		_ = nc.PublishMsg(
			&nats.Msg{Subject: "$JS.API" + asked, Reply: m.Reply, Header: m.Header, Data: m.Data},
		)
	}); err != nil {
		t.Fatal(err)
	}
	js, err := jetstream.NewWithAPIPrefix(nc, api)
	if err != nil {
		t.Fatal(err)
	}
	return js, left
}

// waitTrusted waits until a Log follows the stream.
func waitTrusted(t testing.TB, log *natsfeed.Log, w *watched, source feed.Log) {
	t.Helper()
	head, err := source.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		before := w.reads.Load()
		if _, err := log.Read(t.Context(), head, head, 1); err == nil && w.reads.Load() == before {
			w.reads.Store(0)
			return
		}
	}
	t.Fatal("the stream is not followed")
}
