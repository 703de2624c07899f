package sqltxtest

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
	"github.com/stoa-go/stoa/resource/tx"
)

// memo is what the store below keeps.
type memo struct {
	ID    string    `json:"id" maxLength:"64"`
	Title string    `json:"title" maxLength:"4000"`
	Note  *string   `json:"note"`
	Stars int64     `json:"stars"`
	Score float64   `json:"score"`
	Done  bool      `json:"done"`
	Made  time.Time `json:"made"`
}

var memoColumns = map[string]sqlquery.Column{
	"id":    {NotNull: true},
	"title": {NotNull: true},
	"note":  {},
	"stars": {Kind: sqlquery.Integer, NotNull: true},
	"score": {Kind: sqlquery.Number, NotNull: true},
	"done":  {Kind: sqlquery.Bool, NotNull: true},
	"made":  {Kind: sqlquery.Time, NotNull: true},
	"rev":   {NotNull: true},
}

// memos is a store over an application's own table, with these two packages only.
type memos struct {
	db *sqltx.DB
	tr *sqlquery.Translator
}

const selectMemos = "SELECT id, title, note, stars, score, done, made, rev FROM memos"

func (s *memos) Transactions() tx.Runner { return s.db }

// at asks for one item. Going by the translator, an id that no engine would take as an argument is just not there.
func at(id string) query.Filter { return query.Where("id", query.Eq, id) }

// unchanged asks for one revision of it.
func unchanged(id string, rev resource.Rev) query.Filter {
	return query.And(at(id), query.Where("rev", query.Eq, string(rev)))
}

func (s *memos) where(f query.Filter, args ...any) sqlquery.Clauses {
	c, _ := s.tr.Translate(query.Query{Filter: f}, args...) // both fields have columns
	return c
}

func (s *memos) Get(ctx context.Context, id string) (resource.Item[memo], error) {
	for it, err := range s.read(ctx, s.db.Reader(ctx), s.where(at(id))) {
		return it, err
	}
	return resource.Item[memo]{}, resource.ErrNotFound
}

func (s *memos) List(ctx context.Context, q query.Query) iter.Seq2[resource.Item[memo], error] {
	return func(yield func(resource.Item[memo], error) bool) {
		steps, err := s.tr.Steps(q)
		if err != nil {
			yield(resource.Item[memo]{}, err)
			return
		}
		n := 0
		for _, step := range steps {
			for it, err := range s.read(ctx, s.db.Reader(ctx), step) {
				if n++; !yield(it, err) || err != nil || n == q.Limit {
					return
				}
			}
		}
	}
}

// read collects the rows before it yields them, so that the connection is free for the caller.
func (s *memos) read(ctx context.Context, c sqltx.Conn, clauses sqlquery.Clauses) iter.Seq2[resource.Item[memo], error] {
	return func(yield func(resource.Item[memo], error) bool) {
		rows, err := c.QueryContext(ctx, selectMemos+clauses.String(), clauses.Args...)
		if err != nil {
			yield(resource.Item[memo]{}, err)
			return
		}
		defer rows.Close()
		var items []resource.Item[memo]
		for rows.Next() {
			var m memo
			var made any
			var rev string
			if err := rows.Scan(&m.ID, &m.Title, &m.Note, &m.Stars, &m.Score, &m.Done, &made, &rev); err != nil {
				yield(resource.Item[memo]{}, err)
				return
			}
			if text, ok := made.(string); ok {
				made, _ = time.Parse(sqlquery.TimeLayout, text)
			}
			m.Made, _ = made.(time.Time)
			items = append(items, resource.Item[memo]{ID: m.ID, Rev: resource.Rev(rev), Value: m})
		}
		if err := rows.Err(); err != nil {
			yield(resource.Item[memo]{}, err)
			return
		}
		for _, it := range items {
			if !yield(it, nil) {
				return
			}
		}
	}
}

// args are the arguments for all columns of an item.
func (s *memos) args(it resource.Item[memo]) []any {
	m := it.Value
	return []any{it.ID, s.tr.Arg("title", m.Title), s.tr.Arg("note", m.Note), m.Stars, m.Score, s.tr.Arg("done", m.Done),
		s.tr.Arg("made", m.Made), string(it.Rev)}
}

func (s *memos) places() (list []any) {
	for i := range 8 {
		list = append(list, s.db.Dialect().Placeholder(i+1))
	}
	return list
}

