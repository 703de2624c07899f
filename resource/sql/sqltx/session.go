package sqltx

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"
)

// session is an open transaction on its own connection, which both ends give back to the pool.
type session interface {
	Conn
	Commit() error
	Rollback() error
}

// commitLimit is for connections on which nothing moves any more; no healthy commit comes near it.
const commitLimit = 30 * time.Second

// begin waits for a connection as long as ctx lasts.
func (db *DB) begin(ctx context.Context, a *attempt) (session, error) {
	conn, err := db.writer.Conn(ctx)
	if err != nil {
		return nil, err
	}
	own(conn, a)
	if db.dialect == PostgreSQL {
		db.patience.tell(ctx, conn)
		return beginPostgres(ctx, conn, db.isolation)
	}
	return beginSQLite(ctx, conn)
}

// postgresSession is a transaction of database/sql, whose driver knows that PostgreSQL answers the COMMIT of a failed
// transaction with a polite ROLLBACK.
type postgresSession struct {
	*sql.Tx
	conn   *sql.Conn
	caller context.Context    // whose end is that of the transaction, until it commits
	detach func() bool        // from the caller; false if it is too late
	cancel context.CancelFunc // ends the transaction
}

// beginPostgres gives the transaction a context of its own. With the caller's, database/sql would interrupt a commit
// when a client goes away, and nobody could say what became of it.
func beginPostgres(ctx context.Context, conn *sql.Conn, level sql.IsolationLevel) (session, error) {
	life, cancel := context.WithCancel(context.WithoutCancel(ctx))
	s := &postgresSession{conn: conn, caller: ctx, cancel: cancel, detach: context.AfterFunc(ctx, cancel)}
	var err error
	if s.Tx, err = conn.BeginTx(life, &sql.TxOptions{Isolation: level}); err != nil {
		s.close()
		if errors.Is(err, sql.ErrConnDone) { // it was lost as it was told something, and database/sql has closed it
			err = fmt.Errorf("%w: %w", driver.ErrBadConn, err)
		}
		return nil, errors.Join(ctx.Err(), err) // life ends only with ctx, but does not say why
	}
	return s, nil
}

func (s *postgresSession) Commit() error {
	defer s.close()
	if !s.detach() {
		s.Tx.Rollback() // if it is not being rolled back already
		return s.caller.Err()
	}
	limit := time.AfterFunc(commitLimit, s.cancel)
	defer limit.Stop()
	if err := s.Tx.Commit(); err != nil {
		return postgresCommitError(err)
	}
	return nil
}

func (s *postgresSession) Rollback() error {
	defer s.close()
	return s.Tx.Rollback()
}

func (s *postgresSession) close() {
	s.detach()
	s.cancel()
	s.conn.Close()
}

// postgresCommitError keeps apart what the server refused from what it may have done before the connection was lost.
func postgresCommitError(err error) error {
	state := sqlState(err)
	switch {
	case state == "" && rolledBack(err):
		return err
	case state == "", state[:2] == "08", state[:2] == "57":
		// Shutting down, a server ends connections also after the commit is on its disk.
		return fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	return err
}

// rolledBack knows the error by which drivers tell that a commit has rolled back.
func rolledBack(err error) bool {
	// The texts are those of pgx and of lib/pq, whose values for it cannot be named without importing them.
	text := err.Error()
	return text == "commit unexpectedly resulted in rollback" ||
		text == "pq: Could not complete operation in a failed transaction"
}

// sqliteSession begins and ends by statements, because how a driver begins depends on its data source name, and a
// transaction must take SQLite's one lock for writing at once: one that reads first and then finds that somebody else
// has written can only start again.
type sqliteSession struct {
	*sql.Conn
	ctx context.Context // of the transaction, which is all the life the session has; without its end
}

// longWait is how long SQLite waits for others (PRAGMA busy_timeout) where that is meant to be all the waiting there is. To
// begin again then, twenty times, would keep a client for minutes, and all who stand behind it in the pool.
const longWait = time.Second

var errWaited = errors.New("others held the database all the while")

func beginSQLite(ctx context.Context, conn *sql.Conn) (session, error) {
	s := &sqliteSession{conn, context.WithoutCancel(ctx)}
	from := time.Now()
	_, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	if err != nil && time.Since(from) >= longWait {
		err = fmt.Errorf("%w: %w", errWaited, err)
	}
	switch {
	case err == nil:
		return s, nil
	case ctx.Err() != nil:
		s.Rollback() // the interrupt may have come just when the transaction had begun
	default:
		conn.Close()
	}
	return nil, err
}

// Commit also ends the transaction when it fails, since a busy database leaves it open.
func (s *sqliteSession) Commit() error {
	_, err := s.ExecContext(s.ctx, "COMMIT")
	if err == nil {
		return s.Conn.Close()
	}
	if code, ok := sqliteCode(err); !ok || code&0xff == sqliteIOErr {
		err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	s.Rollback()
	return err
}

// Rollback closes the connection for good if it may still be in the transaction.
func (s *sqliteSession) Rollback() error {
	_, err := s.ExecContext(s.ctx, "ROLLBACK")
	// "No transaction is active" is an error with the most general of codes: SQLite rolls back by itself after some
	// faults. Whatever else it means, a connection costs little.
	if err != nil {
		s.Conn.Raw(func(any) error { return driver.ErrBadConn })
	}
	s.Conn.Close()
	return err
}
