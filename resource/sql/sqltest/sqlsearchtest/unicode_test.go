package sqlsearchtest

import (
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// newerLetters is the most characters that PostgreSQL may split words at, because its libraries are older
// than the tables of Go.
const newerLetters = 4500

// assigned returns each character beyond ASCII that Unicode assigns, without those of private use.
func assigned() (all []rune) {
	for r := rune(0x80); r <= unicode.MaxRune; r++ {
		if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.Cc, unicode.Cf) {
			all = append(all, r)
		}
	}
	return all
}

// TestCharacters compares the words of the index with those of query.Search, for all assigned characters
// between two letters.
func TestCharacters(t *testing.T) {
	all := assigned()
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		ops := openPosts(t, db, options()).Ops()
		index := "SELECT unnest(tsvector_to_array(search_vector)) FROM posts WHERE id = $1"
		if e.Dialect == sqltx.SQLite {
			enginetest.MustExec(t, db, "CREATE VIRTUAL TABLE words USING fts5vocab(posts_search, 'instance')")
			index = "SELECT DISTINCT term FROM words WHERE doc = ?"
		}
		s, missing, extra := query.Search{Fields: []string{"f"}}, []string{}, 0
		words := func(text string) []string { return s.Words(func(string) any { return text }) }
		for part := range slices.Chunk(all, 1000) {
			var b strings.Builder
			for i, r := range part { // the letters make the words of a part different
				b.WriteString("q" + string(rune('a'+i/26%26)) + string(rune('a'+i%26)) + string(rune('a'+i/676)) +
					string(r) + "z ")
			}
			item, err := ops.Create(t.Context(), post{Title: b.String()})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := db.Reader(t.Context()).QueryContext(t.Context(), index, item.Value.ID)
			if err != nil {
				t.Fatal(err)
			}
			indexed := map[string]bool{}
			for rows.Next() {
				var word string
				if err := rows.Scan(&word); err != nil {
					t.Fatal(err)
				}
				for _, w := range words(word) { // capitals that FTS5 keeps; see TestCapitals
					indexed[w] = true
				}
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
			rows.Close()
			for _, w := range words(b.String()) {
				if !indexed[w] {
					missing = append(missing, w)
				}
				delete(indexed, w)
			}
			extra += len(indexed)
		}
		if e.Dialect == sqltx.SQLite && len(missing)+extra > 0 || len(missing) > newerLetters {
			t.Errorf("%d words of query.Search are not in the index, such as %q, and %d others are", len(missing),
				missing[:min(20, len(missing))], extra)
		}
	})
}

// TestCapitals compares searches for letters of which FTS5 or PostgreSQL do not know the lower form, for
// words of digits, and for marks, with those of memory.
func TestCapitals(t *testing.T) {
	texts := []string{"ᲐᲑᲒ", "Ꭰꭱ Ꮳꮃꭹ", "ᎠᎡ ᏣᎳᎩ", "𐓀𐓩 𐒰𐒱", "İstanbul", "tea🙂", "100₿ 100₽", "µg μg", "ſea", "ϑ", "5e3bd2f", "1e5",
		"की", "का", "cafe\u0301", "ไทยที่", "tea\u2764\ufe0f", "x5 5"}
	searches := []string{"აბგ", "ᲐᲑᲒ", "ꭰꭱ", "ꮳꮃꭹ", "ᏣᎳᎩ*", `"ꭰꭱ ꮳꮃꭹ"`, "𐓨𐓩", "𐓘𐓙", "istanbul", "İSTANBUL", "tea", "100", "μG",
		"sea", "Θ", "5e3bd2f", "5e3*", "5*", "5", "bd2f", "a -bd2f OR cafe", "1e5", "की", "का", "क", "cafe", "cafe\u0301", "ไทยที่", "ไทย*",
		"ไทย", "x5 -5", "tea -x"}
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		ops, mem := openPosts(t, e.OpenSchema(t), options()).Ops(), resource.OpsOf(memory.New[post](nil))
		for _, text := range texts {
			for _, o := range []resource.Ops[post]{ops, mem} {
				if _, err := o.Create(t.Context(), post{Title: text}); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, text := range searches {
			var ids [2][]string
			for i, o := range []resource.Ops[post]{mem, ops} {
				for item, err := range o.Search(t.Context(), query.Query{Search: parse(t, text), Sort: []query.Order{{Field: "id"}}}) {
					if err != nil {
						t.Fatal(err)
					}
					ids[i] = append(ids[i], item.ID)
				}
			}
			if diff := cmp.Diff(ids[0], ids[1]); diff != "" {
				t.Errorf("%s (-memory +SQL):\n%s", text, diff)
			}
		}
	})
}

// TestOldIndex: Check reports an index of words with the characters of an earlier version, and AlterDDL
// builds it again.
func TestOldIndex(t *testing.T) {
	eachSearchEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		table := openPosts(t, db, options())
		if _, err := table.Ops().Create(t.Context(), post{Title: "tea🙂"}); err != nil {
			t.Fatal(err)
		}
		if e.Dialect == sqltx.SQLite {
			enginetest.MustExec(t, db, "DROP TABLE posts_search", "CREATE VIRTUAL TABLE posts_search USING fts5("+
				`title, note, content=posts, tokenize="unicode61 remove_diacritics 0 categories 'L* Nd'")`,
				"INSERT INTO posts_search (posts_search) VALUES ('rebuild')")
		} else {
			enginetest.MustExec(t, db, "ALTER TABLE posts DROP COLUMN search_vector", "ALTER TABLE posts ADD COLUMN "+
				"search_vector tsvector GENERATED ALWAYS AS (to_tsvector('simple'::regconfig, title)) STORED")
		}
		if err := table.Check(t.Context()); err == nil || !strings.Contains(err.Error(), "rebuild the index") {
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
		if got := foundIDs(t, sqltable.New[post](db, "posts", options()).Ops(), "tea"); got != "1" {
			t.Errorf("ids %q after %s", got, ddl)
		}
	})
}
