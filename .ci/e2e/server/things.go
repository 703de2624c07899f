package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/rest"
	"github.com/stoa-go/stoa/resource/sql/sqlfeed"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// How a node publishes events.
const (
	Outbox   = "outbox"   // a log in the database, in the transactions of the data
	Locked   = "lock"     // the same, with a lock for writers
	Memory   = "memory"   // a log in the memory of each node
	NoResume = "noresume" // the same, and Last-Event-ID is ignored: the control
)

// Thing is an item. Each write increments N, so that a subscriber can tell which event is missing.
type Thing struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name" required:"true"`
	// Lane never changes.
	Lane int `json:"lane"`
	// N is 1 at first. Open is whether N is odd: each write moves the item into the list of open things, or out of it.
	N    int    `json:"n"`
	Open bool   `json:"open"`
	Note string `json:"note,omitzero"`
}

// ThingsPath is the path of the collection.
const ThingsPath = "/things"

type thingsOptions struct {
	mode string
	feed feed.Options
	sql  sqltx.Options
	ping time.Duration
}

func runThings(ctx context.Context, p *program) error {
	o := thingsOptions{feed: feed.Options{Logger: p.logger}}
	p.StringVar(&o.mode, "mode", Outbox, "how events are published: outbox, lock, memory or noresume")
	p.IntVar(&o.feed.BufferEvents, "ring", 0, "events in memory; 0 is the default of the library")
	p.DurationVar(&o.feed.BookmarkInterval, "bookmark", 0, "interval of bookmarks")
	p.DurationVar(&o.feed.ReadTimeout, "limit", 0, "time limit of one read of the log")
	p.DurationVar(&o.feed.Retention, "keep", 0, "retention of events")
	p.DurationVar(&o.sql.Idle, "idle", 0, "time limit of an idle transaction")
	p.DurationVar(&o.sql.CommitTimeout, "commit", 0, "time limit of a commit")
	p.DurationVar(&o.ping, "ping", 0, "interval of pings on a WebSocket")
	db, err := p.open(&o.sql)
	if err != nil {
		return err
	}
	events, err := newFeed(ctx, db, o)
	if err != nil {
		return err
	}
	defer events.Close()
	handler, err := thingsHandler(ctx, db, events, o)
	if err != nil {
		return err
	}
	// Streams have to end before the server waits for the requests in flight.
	defer context.AfterFunc(ctx, func() { events.Close() })()
	return p.serve(ctx, handler)
}

func newFeed(ctx context.Context, db *sqltx.DB, o thingsOptions) (*feed.Feed, error) {
	switch o.mode {
	case Outbox, Locked:
		log := sqlfeed.New(db, &sqlfeed.Options{SerializeAppends: o.mode == Locked})
		return feed.New(log, &o.feed), database.Retry(ctx, log.CreateTable)
	case Memory, NoResume:
		return feed.New(feed.NewMemory(&feed.MemoryOptions{Runner: db}), &o.feed), nil
	}
	return nil, fmt.Errorf("server: unknown mode %q", o.mode)
}

// thingsHandler serves things by REST, and by GraphQL below /graphql. The state of the process is below /process.
func thingsHandler(ctx context.Context, db *sqltx.DB, events *feed.Feed, o thingsOptions) (http.Handler, error) {
	name := strings.TrimPrefix(ThingsPath, "/")
	table := sqltable.New[Thing](db, name, nil)
	if err := database.Retry(ctx, table.CreateTable); err != nil {
		return nil, err
	}
	things := table.Ops().Resource(name, &resource.Options[Thing]{
		Public: true,
		Query:  query.Support{Filter: map[string][]query.Op{"lane": {query.Eq}, "open": {query.Eq}}},
	})
	catalog := resource.NewCatalog(&resource.CatalogOptions{Feed: events, Logger: o.feed.Logger}, things)
	mux := http.NewServeMux()
	mux.Handle("/graphql", graphql.New(catalog, &graphql.Options{Logger: o.feed.Logger, Socket: graphql.Socket{Ping: o.ping}}))
	streams := &atomic.Int64{}
	mux.Handle("/process/", ProcessHandler(streams))
	mux.Handle("/", rest.New(catalog, nil))
	handler := countStreams(streams, new(writeGate).guard(mux))
	if o.mode != NoResume {
		return handler, nil
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Last-Event-ID")
		handler.ServeHTTP(w, r)
	}), nil
}

// Process is the state of a node.
type Process struct {
	Goroutines, Descriptors int
	Sockets                 int   // of Descriptors
	Streams                 int64 // subscriptions that are being served
	// Resident is the memory that the system has given to the process, in bytes. Heap and Stacks are the parts in use.
	Resident, Heap, Stacks uint64
	// Live is the part of the heap that is not garbage, and Objects is its number of objects. Both are set by POST /process/live only.
	Live, Objects uint64
}

// ProcessHandler answers GET /process/ with a Process, and POST /process/ after it has returned unused memory to the system. POST
// /process/live collects garbage instead.
func ProcessHandler(streams *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		live := strings.HasSuffix(r.URL.Path, "/live")
		if r.Method == http.MethodPost && !live {
			debug.FreeOSMemory()
		}
		p := processState()
		if live {
			p.Live, p.Objects = liveHeap()
		}
		p.Streams = streams.Load()
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(p)
	})
}

func processState() Process {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := Process{Goroutines: runtime.NumGoroutine(), Heap: m.HeapInuse, Stacks: m.StackInuse}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.Descriptors = len(open)
		for _, e := range open {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
				p.Sockets++
			}
		}
	}
	p.Resident, _, _ = MemoryOf(os.Getpid())
	return p
}

// liveHeap returns the bytes and the number of objects that remain after garbage collection. It collects twice, because a sync.Pool
// keeps its values during one collection.
func liveHeap() (bytes, objects uint64) {
	runtime.GC()
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/heap/objects:objects"}}
	metrics.Read(live)
	return live[0].Value.Uint64(), live[1].Value.Uint64()
}

// MemoryOf returns the resident memory of a process and its peak, in bytes (proc_pid_status(5)).
func MemoryOf(pid int) (now, peak uint64, err error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(line, ":")
		kib, _ := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
		switch name {
		case "VmRSS":
			now = kib << 10
		case "VmHWM":
			peak = kib << 10
		}
	}
	return now, peak, nil
}

// FinalField is the field of a write that passes a closed gate.
const FinalField = "X-Final"

// writeGate passes writes until POST /process/close closes it, which waits for the writes in progress. A write that its client has
// given up can otherwise be committed after the final events of a run.
type writeGate struct {
	mu     sync.RWMutex
	closed bool
}

func (g *writeGate) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/process/close":
			g.mu.Lock()
			defer g.mu.Unlock()
			g.closed = true
			return
		case !strings.HasPrefix(r.URL.Path, ThingsPath) || r.Method == http.MethodGet || r.Header.Get(FinalField) != "":
			next.ServeHTTP(w, r)
			return
		}
		g.mu.RLock()
		defer g.mu.RUnlock()
		if g.closed {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// countStreams counts the streams that are being served, of both kinds.
func countStreams(streams *atomic.Int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" || r.Header.Get("Accept") == "text/event-stream" {
			streams.Add(1)
			defer streams.Add(-1)
		}
		next.ServeHTTP(w, r)
	})
}
