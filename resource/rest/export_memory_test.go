package rest_test

import (
	"context"
	"fmt"
	"iter"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
)

// endless is a store that generates its items, so that a large export needs no memory for them.
type endless struct {
	readOnly[thing]
	n int
}

func (s endless) List(_ context.Context, q query.Query) iter.Seq2[resource.Item[thing], error] {
	return func(yield func(resource.Item[thing], error) bool) {
		begin := 0
		if q.After != nil {
			begin, _ = strconv.Atoi(q.After[0].(string))
		}
		for i := begin + 1; i <= s.n && i <= begin+q.Limit; i++ {
			id := fmt.Sprintf("%09d", i)
			if !yield(resource.Item[thing]{Value: thing{ID: id, Name: strings.Repeat("x", 200)}}, nil) {
				return
			}
		}
	}
}

// meter is a response writer that measures the memory in use from time to time.
type meter struct {
	discard
	writes int
	most   uint64
}

func (m *meter) Write(b []byte) (int, error) {
	if m.writes++; m.writes%32 == 1 {
		m.most = max(m.most, inUse())
	}
	return m.discard.Write(b)
}

func inUse() uint64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return s.HeapAlloc
}

// TestExportMemory: an export of 100,000 items, 24 MB of lines, uses the memory of a few pages. It
// is not parallel, because it measures the whole process.
func TestExportMemory(t *testing.T) {
	const items, bound = 100_000, 4 << 20
	h := catalog(t, resource.New[thing]("things", endless{n: items}, nil))
	for accept, least := range map[string]int{"identity": 20 << 20, "gzip": 100 << 10} {
		r := request(t, "GET /things", asLines, "Accept-Encoding: "+accept)
		w := &meter{discard: discard{header: http.Header{}}}
		before := inUse()
		h.ServeHTTP(w, r)
		same(t, "status", http.StatusOK, w.status)
		if w.bytes < least {
			t.Errorf("%s: %d bytes, want %d at least", accept, w.bytes, least)
		}
		t.Logf("%s: %d bytes in %d writes, %d kB of memory", accept, w.bytes, w.writes, int64(w.most-before)/1024)
		if w.most > before+bound {
			t.Errorf("%s: %d bytes of memory more than before, want %d at most", accept, w.most-before, bound)
		}
	}
}
