package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/client"
	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario sse-memory keeps many streams of server-sent events open while items change at a
// constant rate. The server stores on PostgreSQL, and is alone in its process. A round of writes
// ends when all streams have received all events, and then the memory of the server is measured. It
// grows until the buffer of events is full, and must not grow after that. In the control the buffer
// never becomes full.

// memoryRun is one run.
type memoryRun struct {
	streams int
	buffer  int // events that the server keeps in memory
	rounds  int
	writes  int           // per round
	pace    time.Duration // between writes; 0 is as fast as possible
	control bool          // the server keeps all events
	// resident reports that resident memory is compared. In a short run it depends on when the runtime
	// collects garbage and returns memory to the system.
	resident bool

	client   *client.Client
	base     string
	things   []memoryThing
	written  int
	received atomic.Int64
	failed   chan error // why a stream has ended
	samples  []memorySample
}

// memoryThing is an item that changes.
type memoryThing struct {
	id, tag string
	n       int
}

// memorySample is the state of the server after a round.
type memorySample struct {
	at      time.Duration
	written int
	server.Process
}

func sseMemory(ctx context.Context, e *env) error {
	run := &memoryRun{streams: 100, buffer: 256, rounds: 8, writes: 128}
	if e.full { // an hour
		run = &memoryRun{streams: 500, buffer: 4096, rounds: 60, writes: 1500,
			pace: 40 * time.Millisecond, resident: true}
	}
	control := &memoryRun{streams: 100, buffer: 256, rounds: 8, writes: 128, control: true}
	for _, s := range []*memoryRun{run, control} {
		if err := s.run(ctx, e); err != nil {
			return err
		}
		if err := e.finish(s.result()); err != nil {
			return err
		}
	}
	return nil
}

func (s *memoryRun) run(ctx context.Context, e *env) error {
	source, err := e.newDatabase(ctx, postgres)
	if err != nil {
		return err
	}
	buffer := s.buffer
	if s.control {
		buffer = s.rounds * s.writes
	}
	f, err := e.startServer(ctx, 1, nil, "things", "-db", source, "-ring", fmt.Sprint(buffer))
	if err != nil {
		return err
	}
	defer f.KillAll()
	s.client, s.base, s.failed = client.New(2), f.URL(0), make(chan error, s.streams)
	if err := s.create(ctx); err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer stop()
	if err := s.subscribe(ctx, &readers); err != nil {
		return err
	}
	began := time.Now()
	for range s.rounds {
		if err := s.round(ctx, began); err != nil {
			return err
		}
	}
	return nil
}

// create creates the items, all of them in one lane.
func (s *memoryRun) create(ctx context.Context) error {
	for range 64 {
		v := server.Thing{Name: "thing", Lane: 1, N: 1, Open: true, Note: strings.Repeat("note ", 50)}
		v, a, err := createThing(ctx, s.client, s.base, v)
		if err != nil || !a.OK() {
			return errors.Join(a.Unexpected("create"), err)
		}
		s.things = append(s.things, memoryThing{v.ID, a.Tag(), v.N})
	}
	return nil
}

// subscribe opens the streams and starts to read from them. Each second one has a filter, which all
// items match.
func (s *memoryRun) subscribe(ctx context.Context, readers *sync.WaitGroup) error {
	protocol := client.REST(nil)
	for i := range s.streams {
		stream, err := protocol.Subscribe(ctx, s.base, "", client.View{Lane: i % 2})
		if err != nil {
			return err
		}
		readers.Go(func() {
			defer stream.Close()
			for {
				event, err := stream.Next()
				if err != nil {
					s.failed <- err
					return
				}
				if event.Kind != "" {
					s.received.Add(1)
				}
			}
		})
	}
	return nil
}

