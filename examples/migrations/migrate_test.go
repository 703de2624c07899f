package main

import (
	"path/filepath"
	"testing"
)

// Each migration runs once, also if the next call asks for more of them.
func TestMigrate(t *testing.T) {
	t.Parallel()
	db, err := open(filepath.Join(t.TempDir(), "customers.db"))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 1, 1, 3, 3, 1} {
		if err := migrate(t.Context(), db, n); err != nil {
			t.Fatalf("the first %d: %v", n, err)
		}
	}
	if _, err := db.Writer(t.Context()).ExecContext(t.Context(), "SELECT email FROM customers"); err != nil {
		t.Error(err)
	}
	if err := migrate(t.Context(), db, 9); err == nil {
		t.Error("a number that is too large is no error")
	}
}
