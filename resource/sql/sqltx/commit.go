package sqltx

// Commits of PostgreSQL, which can wait without limit: for a synchronous standby that is away, or for
// a response over a dead connection. session.go calls it.

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stoa-go/stoa/resource/tx"
)

const (
	// slowCommit is the time after which a commit counts as one that waits.
	slowCommit = time.Second
	// unlimitedSlow is the number of waiting commits at which no further transaction begins, if the
	// pool has no limit. It is well below the default max_connections of PostgreSQL, which is 100.
	unlimitedSlow = 32
	// askTimeout limits a question to the server about waiting commits.
	askTimeout = 5 * time.Second
)

// commitGate limits the transactions of a PostgreSQL pool, so that waiting commits never occupy all of
// its connections. A waiting commit keeps its connection, because closing it would not end the wait of
// the server, and each new transaction would add a waiting connection there.
type commitGate struct {
	pool    *sql.DB
	timeout time.Duration // Options.CommitTimeout
	once    sync.Once
	slots   chan struct{} // has one element per transaction; nil if the pool has no limit
	slow    atomic.Int64  // commits that wait
}

// enter waits for permission to begin a transaction. It fails at once while all other transactions
// are in commits that wait. The caller must leave.
func (g *commitGate) enter(ctx context.Context) error {
	g.once.Do(g.init)
	if g.slots == nil {
		return g.check(unlimitedSlow)
	}
	for {
		select {
		case g.slots <- struct{}{}:
			return nil
		default:
		}
		if err := g.check(cap(g.slots)); err != nil {
			return err
		}
		select {
		case g.slots <- struct{}{}:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(slowCommit):
		}
	}
}

// init reads the limit of the pool at the first transaction, because it is often set after New. A
// quarter of the connections, and one at least, is for statements outside transactions.
func (g *commitGate) init() {
	if n := g.pool.Stats().MaxOpenConnections; n > 0 {
		g.slots = make(chan struct{}, max(1, n-max(1, n/4)))
	}
}

// check returns an error if limit commits wait.
func (g *commitGate) check(limit int) error {
	if n := g.slow.Load(); n >= int64(limit) {
		return fmt.Errorf("%w: %d commits are waiting", tx.ErrUnavailable, n)
	}
	return nil
}

// leave ends the permission of enter.
func (g *commitGate) leave() {
	if g.slots != nil {
		<-g.slots
	}
}

// wait returns the result of a commit that runs concurrently. After the timeout it returns
// [ErrOutcomeUnknown] and leaves the commit to itself. It does not cancel the commit: a cancel request
// ends the wait of PostgreSQL for its standby, and others would then read what a failover loses.
func (g *commitGate) wait(done <-chan error, cancel context.CancelFunc) error {
	soon := slowCommit
	if g.timeout > 0 {
		soon = min(soon, g.timeout)
	}
	timer := time.NewTimer(soon)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
	}
	g.slow.Add(1)
	var timeout <-chan time.Time // nil, without a limit
	if g.timeout > 0 {
		timer.Reset(g.timeout - soon)
		timeout = timer.C
	}
	select {
	case err := <-done:
		g.slow.Add(-1)
		return err
	case <-timeout:
	}
	go g.abandon(done, cancel)
	return fmt.Errorf("%w: commit not confirmed within %v", ErrOutcomeUnknown, g.timeout)
}

// abandon waits for the end of a commit that has no caller any more. If no commit waits for a standby,
// the connection is dead, and cancel closes it.
func (g *commitGate) abandon(done <-chan error, cancel context.CancelFunc) {
	defer g.slow.Add(-1)
	for {
		if !g.standbyAwaited() {
			cancel()
		}
		select {
		case <-done:
			return
		case <-time.After(g.timeout):
		}
	}
}

// standbyAwaited asks the server whether a commit of this role waits for a standby. It returns true
// if the server does not answer.
func (g *commitGate) standbyAwaited() bool {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	awaited := true
	err := g.pool.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep')").Scan(&awaited)
	return awaited || err != nil
}
