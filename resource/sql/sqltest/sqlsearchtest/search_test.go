package sqlsearchtest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/resourcetest"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// eachSearchEngine is EachEngine without the drivers that are built without FTS5.
func eachSearchEngine(t *testing.T, test func(t *testing.T, e *enginetest.Engine)) {
	t.Helper()
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect == sqltx.SQLite {
			err := enginetest.Exec(t.Context(), e.OpenSchema(t), "CREATE VIRTUAL TABLE probe USING fts5(words)")
			if err != nil && strings.Contains(err.Error(), "no such module") {
				t.Skip("the driver has no FTS5")
			}
		}
		test(t, e)
	})
}

// post is an item with texts. The names of Query and Rank are those of columns in the statement of a search.
type post struct {
	ID    int64   `json:"id" readOnly:"true"`
	Title string  `json:"title"`
	Note  *string `json:"note"`
	Kind  string  `json:"kind"`
	Query int     `json:"query"`
	Rank  int     `json:"rank"`
}

// options are those of a table of posts.
func options() *sqltable.Options { return &sqltable.Options{Search: []string{"title", "note"}} }

// openPosts creates a table of posts.
func openPosts(t *testing.T, db *sqltx.DB, opts *sqltable.Options) *sqltable.Table[post] {
	t.Helper()
	table := sqltable.New[post](db, "posts", opts)
	if err := table.CreateTable(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := table.Check(t.Context()); err != nil {
		t.Fatal(err)
	}
	return table
}

// TestKit runs the cases of the kit for searches, with soft deletion and without.
func TestKit(t *testing.T) {
	soft := options()
	soft.SoftDelete = "deleted_at"
	for name, opts := range map[string]*sqltable.Options{"plain": options(), "soft deletion": soft} {
		t.Run(name, func(t *testing.T) {
			eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
				support := openPosts(t, e.OpenSchema(t), opts).Support()
				support.Group = []string{"kind", "query", "rank"}
				support.Aggregate = map[string][]query.Func{"query": query.Funcs()[1:], "title": {query.Max}}
				resourcetest.RunOps(t, func(t *testing.T) resource.Ops[post] {
					return openPosts(t, e.OpenSchema(t), opts).Ops()
				}, &resourcetest.Options[post]{Support: support, Items: 40, Writers: 4,
					Require: []string{"Searcher", "Aggregator"}})
			})
		})
	}
}

// parse parses a search of the title and the note.
func parse(t *testing.T, text string) query.Search {
	t.Helper()
	s, err := query.ParseSearch(text)
	if err != nil {
		t.Fatal(err)
	}
	s.Fields = []string{"title", "note"}
	return s
}

// foundIDs returns the ids of a search by rank.
func foundIDs(t *testing.T, ops resource.Ops[post], text string) string {
	t.Helper()
	var ids []string
	q := query.Query{Search: parse(t, text), Sort: []query.Order{{Field: query.Rank, Desc: true}, {Field: "id"}}}
	for found, err := range ops.Search(t.Context(), q) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, found.ID)
	}
	return strings.Join(ids, " ")
}

// TestSearchLanguage finds other forms of a word in PostgreSQL.
func TestSearchLanguage(t *testing.T) {
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			t.Skip("needs PostgreSQL")
		}
		opts := options()
		opts.Language = "english"
		ops := openPosts(t, e.OpenSchema(t), opts).Ops()
		for _, title := range []string{"Running shoes", "a run", "the walk"} {
			if _, err := ops.Create(t.Context(), post{Title: title}); err != nil {
				t.Fatal(err)
			}
		}
		for text, want := range map[string]string{
			"runs": "2 1", `"running shoe"`: "1", "the": "", "the -walk": "", "walk -the": "3", "walk*": "3", "shoes OR walks": "1 3"} {
			if got := foundIDs(t, ops, text); len(got) != len(want) {
				t.Errorf("%s: ids %q, want %q", text, got, want)
			}
		}
	})
}

