package rest_test

import (
	"net/http"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// TestFeedMemoryOfSelections: clients that select many different sets of fields do not multiply the
// memory of the buffer, 16 MiB. It does not run in parallel because it measures the whole process.
func TestFeedMemoryOfSelections(t *testing.T) {
	parts := partsOf(60)
	alike := fedHeap(t, func(int) string { return parts[0] })
	other := fedHeap(t, func(i int) string { return parts[i] })
	t.Logf("%d streams of one selection keep %.1f MiB, of different ones %.1f MiB", len(parts), alike, other)
	if most := alike + 16; other > most {
		t.Errorf("%d selections keep %.1f MiB, want at most %.1f", len(parts), other, most)
	}
}

// fedHeap returns how much the heap grows, in MiB, while 60 streams receive 600 events of 4 KiB.
func fedHeap(t *testing.T, query func(i int) string) (grown float64) {
	synctest.Test(t, func(t *testing.T) {
		f := newFeed(t)
		h := catalogFed(t, f, resource.New("things", memory.New[wide](nil), nil))
		begun(t, f)
		received := 0
		for i := range 60 {
			s := &sink{discard{header: http.Header{}}, func() {}, func() { received++ }}
			if i > 0 { // one counts
				s.told = func() {}
			}
			go h.ServeHTTP(s, request(t, "GET /things"+query(i), streamType))
		}
		synctest.Wait()
		doc := `"n":1`
		for name := 'A'; name <= 'L'; name++ {
			doc += `,"` + string(name) + `":"` + strings.Repeat("x", 340) + `"`
		}
		before := liveHeap()
		for i := range 600 {
			create(t, h, "/things", `{"id":"`+strconv.Itoa(i)+`",`+doc+`}`)
			synctest.Wait()
		}
		grown = liveHeap() - before
		same(t, "received", 600, received)
	})
	return grown
}

// liveHeap returns the size of the heap after garbage collection, in MiB. It collects twice, because a
// sync.Pool keeps its values during one collection.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(live)
	return float64(live[0].Value.Uint64()) / (1 << 20)
}
