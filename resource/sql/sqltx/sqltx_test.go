package sqltx_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
	"github.com/stoa-go/stoa/resource/tx"
)

// The module sqltest tests behavior that depends on the engine. These tests cover errors that
// engines do not produce on demand.

var errRefused = errors.New("refused by the test")

var (
	full       = &fakesqlite.ByCode{Number: 13, Text: "database or disk is full (13)"}
	readOnly   = &fakesqlite.ByExtendedCode{Number: 8, Text: "sqlite3: attempt to write a readonly database"}
	busy       = &fakesqlite.ByCode{Number: 5, Text: "database is locked (5) (SQLITE_BUSY)"}
	diskFault  = &fakesqlite.ByExtendedCode{Number: 4<<8 | 10, Text: "sqlite3: disk I/O error"}
	serialized = &fakesqlite.Postgres{State: "40001"}
)

// open returns a DB over a fake driver.
func open(t *testing.T, d sqltx.Dialect, fail func(what string, n int) error,
	opts *sqltx.Options) (*sqltx.DB, *fakesqlite.Driver) {
	t.Helper()
	fake := &fakesqlite.Driver{Fail: fail}
	pool := sql.OpenDB(fake)
	t.Cleanup(func() { pool.Close() })
	return sqltx.New(d, pool, opts), fake
}

// failing returns a function that fails an operation the given number of times.
func failing(what string, err error, times int) func(string, int) error {
	return func(did string, n int) error {
		if did == what && n <= times {
			return err
		}
		return nil
	}
}

