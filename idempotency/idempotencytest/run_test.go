package idempotencytest_test

import (
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/idempotencytest"
	"github.com/stoa-go/stoa/resource/memory"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	idempotencytest.Run(t, func(*testing.T) idempotency.Store { return idempotency.NewMemory(nil) }, nil)
}

func TestMemoryWithTransactions(t *testing.T) {
	t.Parallel()
	idempotencytest.Run(t, func(*testing.T) idempotency.Store {
		return idempotency.NewMemory(&idempotency.MemoryOptions{Runner: memory.NewDB()})
	}, nil)
}
