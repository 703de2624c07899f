package sqltx

// Prepared statements, by their text. The cache is bounded, because filters make new texts.

import (
	"container/list"
	"context"
	"database/sql"
	"sync"
)

// maxPrepared limits the prepared statements of a SQLite pool. Each takes some kilobytes per
// connection.
const maxPrepared = 100

// stmtCache is a SQLite pool that caches prepared statements, because parsing takes SQLite longer
// than finding a row by its key. PostgreSQL drivers have a cache of their own.
//
// A statement is prepared at its second use, so statements that occur once are not cached.
type stmtCache struct {
	pool *sql.DB

	mu     sync.Mutex
	byText map[string]*list.Element // of *known
	recent *list.List               // most recently used first
}

// cachedStmt is a statement that has been used.
type cachedStmt struct {
	text      string
	stmt      *sql.Stmt // nil until its second use
	preparing bool      // another goroutine is preparing it
	users     int       // goroutines that are about to run stmt
	evicted   bool      // the last user must close stmt
}

func newStmtCache(pool *sql.DB) *stmtCache {
	return &stmtCache{pool: pool, byText: map[string]*list.Element{}, recent: list.New()}
}

// ExecContext implements [Conn].
func (p *stmtCache) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	if k := p.use(ctx, query); k != nil {
		defer p.leave(k)
		return k.stmt.ExecContext(ctx, args...)
	}
	return p.pool.ExecContext(ctx, query, args...)
}

// QueryContext implements [Conn].
func (p *stmtCache) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if k := p.use(ctx, query); k != nil {
		defer p.leave(k) // open rows keep the statement open
		return k.stmt.QueryContext(ctx, args...)
	}
	return p.pool.QueryContext(ctx, query, args...)
}

// use returns a prepared statement, which the caller must leave, or nil if the text should run
// unprepared.
func (p *stmtCache) use(ctx context.Context, text string) *cachedStmt {
	k, prepare := p.find(text)
	if !prepare {
		return k
	}
	stmt, err := p.pool.PrepareContext(ctx, text)
	p.mu.Lock()
	defer p.mu.Unlock()
	k.preparing = false
	if err != nil { // running it reports the error
		return nil
	}
	if k.evicted {
		stmt.Close()
		return nil
	}
	k.stmt = stmt
	k.users++
	return k
}

// find looks up a text and adds it if it is new. If prepare is true, the caller must prepare it.
func (p *stmtCache) find(text string) (k *cachedStmt, prepare bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	e, ok := p.byText[text]
	if !ok {
		p.byText[text] = p.recent.PushFront(&cachedStmt{text: text})
		p.evict()
		return nil, false
	}
	p.recent.MoveToFront(e)
	k = e.Value.(*cachedStmt)
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

// evict evicts the least recently used text.
func (p *stmtCache) evict() {
	if p.recent.Len() <= maxPrepared {
		return
	}
	k := p.recent.Remove(p.recent.Back()).(*cachedStmt)
	delete(p.byText, k.text)
	k.evicted = true
	if k.stmt != nil && k.users == 0 {
		k.stmt.Close()
	}
}

// leave ends the use of a statement.
func (p *stmtCache) leave(k *cachedStmt) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if k.users--; k.evicted && k.users == 0 {
		k.stmt.Close()
	}
}
