package sqltx_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
	"github.com/stoa-go/stoa/resource/tx"
)

// standby is a server that delays commits until release is closed.
type standby struct {
	*fakesqlite.Driver
	db      *sqltx.DB
	pool    *sql.DB
	release chan struct{}
	begun   atomic.Pointer[context.Context] // of the last transaction
}

// newStandby opens a pool of n connections, without a limit if n is 0. awaited is whether the server
// reports a commit that waits for a standby.
func newStandby(n int, awaited bool) *standby {
	s := &standby{release: make(chan struct{})}
	s.Driver = &fakesqlite.Driver{
		Begun: func(ctx context.Context) { s.begun.Store(&ctx) },
		Value: func(query string) driver.Value {
			if strings.Contains(query, "SyncRep") {
				return awaited
			}
			return nil
		},
		Fail: func(what string, _ int) error {
			if what == "COMMIT" {
				<-s.release
			}
			return nil
		},
	}
	s.pool = sql.OpenDB(s.Driver)
	s.pool.SetMaxOpenConns(n)
	s.db = sqltx.New(sqltx.PostgreSQL, s.pool, &sqltx.Options{Idle: -1})
	return s
}

func (s *standby) commit(ctx context.Context) error {
	return s.db.InTx(ctx, func(context.Context) error { return nil })
}

// TestCommitIsAbandoned: a commit that waits for a standby is not canceled, and returns its connection.
func TestCommitIsAbandoned(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		awaited  bool
		canceled bool
	}{{"for a standby", true, false}, {"on a dead connection", false, true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStandby(2, tt.awaited)
				defer s.pool.Close()
				began := time.Now()
				if err := s.commit(t.Context()); !errors.Is(err, sqltx.ErrOutcomeUnknown) {
					t.Errorf("InTx: %v, want ErrOutcomeUnknown", err)
				}
				if took := time.Since(began); took != 30*time.Second {
					t.Errorf("InTx returned after %v, want 30s", took)
				}
				synctest.Wait()
				if got := (*s.begun.Load()).Err() != nil; got != tt.canceled {
					t.Errorf("the commit was canceled: %v, want %v", got, tt.canceled)
				}
				if got := s.pool.Stats().InUse; got != 1 {
					t.Errorf("%d connections in use, want 1", got)
				}
				close(s.release)
				synctest.Wait()
				if got := s.pool.Stats().InUse; got != 0 {
					t.Errorf("%d connections in use after the commit, want 0", got)
				}
				if err := s.commit(t.Context()); err != nil {
					t.Errorf("the next transaction: %v", err)
				}
			})
		})
	}
}

// TestWaitingCommits: commits that wait leave connections for reads, and further transactions fail
// within about a second.
func TestWaitingCommits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		connections int
		want        int // commits that wait
	}{
		{"one connection", 1, 1},
		{"two connections", 2, 1},
		{"8 connections", 8, 6},
		{"no limit", 0, 32},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newStandby(tt.connections, true)
				defer s.pool.Close()
				results := make(chan error, 100)
				for range tt.want {
					go func() { results <- s.commit(context.WithoutCancel(t.Context())) }()
				}
				synctest.Wait()
				time.Sleep(10 * time.Millisecond)
				began := time.Now()
				if tt.connections == 0 {
					time.Sleep(time.Second) // without a limit of the pool no transaction waits
				}
				if err := s.commit(t.Context()); !errors.Is(err, tx.ErrUnavailable) {
					t.Errorf("one more transaction: %v, want ErrUnavailable", err)
				}
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it failed after %v", took)
				}
				if got := s.pool.Stats().InUse; got != tt.want {
					t.Errorf("%d connections in use, want %d", got, tt.want)
				}
				if tt.connections != 1 {
					if _, err := s.db.Reader(t.Context()).ExecContext(t.Context(), "read"); err != nil {
						t.Errorf("a read: %v", err)
					}
				}
				close(s.release)
				for range tt.want {
					if err := <-results; err != nil {
						t.Errorf("a commit that waited: %v", err)
					}
				}
				if err := s.commit(t.Context()); err != nil {
					t.Errorf("a transaction afterwards: %v", err)
				}
			})
		})
	}
}

// TestWaitForTransaction: a transaction waits for the end of others, or of its context.
func TestWaitForTransaction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStandby(2, true)
		defer s.pool.Close()
		var got []string
		entered, leave := make(chan struct{}), make(chan struct{})
		go s.db.InTx(t.Context(), func(context.Context) error {
			close(entered)
			<-leave
			return nil
		})
		<-entered
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := s.commit(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("InTx: %v, want that of the context", err)
		}
		close(s.release)
		done := make(chan struct{})
		go func() {
			defer close(done)
			if err := s.commit(t.Context()); err == nil {
				got = append(got, "committed")
			}
		}()
		synctest.Wait()
		got = append(got, "first ends")
		close(leave)
		<-done
		if diff := cmp.Diff([]string{"first ends", "committed"}, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
}

// TestNoCommitTimeout: a negative timeout is no limit.
func TestNoCommitTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newStandby(2, true)
		defer s.pool.Close()
		db := sqltx.New(sqltx.PostgreSQL, s.pool, &sqltx.Options{Idle: -1, CommitTimeout: -1})
		time.AfterFunc(time.Hour, func() { close(s.release) })
		if err := db.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
			t.Errorf("InTx: %v", err)
		}
	})
}
