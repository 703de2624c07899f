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
)

// toy serves things as a server should, and with a fault that the check has to find.
type toy struct {
	fault string

	mu        sync.Mutex
	things    map[string]thing
	events    []toyEvent
	moved     chan struct{}
	next      int
	updates   int    // of which every twentieth is told wrongly
	unwritten string // the id of what is not written
}

type toyEvent struct {
	kind          string
	before, after thing
}

// The faults.
const (
	lose    = "lose"    // who comes back misses one
	repeat  = "repeat"  // who comes back hears one again
	swap    = "swap"    // two of one item are told in the other order
	invent  = "invent"  // what did not happen is told
	double  = "double"  // an event comes twice, with two cursors
	blur    = "blur"    // what does not pass a filter any more is not told as deleted
	forget  = "forget"  // nobody who comes back is told what was
	expire  = "expire"  // who comes back is told to begin anew
	unwrite = "unwrite" // a write is acknowledged, and not done
)

func newToy(fault string) *toy {
	return &toy{fault: fault, things: map[string]thing{}, moved: make(chan struct{})}
}

func (t *toy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	id := strings.TrimPrefix(strings.TrimPrefix(r.URL.Path, path), "/")
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

func (t *toy) list(w http.ResponseWriter) {
	t.mu.Lock()
	defer t.mu.Unlock()
	items := []thing{}
	for _, v := range t.things {
		items = append(items, v)
	}
	w.Header().Set("Event-Cursor", strconv.Itoa(len(t.events)))
	json.NewEncoder(w).Encode(map[string]any{"items": items})
}

// item reads and writes. A tag is the version.
func (t *toy) item(w http.ResponseWriter, r *http.Request, id string) {
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
		t.append(toyEvent{deleted, before, before})
		w.WriteHeader(http.StatusNoContent)
		return
	case http.MethodPost, http.MethodPatch:
		if err := json.NewDecoder(r.Body).Decode(&after); err != nil {
			panic(err) // the stand-in is asked by nobody else
		}
		t.write(before, after)
	}
	w.Header().Set("ETag", strconv.Itoa(after.N))
	w.WriteHeader(http.StatusOK)
	json.NewEncoder(w).Encode(after)
}

func (t *toy) write(before, after thing) {
	if t.fault == unwrite && after.N == 3 && (t.unwritten == "" || t.unwritten == after.ID) {
		t.unwritten = after.ID
		return
	}
	t.things[after.ID] = after
	kind := updated
	if before.N == 0 {
		kind = created
	}
	t.append(toyEvent{kind, before, after})
}

func (t *toy) append(e toyEvent) {
	t.events = append(t.events, e)
	n := len(t.events)
	if e.kind == updated {
		t.updates++
	}
	due := e.kind == updated && t.updates%20 == 0
	switch {
	case t.fault == double && due:
		t.events = append(t.events, e)
	case t.fault == invent && due:
		e.after.N += 100
		t.events = append(t.events, e)
	case t.fault == swap && due: // there is one before it, at least that of its creation
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

// stream tells what happened behind Last-Event-ID.
func (t *toy) stream(w http.ResponseWriter, r *http.Request) {
	last := r.Header.Get("Last-Event-ID")
	t.mu.Lock()
	at, err := strconv.Atoi(last)
	back := err == nil && at > 20
	switch {
	case err != nil:
		at = len(t.events)
	case back && t.fault == forget:
		at = t.pass(r.Context(), at)
	case back && t.fault == repeat:
		at--
	}
	t.mu.Unlock()
	skip := back && t.fault == lose // what comes next, be it there already or not
	if back && t.fault == expire {
		w.WriteHeader(http.StatusGone)
		return
	}
	v := view{open: r.URL.Query().Has("open")}
	v.lane, _ = strconv.Atoi(r.URL.Query().Get("lane"))
	w.Header().Set("Content-Type", "text/event-stream")
	for flush := http.NewResponseController(w).Flush; r.Context().Err() == nil && flush() == nil; {
		t.mu.Lock()
		events, moved := slices.Clone(t.events[at:]), t.moved
		t.mu.Unlock()
		for _, e := range events {
			if at++; !skip {
				t.tell(w, at, e, v)
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

// pass waits until there is something behind a place, and returns where it ends. It is called with the lock held.
func (t *toy) pass(ctx context.Context, at int) int {
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

// tell tells an event as it is in a view.
func (t *toy) tell(w http.ResponseWriter, at int, e toyEvent, v view) {
	in := func(w thing) bool { return (!v.open || w.Open) && (v.lane == 0 || v.lane == w.Lane) }
	was, is := e.kind != created && in(e.before), e.kind != deleted && in(e.after)
	kind := e.kind
	switch {
	case !was && !is, t.fault == blur && was && !is && e.kind == updated:
		return
	case !was:
		kind = created
	case !is:
		kind = deleted
	}
	data, _ := json.Marshal(e.after)
	if kind == deleted {
		data = fmt.Appendf(nil, `{"id":%q}`, e.after.ID)
	}
	fmt.Fprintf(w, "id: %d\nevent: %s\ndata: %s\n\n", at, kind, data)
}