func (s *memos) Create(ctx context.Context, m memo) (resource.Item[memo], error) {
	return s.Insert(ctx, string(resource.NewRev()), m)
}

func (s *memos) Insert(ctx context.Context, id string, m memo) (resource.Item[memo], error) {
	m.ID = id
	it := resource.Item[memo]{ID: id, Rev: resource.NewRev(), Value: m}
	insert := fmt.Sprintf("INSERT INTO memos VALUES (%s, %s, %s, %s, %s, %s, %s, %s)", s.places()...)
	return s.write(ctx, it, insert, s.args(it))
}

func (s *memos) Replace(ctx context.Context, id string, expect resource.Rev, m memo) (resource.Item[memo], error) {
	m.ID = id
	it := resource.Item[memo]{ID: id, Rev: resource.NewRev(), Value: m}
	c := s.where(unchanged(id, expect), s.args(it)...)
	update := "UPDATE memos SET id = %s, title = %s, note = %s, stars = %s, score = %s, done = %s, made = %s, rev = %s"
	return s.write(ctx, it, fmt.Sprintf(update, s.places()...)+c.String(), c.Args)
}

func (s *memos) Delete(ctx context.Context, id string, expect resource.Rev) error {
	c := s.where(unchanged(id, expect))
	_, err := s.write(ctx, resource.Item[memo]{ID: id}, "DELETE FROM memos"+c.String(), c.Args)
	return err
}

// write runs a statement that writes one row, and finds out why it did not.
func (s *memos) write(ctx context.Context, it resource.Item[memo], statement string, args []any) (resource.Item[memo], error) {
	none := resource.Item[memo]{}
	result, err := s.db.Writer(ctx).ExecContext(ctx, statement, args...)
	if err != nil {
		if s.db.Dialect().Fault(err).Kind == sqltx.Unique {
			return none, resource.ErrExists
		}
		return none, err
	}
	if n, err := result.RowsAffected(); n > 0 || err != nil {
		return it, err
	}
	if _, err := s.Get(ctx, it.ID); err != nil {
		return none, err
	}
	return none, resource.ErrStale
}

func (s *memos) Count(ctx context.Context, q query.Query) (int, error) {
	c, err := s.tr.Translate(query.Query{Filter: q.Filter})
	if err != nil {
		return 0, err
	}
	n, err := column[int](ctx, s.db.Reader(ctx), "SELECT count(*) FROM memos"+c.String(), c.Args...)
	return append(n, 0)[0], err
}

// TestStorePassesTheKit shows that the two packages are enough for a store which keeps what the library promises.
func TestStorePassesTheKit(t *testing.T) {
	enginetest.Each(t, func(t *testing.T, e sqltest.Engine) {
		tr := sqlquery.New(sqlquery.Dialect(e.Dialect), memoColumns)
		support := tr.Support()
		delete(support.Filter, "rev") // no field has this name
		support.Sort = strings.Split("title note stars score done made", " ")
		resourcetest.Run(t, func(t *testing.T) resource.Collection[memo] {
			db := e.Open(t, nil)
			types := map[sqltx.Dialect]string{
				sqltx.SQLite:     "id TEXT PRIMARY KEY, title TEXT, note TEXT, stars INTEGER, score REAL, done INTEGER, made TEXT, rev TEXT",
				sqltx.PostgreSQL: "id text PRIMARY KEY, title text, note text, stars bigint, score float8, done boolean, made timestamptz, rev text",
			}[e.Dialect]
			exec(t, t.Context(), db, "CREATE TABLE memos ("+types+")")
			return &memos{db, tr}
		}, &resourcetest.Options[memo]{
			Support: support, Items: 60, Writers: 8,
			Require: []string{"Creator", "Inserter", "Replacer", "Deleter", "Counter", "Transactor"},
			Equal:   func(sent, got memo) bool { return sent.equal(got, e.Dialect) },
		})
	})
}

// equal compares times as finely as the engine keeps them.
func (m memo) equal(other memo, d sqltx.Dialect) bool {
	finest := map[sqltx.Dialect]time.Duration{sqltx.SQLite: 1, sqltx.PostgreSQL: time.Microsecond}[d]
	if !m.Made.Truncate(finest).Equal(other.Made) {
		return false
	}
	note := func(s *string) string {
		if s == nil {
			return "\x00"
		}
		return *s
	}
	return m.Title == other.Title && note(m.Note) == note(other.Note) && m.Stars == other.Stars &&
		m.Score == other.Score && m.Done == other.Done
}
