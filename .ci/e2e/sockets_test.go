package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/server"
)

func TestSocketsResult(t *testing.T) {
	t.Parallel()
	good := func() *manySockets {
		return &manySockets{trial: newTestTrial(), count: 1000, maxKiB: 40, r: socketMeasures{
			empty: server.Process{Resident: 10 << 20}, settled: server.Process{Resident: 40 << 20},
			before: server.Process{Goroutines: 9, Sockets: 2}, after: server.Process{Goroutines: 9, Sockets: 2},
			readers: []pairMeasure{{time.Second, 1 << 20}}, nonReaders: []pairMeasure{{time.Second, 1 << 20}},
			closedLeast: []time.Duration{12 * time.Second}, closedMost: []time.Duration{13 * time.Second},
		}}
	}
	tests := []struct {
		name   string
		poison func(m *socketMeasures)
		want   string
	}{
		{"good", func(*socketMeasures) {}, ""},
		{"large", func(m *socketMeasures) { m.settled.Resident = 60 << 20 }, "KiB"},
		{"goroutines leak", func(m *socketMeasures) { m.after.Goroutines++ }, "1 goroutines"},
		{"sockets leak", func(m *socketMeasures) { m.after.Sockets++ }, "1 sockets"},
		{"a queue for clients that never read", func(m *socketMeasures) { m.nonReaders[0].grown = 1 << 30 }, "take 1023 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := good()
			tt.poison(&s.r)
			s.judge()
			err := s.failure()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if text := strings.Join(s.lines, "\n"); !strings.Contains(text, "1.00x") {
				t.Errorf("no ratio:\n%s", text)
			}
		})
	}
}