func TestInTxWithFaults(t *testing.T) {
	t.Parallel()
	forever := 1 << 30
	plain := errors.New("connection reset")
	tests := []struct {
		name    string
		dialect sqltx.Dialect
		fail    func(string, int) error
		err     error // nil: it is committed
		log     []string
	}{
		{"nothing fails", sqltx.SQLite, nil, nil, []string{"OPEN", "BEGIN IMMEDIATE", "w", "COMMIT"}},
		{"nothing fails", sqltx.PostgreSQL, nil, nil, []string{"OPEN", "BEGIN", "w", "COMMIT"}},
		{"busy to begin", sqltx.SQLite, failing("BEGIN IMMEDIATE", busy, 2), nil,
			[]string{"OPEN", "BEGIN IMMEDIATE", "BEGIN IMMEDIATE", "BEGIN IMMEDIATE", "w", "COMMIT"}},
		{"busy to commit", sqltx.SQLite, failing("COMMIT", busy, 1), nil,
			[]string{"OPEN", "BEGIN IMMEDIATE", "w", "COMMIT", "ROLLBACK", "BEGIN IMMEDIATE", "w", "COMMIT"}},
		{"busy for ever", sqltx.SQLite, failing("BEGIN IMMEDIATE", busy, forever), busy,
			append([]string{"OPEN"}, slices.Repeat([]string{"BEGIN IMMEDIATE"}, 4)...)},
		{"a conflict in a statement", sqltx.PostgreSQL, failing("w", serialized, 1), nil,
			[]string{"OPEN", "BEGIN", "w", "ROLLBACK", "BEGIN", "w", "COMMIT"}},
		{"a conflict at the commit", sqltx.PostgreSQL, failing("COMMIT", serialized, 1), nil,
			[]string{"OPEN", "BEGIN", "w", "COMMIT", "BEGIN", "w", "COMMIT"}},
		{"another error in a statement", sqltx.PostgreSQL, failing("w", plain, 1), plain,
			[]string{"OPEN", "BEGIN", "w", "ROLLBACK"}},
		{"no connection", sqltx.SQLite, failing("OPEN", plain, 1), plain, []string{"OPEN"}},
		{"cannot begin", sqltx.PostgreSQL, failing("BEGIN", plain, 1), plain, []string{"OPEN", "BEGIN"}},
		{"cannot roll back", sqltx.SQLite, func(what string, n int) error {
			return errors.Join(failing("w", errRefused, 1)(what, n), failing("ROLLBACK", plain, 1)(what, n))
		}, errRefused, []string{"OPEN", "BEGIN IMMEDIATE", "w", "ROLLBACK", "CLOSE"}},
		{
			"the disk fails at the commit",
			sqltx.SQLite,
			failing("COMMIT", diskFault, 1),
			sqltx.ErrOutcomeUnknown,
			[]string{"OPEN", "BEGIN IMMEDIATE", "w", "COMMIT", "ROLLBACK"},
		},
		{"full at the commit", sqltx.SQLite, failing("COMMIT", full, 1), tx.ErrUnavailable,
			[]string{"OPEN", "BEGIN IMMEDIATE", "w", "COMMIT", "ROLLBACK"}},
		{"full at the commit", sqltx.PostgreSQL, failing("COMMIT", &fakesqlite.Postgres{State: "53100"}, 1),
			tx.ErrUnavailable, []string{"OPEN", "BEGIN", "w", "COMMIT"}},
		{"read-only", sqltx.SQLite, failing("BEGIN IMMEDIATE", readOnly, 1), tx.ErrUnavailable,
			[]string{"OPEN", "BEGIN IMMEDIATE"}},
		{
			"the connection is lost at the commit",
			sqltx.PostgreSQL,
			failing("COMMIT", plain, 1),
			sqltx.ErrOutcomeUnknown,
			[]string{"OPEN", "BEGIN", "w", "COMMIT"},
		},
		{
			"the server ends at the commit",
			sqltx.PostgreSQL,
			failing("COMMIT", &fakesqlite.Postgres{State: "57P01"}, 1),
			sqltx.ErrOutcomeUnknown,
			[]string{"OPEN", "BEGIN", "w", "COMMIT"},
		},
		{"a conflict and the connection are lost", sqltx.PostgreSQL, func(what string, n int) error {
			return failing("COMMIT", errors.Join(&fakesqlite.Postgres{State: "08006"}, serialized), 1)(what,
				n)
		}, sqltx.ErrOutcomeUnknown, []string{"OPEN", "BEGIN", "w", "COMMIT"}},
	}
	for _, tt := range tests {
		t.Run(string(tt.dialect)+", "+tt.name, func(t *testing.T) {
			t.Parallel()
			db, fake := open(t, tt.dialect, tt.fail, &sqltx.Options{Attempts: 4, Idle: -1})
			told, open := 0, 0
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				tx.AfterCommit(ctx, func() { told++ })
				tx.AfterRollback(ctx, func() { open-- })
				open++
				_, err := db.Writer(ctx).ExecContext(ctx, "w")
				return err
			})
			if !errors.Is(err, tt.err) {
				t.Errorf("the error is %v, want %v", err, tt.err)
			}
			if want := map[bool]int{true: 1}[tt.err == nil]; told != want {
				t.Errorf("%d commits were announced, want %d", told, want)
			}
			stands := map[bool]int{true: 1}[tt.err == nil || errors.Is(tt.err, sqltx.ErrOutcomeUnknown)]
			if open != stands {
				t.Errorf("%d runs were not taken back, want %d", open, stands)
			}
			if diff := cmp.Diff(tt.log, fake.Log()); diff != "" {
				t.Errorf("what was done (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNestedWithFaults: an error of a savepoint has the meaning of that of a commit.
func TestNestedWithFaults(t *testing.T) {
	t.Parallel()
	lost := &fakesqlite.Postgres{State: "57P01"}
	for _, statement := range []string{"SAVEPOINT stoa_nested", "RELEASE SAVEPOINT stoa_nested"} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			db, _ := open(t, sqltx.PostgreSQL, failing(statement, lost, 1), &sqltx.Options{Attempts: 1, Idle: -1})
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				return db.Nested(ctx, func(context.Context) error { return nil })
			})
			if !errors.Is(err, tx.ErrUnavailable) || !errors.Is(err, lost) {
				t.Errorf("the error is %v, want %v", err, tx.ErrUnavailable)
			}
		})
	}
}

