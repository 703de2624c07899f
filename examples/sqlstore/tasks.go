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
	ddl = "CREATE TABLE IF NOT EXISTS tasks (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT NOT NULL, done INTEGER NOT NULL, " +
		"priority INTEGER, rev TEXT NOT NULL); CREATE INDEX IF NOT EXISTS tasks_priority ON tasks (priority, id)"
	columns = "id, title, done, priority, rev"
)

// Tasks is the table. sqltx.DB hands out the transaction of the context, where there is one.
type Tasks struct {
	db    *sqltx.DB
	query *sqlquery.Translator
}

// NewTasks makes the table if it is not there.
func NewTasks(db *sqltx.DB) (*Tasks, error) {
	_, err := db.Writer(context.Background()).ExecContext(context.Background(), ddl)
	return &Tasks{db: db, query: sqlquery.New(sqlquery.SQLite, map[string]sqlquery.Column{ // who may ask for what
		"id":       {Kind: sqlquery.Integer, NotNull: true},
		"title":    {NotNull: true},
		"done":     {Kind: sqlquery.Bool, NotNull: true},
		"priority": {Kind: sqlquery.Integer},
	})}, err
}

// Transactions lets tasks be written together with others of the same database.
func (s *Tasks) Transactions() tx.Runner { return s.db }

// Get returns one task.
func (s *Tasks) Get(ctx context.Context, id string) (resource.Item[Task], error) {
	return one(s.rows(ctx, s.db.Reader(ctx), "SELECT "+columns+" FROM tasks WHERE id = $1", id))
}

// List returns those that q asks for. Nothing of q becomes text of the statement.
func (s *Tasks) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[Task], error] {
	clauses, err := s.query.Translate(q)
	if err != nil {
		return func(yield func(resource.Item[Task], error) bool) { yield(resource.Item[Task]{}, err) }
	}
	return s.rows(ctx, s.db.Reader(ctx), "SELECT "+columns+" FROM tasks"+clauses.String(), clauses.Args...)
}

// Create lets the database choose the id, which AUTOINCREMENT never chooses twice.
func (s *Tasks) Create(ctx context.Context, t Task) (resource.Item[Task], error) {
	return one(s.rows(ctx, s.db.Writer(ctx), "INSERT INTO tasks (title, done, priority, rev) VALUES ($1, $2, $3, $4) RETURNING "+
		columns, t.Title, t.Done, t.Priority, string(resource.NewRev())))
}

// Replace writes only if the revision is still the one that was read: one statement, so nothing comes in between.
func (s *Tasks) Replace(ctx context.Context, id string, expect resource.Rev, t Task) (resource.Item[Task], error) {
	it, err := one(s.rows(ctx, s.db.Writer(ctx), "UPDATE tasks SET title = $1, done = $2, priority = $3, rev = $4 "+
		"WHERE id = $5 AND rev = $6 RETURNING "+columns, t.Title, t.Done, t.Priority, string(resource.NewRev()), id, string(expect)))
	return it, s.whyNot(ctx, id, err)
}

// Delete does the same.
func (s *Tasks) Delete(ctx context.Context, id string, expect resource.Rev) error {
	_, err := one(s.rows(ctx, s.db.Writer(ctx), "DELETE FROM tasks WHERE id = $1 AND rev = $2 RETURNING "+columns, id, string(expect)))
	return s.whyNot(ctx, id, err)
}

// whyNot tells a task that is not there from one that somebody else has written.
func (s *Tasks) whyNot(ctx context.Context, id string, err error) error {
	if !errors.Is(err, resource.ErrNotFound) {
		return err
	}
	if _, err := one(s.rows(ctx, s.db.Writer(ctx), "SELECT "+columns+" FROM tasks WHERE id = $1", id)); err != nil {
		return err
	}
	return resource.ErrStale
}

// rows runs a statement that gives tasks, one by one.
func (s *Tasks) rows(ctx context.Context, on sqltx.Conn, statement string, args ...any) iter.Seq2[resource.Item[Task], error] {
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

// one reads the only row to its end, because a write is not committed before.
func one(rows iter.Seq2[resource.Item[Task], error]) (only resource.Item[Task], err error) {
	err = resource.ErrNotFound
	for only, err = range rows {
	}
	return only, err
}
