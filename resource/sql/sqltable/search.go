package sqltable

// Full-text search: Options.Search. PostgreSQL has a generated column of the type tsvector with a GIN
// index, SQLite a table of FTS5 that triggers keep equal. read.go, create.go and check.go call it.

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// searchVector is the column of PostgreSQL with the words of an item.
const searchVector = "search_vector"

// chooseSearch checks Options.Search and Language.
func (t *untyped) chooseSearch() error {
	switch {
	case t.opts.Language == "":
	case len(t.opts.Search) == 0:
		return errors.New("Options.Language has no effect without Search")
	case t.dialect == sqltx.SQLite:
		return fmt.Errorf("Options.Language is %q, which requires PostgreSQL", t.opts.Language)
	}
	for i, name := range t.opts.Search {
		c := t.byField[name]
		switch {
		case c == nil || c.computed() || c.generated || c.spec.Kind != sqlquery.Text || c.spec.List ||
			c.field.WriteOnly:
			return fmt.Errorf("Options.Search names %q, which is no field with a text column", name)
		case slices.Contains(t.opts.Search[:i], name):
			return fmt.Errorf("Options.Search names %q twice", name)
		case t.dialect == sqltx.SQLite && reservedByFTS5(c.spec.Name):
			return fmt.Errorf("Options.Search names %q, and FTS5 does not accept a column with the name %s",
				name, c.spec.Name)
		}
	}
	return nil
}

// reservedByFTS5 reports whether FTS5 refuses a column with this name.
func reservedByFTS5(name string) bool {
	return strings.EqualFold(name, "rank") || strings.EqualFold(name, "rowid")
}

// searchAlias is the name of the search in a statement, which no table has.
const searchAlias = `"search found"`

// searchTable returns the name of the table of FTS5.
func (t *untyped) searchTable() string { return t.name + "_search" }

// searchName returns a quoted name of the search without a schema.
func (t *untyped) searchName(suffix string) string {
	return t.dialect.Quote(t.bare() + "_search" + suffix)
}

// searchColumn returns the rank for the translator.
func (t *untyped) searchColumn() sqlquery.Column {
	expr := searchAlias + `."search rank"`
	if t.dialect == sqltx.PostgreSQL {
		// Normalization 1 divides by the logarithm of the length.
		expr = "ts_rank_cd(" + searchVector + ", " + searchAlias + ".\"search query\", 1)::float8"
	}
	return sqlquery.Column{Expr: expr, Kind: sqlquery.Number, NotNull: true}
}

// searchStatements returns the statements of the search that follow CREATE TABLE.
func (t *untyped) searchStatements() []statement {
	if len(t.opts.Search) == 0 {
		return nil
	}
	if t.dialect == sqltx.PostgreSQL {
		return []statement{{t.name, "CREATE INDEX " + t.indexName(searchVector, "idx") + " ON " +
			t.within(t.name) + " USING gin (" + searchVector + ")"}}
	}
	var columns, added, removed []string
	for _, name := range t.opts.Search {
		expr := t.byField[name].expr
		columns = append(columns, expr)
		added, removed = append(added, "new."+expr), append(removed, "old."+expr)
	}
	list, own := strings.Join(columns, ", "), t.searchName("")
	quoted, _ := quoteTable(t.dialect, t.searchTable())
	insert := "INSERT INTO " + own + " (rowid, " + list + ") VALUES (new.rowid, " +
		strings.Join(added, ", ") + "); "
	remove := "INSERT INTO " + own + " (" + own + ", rowid, " + list + ") VALUES ('delete', old.rowid, " +
		strings.Join(removed, ", ") + "); "
	trigger := func(suffix, event, body string) string {
		name := t.searchName(suffix)
		if i := strings.IndexByte(t.name, '.'); i >= 0 {
			name = t.dialect.Quote(t.name[:i]) + "." + name
		}
		return "CREATE TRIGGER " + name + " AFTER " + event + " ON " + t.within(t.name) +
			" BEGIN " + body + "END"
	}
	var all []statement
	for _, text := range []string{
		"CREATE VIRTUAL TABLE " + quoted + " USING fts5(" + list + ", content=" + t.within(t.name) +
			", " + ftsTokenizer() + ")",
		trigger("_insert", "INSERT", insert),
		trigger("_delete", "DELETE", remove),
		trigger("_update", "UPDATE OF "+list, remove+insert),
		// Rows may exist before the search.
		"INSERT INTO " + quoted + " (" + own + ") VALUES ('rebuild')",
	} {
		all = append(all, statement{t.searchTable(), text})
	}
	return all
}

