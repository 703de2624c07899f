package main

import (
	"encoding/json"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
)

// process is what a server says of itself.
type process struct {
	// Sockets are those of the descriptors that are no files.
	Goroutines, Descriptors, Sockets int
	// Streams are those that somebody listens to, as far as the server knows.
	Streams int64
	// Resident is what the system has given it, in bytes; Heap and Stacks are what of it is in use.
	Resident, Heap, Stacks uint64
}

// processHandler answers GET /process/ with a process, as it is, and POST /process/ once what is not in use has been
// given back. GET /process/goroutines has only these, and costs next to nothing.
func processHandler(streams *atomic.Int64) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := process{Goroutines: runtime.NumGoroutine()}
		if !strings.HasSuffix(r.URL.Path, "/goroutines") {
			if r.Method == http.MethodPost {
				debug.FreeOSMemory()
			}
			p = self()
		}
		p.Streams = streams.Load()
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(p)
	})
}

// fence lets writes through until POST /process/fence shuts it, which waits for those that are being done: from then on none is
// but those with the header field Last. Requests whose clients have given up long ago are to do nothing any more.
type fence struct {
	mu   sync.RWMutex
	shut bool
}

func (f *fence) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/process/fence":
			f.mu.Lock()
			defer f.mu.Unlock()
			f.shut = true
			return
		case !strings.HasPrefix(r.URL.Path, path) || r.Method == http.MethodGet || r.Header.Get(lastField) != "":
			next.ServeHTTP(w, r)
			return
		}
		f.mu.RLock()
		defer f.mu.RUnlock()
		if f.shut {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// lastField is the field of a request for the last thing.
const lastField = "Last"

// counted counts streams, of both kinds, for as long as they are served.
func counted(streams *atomic.Int64, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "" || r.Header.Get("Accept") == "text/event-stream" {
			streams.Add(1)
			defer streams.Add(-1)
		}
		next.ServeHTTP(w, r)
	})
}

func self() process {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	p := process{Goroutines: runtime.NumGoroutine(), Heap: m.HeapInuse, Stacks: m.StackInuse}
	if open, err := os.ReadDir("/proc/self/fd"); err == nil {
		p.Descriptors = len(open)
		for _, e := range open {
			if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
				p.Sockets++
			}
		}
	}
	status, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			kib, _ := strconv.ParseUint(strings.Fields(rest)[0], 10, 64)
			p.Resident = kib << 10
		}
	}
	return p
}
