package sqltxtest

import (
	"context"
	"database/sql"
	"testing"
	"time"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// postgres returns the engine that speaks it.
func postgres(t *testing.T) sqltest.Engine {
	t.Helper()
	for _, e := range sqltest.Engines() {
		if e.Dialect == sqltx.PostgreSQL {
			return e
		}
	}
	t.Fatal("there is no PostgreSQL among the engines")
	return sqltest.Engine{}
}

// TestIdleTransaction: an idle transaction is ended by the server, and its locks are released.
func TestIdleTransaction(t *testing.T) {
	t.Parallel()
	db := counters(t, postgres(t), &sqltx.Options{Idle: 50 * time.Millisecond})
	locked, freed, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- db.InTx(t.Context(), func(ctx context.Context) error {
			err := write(ctx, db.Writer(ctx), "a", 1)
			close(locked)
			<-freed // it waits until another transaction has locked the same row
			if err == nil {
				err = write(ctx, db.Writer(ctx), "b", 1)
			}
			return err
		})
	}()
	<-locked
	if err := write(t.Context(), db.Writer(t.Context()), "a", 2); err != nil {
		t.Errorf("somebody else: %v", err)
	}
	close(freed)
	if err := <-ended; db.Dialect().Fault(err).Kind != sqltx.Unavailable {
		t.Errorf("the transaction that stood still: %v", err)
	}
	for name, want := range map[string]int{"a": 2, "b": 0} {
		if n, err := read(t.Context(), db.Reader(t.Context()), name); err != nil || n != want {
			t.Errorf("%s is %d, want %d: %v", name, n, want, err)
		}
	}
}

// TestIdleIsTheirs: what was set for a connection stays.
func TestIdleIsTheirs(t *testing.T) {
	t.Parallel()
	const setting = "SELECT current_setting('idle_in_transaction_session_timeout')"
	connector := postgres(t).Connector(t)
	for _, want := range []string{"1min", "7777ms"} {
		pool := sql.OpenDB(connector)
		defer pool.Close()
		db := sqltx.New(sqltx.PostgreSQL, pool, nil)
		var got []string
		err := db.InTx(t.Context(), func(ctx context.Context) (err error) {
			got, err = column[string](ctx, db.Writer(ctx), setting)
			return err
		})
		if err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("it is %v, want %s: %v", got, want, err)
		}
		// For the connections that come.
		exec(t, t.Context(), db, "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = 7777', "+
			"current_database()); END $$")
	}
}
