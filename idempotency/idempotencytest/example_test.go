package idempotencytest_test

import (
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/idempotencytest"
)

// A test of a store is one call. TestMemory would be its name, and t what it is given.
func ExampleRun() {
	var t *testing.T
	test := func() {
		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return idempotency.NewMemory(nil) }, nil)
	}
	_ = test
	// Output:
}
