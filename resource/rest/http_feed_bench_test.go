package rest_test

import (
	"context"
	"math/bits"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
)

// wide is an item with many members of the same size.
type wide struct {
	ID                                 string `json:"id"`
	N                                  int64  `json:"n"`
	A, B, C, D, E, F, G, H, I, J, K, L string
}

// partsOf returns different queries that each select seven of the twelve text members.
func partsOf(n int) []string {
	var all []string
	for set := uint(0); len(all) < n; set++ {
		if bits.OnesCount(set) != 7 {
			continue
		}
		var names []string
		for i := range 12 {
			if set&(1<<i) != 0 {
				names = append(names, string(rune('A'+i)))
			}
		}
		all = append(all, "?fields=n,"+strings.Join(names, ","))
	}
	return all
}

// BenchmarkFeed changes an item with many subscribers, without sockets. Subscribers of the same
// representation share a frame, even if their filters differ. In the other case each subscriber
// selects other members of the same size and has a frame of its own, which shows the cost without
// sharing.
func BenchmarkFeed(b *testing.B) {
	parts := partsOf(700)
	tests := []struct {
		name  string
		query func(i int) string
	}{
		{"alike", func(int) string { return parts[0] }},
		{"other filters", func(i int) string { return parts[0] + "&n.lt=" + strconv.Itoa(1<<40+i) }},
		{"other parts", func(i int) string { return parts[i] }},
	}
	for _, tt := range tests {
		b.Run(tt.name, func(b *testing.B) {
			opts := &resource.Options[wide]{Query: query.Support{Filter: map[string][]query.Op{"n": {query.Lt}}}}
			h := catalogFed(b, newFeed(b), resource.New("things", memory.New[wide](nil), opts))
			text := `"` + strings.Repeat("x", 40) + `"`
			doc := `{"id":"a","n":1`
			for i := range 12 {
				doc += `,"` + string(rune('A'+i)) + `":` + text
			}
			create(b, h, "/things", doc+"}")
			var all, begun, told sync.WaitGroup
			ctx, stop := context.WithCancel(b.Context())
			begun.Add(len(parts))
			for i := range parts {
				r := request(b, "GET /things"+tt.query(i), streamType).WithContext(ctx)
				all.Go(func() { h.ServeHTTP(&sink{discard{header: http.Header{}}, sync.OnceFunc(begun.Done), told.Done}, r) })
			}
			begun.Wait()
			n := 1
			b.ReportAllocs()
			for b.Loop() {
				n++
				told.Add(len(parts))
				want(b, send(b, h, "PATCH /things/a", mergeBody, "", `{"n":`+strconv.Itoa(n)+`}`), http.StatusOK)
				told.Wait()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(parts)), "ns/frame")
			stop()
			all.Wait()
		})
	}
}
