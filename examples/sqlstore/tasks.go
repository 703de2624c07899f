package main

import (
	"context"
	"errors"
	"iter"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

const (
	ddl = "CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, " +
		"done INTEGER NOT NULL, priority INTEGER, rev TEXT NOT NULL); " +
		"CREATE INDEX IF NOT EXISTS tasks_priority ON tasks (priority, id)"
	columns = "id, title, done, priority, rev"
)

// Tasks is a store over a SQL table. If the context has a transaction, sqltx.DB uses it.
type Tasks struct {
	db    *sqltx.DB
	query *sqlquery.Translator
}

// NewTasks creates the table if necessary. Clients filter and sort by the four columns only.
func NewTasks(db *sqltx.DB) (*Tasks, error) {
	_, err := db.Writer(context.Background()).ExecContext(context.Background(), ddl)
	return &Tasks{db: db, query: sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{
		"id": {Kind: sqlquery.Integer, NotNull: true}, "title": {NotNull: true},
		"done": {Kind: sqlquery.Bool, NotNull: true}, "priority": {Kind: sqlquery.Integer},
	})}, err
}

// Transactions lets one transaction write tasks and other data of the same database.
func (s *Tasks) Transactions() tx.Runner { return s.db }

// Get returns a task.
func (s *Tasks) Get(ctx context.Context, id string) (resource.Item[Task], error) {
	return one(s.rows(ctx, s.db.Reader(ctx), "SELECT "+columns+" FROM tasks WHERE id = $1", id))
}

// List returns the tasks that q selects. All values of q are passed as arguments of the statement.
func (s *Tasks) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[Task], error] {
	clauses, err := s.query.Translate(q)
	if err != nil {
		return func(yield func(resource.Item[Task], error) bool) { yield(resource.Item[Task]{}, err) }
	}
	return s.rows(ctx, s.db.Reader(ctx), "SELECT "+columns+" FROM tasks"+clauses.String(), clauses.Args...)
}

// Create stores a task with the next id. AUTOINCREMENT never reuses an id.
func (s *Tasks) Create(ctx context.Context, t Task) (resource.Item[Task], error) {
	return one(s.rows(ctx, s.db.Writer(ctx),
		"INSERT INTO tasks (title, done, priority, rev) VALUES ($1, $2, $3, $4) RETURNING "+columns,
		t.Title, t.Done, t.Priority, string(resource.NewRev())))
}

// Replace writes the task if its revision is still expect. One statement is atomic.
func (s *Tasks) Replace(ctx context.Context, id string, expect resource.Rev,
	t Task) (resource.Item[Task], error) {
	it, err := one(s.rows(ctx, s.db.Writer(ctx),
		"UPDATE tasks SET title = $1, done = $2, priority = $3, rev = $4 "+
			"WHERE id = $5 AND rev = $6 RETURNING "+columns,
		t.Title, t.Done, t.Priority, string(resource.NewRev()), id, string(expect)))
	return it, s.whyNot(ctx, id, err)
}

// Delete deletes the task if its revision is still expect.
func (s *Tasks) Delete(ctx context.Context, id string, expect resource.Rev) error {
	_, err := one(s.rows(ctx, s.db.Writer(ctx),
		"DELETE FROM tasks WHERE id = $1 AND rev = $2 RETURNING "+columns, id, string(expect)))
	return s.whyNot(ctx, id, err)
}

// whyNot returns [resource.ErrStale] in place of ErrNotFound if the task has another revision.
func (s *Tasks) whyNot(ctx context.Context, id string, err error) error {
	if !errors.Is(err, resource.ErrNotFound) {
		return err
	}
	if _, err := one(s.rows(ctx, s.db.Writer(ctx),
		"SELECT "+columns+" FROM tasks WHERE id = $1", id)); err != nil {
		return err
	}
	return resource.ErrStale
}

// rows runs a statement and returns the tasks of its rows.
func (s *Tasks) rows(ctx context.Context, on sqltx.Conn, statement string,
	args ...any) iter.Seq2[resource.Item[Task], error] {
	return func(yield func(resource.Item[Task], error) bool) {
		rows, err := on.QueryContext(ctx, statement, args...)
		if err != nil {
			yield(resource.Item[Task]{}, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			var it resource.Item[Task]
			err := rows.Scan(&it.Value.ID, &it.Value.Title, &it.Value.Done, &it.Value.Priority, &it.Rev)
			if !yield(it, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(resource.Item[Task]{}, err)
		}
	}
}

// one returns the only row. It reads to the end, because a write commits only then.
func one(rows iter.Seq2[resource.Item[Task], error]) (only resource.Item[Task], err error) {
	err = resource.ErrNotFound
	for only, err = range rows {
	}
	return only, err
}
