package feedtest_test

import (
	"testing"

	"github.com/stoa-go/stoa/resource/feed"
	"github.com/stoa-go/stoa/resource/feed/feedtest"
	"github.com/stoa-go/stoa/resource/memory"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, func(*testing.T) feed.Log { return feed.NewMemory(nil) }, nil)
}

func TestMemoryWithTransactions(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, func(*testing.T) feed.Log {
		return feed.NewMemory(&feed.MemoryOptions{Runner: memory.NewDB()})
	}, nil)
}

// TestMemoryWithTransactionsAtOnce uses a Runner with concurrent transactions, like PostgreSQL.
func TestMemoryWithTransactionsAtOnce(t *testing.T) {
	t.Parallel()
	feedtest.Run(t, func(*testing.T) feed.Log {
		return feed.NewMemory(&feed.MemoryOptions{Runner: &atOnce{}})
	}, nil)
}
