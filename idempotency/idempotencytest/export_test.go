package idempotencytest

import (
	"context"

	"github.com/stoa-go/stoa/idempotency"
)

// Failing returns the names of the cases that a store does not pass, each on a store of its own.
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
