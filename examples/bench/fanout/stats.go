package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/cputime"
)

// stats are what a process has taken up to now.
type stats struct {
	Processor time.Duration
	Mallocs   uint64
	Held      uint64 // by objects and stacks
	Resident  uint64 // of the process, where the system says so
}

// settle collects garbage first, so that what is held is to be seen.
func settle() stats {
	runtime.GC()
	runtime.GC() // the second one empties pools
	return now()
}

func now() stats {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return stats{Processor: cputime.Now(), Mallocs: m.Mallocs, Held: m.HeapAlloc + m.StackInuse, Resident: resident()}
}

func resident() uint64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
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
