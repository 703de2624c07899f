package idempotencytest_test

import (
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/idempotencytest"
)

// A test of a store is a single call. It would be named TestMemory and pass its own t.
func ExampleRun() {
	var t *testing.T
	test := func() {
		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return idempotency.NewMemory(nil) },
			nil)
	}
	_ = test
	// Output:
}
