package exec_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/query/graphql/internal/exec"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/feed"
)

// fanned is the document of all subscribers in the benchmarks.
const fanned = `subscription { bookChanged { kind id cursor
	book { id title genre pages sold price note tags published cover { color } } } }`

// oneChange returns the last change of a book.
func oneChange(tb testing.TB, w *world) *feed.Change[resource.Entry] {
	tb.Helper()
	note := "mind the <step>"
	b := book{ID: 7, Title: "Seventh", Genre: "novel", AuthorID: "ann", Pages: 10, Tags: []string{"a", "b"},
		Note:  &note,
		Cover: &cover{"red"}, Shelf: "A1"}
	w.happens(tb, nil, &b)
	start, err := feed.ParseCursor(w.cursors[0])
	if err != nil {
		tb.Fatal(err)
	}
	for c, err := range w.catalog.Resources()[0].Watch(tb.Context(), start, query.Filter{}) {
		if err != nil {
			tb.Fatal(err)
		}
		if c.Kind != feed.Bookmark {
			return c
		}
	}
	return nil
}

// BenchmarkFanOutEncode measures the encoding of a change for 10,000 subscribers: once for all, and
// once for each. It excludes transport.
func BenchmarkFanOutEncode(b *testing.B) {
	const subscribers = 10_000
	for _, alone := range []bool{false, true} {
		b.Run(map[bool]string{false: "once", true: "each"}[alone], func(b *testing.B) {
			w := newWorld(b, setting{feed: true})
			change, plan := oneChange(b, w), w.plan(b, fanned)
			listeners := make([]*exec.Listener, subscribers)
			for i := range listeners {
				listeners[i] = w.engine.Listener(plan, nil, alone)
			}
			b.ReportAllocs()
			bytes := 0
			for b.Loop() {
				// a change without memoized messages
				c := &feed.Change[resource.Entry]{Kind: change.Kind, ID: change.ID, Rev: change.Rev,
					After:  change.After,
					Cursor: change.Cursor}
				for _, l := range listeners {
					bytes += len(l.Message(b.Context(), c))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/subscribers, "ns/subscriber")
			b.ReportMetric(float64(bytes)/float64(b.N)/subscribers, "bytes/message")
		})
	}
}

// BenchmarkFanOutWhole measures the same from the write to the log until 10,000 goroutines have the
// message.
func BenchmarkFanOutWhole(b *testing.B) {
	const subscribers = 10_000
	for _, same := range []bool{true, false} {
		b.Run(map[bool]string{true: "once", false: "each"}[same], func(b *testing.B) {
			w := newWorld(b, setting{feed: true, config: exec.Config{PlanBytes: 1 << 30}})
			ctx, leave := context.WithCancel(b.Context())
			var all, begun sync.WaitGroup
			var received atomic.Int64
			done := make(chan struct{}, 1)
			begun.Add(subscribers)
			for i := range subscribers {
				document := fanned
				if !same {
					document = fmt.Sprint(document, "#", i) // makes a separate plan
				}
				messages := w.listen(ctx, b, document, "", "")
				all.Go(func() {
					for m, err := range messages {
						if err != nil {
							b.Error(err)
						}
						if m.JSON == nil { // the subscription has started
							begun.Done()
							continue
						}
						if received.Add(1)%subscribers == 0 {
							done <- struct{}{}
						}
					}
				})
			}
			begun.Wait()
			b.ReportAllocs()
			for b.Loop() {
				w.happens(b, nil, &book{ID: 7, Title: "Seventh", Genre: "novel", AuthorID: "ann",
					Shelf: "A1"})
				<-done
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/subscribers, "ns/subscriber")
			leave()
			all.Wait()
		})
	}
}
