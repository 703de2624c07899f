package sqltx

// Prepared statements of PostgreSQL that the server rejects: because a migration has changed a type,
// or because a pooler has given the connection of the server to another client.

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// stalePlan reports whether err is "cached plan must not change result type", for which PostgreSQL has
// no SQLSTATE of its own. The server has not run the statement, and drivers prepare it again at its
// next use on the connection. The name of the routine does not depend on the language of the server.
func stalePlan(err error) bool {
	return stateOf(err) == "0A000" && field(err, "Routine").String() == "RevalidateCachedQuery"
}

// errPooled explains an error that only occurs with a pooler.
var errPooled = errors.New("sqltx: the server mixes up prepared statements, like a pooler in transaction " +
	"mode: add default_query_exec_mode=exec to the connection string of pgx")

// explainPooler wraps the errors of prepared statements that exist already or do not exist.
func explainPooler(err error) error {
	switch sqlState(err) {
	case "42P05", "26000":
		return fmt.Errorf("%w: %w", errPooled, err)
	}
	return err
}

// postgresPool runs statements outside transactions. It repeats a statement with a stale plan: each
// connection of the pool can have one.
type postgresPool struct {
	pool     *sql.DB
	attempts int // Options.Attempts
}

// ExecContext implements [Conn].
func (p postgresPool) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return replan(p.attempts, func() (sql.Result, error) { return p.pool.ExecContext(ctx, query, args...) })
}

// QueryContext implements [Conn].
func (p postgresPool) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return replan(p.attempts, func() (*sql.Rows, error) { return p.pool.QueryContext(ctx, query, args...) })
}

// replan runs a statement until its plan is not stale.
func replan[T any](attempts int, run func() (T, error)) (T, error) {
	for n := 1; ; n++ {
		result, err := run()
		if err == nil || n >= attempts || find(err, stalePlan) == nil {
			return result, explainPooler(err)
		}
	}
}