// TestSearchStatements checks that a search and its count are one statement each, and that the index of
// words is used.
func TestSearchStatements(t *testing.T) {
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db, recorder := enginetest.Record(t, e)
		ops := openPosts(t, db, options()).Ops()
		for i := range 50 {
			if _, err := ops.Create(t.Context(), post{Title: fmt.Sprintf("green tea %d", i)}); err != nil {
				t.Fatal(err)
			}
		}
		var ids string
		ran, _ := recorder.During(func() { ids = foundIDs(t, ops, "tea 7 OR 8") })
		if len(ran) != 1 || ids != "8 9" {
			t.Errorf("ids %q by %v", ids, ran)
		}
		ran2, _ := recorder.During(func() {
			n, err := ops.Count(t.Context(), query.Query{Search: parse(t, "tea -7")})
			if err != nil || n != 49 {
				t.Errorf("count %d, %v", n, err)
			}
		})
		if len(ran2) != 1 {
			t.Errorf("the count ran %v", ran2)
		}
		for _, s := range append(ran, ran2...) {
			t.Log(s.Text)
		}
	})
}

// TestMigration adds the search to a table with rows, by the statements of AlterDDL.
func TestMigration(t *testing.T) {
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		old := openPosts(t, db, nil)
		if _, err := old.Ops().Create(t.Context(), post{Title: "old tea"}); err != nil {
			t.Fatal(err)
		}
		table := sqltable.New[post](db, "posts", options())
		migrate := func() string {
			t.Helper()
			if err := table.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "objects of Options.Search") {
				t.Fatalf("Check: %v", err)
			}
			ddl, err := table.AlterDDL(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			enginetest.MustExec(t, db, ddl)
			if err := table.Check(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := foundIDs(t, table.Ops(), "tea"); got != "1" {
				t.Errorf("after %s: ids %q", ddl, got)
			}
			return ddl
		}
		migrate()
		if e.Dialect == sqltx.SQLite { // another tool has removed a trigger
			enginetest.MustExec(t, db, "DROP TRIGGER posts_search_update",
				"UPDATE posts SET title = 'green tea' WHERE id = 1")
			ddl := migrate()
			if got := foundIDs(t, table.Ops(), "green"); got != "1" || strings.Contains(ddl, "VIRTUAL") {
				t.Errorf("ids %q after %s", got, ddl)
			}
		}
		ddl, err := table.AlterDDL(t.Context())
		if diff := cmp.Diff("", ddl); diff != "" || err != nil {
			t.Errorf("AlterDDL of a complete table: %v (-want +got):\n%s", err, diff)
		}
	})
}

// TestSearchDiffers compares random texts and searches with memory.
func TestSearchDiffers(t *testing.T) {
	texts := []string{"1e5 v2 x9y", "a.b@c.de, http://e.com/f?g=h", "<b>bold</b> &amp; 3.14 -5 1,000", "٣ ٤ Ärger ÉTÉ",
		"Ünï çödé naïve", "snake_case kebab-case", "don't 'quote' \"double\"", "C++ C# .NET 4.8", "東京タワー", "ΑΒΓ αβγ жЖ"}
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		ops := openPosts(t, e.OpenSchema(t), options()).Ops()
		mem := resource.OpsOf(memory.New[post](nil))
		for i, text := range texts {
			v := post{Title: text}
			if i%2 == 0 {
				v.Note = &texts[(i+3)%len(texts)]
			}
			for _, o := range []resource.Ops[post]{ops, mem} {
				if _, err := o.Create(t.Context(), v); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, text := range strings.Fields("1e5 1* v2 x9y x9* a.b e.com e com/f b amp 3.14 5 1,000 ٣ ÄRGER été " +
			"ünï naïv* snake_case case kebab-case don't c++ net 4.8 東京* 東京タワー αβγ Ж ж*") {
			q := query.Query{Search: parse(t, text)}
			want, err := mem.Count(t.Context(), q)
			got, err2 := ops.Count(t.Context(), q)
			if err != nil || err2 != nil || got != want {
				t.Errorf("%s: %d items, %v; memory has %d, %v", text, got, err2, want, err)
			}
		}
	})
}
