package sqltx

import (
	"context"
	"database/sql"
	"maps"
	"reflect"
	"strconv"
	"sync"
	"time"
	"weak"
)

// idleTimeout sets idle_in_transaction_session_timeout on connections of PostgreSQL.
type idleTimeout struct {
	timeout time.Duration // negative means no timeout

	mu sync.Mutex
	// applied has the driver connections with the setting. A pool closes connections and opens
	// others, so a pointer that is not weak would keep all of them in memory.
	applied map[weak.Pointer[byte]]struct{}
}

// maxApplied limits the remembered connections. A forgotten one is set again.
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
		v := reflect.ValueOf(inner)
		if v.Kind() != reflect.Pointer { // of no known driver
			is = true
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		key := weak.Make((*byte)(v.UnsafePointer()))
		if _, known := p.applied[key]; known {
			return nil
		}
		if len(p.applied) >= maxApplied {
			closed := func(c weak.Pointer[byte], _ struct{}) bool { return c.Value() == nil }
			maps.DeleteFunc(p.applied, closed)
		}
		if p.applied == nil || len(p.applied) >= maxApplied {
			p.applied = map[weak.Pointer[byte]]struct{}{}
		}
		p.applied[key] = struct{}{}
		is = true
		return nil
	})
	return is
}
