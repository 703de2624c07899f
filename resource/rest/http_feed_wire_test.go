package rest_test

import (
	"bytes"
	"context"
	"iter"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/eventstream"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/problem"
)

// TestRule153StreamsInEveryHTTP: all versions of HTTP have the same events and the same end.
func TestRule153StreamsInEveryHTTP(t *testing.T) { bubble(t, streamsInEveryHTTP) }

func streamsInEveryHTTP(t *testing.T) {
	f := newFeed(t)
	h := api(t, fed(f))
	var told sync.WaitGroup
	srv := listenInBubble(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&until{w, "event: deleted", told.Done}, r) }))
	at := eventCursor(t, h, "GET /orders")
	item := create(t, h, "/orders", `{"customerId":"ann"}`)
	want(t, send(t, h, "PATCH "+item, mergeBody, "", `{"note":"x"}`), http.StatusOK)
	want(t, send(t, h, "DELETE "+item), http.StatusNoContent)
	tests := []struct {
		name string
		peer peer
	}{
		{"HTTP/1.1", dialHTTP(t, srv, false)},
		{"HTTP/2", dialHTTP(t, srv, true)},
		{"HTTP/1.0", dialHTTP10(t, srv)},
	}
	answers := make(chan *response)
	told.Add(len(tests))
	for _, tt := range tests { // they all wait for the end of the feed
		go func() { answers <- tt.peer("GET /orders?fields=id,note", streamType, "Last-Event-ID: "+at) }()
	}
	told.Wait()
	f.Close()
	for range tests {
		res := <-answers
		want(t, res, http.StatusOK, "Content-Type: text/event-stream", "Cache-Control: no-store", "Event-Cursor: "+at, "Content-Length:")
		same(t, "events", "retry: *\n\nid: *\n\n"+
			"id: *\nevent: created\ndata: {\"id\":1,\"note\":null}\n\n"+
			"id: *\nevent: updated\ndata: {\"id\":1,\"note\":\"x\"}\n\n"+
			"id: *\nevent: deleted\ndata: {\"id\":1}\n\n", plain(res.body))
	}
}

// until is a ResponseWriter that signals writes.
type until struct {
	http.ResponseWriter
	what string
	tell func()
}

func (u *until) Unwrap() http.ResponseWriter { return u.ResponseWriter }

func (u *until) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(u.what)) {
		defer u.tell()
	}
	return u.ResponseWriter.Write(b)
}

// subscriber is a client with its own connection.
type subscriber struct {
	res    *http.Response
	events *eventstream.Reader
	leave  context.CancelFunc
}

func subscribe(t testing.TB, client *http.Client, url string, last string) *subscriber {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("status %d", res.StatusCode)
	}
	return &subscriber{res, eventstream.NewReader(res.Body, nil), leave}
}

// TestFeedManyStreams: 200 clients of a real server receive each event once, and no goroutine
// remains after they disconnect.
func TestFeedManyStreams(t *testing.T) { bubble(t, manyStreams) }

func manyStreams(t *testing.T) {
	f := newFeed(t)
	h := api(t, fed(f))
	var streams atomic.Int64
	srv := listenInBubble(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		streams.Add(1)
		defer streams.Add(-1)
		h.ServeHTTP(w, r)
	}))
	at := eventCursor(t, h, "GET /orders") // the feed is running after this
	client := &http.Client{Transport: transportTo(t, srv, false)}
	var all []*subscriber
	for range 200 {
		all = append(all, subscribe(t, client, srv.URL+"/orders?fields=id", at))
	}
	same(t, "streams", int64(200), streams.Load())
	const writes = 20
	for range writes {
		create(t, h, "/orders", `{"customerId":"ann"}`)
	}
	for _, s := range all {
		seen := map[string]bool{}
		for range writes {
			e, err := s.events.Next()
			if err != nil {
				t.Fatal(err)
			}
			if seen[e.ID] || e.Name != "created" {
				t.Errorf("%s %s came twice, or is something else", e.ID, e.Name)
			}
			seen[e.ID] = true
		}
		s.leave()
		s.res.Body.Close()
	}
	synctest.Wait() // no goroutine of the clients outlives the bubble
	same(t, "streams that are left", int64(0), streams.Load())
}

