package sqltx

// The readiness check of a database, which a health endpoint calls. It finds faults that a ping
// does not: a full or read-only disk, and a file that was moved.

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

const (
	// probeInterval is the minimum time between two writes of the check, because health endpoints
	// are often public.
	probeInterval = time.Second
	// probeWait limits the wait for a connection of the pool.
	probeWait = 500 * time.Millisecond
)

// NewCheck connects and returns a function that reports whether the database can serve requests,
// for [middleware.Health]. It is safe for concurrent use. Its errors are for logs.
//
// On SQLite it returns an error if the file of the database has been moved or replaced since
// NewCheck was called: the process would continue to write to the old file, or fail. It also
// returns an error if a write fails because the file system is full or read-only. At most once a
// second it commits a write that changes nothing (PRAGMA user_version). A database that is locked
// by another transaction is ready.
//
// On PostgreSQL it pings the server.
//
// [middleware.Health]: https://pkg.go.dev/github.com/stoa-go/stoa/middleware#Health
func (db *DB) NewCheck(ctx context.Context) (func(ctx context.Context) error, error) {
	if db.dialect != SQLite {
		return db.readers.PingContext, db.readers.PingContext(ctx)
	}
	c := &sqliteReadiness{db: db}
	const query = "SELECT file FROM pragma_database_list WHERE name = 'main'"
	if err := db.writer.QueryRowContext(ctx, query).Scan(&c.path); err != nil {
		return nil, err
	}
	info, err := os.Stat(c.path) // of the path "", a database in memory, it fails too
	if err == nil {
		c.opened = info
	} else if c.path != "" && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return c.check, nil
}

// sqliteReadiness is the check of a SQLite database.
type sqliteReadiness struct {
	db     *DB
	path   string
	opened fs.FileInfo // nil if the database is not in a file

	mu     sync.Mutex
	probed time.Time
	failed error // of the last write that was not prevented by another transaction
}

func (c *sqliteReadiness) check(ctx context.Context) error {
	if c.opened != nil {
		info, err := os.Stat(c.path)
		if err != nil {
			return fmt.Errorf("sqltx: database file was moved or removed while it was open: %w", err)
		}
		if !os.SameFile(info, c.opened) {
			return fmt.Errorf("sqltx: database file %s was replaced while it was open", c.path)
		}
	}
	if err := c.db.readers.PingContext(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.probed) < probeInterval {
		return c.failed
	}
	err := c.db.probe(ctx)
	if errors.Is(err, context.DeadlineExceeded) || c.db.dialect.Fault(err).Kind == Conflict {
		return c.failed // another transaction is running
	}
	c.probed, c.failed = time.Now(), nil
	if err != nil {
		c.failed = fmt.Errorf("sqltx: database cannot be written: %w", err)
	}
	return c.failed
}

// probe commits a transaction that writes a page without changing it. It sets busy_timeout to 0 to
// not wait for transactions of other processes, because not all drivers end such a wait with the
// context.
func (db *DB) probe(ctx context.Context) error {
	wait, cancel := context.WithTimeout(ctx, probeWait)
	defer cancel()
	conn, err := db.writer.Conn(wait)
	if err != nil {
		return err
	}
	s := &sqliteSession{conn, context.WithoutCancel(ctx)} // a statement that is interrupted shows nothing
	defer s.Close()
	var timeout, version int64
	if err := s.QueryRowContext(s.ctx, "PRAGMA busy_timeout").Scan(&timeout); err != nil {
		return err
	}
	defer func() {
		if s.exec(fmt.Sprintf("PRAGMA busy_timeout = %d", timeout)) != nil {
			s.discard()
		}
	}()
	if err := s.exec("PRAGMA busy_timeout = 0"); err != nil {
		return err
	}
	if err := s.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err = s.QueryRowContext(s.ctx, "PRAGMA user_version").Scan(&version)
	if err == nil {
		err = s.exec(fmt.Sprintf("PRAGMA user_version = %d", version))
	}
	if err == nil {
		err = s.exec("COMMIT")
	}
	if err != nil {
		_ = s.exec("ROLLBACK") // fails if SQLite has rolled back itself
	}
	return err
}

// exec runs a statement without arguments.
func (s *sqliteSession) exec(statement string) error {
	_, err := s.ExecContext(s.ctx, statement)
	return err
}

// discard makes the pool close the connection.
func (s *sqliteSession) discard() { _ = s.Raw(func(any) error { return driver.ErrBadConn }) }
