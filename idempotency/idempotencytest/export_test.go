package idempotencytest

import (
	"context"

	"github.com/stoa-go/stoa/idempotency"
)

// Failing returns the names of the test cases that fail, each on a new store.
func Failing(ctx context.Context, newStore func() idempotency.Store, opts *Options) (names []string) {
	for _, c := range cases() {
		store := newStore()
		if c.inTx && runnerOf(store) == nil {
			continue
		}
		if failures := try(ctx, c, store, opts.orDefault()); len(failures) > 0 {
			names = append(names, c.name)
		}
	}
	return names
}
