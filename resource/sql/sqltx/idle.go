package sqltx

import (
	"context"
	"database/sql"
	"reflect"
	"strconv"
	"sync"
	"time"
)

// patience tells connections of PostgreSQL how long their transactions may stand still.
type patience struct {
	idle time.Duration // below zero for ever

	mu   sync.Mutex
	told map[any]struct{} // connections, as their driver knows them
}

// toldMax bounds what is remembered of connections, most of which are closed by then. Whoever is forgotten is told again.
const toldMax = 256

// tell tells a connection, unless it knows. Where that fails nothing is lost: a connection that is broken is found out by
// who uses it next, and a server that knows no such setting goes without.
func (p *patience) tell(ctx context.Context, conn *sql.Conn) {
	if p.idle < 0 || !p.news(conn) {
		return
	}
	const text = "SELECT set_config('idle_in_transaction_session_timeout', $1, false) " +
		"WHERE current_setting('idle_in_transaction_session_timeout') = '0'"
	_, _ = conn.ExecContext(ctx, text, strconv.FormatInt(max(p.idle.Milliseconds(), 1), 10))
}

// news reports whether a connection was not told yet, and notes that it is.
func (p *patience) news(conn *sql.Conn) (is bool) {
	_ = conn.Raw(func(inner any) error {
		if !reflect.TypeOf(inner).Comparable() {
			return nil
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, known := p.told[inner]; known {
			return nil
		}
		if p.told == nil || len(p.told) >= toldMax {
			p.told = map[any]struct{}{}
		}
		p.told[inner] = struct{}{}
		is = true
		return nil
	})
	return is
}
