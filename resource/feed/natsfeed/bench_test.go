package natsfeed_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/natsfeed"
)

// BenchmarkRelay measures 1,000 events from Append to Tail in another process, with three local
// servers: in one batch and one by one.
func BenchmarkRelay(b *testing.B) {
	const n = 1000
	c, name := theCluster(b), streamName()
	source, _ := start(b, c, name)
	relay, _ := run(b, c, source, natsfeed.Options{Stream: name})
	w := &watched{Log: source}
	reader, _ := run(b, c, w, natsfeed.Options{Stream: name, ReadOnly: true})
	waitTrusted(b, reader, w, source)
	b.Run("at once", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			at := head(b, source)
			var over sync.WaitGroup
			over.Go(func() { appendSome(b, relay, 0, n) })
			tailed(b, reader, at, count(n))
			over.Wait()
		}
		b.ReportMetric(float64(b.N)*n/b.Elapsed().Seconds(), "events/s")
	})
	b.Run("one by one", func(b *testing.B) {
		var took []time.Duration
		for b.Loop() {
			at := head(b, source)
			began := time.Now()
			e := &feed.Event{Kind: feed.Created, Collection: "orders", ID: fmt.Sprint(len(took))}
			if err := relay.Append(b.Context(), e); err != nil {
				b.Fatal(err)
			}
			for got := 0; got == 0; {
				<-reader.Wake()
				events, _, err := reader.Tail(b.Context(), at, 10)
				if err != nil {
					b.Fatal(err)
				}
				got = len(events)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-us")
		b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-us")
	})
}

func head(t testing.TB, log feed.Log) feed.Cursor {
	t.Helper()
	at, err := log.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}
