package sqltx

import (
	"context"
	"database/sql"
	"reflect"
	"strconv"
	"sync"
	"time"
)

// idleTimeout sets idle_in_transaction_session_timeout on connections of PostgreSQL.
type idleTimeout struct {
	timeout time.Duration // negative means no timeout

	mu      sync.Mutex
	applied map[any]struct{} // driver connections with the setting
}

// maxApplied limits the remembered connections, most of which are closed by then. A forgotten one
// is set again.
const maxApplied = 256

// apply sets the timeout of a connection once. Errors are ignored: a broken connection fails at its
// next use, and a server without this setting works without it.
func (p *idleTimeout) apply(ctx context.Context, conn *sql.Conn) {
	if p.timeout < 0 || !p.isNew(conn) {
		return
	}
	const text = "SELECT set_config('idle_in_transaction_session_timeout', $1, false) " +
		"WHERE current_setting('idle_in_transaction_session_timeout') = '0'"
	_, _ = conn.ExecContext(ctx, text, strconv.FormatInt(max(p.timeout.Milliseconds(), 1), 10))
}

// isNew reports whether a connection was not set yet, and records it.
func (p *idleTimeout) isNew(conn *sql.Conn) (is bool) {
	_ = conn.Raw(func(inner any) error {
		if !reflect.TypeOf(inner).Comparable() {
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, known := p.applied[inner]; known {
			return nil
		}
		if p.applied == nil || len(p.applied) >= maxApplied {
			p.applied = map[any]struct{}{}
		}
		p.applied[inner] = struct{}{}
		is = true
		return nil
	})
	return is
}
