package sqlrecordstest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// processes are databases over one file or server, each as if it had a process to itself.
func processes(t *testing.T, e sqltest.Engine, n int) []*sqltx.DB {
	t.Helper()
	connector := e.Connector(t)
	var all []*sqltx.DB
	for range n {
		pool := sql.OpenDB(connector)
		t.Cleanup(func() { pool.Close() })
		pool.SetMaxOpenConns(4)
		if e.Dialect == sqltx.SQLite {
			pool.SetMaxOpenConns(1)
		}
		all = append(all, sqltx.New(e.Dialect, pool, nil))
	}
	return all
}

// TestCreateTableAtOnce starts several processes at the same time, each of which makes the table if it is not there.
func TestCreateTableAtOnce(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		var wg sync.WaitGroup
		for _, db := range processes(t, e, 4) {
			wg.Go(func() {
				for range 2 {
					if err := sqlrecords.New(db, nil).CreateTable(t.Context()); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// TestNames has tables of odd names, and of schemas.
func TestNames(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		schema := map[sqltx.Dialect]string{sqltx.SQLite: "main", sqltx.PostgreSQL: "public"}[e.Dialect]
		db := e.Open(t, nil)
		for i, name := range []string{"once", schema + ".keys", "the \"keys\" `of` us", "select"} {
			store := sqlrecords.New(db, &sqlrecords.Options{Table: name})
			if err := store.CreateTable(t.Context()); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			prior, err := store.Claim(t.Context(), [32]byte{1}, claimAs("t"))
			if err != nil || prior.State != idempotency.Fresh {
				t.Errorf("a claim in %s, after %d in other tables: %v, %v, want Fresh", name, i, prior.State, err)
			}
		}
	})
}

// TestCreateTableLooks finds a table that is not the one it needs, and leaves it as it is.
func TestCreateTableLooks(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		db := e.Open(t, nil)
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(),
			"CREATE TABLE idempotency_records (id integer, owner integer, expires integer)"); err != nil {
			t.Fatal(err)
		}
		err := sqlrecords.New(db, nil).CreateTable(t.Context())
		if err == nil || !strings.Contains(err.Error(), "fingerprint") {
			t.Errorf("the error is %v, want one that names a column which is missing", err)
		}
		if n := rows(t, db, "idempotency_records"); n != 0 {
			t.Errorf("the table has %d rows", n)
		}
	})
}

// TestPurgeLeavesWhatIsInUse holds a row that has expired in a transaction, which must not be waited for.
func TestPurgeLeavesWhatIsInUse(t *testing.T) {
	onPostgres(t, func(t *testing.T, e sqltest.Engine) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		all := processes(t, e, 2)
		store, other := records(t, all[0]), sqlrecords.New(all[1], nil)
		for i := range byte(3) {
			if _, err := store.Claim(ctx, [32]byte{i}, claimAs("t")); err != nil {
				t.Fatal(err)
			}
		}
		over := claimAs("again")
		over.Now = over.Now.Add(2 * time.Hour)
		over.Until, over.Expires = over.Now.Add(time.Minute), over.Now.Add(time.Hour)
		err := all[0].InTx(ctx, func(ctx context.Context) error {
			if _, err := store.Claim(ctx, [32]byte{1}, over); err != nil {
				return err
			}
			n, err := other.Purge(context.WithoutCancel(t.Context()), over.Now, 10)
			if n != 2 {
				t.Errorf("beside the transaction %d were purged, want 2", n)
			}
			return err
		})
		if n := rows(t, all[0], "idempotency_records"); n != 1 || err != nil {
			t.Errorf("%d rows are left, %v, want 1", n, err)
		}
	})
}

// TestRule142TwoProcesses has clients of two processes send copies of the same requests until all are answered.
func TestRule142TwoProcesses(t *testing.T) {
	const keys, copies = 20, 16
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		all := processes(t, e, 2)
		table, err := orders(ctx, all[0])
		if err != nil {
			t.Fatal(err)
		}
		var keepers []*idempotency.Guard
		var creates []func(ctx context.Context) (idempotency.Record, error)
		for _, db := range all {
			own, err := orders(ctx, db)
			if err != nil {
				t.Fatal(err)
			}
			keepers = append(keepers, idempotency.New(records(t, db), nil))
			creates = append(creates, create(own))
		}
		var ids [keys]sync.Map
		var wg sync.WaitGroup
		for n := range keys * copies {
			wg.Go(func() {
				key, process := n%keys, n/keys%2
				for {
					rec, _, err := keepers[process].Do(ctx, operation(fmt.Sprint(key)), idempotency.ExactlyOnce, all[process], creates[process])
					var refused *problem.Details
					if errors.As(err, &refused) && (refused.Kind == problem.InFlight || refused.Kind == problem.Unavailable) && ctx.Err() == nil {
						time.Sleep(time.Millisecond) // the first of its copies is under way, or others got all the turns
						continue
					}
					if err != nil {
						t.Error(err)
					}
					ids[key].Store(rec.ID, true)
					return
				}
			})
		}
		wg.Wait()
		for key := range ids {
			n := 0
			ids[key].Range(func(any, any) bool { n++; return true })
			if n != 1 {
				t.Errorf("the copies of key %d were told %d ids", key, n)
			}
		}
		if n := count(t, table); n != keys {
			t.Errorf("there are %d orders, want %d", n, keys)
		}
	})
}
