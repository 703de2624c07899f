package main

import (
	"strings"
	"testing"

	"github.com/stoa-go/stoa/ci/e2e/history"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

func TestSSEMemoryResult(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		control bool
		change  func(samples []memorySample)
		want    string // in the error; empty if there is none
	}{
		{"good", false, func([]memorySample) {}, ""},
		{"the live heap grows", false, func(p []memorySample) { p[9].Live = 22 << 20 },
			"live heap grows from 20.00 MiB to 22.00 MiB"},
		{"objects grow", false, func(p []memorySample) { p[5].Objects = 1060 }, "objects grows from 1000 to 1060"},
		{"goroutines leak", false, func(p []memorySample) { p[9].Goroutines = 220 }, "goroutines grows"},
		{"the process grows", false, func(p []memorySample) { p[7].Resident = 70 << 20 }, "resident memory grows"},
		{"growth while the buffer fills", false, func(p []memorySample) { p[0].Live, p[1].Live = 1<<20, 10<<20 }, ""},
		{"the buffer is full too late", false, func(p []memorySample) {
			for i := range p {
				p[i].written /= 2
			}
		}, "not full"},
		{"control", true, func(p []memorySample) { p[9].Live = 40 << 20 }, ""},
		{"control without growth", true, func([]memorySample) {}, "does not grow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &streamMemory{trial: newTestTrial(), streams: 2, buffer: 30, written: 100, resident: true}
			if tt.control {
				s.control = []history.Kind{}
			}
			for i := range 10 {
				s.samples = append(s.samples, memorySample{written: 10 * (i + 1),
					Process: server.Process{Goroutines: 200, Resident: 50 << 20, Live: 20 << 20, Objects: 1000}})
			}
			tt.change(s.samples)
			s.judge()
			err := s.failure()
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}