// noted is an item that counts its encodings. Only one test uses it, because tests run in parallel.
type noted struct {
	ID   string `json:"id"`
	Text text   `json:"text"`
}

type text string

var textsWritten atomic.Int64

func (s text) MarshalText() ([]byte, error) {
	textsWritten.Add(1)
	return []byte(s), nil
}

func (s *text) UnmarshalText(b []byte) error {
	*s = text(b)
	return nil
}

// TestFeedEncodesOnce: a change is encoded once for each requested representation, whatever the
// number of subscribers.
func TestFeedEncodesOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := catalogFed(t, newFeed(t), resource.New("notes", memory.New[noted](nil), nil))
		var streams []*stream
		// cost returns how often an item is encoded, for its creation and for subscribers.
		cost := func(id string) int {
			before := textsWritten.Load()
			create(t, h, "/notes", `{"id":"`+id+`","text":"x"}`)
			for _, s := range streams {
				if s.newEvents() == nil {
					t.Error("somebody has not heard of " + id)
				}
			}
			return int(textsWritten.Load() - before)
		}
		unheard := cost("a")
		for i, target := range []string{"/notes", "/notes?fields=id,text", "/notes?fields=text,id", "/notes?fields=text"} {
			for range 20 {
				streams = append(streams, open(t, h, "GET "+target, streamType))
			}
			forms := []int{1, 2, 2, 3}[i] // the order of fields does not matter
			same(t, target, unheard+forms, cost("b"+strconv.Itoa(i)))
		}
	})
}

// TestFeedCannotBeSent: a middleware that buffers responses disables feeds.
func TestFeedCannotBeSent(t *testing.T) {
	t.Parallel()
	h := api(t, fed(newFeed(t)))
	w := httptest.NewRecorder()
	r := request(t, "GET /orders", streamType)
	h.ServeHTTP(struct{ http.ResponseWriter }{w}, r)
	wantProblem(t, received("GET /orders", w.Result()), problem.Internal)
}

// share is a thing in a view with a division by a value that may be zero.
type share struct {
	ID    string  `json:"id"`
	Share float64 `json:"share"`
}

// TestFeedOfTheUnwritable: a value that JSON cannot represent ends the stream, and a client that
// reconnects receives an expired cursor instead of the same failure.
func TestFeedOfTheUnwritable(t *testing.T) {
	bubble(t, func(t *testing.T) {
		f := newFeed(t)
		things := resource.New("things", memory.New[thing](nil), nil)
		view := resource.View(things, func(v thing) (share, error) { return share{v.ID, float64(v.N*v.N) / float64(v.N)}, nil },
			func(_ share, base thing) (thing, error) { return base, nil }, nil)
		now, then := catalogFed(t, f, things), catalogFed(t, f, view)
		s := open(t, then, "GET /things", streamType)
		create(t, now, "/things", `{"id":"a","name":"x","n":1}`)
		want(t, send(t, now, "PUT /things/a", jsonBody, "", `{"name":"x","n":0}`), http.StatusOK)
		want(t, send(t, now, "PUT /things/a", jsonBody, "", `{"name":"x","n":2}`), http.StatusOK)
		events, last := eventsIn(t, s.read())
		same(t, "before it", []string{`created {"id":"a","share":1}`}, events)
		if !s.ended() || s.panicked != nil {
			t.Errorf("ended %v, panicked %v", s.ended(), s.panicked)
		}
		wantProblem(t, send(t, then, "GET /things", streamType, "Last-Event-ID: "+last), problem.CursorExpired)
		at := eventCursor(t, then, "GET /things")
		want(t, send(t, now, "PUT /things/a", jsonBody, "", `{"name":"x","n":3}`), http.StatusOK)
		same(t, "behind it", []string{`updated {"id":"a","share":3}`},
			open(t, then, "GET /things", streamType, "Last-Event-ID: "+at).newEvents())
	})
}

// flaky is a writer that can be made to panic.
type flaky struct {
	*stream
	broken atomic.Bool
}

func (f *flaky) Write(b []byte) (int, error) {
	if f.broken.Load() {
		panic("a mistake of somebody around the server's writer")
	}
	return f.stream.Write(b)
}