// createVector returns the generated column of PostgreSQL, or "". All characters that are neither letters
// nor digits become spaces, because the parser of PostgreSQL also recognizes addresses, numbers and
// tags. A lexeme that no search has separates two fields, so that no phrase matches across them.
func (t *untyped) createVector() string {
	if len(t.opts.Search) == 0 || t.dialect != sqltx.PostgreSQL {
		return ""
	}
	var parts []string
	for i, name := range t.opts.Search {
		text := "left(coalesce(" + t.byField[name].expr + "::text, ''), " +
			strconv.Itoa(mostSearched/len(t.opts.Search)) + `) COLLATE "und-x-icu"`
		lower := "translate(lower(replace(" + text + ", 'İ', 'i')), '" + foldedFrom + "', '" + foldedTo + "')"
		words := "regexp_replace(" + lower + ", '" + separators() + "', ' ', 'g')"
		words = "regexp_replace(" + words + ", '" + digitFirst + "', '\\1" + digitMark + "\\2', 'g')"
		weight := string("ABCD"[min(i, 3)])
		parts = append(parts, "setweight(to_tsvector("+t.language()+", "+words+"), '"+weight+"')")
	}
	return searchVector + " tsvector GENERATED ALWAYS AS (" +
		strings.Join(parts, ` || ''' '':1'::tsvector || `) + ") STORED"
}

// vectorExpr reads the expression of the generated column.
const vectorExpr = `SELECT pg_get_expr(d.adbin, d.adrelid) FROM pg_attrdef d JOIN pg_attribute a
ON a.attrelid = d.adrelid AND a.attnum = d.adnum
WHERE a.attrelid = to_regclass($1::text) AND a.attname = '` + searchVector + `'`

// mostSearched is the number of characters of the texts of an item that are searched in PostgreSQL, which
// limits a tsvector to 1 MiB.
const mostSearched = 150_000

// language returns the configuration of PostgreSQL as a literal.
func (t *untyped) language() string {
	if t.opts.Language == "" {
		return "'simple'::regconfig"
	}
	return "'" + strings.ReplaceAll(t.opts.Language, "'", "''") + "'::regconfig"
}

// checkSearch adds what is missing for the search.
func (t *untyped) checkSearch(ctx context.Context, i *inspection) error {
	i.known[searchVector] = len(t.opts.Search) > 0 && t.dialect == sqltx.PostgreSQL
	missing, err := t.missingSearch(ctx, i.columns)
	if len(missing) > 0 {
		i.add("objects of Options.Search do not exist, or are of an earlier version; execute the %d "+
			"statements of AlterDDL, which rebuild the index", len(missing))
	}
	return err
}