// TestIgnoredErrors: a function that ignores errors of PostgreSQL runs again with savepoints. A conflict is not
// ignored.
func TestIgnoredErrors(t *testing.T) {
	t.Parallel()
	taken, aborted := &fakesqlite.Postgres{State: "23505"}, &fakesqlite.Postgres{State: "25P02"}
	const point, release = "SAVEPOINT stoa_statement", "RELEASE SAVEPOINT stoa_statement"
	first := []string{"OPEN", "BEGIN", "w", "x", "ROLLBACK"}
	tests := []struct {
		name string
		fail map[string][]error // by the number of the call
		err  error
		log  []string
	}{
		{"a value is taken", map[string][]error{"w": {taken}, "x": {aborted}}, nil,
			append(slices.Clone(first), "BEGIN", point, "w", release, point, "x", release, "COMMIT")},
		{"a value is taken again", map[string][]error{"w": {taken, taken}, "x": {aborted}, release: {aborted}}, nil,
			append(slices.Clone(first), "BEGIN", point, "w", release, "ROLLBACK TO SAVEPOINT stoa_statement", release,
				point, "x", release, "COMMIT")},
		{"a conflict", map[string][]error{"w": {serialized}, "x": {aborted}}, nil,
			append(slices.Clone(first), "BEGIN", "w", "x", "COMMIT")},
		{"a conflict later", map[string][]error{"w": {taken, serialized}, "x": {aborted, aborted}}, nil,
			append(slices.Clone(first), "BEGIN", point, "w", "x", "ROLLBACK",
				"BEGIN", point, "w", release, point, "x", release, "COMMIT")},
		{"the savepoint fails", map[string][]error{"w": {taken}, "x": {aborted}, point: {errRefused, errRefused}},
			errRefused, append(slices.Clone(first), "BEGIN", point, point, "ROLLBACK")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, fake := open(t, sqltx.PostgreSQL, func(did string, n int) error {
				if n > len(tt.fail[did]) {
					return nil
				}
				return tt.fail[did][n-1]
			}, &sqltx.Options{Idle: -1})
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				db.Writer(ctx).ExecContext(ctx, "w")
				_, err := db.Writer(ctx).ExecContext(ctx, "x")
				return err
			})
			if !errors.Is(err, tt.err) {
				t.Errorf("the error is %v, want %v", err, tt.err)
			}
			if diff := cmp.Diff(tt.log, fake.Log()); diff != "" {
				t.Errorf("what was done (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnavailable distinguishes temporary from permanent errors.
func TestUnavailable(t *testing.T) {
	t.Parallel()
	forever := 1 << 30
	broken := &net.OpError{Op: "write", Net: "unix", Err: syscall.EPIPE}
	tests := []struct {
		name    string
		dialect sqltx.Dialect
		fail    func(string, int) error
		want    bool
	}{
		{"the connection is lost at the begin", sqltx.PostgreSQL, failing("BEGIN", broken, forever), true},
		{
			"the server is ending",
			sqltx.PostgreSQL,
			failing("BEGIN", &fakesqlite.Postgres{State: "57P03"}, forever),
			true,
		},
		{
			"the connection was lost before",
			sqltx.PostgreSQL,
			failing("BEGIN", errors.New("conn closed"), forever),
			true,
		},
		{"there is no server", sqltx.PostgreSQL, failing("OPEN", broken, forever), true},
		{"there is no file", sqltx.SQLite, failing("OPEN", &fakesqlite.ByCode{Number: 14}, forever), true},
		{"conflicts to the end", sqltx.PostgreSQL, failing("COMMIT", serialized, forever), true},
		{"busy to the end", sqltx.SQLite, failing("BEGIN IMMEDIATE", busy, forever), true},
		{"another error", sqltx.PostgreSQL, failing("BEGIN", errRefused, forever), false},
		{"outcome unknown", sqltx.PostgreSQL, failing("COMMIT", broken, 1), false},
		{"a statement", sqltx.PostgreSQL, failing("w", errRefused, 1), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			db, _ := open(t, tt.dialect, tt.fail, &sqltx.Options{Attempts: 2})
			err := db.InTx(t.Context(), func(ctx context.Context) error {
				_, err := db.Writer(ctx).ExecContext(ctx, "w")
				return err
			})
			if err == nil || errors.Is(err, tx.ErrUnavailable) != tt.want {
				t.Errorf("the error is %v; that it may pass should be %v", err, tt.want)
			}
		})
	}
}

// TestBusyForLong: after SQLite has waited for its busy_timeout, the transaction is not repeated.
func TestBusyForLong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		timeout time.Duration // PRAGMA busy_timeout
		begins  int
	}{{10 * time.Second, 1}, {time.Millisecond, 20}} {
		synctest.Test(t, func(t *testing.T) {
			begins := 0
			db, _ := open(t, sqltx.SQLite, func(what string, _ int) error {
				if what != "BEGIN IMMEDIATE" {
					return nil
				}
				begins++
				time.Sleep(tt.timeout)
				return busy
			}, nil)
			err := db.InTx(t.Context(), func(context.Context) error { return nil })
			if !errors.Is(err, tx.ErrUnavailable) || !errors.Is(err, busy) || begins != tt.begins {
				t.Errorf("after %d begins of %v each: %v, want %d", begins, tt.timeout, err, tt.begins)
			}
		})
	}
}

