package sqltx

import (
	"container/list"
	"context"
	"database/sql"
	"sync"
)

// mostPrepared is how many statements a pool of SQLite keeps prepared. Each is some kilobytes on each connection.
const mostPrepared = 100

// prepared is a pool of SQLite that keeps statements prepared: to parse one takes SQLite longer than to find a row by its
// key. PostgreSQL does not need it, as its drivers do that themselves.
//
// What is seen for the first time is run as it is, so that texts which never come again cost nothing and drive out little.
type prepared struct {
	pool *sql.DB

	mu     sync.Mutex
	byText map[string]*list.Element // of *known
	recent *list.List               // the latest in front
}

// known is a text that has been seen.
type known struct {
	text      string
	stmt      *sql.Stmt // nil until it is seen again
	preparing bool      // by somebody else
	users     int       // who are just about to run stmt
	forgotten bool      // the last user closes stmt
}

func newPrepared(pool *sql.DB) *prepared {
	return &prepared{pool: pool, byText: map[string]*list.Element{}, recent: list.New()}
}

// ExecContext is that of [Conn].
func (p *prepared) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if k := p.use(ctx, query); k != nil {
		defer p.leave(k)
		return k.stmt.ExecContext(ctx, args...)
	}
	return p.pool.ExecContext(ctx, query, args...)
}

// QueryContext is that of [Conn].
func (p *prepared) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if k := p.use(ctx, query); k != nil {
		defer p.leave(k) // the rows keep the statement from being closed
		return k.stmt.QueryContext(ctx, args...)
	}
	return p.pool.QueryContext(ctx, query, args...)
}

// use returns a prepared statement, which the caller leaves, or nil if the text is to be run as it is.
func (p *prepared) use(ctx context.Context, text string) *known {
	k, prepare := p.find(text)
	if !prepare {
		return k
	}
	stmt, err := p.pool.PrepareContext(ctx, text)
	p.mu.Lock()
	defer p.mu.Unlock()
	k.preparing = false
	if err != nil { // to run it tells why
		return nil
	}
	if k.forgotten {
		stmt.Close()
		return nil
	}
	k.stmt = stmt
	k.users++
	return k
}

// find looks a text up and remembers it. If prepare is true, the caller has to.
func (p *prepared) find(text string) (k *known, prepare bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.byText[text]
	if !ok {
		p.byText[text] = p.recent.PushFront(&known{text: text})
		p.forget()
		return nil, false
	}
	p.recent.MoveToFront(e)
	k = e.Value.(*known)
	switch {
	case k.stmt != nil:
		k.users++
		return k, false
	case k.preparing:
		return nil, false
	}
	k.preparing = true
	return k, true
}

// forget drops what has not been used for the longest time.
func (p *prepared) forget() {
	if p.recent.Len() <= mostPrepared {
		return
	}
	k := p.recent.Remove(p.recent.Back()).(*known)
	delete(p.byText, k.text)
	k.forgotten = true
	if k.stmt != nil && k.users == 0 {
		k.stmt.Close()
	}
}

// leave ends the use of a statement.
func (p *prepared) leave(k *known) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.users--; k.forgotten && k.users == 0 {
		k.stmt.Close()
	}
}
