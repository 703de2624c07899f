package sqltxtest

import (
	"context"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

// exec runs statements that must not fail.
func exec(t testing.TB, ctx context.Context, db *sqltx.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Writer(ctx).ExecContext(ctx, s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}

// column reads the first column of all rows.
func column[T any](ctx context.Context, c sqltx.Conn, statement string, args ...any) (list []T, err error) {
	rows, err := c.QueryContext(ctx, statement, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}
