package sqltx

// Transactions of each dialect, and how their commits end when the caller is canceled.

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/stoa-go/stoa/resource/internal/tally"
)

// session is an open transaction on its own connection. Commit and Rollback return the connection
// to the pool.
type session interface {
	Conn
	Commit() error
	Rollback() error
}

// beginSession begins a transaction. It waits for a connection until ctx is done.
func (db *DB) beginSession(ctx context.Context, a *attempt) (session, error) {
	if db.dialect == PostgreSQL {
		return onWorking(db, func() (session, error) { return db.beginPostgres(ctx, a) })
	}
	defer waited(ctx)()
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	own(conn, a)
	return beginSQLite(ctx, conn)
}

// onWorking calls begin until it finds a connection that is not broken, because a transaction that has
// not begun has had no effect. A pool with many canceled requests may return several broken connections.
func onWorking[T any](db *DB, begin func() (T, error)) (T, error) {
	for n := 1; ; n++ {
		t, err := begin()
		if err == nil || n >= db.attempts || !errors.Is(err, driver.ErrBadConn) {
			return t, err
		}
	}
}

// lostAtBegin wraps [driver.ErrBadConn] if err is the loss of a connection at the start of a transaction.
// database/sql has closed the connection if it was lost while its timeout was set.
func lostAtBegin(err error) error {
	if errors.Is(err, sql.ErrConnDone) || connectionLost(err) || endsConnection(sqlState(err)) {
		return fmt.Errorf("%w: %w", driver.ErrBadConn, err)
	}
	return err
}

// waited returns a function that adds the time since the call of waited to the observation of the
// request, as the wait for a connection. With SQLite that includes the wait for its write lock.
func waited(ctx context.Context) (done func()) {
	t := tally.From(ctx)
	if t == nil {
		return func() {}
	}
	from := time.Now()
	return func() { t.AddWait(time.Since(from)) }
}

// postgresSession is a transaction of database/sql. Its driver detects that PostgreSQL responds to
// the COMMIT of a failed transaction with ROLLBACK.
type postgresSession struct {
	*sql.Tx
	gate   *commitGate
	conn   *sql.Conn
	caller context.Context    // its end rolls back the transaction before the commit
	detach func() bool        // from the caller; returns false if the caller's context is done
	cancel context.CancelFunc // ends the transaction
}

// beginPostgres runs the transaction with a context of its own. With the caller's context,
// database/sql would interrupt a commit when the client disconnects, and its outcome would be
// unknown.
func (db *DB) beginPostgres(ctx context.Context, a *attempt) (session, error) {
	done := waited(ctx)
	if err := db.gate.enter(ctx); err != nil {
		return nil, err
	}
	conn, err := db.writer.Conn(ctx)
	done()
	if err != nil {
		db.gate.leave()
		return nil, err
	}
	own(conn, a)
	db.idleTimeout.apply(ctx, conn)
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &postgresSession{gate: &db.gate, conn: conn, caller: ctx, cancel: cancel,
		detach: context.AfterFunc(ctx, cancel)}
	if s.Tx, err = conn.BeginTx(life, &sql.TxOptions{Isolation: db.isolation}); err != nil {
		s.release()
		// the error of the derived context does not contain the cause
		return nil, errors.Join(ctx.Err(), lostAtBegin(err))
	}
	if err := a.vars.set(life, s.Tx); err != nil {
		s.Rollback()
		return nil, errors.Join(ctx.Err(), lostAtBegin(err))
	}
	return s, nil
}

// Commit commits even if the caller's context ends while it runs, and waits for the result within
// [Options.CommitTimeout].
func (s *postgresSession) Commit() error {
	if !s.detach() {
		s.Tx.Rollback() // unless it is being rolled back already
		s.release()
		return s.caller.Err()
	}
	done := make(chan error, 1)
	go func() {
		err := s.Tx.Commit()
		s.release() // before the caller continues, which may need the connection
		if err != nil {
			err = postgresCommitError(err)
		}
		done <- err
	}()
	return s.gate.wait(done, s.cancel)
}

func (s *postgresSession) Rollback() error {
	defer s.release()
	return s.Tx.Rollback()
}

func (s *postgresSession) release() {
	s.detach()
	s.cancel()
	s.conn.Close()
	s.gate.leave()
}

// postgresCommitError distinguishes a commit that the server has rejected from one that may have
// succeeded before the connection was lost.
func postgresCommitError(err error) error {
	state := sqlState(err)
	switch {
	case state == "" && rolledBack(err):
		return err
	case state == "", state[:2] == "08", state[:2] == "57":
		// A server that shuts down may end connections after the commit is durable.
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// rolledBack recognizes the errors of drivers for a commit that has rolled back.
func rolledBack(err error) bool {
	// These are the texts of pgx and lib/pq. Their error values would require an import.
	text := err.Error()
	return text == "commit unexpectedly resulted in rollback" ||
		text == "pq: Could not complete operation in a failed transaction"
}

// sqliteSession begins and ends by statements, because the behavior of a driver's Begin depends on
// its data source name. The transaction must take the write lock at its beginning: if it reads
// first and another connection writes, it can only start again.
type sqliteSession struct {
	*sql.Conn
	ctx context.Context // of the transaction, without its cancellation
}

// longWait is the busy_timeout of SQLite from which on its own waiting is sufficient. Repeating
// such a wait twenty times would block the client, and the pool, for minutes.
const longWait = time.Second

var errBusyTimeout = errors.New("database was locked for the whole busy_timeout")

// beginSQLite begins a transaction that holds the write lock from the start, because a lock that is
// taken later can fail without waiting.
func beginSQLite(ctx context.Context, conn *sql.Conn) (session, error) {
	s := &sqliteSession{conn, context.WithoutCancel(ctx)}
	from := time.Now()
	_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err != nil && time.Since(from) >= longWait {
		err = fmt.Errorf("%w: %w", errBusyTimeout, err)
	}
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		s.Rollback() // the interrupt may have arrived after BEGIN had succeeded
	default:
		conn.Close()
	}
	return nil, err
}

// Commit also ends the transaction if it fails, because a busy database leaves it open.
func (s *sqliteSession) Commit() error {
	err := s.exec("COMMIT")
	if err == nil {
		return s.Conn.Close()
	}
	if code, ok := sqliteCode(err); !ok || code&0xff == sqliteIOErr {
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	s.Rollback()
	return err
}

// Rollback closes the connection if the transaction may still be open.
func (s *sqliteSession) Rollback() error {
	err := s.exec("ROLLBACK")
	// SQLite rolls back after some errors itself, and ROLLBACK then fails with a generic code.
	// Closing the connection is correct in all cases.
	if err != nil {
		s.discard()
	}
	s.Conn.Close()
	return err
}
