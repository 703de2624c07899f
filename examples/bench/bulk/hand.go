package main

// The peer: the fastest way to insert rows by hand that is usual, a statement with many rows per
// transaction. It writes the same columns as the shop, with modification time and revision.

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// place is a line of the file.
// Pointers distinguish a member that is null or absent from a zero, as the shop's type does.
type place struct {
	ID         string   `json:"id"`
	Name       string   `json:"name"`
	Country    string   `json:"country"`
	Kind       *string  `json:"kind"`
	Admin      *string  `json:"admin"`
	Population *int64   `json:"population"`
	Lat        *float64 `json:"lat"`
	Lon        *float64 `json:"lon"`
}

// columns are the columns of the shop's table.
var columns = []string{
	"id", "name", "country", "kind", "admin", "population", "lat", "lon", "modified_at", "rev",
}

// chunk is the number of rows per statement and transaction.
// It equals the chunk of the shop's import, so both commit equally often.
const chunk = 500

// insertByHand fills the table, which a first start of the shop has created. It returns the time
// from the first line to the last commit.
func (s shop) insertByHand(ctx context.Context, t *target, lines []byte) (time.Duration, int, error) {
	database, err := t.next(ctx)
	if err != nil {
		return 0, 0, err
	}
	// The shop creates the tables, so both sides fill the same schema with the same indexes.
	if err := s.open(ctx, database, func(string) error { return nil }); err != nil {
		return 0, 0, err
	}
	db, err := t.open(database)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close()
	began := time.Now()
	if err := insert(ctx, db, t.dialect, lines); err != nil {
		return 0, 0, err
	}
	// The rows are counted after the time is taken. compare checks that both sides stored as many.
	took := time.Since(began)
	var n int
	return took, n, db.QueryRowContext(ctx, "SELECT count(*) FROM places").Scan(&n)
}

// insert reads the lines and sends them in chunks. The rest of the lines, less than a chunk, has a
// statement of its own, because the prepared one has a fixed number of rows.
func insert(ctx context.Context, db *sql.DB, dialect sqltx.Dialect, lines []byte) error {
	whole, err := db.PrepareContext(ctx, statement(dialect, chunk))
	if err != nil {
		return err
	}
	defer whole.Close()
	args := make([]any, 0, chunk*len(columns))
	rows := bufio.NewScanner(bytes.NewReader(lines))
	for rows.Scan() {
		var p place
		if err := json.Unmarshal(rows.Bytes(), &p); err != nil {
			return err
		}
		args = append(args, p.ID, p.Name, p.Country, p.Kind, p.Admin, p.Population, p.Lat, p.Lon,
			now(dialect), string(resource.NewRev()))
		if len(args) == cap(args) {
			err := inTx(ctx, db, func(tx *sql.Tx) (sql.Result, error) {
				return tx.StmtContext(ctx, whole).ExecContext(ctx, args...)
			})
			if err != nil {
				return err
			}
			args = args[:0]
		}
	}
	if rows.Err() != nil || len(args) == 0 {
		return rows.Err()
	}
	last := statement(dialect, len(args)/len(columns))
	return inTx(ctx, db, func(tx *sql.Tx) (sql.Result, error) { return tx.ExecContext(ctx, last, args...) })
}

// inTx runs do in a transaction and rolls back if it fails.
func inTx(ctx context.Context, db *sql.DB, do func(*sql.Tx) (sql.Result, error)) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if _, err := do(tx); err != nil {
		tx.Rollback()
		return err
	}
	return tx.Commit()
}

// statement returns the SQL to insert this number of rows. Existing rows are replaced, as in an
// import.
func statement(dialect sqltx.Dialect, rows int) string {
	values := make([]string, rows)
	for row := range values {
		placeholders := make([]string, len(columns))
		for i := range placeholders {
			placeholders[i] = dialect.Placeholder(row*len(columns) + i + 1)
		}
		values[row] = "(" + strings.Join(placeholders, ", ") + ")"
	}
	sets := make([]string, 0, len(columns))
	for _, c := range columns[1:] {
		sets = append(sets, c+" = excluded."+c)
	}
	return "INSERT INTO places (" + strings.Join(columns, ", ") + ") VALUES " + strings.Join(values, ", ") +
		" ON CONFLICT (id) DO UPDATE SET " + strings.Join(sets, ", ")
}

// now returns the time as the column of the shop's table stores it.
func now(dialect sqltx.Dialect) any {
	if dialect == sqltx.PostgreSQL {
		return time.Now()
	}
	return time.Now().UTC().Format("2006-01-02T15:04:05.000000000Z")
}