// TestFeedSurvivesWriters: a panic during a heartbeat, which is sent outside of the goroutine of
// the request, ends only the stream.
func TestFeedSurvivesWriters(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := api(t, fed(newFeed(t)))
		var w flaky
		s := open(t, http.HandlerFunc(func(inner http.ResponseWriter, r *http.Request) {
			w.stream = inner.(*stream)
			h.ServeHTTP(&w, r)
		}), "GET /orders", streamType)
		w.broken.Store(true)
		time.Sleep(15 * time.Second)
		if !s.ended() || s.panicked != http.ErrAbortHandler {
			t.Errorf("ended %v, panicked %v", s.ended(), s.panicked)
		}
	})
}

// TestFeedOfEachContract: each contract receives a write in its own representation and with its own
// name of the id.
func TestFeedOfEachContract(t *testing.T) {
	type newer struct {
		ID   string `json:"id"`
		Text string `json:"text"`
	}
	type older struct {
		Key   string `json:"key"`
		Title string `json:"title"`
	}
	bubble(t, func(t *testing.T) {
		f := newFeed(t)
		notes := resource.New("notes", memory.New[newer](nil), nil)
		view := resource.View(notes, func(n newer) (older, error) { return older{n.ID, "the " + n.Text}, nil },
			func(o older, n newer) (newer, error) {
				n.ID, n.Text = o.Key, strings.TrimPrefix(o.Title, "the ")
				return n, nil
			}, &resource.ViewOptions{Fields: map[string]string{"key": "id", "title": ""}})
		now, then := catalogFed(t, f, notes), catalogFed(t, f, view)
		inNew, inOld := open(t, now, "GET /notes", streamType), open(t, then, "GET /notes", streamType)
		item := open(t, then, "GET /notes?fields=title", streamType)
		create(t, now, "/notes", `{"id":"a","text":"x"}`)
		want(t, send(t, then, "PATCH /notes/a", mergeBody, "", `{"title":"the y"}`), http.StatusOK)
		want(t, send(t, then, "DELETE /notes/a"), http.StatusNoContent)
		same(t, "newest", []string{`created {"id":"a","text":"x"}`, `updated {"id":"a","text":"y"}`, `deleted {"id":"a"}`}, inNew.newEvents())
		same(t, "older", []string{`created {"key":"a","title":"the x"}`, `updated {"key":"a","title":"the y"}`, `deleted {"key":"a"}`},
			inOld.newEvents())
		same(t, "part of the older", []string{`created {"title":"the x"}`, `updated {"title":"the y"}`, `deleted {"key":"a"}`}, item.newEvents())
	})
}

// TestFeedAllocations: an additional subscriber of the same representation causes no allocation. It
// is not parallel, like TestAllocations.
func TestFeedAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	f := newFeed(t)
	h := catalogFed(t, f, resource.New("things", memory.New[thing](nil), nil))
	create(t, h, "/things", `{"id":"a","name":"A","n":1}`)
	begun(t, f) // the feed reads the log until then
	for _, tt := range []struct {
		name string
		r    *http.Request
		most float64
	}{
		{"item", request(t, "GET /things/a"), 5},
		{"list", request(t, "GET /things"), 30},
	} {
		w := &discard{header: http.Header{}}
		n := testing.AllocsPerRun(200, func() {
			clear(w.header)
			h.ServeHTTP(w, tt.r)
		})
		t.Logf("%s with Event-Cursor: %v allocations", tt.name, n)
		if n > tt.most || w.header["Event-Cursor"] == nil {
			t.Errorf("%s: %v allocations with Event-Cursor %v, want %v at most", tt.name, n, w.header["Event-Cursor"], tt.most)
		}
	}

	const listeners, events = 200, 50
	alone, all := heardBy(t, h, 1, events), heardBy(t, h, listeners, events)
	each := (float64(all) - float64(alone)) / ((listeners - 1) * events)
	t.Logf("%d allocations for one listener, %d for %d: %.2f for each that hears of a change", alone, all, listeners, each)
	if each > 0.5 {
		t.Errorf("%.2f allocations for each that hears of a change, want none", each)
	}
}

