package sqltx_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/sql/sqltx/internal/fakesqlite"
)

// unreachable is a connector of a database that does not exist.
type unreachable struct{}

var errUnreachable = errors.New("unreachable")

func (unreachable) Connect(context.Context) (driver.Conn, error) { return nil, errUnreachable }
func (unreachable) Driver() driver.Driver                        { return nil }

func TestSession(t *testing.T) {
	t.Parallel()
	errNone := errors.New("no tenant")
	tests := []struct {
		name, variable, value string
		err                   error
		none                  bool // an empty map
		want                  string
	}{
		{name: "variable", variable: "app.tenant", value: "ann", want: "unreachable"},
		{name: "three parts", variable: "app.v2.tenant_id", want: "unreachable"},
		{name: "role", variable: "role", value: "ann", want: "unreachable"},
		{name: "setting of the server", variable: "statement_timeout", want: `"statement_timeout" is not a variable`},
		{name: "no name", want: `"" is not a variable`},
		{name: "no prefix", variable: ".tenant", want: `".tenant" is not a variable`},
		{name: "digit", variable: "app.1", want: `"app.1" is not a variable`},
		{name: "injection", variable: "app.x', 'y", want: `is not a variable`},
		{name: "NUL", variable: "app.tenant", value: "a\x00", want: "value of app.tenant is not text"},
		{name: "not UTF-8", variable: "app.tenant", value: "\xff", want: "value of app.tenant is not text"},
		{name: "error", err: errNone, want: "no tenant"},
		{name: "no variables", none: true, want: "Options.Session returned no variables"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			pool := sql.OpenDB(unreachable{})
			defer pool.Close()
			db := sqltx.New(sqltx.PostgreSQL, pool, &sqltx.Options{
				Session: func(context.Context) (map[string]string, error) {
					if tt.none {
						return map[string]string{}, nil
					}
					return map[string]string{tt.variable: tt.value}, tt.err
				}})
			nothing := func(context.Context) error { t.Error("the transaction begins"); return nil }
			_, exec := db.Writer(t.Context()).ExecContext(t.Context(), "SELECT 1")
			_, query := db.Reader(t.Context()).QueryContext(t.Context(), "SELECT 1")
			for name, err := range map[string]error{"InTx": db.InTx(t.Context(), nothing), "Exec": exec, "Query": query} {
				if err == nil || !strings.Contains(err.Error(), tt.want) || tt.err != nil && !errors.Is(err, tt.err) {
					t.Errorf("%s: %v, want %q", name, err, tt.want)
				}
			}
			ctx := sqltx.WithoutSession(t.Context())
			if _, err := db.Writer(ctx).ExecContext(ctx, "SELECT 1"); !errors.Is(err, errUnreachable) {
				t.Errorf("WithoutSession: %v, want %v", err, errUnreachable)
			}
		})
	}
}

// TestSessionStatements records the statements outside transactions. Without variables there are no
// others. A connection that is broken at BEGIN is replaced.
func TestSessionStatements(t *testing.T) {
	t.Parallel()
	const set = "SELECT set_config($1::text, $2::text, true)"
	exec := func(ctx context.Context, db *sqltx.DB) error {
		_, err := db.Writer(ctx).ExecContext(ctx, "work")
		return err
	}
	query := func(ctx context.Context, db *sqltx.DB) error {
		rows, err := db.Reader(ctx).QueryContext(ctx, "work")
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		return errors.Join(rows.Err(), rows.Close())
	}
	inTx := func(ctx context.Context, db *sqltx.DB) error {
		return db.InTx(ctx, func(ctx context.Context) error { return exec(ctx, db) })
	}
	tests := []struct {
		name    string
		run     func(ctx context.Context, db *sqltx.DB) error
		without bool
		broken  int    // connections
		fails   string // default BEGIN
		with    error  // default driver.ErrBadConn
		want    []string
	}{
		{name: "transaction on a connection that is lost at BEGIN", run: inTx, broken: 1, with: io.ErrUnexpectedEOF,
			want: []string{"OPEN", "BEGIN", "BEGIN", set, "work", "COMMIT"}},
		{name: "transaction on a connection that the server ends", run: inTx, broken: 1,
			with: &fakesqlite.Postgres{State: "57P01"}, fails: set,
			want: []string{"OPEN", "BEGIN", set, "ROLLBACK", "BEGIN", set, "work", "COMMIT"}},
		{name: "Exec on a connection that is lost at BEGIN", run: exec, broken: 1, with: io.ErrUnexpectedEOF,
			want: []string{"OPEN", "BEGIN", "BEGIN", set, "work", "COMMIT"}},
		{name: "transaction after broken connections", run: inTx, broken: 3, want: []string{
			"OPEN", "BEGIN", "CLOSE", "OPEN", "BEGIN", "CLOSE", "OPEN", "BEGIN", "CLOSE", "OPEN", "BEGIN", set, "work", "COMMIT"}},
		{name: "Exec", run: exec, want: []string{"OPEN", "BEGIN", set, "work", "COMMIT"}},
		{name: "Query", run: query, want: []string{"OPEN", "BEGIN", set, "work", "COMMIT"}},
		{name: "Exec without variables", run: exec, without: true, want: []string{"OPEN", "work"}},
		{name: "Query without variables", run: query, without: true, want: []string{"OPEN", "work"}},
		{name: "Exec after broken connections", run: exec, broken: 3, want: []string{
			"OPEN", "BEGIN", "CLOSE", "OPEN", "BEGIN", "CLOSE", "OPEN", "BEGIN", "CLOSE", "OPEN", "BEGIN", set, "work", "COMMIT"}},
		{name: "Query after a broken connection", run: query, broken: 1,
			want: []string{"OPEN", "BEGIN", "CLOSE", "OPEN", "BEGIN", set, "work", "COMMIT"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			fails, with := "BEGIN", driver.ErrBadConn
			if tt.fails != "" {
				fails = tt.fails
			}
			if tt.with != nil {
				with = tt.with
			}
			db, fake := open(t, sqltx.PostgreSQL, failing(fails, with, tt.broken), &sqltx.Options{Idle: -1,
				Session: func(context.Context) (map[string]string, error) { return map[string]string{"app.tenant": "ann"}, nil }})
			ctx := t.Context()
			if tt.without {
				ctx = sqltx.WithoutSession(ctx)
			}
			if err := tt.run(ctx, db); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, fake.Log()); diff != "" {
				t.Errorf("the statements (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOptionsOfPostgreSQL(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		opts sqltx.Options
	}{
		{"Session", sqltx.Options{Session: func(context.Context) (map[string]string, error) { return nil, nil }}},
		{"Rows", sqltx.Options{Rows: rowReader{}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			defer func() {
				if p, _ := recover().(string); !strings.Contains(p, "Options."+tt.name+" requires PostgreSQL") {
					t.Errorf("it panics with %q", p)
				}
			}()
			sqltx.New(sqltx.SQLite, sql.OpenDB(unreachable{}), &tt.opts)
		})
	}
}

// rowReader supports no connection.
type rowReader struct{}

func (rowReader) ReadRows(context.Context, any, string, []any, func(sqltx.RawRows) error) error {
	return errors.ErrUnsupported
}