// TestKnownRollback: commits that fail with a known outcome.
func TestKnownRollback(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		errors.New("commit unexpectedly resulted in rollback"),
		errors.New("pq: Could not complete operation in a failed transaction"),
		&fakesqlite.Postgres{State: "23503"},
	} {
		db, _ := open(t, sqltx.PostgreSQL, failing("COMMIT", err, 2), nil)
		got := db.InTx(t.Context(), func(context.Context) error { return nil })
		if !errors.Is(got, err) || errors.Is(got, sqltx.ErrOutcomeUnknown) {
			t.Errorf("the error is %v, want %v", got, err)
		}
	}
}

// TestWaitingEnds: the context ends while a transaction waits for its next attempt.
func TestWaitingEnds(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	db, _ := open(t, sqltx.SQLite, func(what string, n int) error {
		if n == 3 {
			cancel()
		}
		return failing("BEGIN IMMEDIATE", busy, 1<<30)(what, n)
	}, &sqltx.Options{Attempts: 1 << 30})
	err := db.InTx(ctx, func(context.Context) error { return nil })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v, want that of the context", err)
	}
}

// TestEndsWithTheContext: the context ends while the function runs and ignores it.
func TestEndsWithTheContext(t *testing.T) {
	t.Parallel()
	for _, d := range []sqltx.Dialect{sqltx.SQLite, sqltx.PostgreSQL} {
		ctx, cancel := context.WithCancel(t.Context())
		db, fake := open(t, d, nil, nil)
		err := db.InTx(ctx, func(context.Context) error {
			cancel()
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: the error is %v, want that of the context", d, err)
		}
		if slices.Contains(fake.Log(), "COMMIT") {
			t.Errorf("%s: it was committed: %q", d, fake.Log())
		}
	}
}

func TestNewPanics(t *testing.T) {
	t.Parallel()
	pool := sql.OpenDB(&fakesqlite.Driver{})
	defer pool.Close()
	tests := []struct {
		name string
		do   func()
		want string
	}{
		{"another dialect", func() { sqltx.New("mysql", pool, nil) }, `not "mysql"`},
		{"no pool", func() { sqltx.New(sqltx.SQLite, nil, nil) }, "needs a pool"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if p := fmt.Sprint(recover()); !strings.Contains(p, tt.want) {
					t.Errorf("it panicked with %s, want text with %s", p, tt.want)
				}
			}()
			tt.do()
		})
	}
}

