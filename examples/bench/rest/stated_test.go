package main

import (
	"flag"
	"slices"
	"testing"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
)

var update = flag.Bool("update", false, "write the allocations to results.json")

// TestStatedAllocations compares the allocations that README.md and examples/bench/README.md state
// with those of the same jobs. Both documents quote results.json; TestDocuments of all checks that.
func TestStatedAllocations(t *testing.T) {
	if measure.RaceDetector {
		t.Skip("the race detector changes what a request allocates")
	}
	err := report.CheckAllocs("../results.json", tableInProcess, *update,
		func(jobName, peerName string) (int64, error) {
			j := slices.IndexFunc(jobs, func(j job) bool { return j.name == jobName })
			p := slices.IndexFunc(inProcess, func(p peer) bool { return p.name == peerName })
			return allocations(jobs[j], inProcess[p])
		})
	if err != nil {
		t.Errorf("%v\nif that is intended, run: go test -C examples/bench ./rest -run TestStatedAllocations -update;"+
			" go run -C examples/bench ./all -draw", err)
	}
}
