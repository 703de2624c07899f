package feedtest

import (
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
)

// Failing returns the names of the test cases that fail, each on a new log.
func Failing(t *testing.T, newLog func() feed.Log, opts *Options) (names []string) {
	t.Helper()
	o := opts.orDefault()
	for _, c := range cases() {
		log := newLog()
		if c.skip(log, o) == "" && len(try(t, c, log, o)) > 0 {
			names = append(names, c.name)
		}
	}
	return names
}
