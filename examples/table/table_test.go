package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/examples/internal/recipe"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
)

func TestMain(m *testing.M) { sqltest.Main(m) }

func TestReadme(t *testing.T) {
	t.Parallel()
	s := recipe.New(t)
	first, _, _ := strings.Cut(recipe.Text(t), "With PostgreSQL,")
	s.Start("./table")
	s.Run(first)
}

// The commands have the same output with PostgreSQL.
func TestPostgreSQL(t *testing.T) {
	t.Parallel()
	s := recipe.New(t)
	first, _, _ := strings.Cut(recipe.Text(t), "With PostgreSQL,")
	s.Start("./table", "-dsn", sqltest.PostgreSQL(t), "-legacy")
	s.Run(first)
}

// A table that does not fit is an error at start, which the README shows.
func TestCheck(t *testing.T) {
	t.Parallel()
	db, err := open(filepath.Join(t.TempDir(), "legacy.db"), true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Writer(t.Context()).ExecContext(t.Context(),
		"ALTER TABLE tbl_customer RENAME COLUMN full_name TO name"); err != nil {
		t.Fatal(err)
	}
	_, err = newHandler(t.Context(), db)
	if err == nil {
		t.Fatal("the program starts without the column full_name")
	}
	text := recipe.Text(t)
	for line := range strings.Lines(err.Error()) {
		if !strings.Contains(text, strings.TrimSpace(line)) {
			t.Errorf("README.md does not show the line %q", line)
		}
	}
}
