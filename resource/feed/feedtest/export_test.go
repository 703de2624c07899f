package feedtest

import (
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
)

// Failing returns the names of the cases that a log does not pass, each on a log of its own.
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