// missingSearch returns the statements of the search that have not been executed. columns are those of
// the table.
func (t *untyped) missingSearch(ctx context.Context, columns map[string]found) ([]string, error) {
	if len(t.opts.Search) == 0 {
		return nil, nil
	}
	var missing []string
	if t.dialect == sqltx.PostgreSQL {
		f, ok := columns[searchVector]
		if ok && f.typ == "tsvector" && f.generated {
			var expr string
			_, err := t.queryRow(ctx, t.db.Writer(ctx), vectorExpr, []any{t.table}, &expr)
			if err != nil || strings.Contains(strings.ReplaceAll(expr, `\\`, `\`), separators()) {
				return nil, err
			}
		}
		if ok {
			missing = append(missing, "ALTER TABLE "+t.table+" DROP COLUMN "+searchVector)
		}
		return append(missing, "ALTER TABLE "+t.table+" ADD COLUMN "+t.createVector(),
			t.searchStatements()[0].text), nil
	}
	schema := ""
	if i := strings.IndexByte(t.name, '.'); i >= 0 {
		schema = t.dialect.Quote(t.name[:i]) + "."
	}
	statements := t.searchStatements()
	for i, suffix := range searchSuffixes {
		var n, current int
		count := "SELECT count(*), coalesce(max(instr(sql, ?)), 0) FROM " + schema +
			"sqlite_schema WHERE name = ?"
		name, text := t.bare()+"_search"+suffix, ""
		if suffix == "" {
			text = ftsTokenizer()
		}
		if _, err := t.queryRow(ctx, t.db.Writer(ctx), count, []any{text, name}, &n, &current); err != nil {
			return nil, err
		}
		if n > 0 && current == 0 { // other tables of characters
			quoted, _ := quoteTable(t.dialect, t.searchTable())
			missing = append(missing, "DROP TABLE "+quoted)
		}
		if n == 0 || current == 0 {
			missing = append(missing, statements[i].text)
		}
	}
	if len(missing) > 0 {
		missing = append(missing, statements[len(searchSuffixes)].text) // the rows that exist
	}
	return missing, nil
}

// searchSuffixes are those of the names of the table and the triggers of SQLite, in the order of
// searchStatements, which are followed by the statement that reads the rows.
var searchSuffixes = [...]string{"", "_insert", "_delete", "_update"}

// from returns what follows FROM for the rows of the table, or for those of a search, and its arguments.
func (t *untyped) from(s query.Search, byRank bool) (string, []any, error) {
	if s.IsZero() {
		return t.table, nil, nil
	}
	if len(t.opts.Search) == 0 || len(s.Fields) > 0 && !slices.Equal(s.Fields, t.opts.Search) {
		return "", nil, fmt.Errorf("sqltable: the search of %s covers the fields %q", t.name, t.opts.Search)
	}
	w := &args{dialect: t.dialect}
	if t.dialect == sqltx.PostgreSQL {
		found := "to_tsquery(" + t.language() + ", " + w.bind(tsquery(s), "::text") + ")"
		asked := searchAlias + `."search query"`
		// A query of words that the language ignores, and of excluded words, would find all other rows.
		return t.table + " JOIN " + found + " AS " + searchAlias + `("search query") ON ` + searchVector +
			" @@ " + asked + " AND querytree(" + asked + ") NOT IN ('', 'T')", w.list, nil
	}
	rank := "0.0"
	if byRank {
		rank = t.searchRank()
	}
	quoted, _ := quoteTable(t.dialect, t.searchTable())
	return t.table + ` JOIN (SELECT rowid AS "search row", ` + rank + ` AS "search rank" FROM ` + quoted +
		" WHERE " + t.searchName("") + " MATCH " + w.bind(ftsQuery(s), "") +
		") AS " + searchAlias + " ON " + searchAlias + `."search row" = ` + t.table + ".rowid", w.list, nil
}

// searchRank returns the rank of SQLite: that of [query.Search.Match], with the matches that highlight
// marks. The function bm25 is not used, because its result depends on all rows.
func (t *untyped) searchRank() string {
	var parts []string
	for i, name := range t.opts.Search {
		column := t.byField[name].expr
		damping := "(1.0 + coalesce(length(" + column + "), 0) / 100.0)"
		marked := "highlight(" + t.searchName("") + ", " + strconv.Itoa(i) + ", char(1), '')"
		hits := "coalesce(length(" + marked + ") - length(" + column + "), 0)"
		weight := strconv.FormatFloat(query.FieldWeight(i), 'f', -1, 64)
		parts = append(parts, weight+" * (1.0 - "+damping+" / ("+hits+" + "+damping+"))")
	}
	return strings.Join(parts, " + ")
}

// ftsTokenizer returns the option of FTS5 by which its words are those of [query.Search].
var ftsTokenizer = sync.OnceValue(func() string {
	var b strings.Builder
	for r := range eachRune(ftsSeparators) {
		b.WriteRune(r)
	}
	return `tokenize="unicode61 remove_diacritics 0 categories 'L* Nd Mn Mc' separators '` + b.String() + `'"`
})

// ftsCapital maps lower letters to the capitals that FTS5 does not convert to them.
var ftsCapital = sync.OnceValue(func() map[rune]rune {
	m := map[rune]rune{}
	for r := range eachRune(ftsCapitals) {
		if unicode.IsUpper(r) {
			m[unicode.ToLower(r)] = r
		}
	}
	return m
})

// eachRune returns the characters of ranges.
func eachRune(ranges []rune) iter.Seq[rune] {
	return func(yield func(rune) bool) {
		for i := 0; i < len(ranges); i += 2 {
			for r := ranges[i]; r <= ranges[i+1]; r++ {
				if !yield(r) {
					return
				}
			}
		}
	}
}

// ftsForms returns the forms in which FTS5 can have words in lower case: in addition, those with capitals
// that FTS5 does not convert, at their beginnings and everywhere. İ is tried at the beginning only, because
// many words have an i.
func ftsForms(words string) []string {
	capital, begins := ftsCapital(), true
	first := strings.Map(func(r rune) rune {
		at := begins
		if begins = r == ' '; at && capital[r] != 0 {
			return capital[r]
		}
		return r
	}, words)
	all := strings.Map(func(r rune) rune {
		if r != 'i' && capital[r] != 0 {
			return capital[r]
		}
		return r
	}, words)
	forms := []string{words}
	for _, form := range []string{first, all} {
		if !slices.Contains(forms, form) {
			forms = append(forms, form)
		}
	}
	return forms
}

// A word of PostgreSQL that begins with a digit gets a letter that no word has, because the parser reads
// 5e3bd2f as the number 5e3 and the word bd2f.
const (
	digitFirst = "(^| )([0-9])"
	digitMark  = "ς"
)

// foldedFrom has the letters that [query.Search] converts, in addition to capitals, to those of foldedTo.
const (
	foldedFrom = "µſ\u0345ςϐϑϕϖϰϱϵ\u1c80\u1c81\u1c82\u1c83\u1c84\u1c85\u1c86\u1c87\u1c88ẛ\u1fbe"
	foldedTo   = "μsισβθφπκρεвдосттъѣꙋṡι"
)

// separators returns the regular expression of PostgreSQL for the characters between words. It names the
// combining marks, for which PostgreSQL has no class.
var separators = sync.OnceValue(func() string {
	var b strings.Builder
	b.WriteString("[^[:alnum:]")
	for r := rune(0x300); r < 0xe0100; r++ {
		first := r
		for r < 0xe0100 && (r < 0xfe00 || r > 0xfe0f) && unicode.In(r, unicode.Mn, unicode.Mc) {
			r++
		}
		if r > first {
			fmt.Fprintf(&b, `\U%08x-\U%08x`, first, r-1)
		}
	}
	return b.String() + "]+"
})

// tsquery returns a search in the syntax of to_tsquery. Words have letters and digits only.
func tsquery(s query.Search) string {
	return searchText(s, " | ", " & ", func(t query.Term) string {
		marked := make([]string, len(t.Words))
		for i, w := range t.Words {
			if marked[i] = w; '0' <= w[0] && w[0] <= '9' {
				marked[i] = digitMark + w
			}
		}
		words := "'" + strings.Join(marked, "' <-> '") + "'"
		if t.Prefix {
			words += ":*"
		}
		if t.Not {
			return "!(" + words + ")"
		}
		return "(" + words + ")"
	})
}

// ftsQuery returns a search in the syntax of FTS5, in which NOT has two operands.
func ftsQuery(s query.Search) string {
	var found query.Search
	var excluded [][]query.Term
	for _, terms := range s.Any {
		var has, not []query.Term
		for _, t := range terms {
			if t.Not {
				not = append(not, t)
			} else {
				has = append(has, t)
			}
		}
		found.Any, excluded = append(found.Any, has), append(excluded, not)
	}
	phrase := func(t query.Term) string {
		forms := ftsForms(strings.Join(t.Words, " "))
		for i, form := range forms {
			forms[i] = `"` + form + `"`
			if t.Prefix {
				forms[i] += " *"
			}
		}
		if len(forms) == 1 {
			return forms[0]
		}
		return "(" + strings.Join(forms, " OR ") + ")"
	}
	var alternatives []string
	for i, terms := range found.Any {
		text := searchText(query.Search{Any: [][]query.Term{terms}}, "", " AND ", phrase)
		if len(excluded[i]) > 0 {
			text = "(" + text + " NOT " +
				searchText(query.Search{Any: [][]query.Term{excluded[i]}}, "", " OR ", phrase) + ")"
		}
		alternatives = append(alternatives, text)
	}
	return strings.Join(alternatives, " OR ")
}

// searchText joins the alternatives and terms of a search.
func searchText(s query.Search, or, and string, term func(query.Term) string) string {
	alternatives := make([]string, len(s.Any))
	for i, terms := range s.Any {
		texts := make([]string, len(terms))
		for j, t := range terms {
			texts[j] = term(t)
		}
		alternatives[i] = "(" + strings.Join(texts, and) + ")"
	}
	return strings.Join(alternatives, or)
}

// clauses returns the clauses of a statement for the items of q, and its text from FROM on.
func (t *untyped) clauses(q query.Query, byRank bool) (text string, c sqlquery.Clauses, err error) {
	from, args, err := t.from(q.Search, byRank)
	if err != nil {
		return "", c, err
	}
	q.Filter = t.living(q.Filter)
	c, err = t.tr.Translate(q, args...)
	return " FROM " + from + c.String(), c, err
}

// search implements [resource.Searcher].
func (t *Table[T]) search(ctx context.Context, q query.Query) items[T] {
	return t.itemsOf(t.rowsFound(ctx, q))
}

// rowsFound returns the rows of a search, with one statement.
func (t *untyped) rowsFound(ctx context.Context, q query.Query) rows {
	return func(yield func(*row, error) bool) {
		byRank := slices.ContainsFunc(q.Sort, func(o query.Order) bool { return o.Field == query.Rank })
		columns := t.selectedColumns(q)
		fillPage(q.Limit, 0, func(limit, skip int) (n, leftOut int, more bool) {
			q.Limit = limit
			text, c, err := t.clauses(q, byRank)
			if err != nil {
				yield(nil, err)
				return 0, 0, false
			}
			keys := t.rowKeys(q, c)
			statement := "SELECT " + strings.Join(t.selected(columns, keys...), ", ") + text
			all := t.query(ctx, t.db.Reader(ctx), columns, statement, c.Args, keys...)
			return t.passOn(all, q, skip, yield)
		})
	}
}
