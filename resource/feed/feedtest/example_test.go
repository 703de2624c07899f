package feedtest_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/feedtest"
)

// A test of a log is one call. TestMemory would be its name, and t what it is given.
func ExampleRun() {
	var t *testing.T
	test := func() {
		feedtest.Run(t, func(t *testing.T) feed.Log { return feed.NewMemory(nil) }, nil)
	}
	_ = test
	// Output:
}
