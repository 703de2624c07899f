package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

// stats are the resources that a process has used so far.
type stats struct {
	Processor time.Duration // in user and kernel mode
	Mallocs   uint64        // number of objects allocated
	Held      uint64        // by objects and stacks
	Resident  uint64        // of the process; 0 if the system does not report it
}

// settle collects garbage before it measures.
func settle() stats {
	runtime.GC()
	runtime.GC() // the second one empties pools
	return now()
}

// now returns the stats without collecting garbage. ReadMemStats stops the world for some
// microseconds, which is little against a round.
func now() stats {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return stats{
		Processor: measure.ProcessorTime(),
		Mallocs:   m.Mallocs,
		Held:      m.HeapAlloc + m.StackInuse,
		Resident:  resident(),
	}
}

// resident returns the resident set size from /proc, in bytes, or 0 if the system has no /proc.
func resident() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	// The second field is the number of resident pages.
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseUint(fields[1], 10, 64)
	if err != nil {
		return 0
	}
	return pages * uint64(os.Getpagesize())
}
