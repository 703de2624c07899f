package main

import (
	"flag"
	"slices"
	"testing"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
	"github.com/stoa-go/stoa/examples/bench/internal/shop"
)

var update = flag.Bool("update", false, "write the allocations to results.json")

// TestStatedAllocations compares the allocations that examples/bench/README.md states with those of
// the same jobs. The document quotes results.json; TestDocuments of all checks that.
func TestStatedAllocations(t *testing.T) {
	if measure.RaceDetector {
		t.Skip("the race detector changes what a request allocates")
	}
	data := shop.New(10_000)
	err := report.CheckAllocs("../results.json", tableGraphQL, *update,
		func(jobName, peerName string) (int64, error) {
			j := slices.IndexFunc(jobs, func(j job) bool { return j.name == jobName })
			p := slices.IndexFunc(peers(), func(p peer) bool { return p.name == peerName })
			c, err := newClient(peers()[p].handler(data), &jobs[j])
			if err != nil {
				return 0, err
			}
			return measure.Allocs(c.send)
		})
	if err != nil {
		t.Errorf("%v\nif that is intended, run: go test -C examples/bench ./graphql -run TestStatedAllocations -update;"+
			" go run -C examples/bench ./all -draw", err)
	}
}