// round makes the writes of a round, waits until all streams have received them, and takes a sample.
func (s *memoryRun) round(ctx context.Context, began time.Time) error {
	for range s.writes {
		if err := s.change(ctx, &s.things[s.written%len(s.things)]); err != nil {
			return err
		}
		s.written++
		client.Pause(ctx, time.Until(began.Add(time.Duration(s.written)*s.pace)))
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	sample := memorySample{at: time.Since(began), written: s.written}
	a := s.client.Send(ctx, http.MethodPost, s.base+"/process/live", "")
	err := a.Decode("POST /process/live", &sample.Process)
	s.samples = append(s.samples, sample)
	return err
}

// change writes an item under its entity tag.
func (s *memoryRun) change(ctx context.Context, v *memoryThing) error {
	body := fmt.Sprintf(`{"n":%d,"open":%t}`, v.n+1, v.n%2 == 0)
	a := s.client.Send(ctx, http.MethodPatch, s.base+server.ThingsPath+"/"+v.id, body, client.MergePatch,
		"If-Match: "+v.tag)
	if !a.OK() {
		return a.Unexpected("change")
	}
	v.n, v.tag = v.n+1, a.Tag()
	return nil
}

// await waits until all streams have received all events.
func (s *memoryRun) await(ctx context.Context) error {
	want := int64(s.written) * int64(s.streams)
	limit := time.Now().Add(5 * time.Minute)
	for ; s.received.Load() < want; client.Pause(ctx, 5*time.Millisecond) {
		select {
		case err := <-s.failed:
			return fmt.Errorf("a stream ended: %w", err)
		default:
		}
		if time.Now().After(limit) {
			return fmt.Errorf("%d events were received, want %d", s.received.Load(), want)
		}
	}
	if got := s.received.Load(); got > want {
		return fmt.Errorf("%d events were received, want %d", got, want)
	}
	return nil
}

// memoryMeasures are compared, the last one in long runs only.
var memoryMeasures = []struct {
	name  string
	limit float64 // of the growth
	of    func(p server.Process) uint64
	text  func(uint64) string
}{
	{"live heap", 1.05, func(p server.Process) uint64 { return p.Live }, mebibytes},
	{"objects", 1.05, func(p server.Process) uint64 { return p.Objects }, number},
	{"goroutines", 1.05, func(p server.Process) uint64 { return uint64(p.Goroutines) }, number},
	{residentMemory, 1.25, func(p server.Process) uint64 { return p.Resident }, mebibytes},
}

const residentMemory = "resident memory"

func mebibytes(bytes uint64) string { return fmt.Sprintf("%.2f MiB", float64(bytes)/(1<<20)) }
func number(n uint64) string        { return fmt.Sprint(n) }

// result compares the second half of the run with the first sample after which the buffer is full.
func (s *memoryRun) result() *result {
	title := fmt.Sprintf("PostgreSQL, %d streams, %d events in memory", s.streams, s.buffer)
	if s.control {
		title = fmt.Sprintf("control: PostgreSQL, %d streams, all events in memory", s.streams)
	}
	r := &result{Violations: &history.Violations{}, title: title}
	r.line("%d writes in %v, %d events received", s.written, s.samples[len(s.samples)-1].at.Round(time.Second),
		s.received.Load())
	rows := [][]any{}
	for i, p := range s.samples {
		if i%max(1, len(s.samples)/15) == 0 || i == len(s.samples)-1 {
			rows = append(rows, []any{p.at.Round(time.Second), p.written, mebibytes(p.Live), p.Objects,
				mebibytes(p.Stacks), mebibytes(p.Resident), p.Goroutines, ""})
		}
	}
	r.table("time\twrites\tlive heap\tobjects\tstacks\tresident\tgoroutines\t", rows...)
	full := slices.IndexFunc(s.samples, func(p memorySample) bool { return p.written >= s.buffer })
	if full < 0 || full >= len(s.samples)/2 {
		r.fail(fmt.Errorf("the buffer of %d events is not full before the second half", s.buffer))
		return r
	}
	s.compare(r, s.samples[full], s.samples[len(s.samples)/2:])
	return r
}

// compare fails a run if memory has grown, and a control if it has not.
func (s *memoryRun) compare(r *result, full memorySample, half []memorySample) {
	var grown []error
	for _, m := range memoryMeasures {
		before, most := m.of(full.Process), uint64(0)
		for _, p := range half {
			most = max(most, m.of(p.Process))
		}
		growth := float64(most) / float64(before)
		r.line("%s after %d writes %s, in the second half at most %s: %.3fx, limit %.2fx", m.name, full.written,
			m.text(before), m.text(most), growth, m.limit)
		if growth > m.limit && (s.resident || m.name != residentMemory) {
			grown = append(grown, fmt.Errorf("%s grows from %s to %s", m.name, m.text(before), m.text(most)))
		}
	}
	switch {
	case !s.control:
		r.fail(errors.Join(grown...))
	case grown == nil:
		r.fail(errors.New("the memory of the control does not grow"))
	}
}
