package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// toyServer serves things as a server should, with one fault that the check has to find.
type toyServer struct {
	fault string

	mu        sync.Mutex
	things    map[string]server.Thing
	events    []toyEvent
	moved     chan struct{}
	next      int
	updates   int    // every twentieth is affected
	unwritten string // the id of the item that is not written
}

type toyEvent struct {
	kind          string
	before, after server.Thing
}

// The faults.
const (
	skipEvent    = "skip an event"     // a resumed stream skips an event
	repeatEvent  = "repeat an event"   // a resumed stream repeats an event
	swapEvents   = "swap events"       // two events of one item are swapped
	inventEvent  = "invent an event"   // an event that did not happen
	doubleEvent  = "double an event"   // an event is sent twice, with two cursors
	hideExit     = "hide an exit"      // an item that leaves a view is not reported as deleted
	ignoreCursor = "ignore the cursor" // a resumed stream starts at the present
	refuseCursor = "refuse the cursor" // a resumed stream is refused
	dropWrite    = "drop a write"      // a write is acknowledged and not done
)

func newToy(fault string) *toyServer {
	return &toyServer{fault: fault, things: map[string]server.Thing{}, moved: make(chan struct{})}
}

func (t *toyServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, server.ThingsPath), "/")
	switch {
	case strings.HasPrefix(r.Header.Get("Accept"), "text/event-stream"):
		t.stream(w, r)
	case r.Method == http.MethodGet && id == "":
		t.list(w)
	default:
		t.mu.Lock()
		defer t.mu.Unlock()
		t.item(w, r, id)
	}
}

func (t *toyServer) list(w http.ResponseWriter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	w.Header().Set("Event-Cursor", strconv.Itoa(len(t.events)))
	for _, v := range t.things {
		json.NewEncoder(w).Encode(v)
	}
}

// item reads and writes. A tag is the version.
func (t *toyServer) item(w http.ResponseWriter, r *http.Request, id string) {
	before, there := t.things[id]
	after := before
	switch {
	case r.Method == http.MethodPost:
		t.next++
		after.ID = fmt.Sprint("item-", t.next)
	case !there:
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method != http.MethodGet && r.Header.Get("If-Match") != strconv.Itoa(before.N):
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	}
	switch r.Method {
	case http.MethodDelete:
		delete(t.things, id)
		t.append(toyEvent{client.Deleted, before, before})
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodPost, http.MethodPatch:
		if err := json.NewDecoder(r.Body).Decode(&after); err != nil {
			panic(err)
		}
		t.write(before, after)
	}
	w.Header().Set("ETag", strconv.Itoa(after.N))
	w.WriteHeader(http.StatusOK)
	json.NewEncoder(w).Encode(after)
}

func (t *toyServer) write(before, after server.Thing) {
	if t.fault == dropWrite && after.N == 3 && (t.unwritten == "" || t.unwritten == after.ID) {
		t.unwritten = after.ID
		return
	}
	t.things[after.ID] = after
	kind := client.Updated
	if before.N == 0 {
		kind = client.Created
	}
	t.append(toyEvent{kind, before, after})
}

func (t *toyServer) append(e toyEvent) {
	t.events = append(t.events, e)
	n := len(t.events)
	if e.kind == client.Updated {
		t.updates++
	}
	due := e.kind == client.Updated && t.updates%20 == 0
	switch {
	case t.fault == doubleEvent && due:
		t.events = append(t.events, e)
	case t.fault == inventEvent && due:
		e.after.N += 100
		t.events = append(t.events, e)
	case t.fault == swapEvents && due: // at least that of its creation is before it
		for i := n - 2; i >= 0; i-- {
			if t.events[i].after.ID == e.after.ID {
				t.events[i], t.events[n-1] = e, t.events[i]
				break
			}
		}
	}
	close(t.moved)
	t.moved = make(chan struct{})
}

// stream sends the events after Last-Event-ID.
func (t *toyServer) stream(w http.ResponseWriter, r *http.Request) {
	last := r.Header.Get("Last-Event-ID")
	t.mu.Lock()
	at, err := strconv.Atoi(last)
	back := err == nil && at > 20
	switch {
	case err != nil:
		at = len(t.events)
	case back && t.fault == ignoreCursor:
		at = t.pass(r.Context(), at)
	case back && t.fault == repeatEvent:
		at--
	}
	t.mu.Unlock()
	skip := back && t.fault == skipEvent // the next event, stored already or not
	if back && t.fault == refuseCursor {
		w.WriteHeader(http.StatusGone)
		return
	}
	v := client.View{Open: r.URL.Query().Has("open")}
	v.Lane, _ = strconv.Atoi(r.URL.Query().Get("lane"))
	w.Header().Set("Content-Type", "text/event-stream")
	for flush := http.NewResponseController(w).Flush; r.Context().Err() == nil && flush() == nil; {
		t.mu.Lock()
		events, moved := slices.Clone(t.events[at:]), t.moved
		t.mu.Unlock()
		for _, e := range events {
			if at++; !skip {
				t.send(w, at, e, v)
			}
			skip = false
		}
		if len(events) == 0 {
			select {
			case <-moved:
			case <-r.Context().Done():
			}
		}
	}
}

// pass waits for an event after a position and returns the end of the log. The caller holds the lock.
func (t *toyServer) pass(ctx context.Context, at int) int {
	for at == len(t.events) && ctx.Err() == nil {
		moved := t.moved
		t.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
		}
		t.mu.Lock()
	}
	return len(t.events)
}

// send sends an event as it is in a view.
func (t *toyServer) send(w http.ResponseWriter, at int, e toyEvent, v client.View) {
	in := func(w server.Thing) bool { return (!v.Open || w.Open) && (v.Lane == 0 || v.Lane == w.Lane) }
	was, is := e.kind != client.Created && in(e.before), e.kind != client.Deleted && in(e.after)
	kind := e.kind
	switch {
	case !was && !is, t.fault == hideExit && was && !is && e.kind == client.Updated:
		return
	case !was:
		kind = client.Created
	case !is:
		kind = client.Deleted
	}
	data, _ := json.Marshal(e.after)
	if kind == client.Deleted {
		data = fmt.Appendf(nil, `{"id":%q}`, e.after.ID)
	}
	fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", at, kind, data)
}
