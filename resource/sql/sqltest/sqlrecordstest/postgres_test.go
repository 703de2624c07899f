package sqlrecordstest

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"net"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// claimAs is a claim by a token.
func claimAs(token string) idempotency.Claim {
	now := time.Now()
	return idempotency.Claim{Token: token, Now: now, Until: now.Add(time.Minute), Expires: now.Add(time.Hour)}
}

// TestClaimsDoNotWait holds a key in a transaction while 64 requests use the same key and 64 others
// their own, over seven connections. If a claim waited for the transaction, the test would not end.
func TestClaimsDoNotWait(t *testing.T) {
	onPostgres(t, func(t *testing.T, e sqltest.Engine) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		pool := sql.OpenDB(e.Connector(t))
		defer pool.Close()
		pool.SetMaxOpenConns(8)
		db := sqltx.New(e.Dialect, pool, nil)
		store := records(t, db)
		held, release := make(chan struct{}), make(chan struct{})
		var first, others sync.WaitGroup
		first.Go(func() {
			err := db.InTx(ctx, func(ctx context.Context) error {
				prior, err := store.Claim(ctx, [32]byte{1}, claimAs("first"))
				if err != nil || prior.State != idempotency.Fresh {
					t.Errorf("the first claim: %v, %v", prior.State, err)
				}
				close(held)
				<-release
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
		<-held
		for i := range 64 {
			ask := func(id [32]byte, want idempotency.State) {
				err := db.InTx(ctx, func(ctx context.Context) error {
					prior, err := store.Claim(ctx, id, claimAs(strconv.Itoa(i)))
					if err == nil && prior.State != want {
						t.Errorf("claim of %x: %v, want %v", id[:2], prior.State, want)
					}
					return err
				})
				if err != nil {
					t.Error(err)
				}
			}
			others.Go(func() { ask([32]byte{1}, idempotency.InFlight) })
			others.Go(func() { ask([32]byte{2, byte(i)}, idempotency.Fresh) })
		}
		others.Wait()
		close(release)
		first.Wait()
	})
}

// TestReplayWritesNothing checks that a replay has not locked the row. PostgreSQL stores locks in the row.
func TestReplayWritesNothing(t *testing.T) {
	onPostgres(t, func(t *testing.T, e sqltest.Engine) {
		db := e.Open(t, nil)
		store := records(t, db)
		claim := func(want idempotency.State) {
			t.Helper()
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				prior, err := store.Claim(ctx, [32]byte{1}, claimAs("a"))
				if err == nil && prior.State != want {
					t.Errorf("claim: %v, want %v", prior.State, want)
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		touched := func() (n int) { return rows(t, db, "idempotency_records WHERE xmax <> 0") }
		claim(idempotency.Fresh)
		claim(idempotency.InFlight)
		if err := store.Finish(t.Context(), [32]byte{1}, "a", idempotency.Record{Status: 201}, time.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		claim(idempotency.Finished)
		if n := touched(); n != 0 {
			t.Errorf("a replay has locked the row")
		}
		over := claimAs("b")
		over.Now = time.Now().Add(2 * time.Hour) // so that this one replaces it, and is rolled back
		errUndo := errors.New("undo")
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			_, err := store.Claim(ctx, [32]byte{1}, over)
			return errors.Join(errUndo, err)
		})
		if n := touched(); n != 1 || !errors.Is(err, errUndo) {
			t.Errorf("a claim that was rolled back, with %v, has touched %d rows: this test cannot tell", err, n)
		}
	})
}

// wire closes the connection of a PostgreSQL driver at a chosen step.
type wire struct {
	lose atomic.Bool // the next answer, which the server has sent
}

type lossy struct {
	net.Conn
	w *wire
}

func (l lossy) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	if n > 0 && l.w.lose.CompareAndSwap(true, false) {
		l.Conn.Close()
		return 0, io.ErrUnexpectedEOF
	}
	return n, err
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, network, address)
	return lossy{c, w}, err
}

// TestRule142LostConnections closes the connection at each step, and once after the commit but
// before its response. In one transaction the outcome is then unknown, and a repetition returns it.
func TestRule142LostConnections(t *testing.T) {
	tests := []struct {
		name     string
		step     string
		cut      bool // by the server, which rolls back, and not just the answer
		kind     problem.Kind
		replayed bool // the second time
	}{
		{"the server ends before the effect", afterClaim, true, problem.Unavailable, false},
		{"the server ends before the record", afterEffect, true, problem.Unavailable, false},
		{"the server ends before the commit", afterFinish, true, problem.OutcomeUnknown, false},
		{"the answer to the commit is lost", afterFinish, false, problem.OutcomeUnknown, true},
	}
	onPostgres(t, func(t *testing.T, e sqltest.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				t.Parallel()
				url := sqltest.PostgreSQL(t)
				config, err := pgx.ParseConfig(url)
				if err != nil {
					t.Fatal(err)
				}
				w := &wire{}
				config.DialFunc = w.dial
				pool := stdlib.OpenDB(*config)
				defer pool.Close()
				db := sqltx.New(e.Dialect, pool, nil)
				table, err := orders(t.Context(), db)
				if err != nil {
					t.Fatal(err)
				}
				step := &cutter{t: t, db: db, w: w, url: url, step: tt.step, cut: tt.cut}
				keeper := idempotency.New(stepping{records(t, db), step.at}, nil)
				do := func(ctx context.Context) (idempotency.Record, error) {
					rec, err := create(table)(ctx)
					step.at(ctx, afterEffect)
					return rec, err
				}
				ask := func() (idempotency.Record, bool, error) {
					return keeper.Do(t.Context(), operation("k"), idempotency.ExactlyOnce, db, do)
				}
				_, _, err = ask()
				var refused *problem.Details
				switch {
				case tt.kind == problem.Unavailable && tt.step == afterClaim: // do returns the error of its collection
					if err == nil {
						t.Error("the first succeeded")
					}
				case !errors.As(err, &refused) || refused.Kind != tt.kind:
					t.Errorf("the first got %v, want %s", err, tt.kind)
				}
				rec, replayed, err := ask()
				if err != nil || rec.Status != 201 || replayed != tt.replayed {
					t.Errorf("the second got %d, %v, replayed %t, want 201, replayed %t", rec.Status, err, replayed, tt.replayed)
				}
				if n := count(t, table); n != 1 {
					t.Errorf("there are %d orders", n)
				}
			})
		}
	})
}

// cutter loses a connection once, at its step.
type cutter struct {
	t    *testing.T
	db   *sqltx.DB
	w    *wire
	url  string
	step string
	cut  bool
	done bool
}

func (c *cutter) at(ctx context.Context, step string) {
	if c.done || step != c.step {
		return
	}
	c.done = true
	if !c.cut {
		c.w.lose.Store(true)
		return
	}
	var pid int
	found, err := c.db.Writer(ctx).QueryContext(ctx, "SELECT pg_backend_pid()")
	if err != nil {
		c.t.Error(err)
		return
	}
	for found.Next() {
		err = found.Scan(&pid)
	}
	found.Close()
	killer, errOpen := sql.Open("pgx", c.url)
	if err := errors.Join(err, errOpen); err != nil {
		c.t.Error(err)
		return
	}
	defer killer.Close()
	if _, err := killer.Exec("SELECT pg_terminate_backend($1, 60000)", pid); err != nil {
		c.t.Error(err)
	}
}