// heardBy returns the number of allocations for a number of events and subscribers. Garbage
// collection is off, because it would free the records that the runtime caches for waiting
// goroutines.
func heardBy(t *testing.T, h http.Handler, listeners, events int) uint64 {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var all, begun, told sync.WaitGroup
	begun.Add(listeners)
	told.Add(listeners * events)
	for range listeners {
		r := request(t, "GET /things", streamType).WithContext(ctx)
		all.Go(func() { h.ServeHTTP(&sink{discard{header: http.Header{}}, sync.OnceFunc(begun.Done), told.Done}, r) })
	}
	begun.Wait()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range events {
		patch := `{"n":` + strconv.FormatInt(time.Now().UnixNano(), 10) + `}`
		if res := send(t, h, "PATCH /things/a", mergeBody, "", patch); res.status != http.StatusOK {
			t.Fatalf("status %d", res.status)
		}
	}
	told.Wait()
	runtime.ReadMemStats(&after)
	stop()
	all.Wait()
	return after.Mallocs - before.Mallocs
}

// sink is a discard that supports streaming.
type sink struct {
	discard
	begun, told func()
}

func (s *sink) FlushError() error                { return nil }
func (s *sink) SetReadDeadline(time.Time) error  { return nil }
func (s *sink) SetWriteDeadline(time.Time) error { return nil }
func (s *sink) Write(b []byte) (int, error) {
	switch {
	case bytes.Contains(b, []byte("event: ")):
		s.told()
	case bytes.HasPrefix(b, []byte("id: ")):
		s.begun()
	}
	return len(b), nil
}

// TestFeedOfAWatcher: a collection with its own change events has a feed even if the catalog has
// none.
func TestFeedOfAWatcher(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := catalog(t, resource.New("things", &publishing{Store: memory.New[thing](nil), wake: make(chan struct{})}, nil))
		at := eventCursor(t, h, "GET /things")
		s := open(t, h, "GET /things", streamType)
		create(t, h, "/things", `{"id":"a","name":"A","n":1}`)
		life := []string{`created {"id":"a","name":"A","n":1}`}
		same(t, "who listens", life, s.newEvents())
		again := open(t, h, "GET /things/a", streamType, "Last-Event-ID: "+at)
		same(t, "who comes back", life, again.newEvents())
		d := wantProblem(t, send(t, h, "GET /things", streamType, "Last-Event-ID: AcQ_tkSe6jcFCNQqAlvSYmc"), problem.CursorExpired)
		wantErrors(t, d, "Last-Event-ID: expired")
		s.stop()
		again.stop()
		time.Sleep(2 * time.Minute) // the store is not called
	})
}

// publishing is a store of new things that reports their creation itself.
type publishing struct {
	*memory.Store[thing]
	mu      sync.Mutex
	created []*feed.Change[thing] // the cursor of the change with index n has Seq n+1
	wake    chan struct{}         // closed at the next change
}

func (s *publishing) Create(ctx context.Context, v thing) (resource.Item[thing], error) {
	return s.Insert(ctx, v.ID, v)
}

func (s *publishing) Insert(ctx context.Context, id string, v thing) (resource.Item[thing], error) {
	it, err := s.Store.Insert(ctx, id, v)
	if err == nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.created = append(s.created, &feed.Change[thing]{Kind: feed.Created, ID: id, Rev: string(it.Rev), After: &it.Value,
			Cursor: feed.Cursor{Epoch: 1, Seq: uint64(len(s.created) + 1)}})
		close(s.wake)
		s.wake = make(chan struct{})
	}
	return it, err
}

// Watch implements [feed.Watcher].
func (s *publishing) Watch(ctx context.Context, at feed.Cursor) iter.Seq2[*feed.Change[thing], error] {
	return func(yield func(*feed.Change[thing], error) bool) {
		s.mu.Lock()
		end := feed.Cursor{Epoch: 1, Seq: uint64(len(s.created))}
		s.mu.Unlock()
		switch {
		case at.IsZero():
			at = end
		case at.Epoch != 1 || at.Seq > end.Seq:
			yield(nil, feed.ErrExpired)
			return
		}
		for ctx.Err() == nil && yield(&feed.Change[thing]{Cursor: at}, nil) {
			s.mu.Lock()
			more, wake := s.created[at.Seq:], s.wake
			s.mu.Unlock()
			for _, c := range more {
				if !yield(c, nil) {
					return
				}
				at = c.Cursor
			}
			select {
			case <-wake:
			case <-ctx.Done():
			}
		}
	}
}