func TestDialect(t *testing.T) {
	t.Parallel()
	tests := []struct {
		dialect sqltx.Dialect
		want    []string
	}{
		{sqltx.SQLite, []string{"?1", "?12", "`order`", "`a``\"b`"}},
		{sqltx.PostgreSQL, []string{"$1", "$12", `"order"`, "\"a`\"\"b\""}},
	}
	for _, tt := range tests {
		d := sqltx.New(tt.dialect, sql.OpenDB(&fakesqlite.Driver{}), nil).Dialect()
		got := []string{d.Placeholder(1), d.Placeholder(12), d.Quote("order"), d.Quote("a`\"b")}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.dialect, diff)
		}
	}
}

func TestFault(t *testing.T) {
	t.Parallel()
	unique := "UNIQUE constraint failed: users.tenant, users.email"
	both := sqltx.Fault{Kind: sqltx.Unique, Columns: []string{"tenant", "email"}}
	named := sqltx.Fault{Kind: sqltx.Unique, Constraint: "users_email", Columns: []string{"tenant", `e"mail`}}
	detail := `Key (tenant, "e""mail")=(1, )=() already exists.`
	tests := []struct {
		name    string
		dialect sqltx.Dialect
		err     error
		want    sqltx.Fault
	}{
		{"nothing", sqltx.SQLite, nil, sqltx.Fault{}},
		{"anything", sqltx.SQLite, errRefused, sqltx.Fault{}},
		{"the text alone", sqltx.SQLite, errors.New(unique), sqltx.Fault{}},
		{"a code of another package", sqltx.SQLite, foreignCode(5), sqltx.Fault{}},
		{
			"by method",
			sqltx.SQLite,
			&fakesqlite.ByCode{Number: 2067, Text: "constraint failed: " + unique + " (2067)"},
			both,
		},
		{
			"by extended method",
			sqltx.SQLite,
			&fakesqlite.ByExtendedCode{Number: 2067, Text: "sqlite3: constraint failed: " + unique},
			both,
		},
		{"by field", sqltx.SQLite, fakesqlite.ByField{Code: 19, ExtendedCode: 2067, Text: unique}, both},
		{
			"wrapped twice",
			sqltx.SQLite,
			fmt.Errorf("x: %w",
				errors.Join(errRefused, fakesqlite.ByField{ExtendedCode: 2067, Text: unique})),
			both,
		},
		{"locked", sqltx.SQLite, &fakesqlite.ByCode{Number: 6 | 1<<8}, sqltx.Fault{Kind: sqltx.Conflict}},
		{"full", sqltx.SQLite, &fakesqlite.ByCode{Number: 13}, sqltx.Fault{Kind: sqltx.Unavailable}},
		{
			"a disk error",
			sqltx.SQLite,
			&fakesqlite.ByCode{Number: 10 | 4<<8},
			sqltx.Fault{Kind: sqltx.Unavailable, Lost: true},
		},
		{"too big", sqltx.SQLite, &fakesqlite.ByCode{Number: 18}, sqltx.Fault{Kind: sqltx.Value}},
		{"a mistake", sqltx.SQLite, &fakesqlite.ByCode{Number: 1}, sqltx.Fault{}},
		{"an error of the other engine", sqltx.SQLite, serialized, sqltx.Fault{}},
		{
			"pgx",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "23505", ConstraintName: "users_email", Detail: detail},
			named,
		},
		{
			"lib/pq",
			sqltx.PostgreSQL,
			&fakesqlite.PQ{Code: "23505", Constraint: "users_email", Detail: detail},
			named,
		},
		{"a column", sqltx.PostgreSQL, &fakesqlite.PQ{Code: "23502", Column: "email"},
			sqltx.Fault{Kind: sqltx.NotNull, Columns: []string{"email"}}},
		{
			"deadlock",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "40P01"},
			sqltx.Fault{Kind: sqltx.Conflict},
		},
		{
			"too many connections",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "53300"},
			sqltx.Fault{Kind: sqltx.Unavailable},
		},
		{
			"starting up",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "57P03"},
			sqltx.Fault{Kind: sqltx.Unavailable},
		},
		{"statement_timeout", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "57014"},
			sqltx.Fault{Kind: sqltx.Unavailable}},
		{"idle_session_timeout", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "57P05"},
			sqltx.Fault{Kind: sqltx.Unavailable}},
		{"transaction_timeout", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "25P04"},
			sqltx.Fault{Kind: sqltx.Unavailable}},
		{"no privilege", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "42501", Routine: "aclcheck_error"},
			sqltx.Fault{Kind: sqltx.Denied}},
		{"a data exception", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "22000"}, sqltx.Fault{Kind: sqltx.Value}},
		{
			"a connection that was lost before",
			sqltx.PostgreSQL,
			fmt.Errorf("x: %w", errors.New("conn closed")),
			sqltx.Fault{Kind: sqltx.Unavailable},
		},
		{
			"the server ends",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "57P01"},
			sqltx.Fault{Kind: sqltx.Unavailable, Lost: true},
		},
		{"a transaction that stood still", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "25P03"},
			sqltx.Fault{Kind: sqltx.Unavailable}},
		{
			"a standby",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "25006"},
			sqltx.Fault{Kind: sqltx.Unavailable},
		},
		{
			"too long for a column",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "22001"},
			sqltx.Fault{Kind: sqltx.Value},
		},
		{"no time", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "22007"}, sqltx.Fault{Kind: sqltx.Value}},
		{"a large offset", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "22009"}, sqltx.Fault{Kind: sqltx.Value}},
		{"a long duration", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "22015"}, sqltx.Fault{Kind: sqltx.Value}},
		{"an unknown label", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "22P02", Routine: "enum_in"},
			sqltx.Fault{Kind: sqltx.Value}},
		{"no address, lib/pq", sqltx.PostgreSQL, &fakesqlite.PQ{Code: "22P02", Routine: "network_in"},
			sqltx.Fault{Kind: sqltx.Value}},
		{"no integer", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "22P02", Routine: "pg_strtoint32_safe"},
			sqltx.Fault{Kind: sqltx.Value}},
		{
			"a changed type, pgx",
			sqltx.PostgreSQL,
			&fakesqlite.Postgres{State: "0A000", Routine: "RevalidateCachedQuery"},
			sqltx.Fault{Kind: sqltx.Conflict},
		},
		{
			"a changed type, lib/pq",
			sqltx.PostgreSQL,
			&fakesqlite.PQ{Code: "0A000", Routine: "RevalidateCachedQuery"},
			sqltx.Fault{Kind: sqltx.Conflict},
		},
		{"a missing feature", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "0A000"}, sqltx.Fault{}},
		{"a division by zero", sqltx.PostgreSQL, &fakesqlite.Postgres{State: "22012"}, sqltx.Fault{}},
		{
			"no answer",
			sqltx.PostgreSQL,
			&net.OpError{Op: "read", Err: syscall.ECONNRESET},
			sqltx.Fault{Kind: sqltx.Unavailable, Lost: true},
		},
		{
			"no server",
			sqltx.PostgreSQL,
			&net.OpError{Op: "dial", Err: syscall.ENOENT},
			sqltx.Fault{Kind: sqltx.Unavailable},
		},
		{
			"a connection that was bad before",
			sqltx.PostgreSQL,
			driver.ErrBadConn,
			sqltx.Fault{Kind: sqltx.Unavailable},
		},
		{"no code", sqltx.PostgreSQL, &fakesqlite.Postgres{State: ""}, sqltx.Fault{}},
		{"a deadline", sqltx.PostgreSQL, context.DeadlineExceeded, sqltx.Fault{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.dialect.Fault(tt.err)); diff != "" {
				t.Errorf("Fault (-want +got):\n%s", diff)
			}
		})
	}
}

// foreignCode has a method like the errors of drivers, in another package.
type foreignCode int

func (c foreignCode) Error() string { return "a code" }
func (c foreignCode) Code() int     { return int(c) }
