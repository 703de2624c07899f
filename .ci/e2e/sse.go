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

// streamMemory is a trial with streams.
type streamMemory struct {
	trial
	streams int
	buffer  int // events that the server keeps in memory; in the control it keeps all
	rounds  int
	writes  int           // per round
	pace    time.Duration // between writes; 0 is as fast as possible
	// resident reports that resident memory is compared. In a short run it depends on when the runtime
	// collects garbage and returns memory to the system.
	resident bool

	things   []*changingThing
	written  int
	received atomic.Int64
	failed   chan error // why a stream has ended
	samples  []memorySample
}

// memorySample is the state of the server after a round.
type memorySample struct {
	at      time.Duration
	written int
	server.Process
}

func sseMemory(ctx context.Context, e *env) error {
	subject := &streamMemory{streams: 100, buffer: 256, rounds: 8, writes: 128}
	if e.full { // an hour
		subject = &streamMemory{streams: 500, buffer: 4096, rounds: 60, writes: 1500,
			pace: 40 * time.Millisecond, resident: true}
	}
	subject.describe("PostgreSQL", subject.buffer)
	control := &streamMemory{streams: 100, buffer: 256, rounds: 8, writes: 128}
	control.control = []history.Kind{}
	control.describe("control: PostgreSQL", control.rounds*control.writes)
	return e.try(ctx, &subject.trial, &control.trial)
}

// describe sets what is started. The server has a buffer.
func (s *streamMemory) describe(title string, buffer int) {
	s.title = fmt.Sprintf("%s, %d streams, %d events in memory", title, s.streams, buffer)
	s.engine, s.nodes, s.do = postgres, 1, s.run
	s.command = []string{"things", "-ring", fmt.Sprint(buffer)}
}

func (s *streamMemory) run(ctx context.Context) error {
	s.failed = make(chan error, s.streams)
	for range 64 {
		v := server.Thing{Name: "thing", Lane: 1, N: 1, Open: true, Note: strings.Repeat("note ", 50)}
		made, err := newChangingThing(ctx, s.Client, s.URL(0), v)
		if err != nil {
			return err
		}
		s.things = append(s.things, made)
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
	s.judge()
	return nil
}

// subscribe opens the streams and starts to read from them. Each second one has a filter, which all
// items match.
func (s *streamMemory) subscribe(ctx context.Context, readers *sync.WaitGroup) error {
	protocol := client.REST(nil)
	for i := range s.streams {
		stream, err := protocol.Subscribe(ctx, s.URL(0), "", client.View{Lane: i % 2})
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
func (s *streamMemory) round(ctx context.Context, began time.Time) error {
	for range s.writes {
		if err := s.things[s.written%len(s.things)].change(ctx); err != nil {
			return err
		}
		s.written++
		client.Pause(ctx, time.Until(began.Add(time.Duration(s.written)*s.pace)))
	}
	if err := s.await(ctx); err != nil {
		return err
	}
	sample := memorySample{at: time.Since(began), written: s.written}
	a := s.Send(ctx, http.MethodPost, s.URL(0)+"/process/live", "")
	err := a.Decode("POST /process/live", &sample.Process)
	s.samples = append(s.samples, sample)
	return err
}

// await waits until all streams have received all events, and no more.
func (s *streamMemory) await(ctx context.Context) (err error) {
	want := int64(s.written) * int64(s.streams)
	awaited := client.Await(ctx, fmt.Sprint(want, " events"), 5*time.Millisecond, func() bool {
		select {
		case err = <-s.failed:
			err = fmt.Errorf("a stream ended: %w", err)
		default:
		}
		return err != nil || s.received.Load() >= want
	})
	if got := s.received.Load(); got > want {
		return fmt.Errorf("%d events were received, want %d", got, want)
	}
	return errors.Join(err, awaited)
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

// judge compares the second half of the trial with the first sample after which the buffer is full.
func (s *streamMemory) judge() {
	s.line("%d writes in %v, %d events received", s.written, s.samples[len(s.samples)-1].at.Round(time.Second),
		s.received.Load())
	rows := [][]any{}
	for i, p := range s.samples {
		if i%max(1, len(s.samples)/15) == 0 || i == len(s.samples)-1 {
			rows = append(rows, []any{p.at.Round(time.Second), p.written, mebibytes(p.Live), p.Objects,
				mebibytes(p.Stacks), mebibytes(p.Resident), p.Goroutines, ""})
		}
	}
	s.table("time\twrites\tlive heap\tobjects\tstacks\tresident\tgoroutines\t", rows...)
	full := slices.IndexFunc(s.samples, func(p memorySample) bool { return p.written >= s.buffer })
	if full < 0 || full >= len(s.samples)/2 {
		s.fail(fmt.Errorf("the buffer of %d events is not full before the second half", s.buffer))
		return
	}
	s.compare(s.samples[full], s.samples[len(s.samples)/2:])
}

// compare fails a trial if memory has grown, and a control if it has not.
func (s *streamMemory) compare(full memorySample, half []memorySample) {
	var grown []error
	for _, m := range memoryMeasures {
		before, most := m.of(full.Process), uint64(0)
		for _, p := range half {
			most = max(most, m.of(p.Process))
		}
		growth := float64(most) / float64(before)
		s.line("%s after %d writes %s, in the second half at most %s: %.3fx, limit %.2fx", m.name, full.written,
			m.text(before), m.text(most), growth, m.limit)
		if growth > m.limit && (s.resident || m.name != residentMemory) {
			grown = append(grown, fmt.Errorf("%s grows from %s to %s", m.name, m.text(before), m.text(most)))
		}
	}
	if s.control == nil {
		s.fail(errors.Join(grown...))
	}
	s.failIf(s.control != nil && grown == nil, "the memory of the control does not grow")
}
