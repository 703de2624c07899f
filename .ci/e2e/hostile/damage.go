package main

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// damage is what hostile content did.
type damage struct {
	base   string
	client *http.Client
	routes int
	sent   atomic.Int64
	peak   int64 // KiB

	mu       sync.Mutex
	statuses map[int]int // 0 is a connection that was closed
	faults   int
	panics   int
	examples []string
}

func (d *damage) count(status int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.statuses[status]++
}

func (d *damage) fault(format string, args ...any) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults++
	if len(d.examples) < 20 {
		d.examples = append(d.examples, fmt.Sprintf("%.500s", fmt.Sprintf(format, args...)))
	}
}

// judgeProcess looks at what the process printed and how large it became.
func (d *damage) judgeProcess(f *fleet.Fleet, log *safeBuffer, bound int64) {
	var err error
	if _, d.peak, err = memoryOf(f.PID(0)); err != nil {
		d.fault("the process is not there any more: %v", err)
	}
	if d.peak > bound<<10 {
		d.fault("it took %d MiB, and %d are allowed", d.peak>>10, bound)
	}
	d.panics = strings.Count(log.String(), "panic") + strings.Count(log.String(), "goroutine ")
	if d.panics > 0 {
		d.fault("it panicked: %.2000s", log.String())
	}
}

func (d *damage) print(out io.Writer, inputs int, seed uint64) {
	fmt.Fprintf(out, "hostile content: %d inputs, %d documents of GraphQL, %d messages, %d routes: %d requests, -seed %d\n",
		inputs, len(documents()), len(messages()), d.routes, d.sent.Load(), seed)
	fives := 0
	for _, status := range slices.Sorted(maps.Keys(d.statuses)) {
		if status >= http.StatusInternalServerError {
			fives += d.statuses[status]
		}
		name := fmt.Sprint(status)
		if status == 0 {
			name = "closed"
		}
		fmt.Fprintf(out, "  %s: %d", name, d.statuses[status])
	}
	fmt.Fprintf(out, "\npanics %d, answers of 5xx %d, memory at most %d MiB with %d senders\n\n", d.panics, fives, d.peak>>10,
		senders)
	for _, example := range d.examples {
		fmt.Fprintln(out, "   ", example)
	}
}

func (d *damage) verdict() error {
	if d.faults > 0 {
		return fmt.Errorf("%w: %d faults", errDamage, d.faults)
	}
	return nil
}
