package rest_test

import (
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/rest"
)

// posting repeats one request, as a server receives it.
type posting struct {
	h    http.Handler
	r    *http.Request
	w    *discard
	body *strings.Reader
	text string
	key  int // the last key; 0 sends none
}

func newPosting(tb testing.TB, once bool) *posting {
	tb.Helper()
	db := memory.NewDB()
	opts := &resource.CatalogOptions{Principal: caller, Logger: slog.New(slog.DiscardHandler)}
	if once {
		opts.Idempotency = idempotency.New(idempotency.NewMemory(&idempotency.MemoryOptions{Runner: db}), &idempotency.Options{Quota: -1})
	}
	store := memory.New(&memory.Options[memo]{DB: db})
	p := &posting{h: byCaller(rest.New(resource.NewCatalog(opts, resource.New("memos", store, &resource.Options[memo]{Public: true})), nil)),
		w: &discard{header: http.Header{}}, text: `{"title":"` + strings.Repeat("a", 40) + `","stars":5,"owner":"ann"}`}
	p.body = strings.NewReader(p.text)
	p.r = request(tb, "POST /memos", asAnn, jsonBody)
	p.r.Body = io.NopCloser(p.body)
	p.r.ContentLength = int64(len(p.text))
	return p
}

// send sends the request, with the key unless it is 0.
func (p *posting) send() int {
	clear(p.w.header)
	p.body.Reset(p.text)
	if p.key != 0 {
		p.r.Header["Idempotency-Key"] = []string{`"8e03978e-40d5-43e8-bc93-` + strconv.Itoa(p.key) + `"`}
	}
	p.h.ServeHTTP(p.w, p.r)
	return p.w.status
}

// BenchmarkKeys compares, in one run, a POST without an idempotency store with one that has a
// store: without a key, with a new key each time, and with a used key.
func BenchmarkKeys(b *testing.B) {
	for _, bb := range []struct {
		name       string
		once       bool
		first, add int // key
	}{{"no keys kept", false, 0, 0}, {"no key sent", true, 0, 0}, {"new key", true, 1, 1}, {"replay", true, 1, 0}} {
		b.Run(bb.name, func(b *testing.B) {
			p := newPosting(b, bb.once)
			p.key = bb.first
			p.send()
			b.ReportAllocs()
			for b.Loop() {
				p.key += bb.add
				if p.send() != http.StatusCreated {
					b.Fatal(p.w.status)
				}
			}
		})
	}
}

// TestAllocationsWithoutKey: an idempotency store adds no allocation to a request without a key. It
// is not parallel, because AllocsPerRun measures the whole process.
func TestAllocationsWithoutKey(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	allocations := func(once bool) float64 {
		p := newPosting(t, once)
		return testing.AllocsPerRun(500, func() {
			if p.send() != http.StatusCreated {
				t.Fatal(p.w.status)
			}
		})
	}
	bare, kept := allocations(false), allocations(true)
	if kept > bare {
		t.Errorf("%v allocations where keys are kept, %v where none are", kept, bare)
	}
}

// TestAllocationsOfReplay: a replay needs no transaction, claim or context, so it costs hardly more
// than the write itself.
func TestAllocationsOfReplay(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes pools forget")
	}
	allocations := func(key int) float64 {
		p := newPosting(t, true)
		p.key = key
		p.send()
		return testing.AllocsPerRun(500, func() {
			if p.send() != http.StatusCreated {
				t.Fatal(p.w.status)
			}
		})
	}
	if write, replay := allocations(0), allocations(1); replay > write+6 {
		t.Errorf("%v allocations for a replay, %v for a write without a key", replay, write)
	}
}
