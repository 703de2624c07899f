package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
)

// retryBusy retries while another connection has locked the file, and does not retry after other
// errors.
func TestRetryBusy(t *testing.T) {
	t.Parallel()
	pool, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "shop.db")+"?_pragma=busy_timeout(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pool.Close() })
	conn := func() *sql.Conn {
		c, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	run := func(c *sql.Conn, text string) error {
		_, err := c.ExecContext(t.Context(), text)
		return err
	}
	ours, theirs := conn(), conn()
	begin := func() error { return run(ours, "BEGIN IMMEDIATE") }
	if err := run(theirs, "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := retryBusy(ctx, begin); !isBusy(err) {
		t.Errorf("after cancellation: %v, want the error of the busy file", err)
	}
	tries := 0
	err = retryBusy(t.Context(), func() error {
		if tries++; tries == 3 {
			if err := run(theirs, "ROLLBACK"); err != nil {
				t.Error(err)
			}
		}
		return begin()
	})
	if err != nil || tries != 3 {
		t.Errorf("%v after %d tries, want success when the file is unlocked", err, tries)
	}
	broken := errors.New("broken")
	if err := retryBusy(t.Context(), func() error { tries++; return broken }); err != broken || tries != 4 {
		t.Errorf("%v after %d tries, want the error of the first", err, tries-3)
	}
}
