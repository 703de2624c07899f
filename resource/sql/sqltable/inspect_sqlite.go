package sqltable

// Inspection of tables of SQLite. Its columns have an affinity instead of a type. check.go calls
// inspectSQLite and mismatch.

import (
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/stoa-go/stoa/resource/sql/internal/sqltype"
	"github.com/stoa-go/stoa/resource/sql/sqlquery"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// inspectSQLite selects the columns of a table. In pragma_table_xinfo, hidden is 1 for a hidden
// column and 2 or 3 for a generated one. A primary key counts as NOT NULL, although SQLite allows
// NULL in one that is not an integer. A primary key without an index is the rowid. The functions
// pragma_* take the schema as a parameter; sqlite_schema needs it as a name.
const inspectSQLite = `
SELECT c.name, c.type, c."notnull" <> 0 OR c.pk > 0, c.dflt_value IS NOT NULL OR c.hidden > 1 OR c.pk > 0,
	c.pk = 1 AND (SELECT count(*) FROM pragma_table_xinfo(?1, ?2) WHERE pk > 0) = 1
	OR EXISTS (SELECT 1 FROM pragma_index_list(?1, ?2) AS i WHERE i."unique" AND NOT i.partial
		AND (SELECT group_concat(name) FROM pragma_index_info(i.name, ?2)) = c.name),
	c.hidden > 1,
	CASE WHEN c.pk = 1 THEN coalesce((SELECT s.sql FROM pragma_table_list(?1) AS l
		JOIN SCHEMA.sqlite_schema AS s ON s.name = l.name WHERE l.schema = ?2), '') ELSE '' END,
	c.pk = 1 AND upper(c.type) = 'INTEGER'
	AND NOT EXISTS (SELECT 1 FROM pragma_index_list(?1, ?2) AS i WHERE i.origin = 'pk')
FROM pragma_table_xinfo(?1, ?2) AS c WHERE c.hidden <> 1`

// inSchema returns a statement with the schema of a table in place of SCHEMA, and the names of both. A name
// without a schema is that of the main database; temporary tables need the schema temp.
func inSchema(statement, name string) (text, schema, table string) {
	schema, table, ok := strings.Cut(name, ".")
	if !ok {
		schema, table = "main", name
	}
	return strings.ReplaceAll(statement, "SCHEMA", sqltx.SQLite.Quote(schema)), schema, table
}

// inspectSQLite returns the columns of a table, and an empty map if it does not exist.
func (t *untyped) inspectSQLite(ctx context.Context, name string) (map[string]found, error) {
	statement, schema, table := inSchema(inspectSQLite, name)
	rows, err := t.db.Writer(ctx).QueryContext(ctx, statement, table, schema)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	columns := map[string]found{}
	for rows.Next() {
		var name, create string
		var f found
		if err := rows.Scan(&name,
			&f.typ, &f.notNull, &f.filled, &f.unique, &f.generated, &create, &f.rowID); err != nil {
			return nil, err
		}
		f.identity = hasAutoincrement(create)
		columns[name] = f
	}
	return columns, rows.Err()
}

// sqlTokens matches the comments, literals and names of a statement of SQLite, and its parentheses. Only
// words that may be keywords have the group.
var sqlTokens = regexp.MustCompile(`--[^\n]*|/\*(?s:.*?)(?:\*/|$)|'(?:[^']|'')*'|"(?:[^"]|"")*"|` +
	"`(?:[^`]|``)*`" + `|\[[^\]]*\]|([\pL_][\pL\d_$]*)|[()]`)

// hasAutoincrement reports whether a CREATE TABLE has the keyword AUTOINCREMENT.
func hasAutoincrement(create string) bool {
	return slices.ContainsFunc(sqlTokens.FindAllStringSubmatch(create, -1), func(m []string) bool {
		return strings.EqualFold(m[1], "AUTOINCREMENT")
	})
}

// namedChecks returns the expressions of the CHECK constraints of a CREATE TABLE that have a name, without
// comments.
func namedChecks(create string) map[string]string {
	create = sqlTokens.ReplaceAllStringFunc(create, func(token string) string {
		if strings.HasPrefix(token, "--") || strings.HasPrefix(token, "/*") {
			return " "
		}
		return token
	})
	checks := map[string]string{}
	tokens := sqlTokens.FindAllStringIndex(create, -1)
	token := func(i int) string { return create[tokens[i][0]:tokens[i][1]] }
	for i := 0; i+3 < len(tokens); i++ {
		if !strings.EqualFold(token(i), "CONSTRAINT") || !strings.EqualFold(token(i+2), "CHECK") {
			continue
		}
		name, from, depth := unquoted(token(i+1)), i+3, 0
		for i = from; i < len(tokens); i++ {
			switch token(i) {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				break
			}
		}
		checks[name] = create[tokens[from][0]:tokens[min(i, len(tokens)-1)][1]]
	}
	return checks
}

// unquoted returns the name in a token of SQLite.
func unquoted(token string) string {
	switch q := token[:1]; q {
	case "[":
		return token[1 : len(token)-1]
	case `"`, "'", "`":
		return strings.ReplaceAll(token[1:len(token)-1], q+q, q)
	}
	return token
}

// affinity returns the type affinity of a column, by the rules of SQLite for names of types. The
// order of the rules decides: CHARINT is INTEGER (Datatypes in SQLite, section 3.1).
func affinity(typ string) string {
	typ = strings.ToUpper(typ)
	for _, rule := range [][2]string{{"INT", "INTEGER"}, {"CHAR", "TEXT"}, {"CLOB", "TEXT"}, {"TEXT", "TEXT"},
		{"BLOB", "BLOB"}, {"REAL", "REAL"}, {"FLOA", "REAL"}, {"DOUB", "REAL"}} {
		if strings.Contains(typ, rule[0]) {
			return rule[1]
		}
	}
	if typ == "" {
		return "BLOB"
	}
	return "NUMERIC"
}

// sqliteMismatch is mismatch for SQLite. It accepts the affinities that store every value
// unchanged. Numeric affinity does not change text that is not a number, such as times, UUIDs and
// JSON.
func (c *column) sqliteMismatch(typ string) string {
	aff := affinity(typ)
	var fits bool
	switch want := c.sqlType("sqlite"); {
	case want == "BLOB":
		fits = aff == "BLOB" || aff == "NUMERIC"
	case want == "INTEGER":
		fits = aff == "INTEGER" || aff == "NUMERIC"
	case want == "REAL":
		fits = aff == "REAL" || aff == "NUMERIC" || aff == "INTEGER"
	case c.form == jsonForm || c.spec.Kind == sqlquery.UUID || c.spec.Kind == sqlquery.Duration ||
		c.spec.Kind == sqlquery.Time && !isNumber(c.spec.Layout) ||
		c.typ.Name == sqltype.Date || c.typ.Name == sqltype.Time:
		fits = aff == "TEXT" || aff == "NUMERIC"
	default:
		fits = aff == "TEXT"
	}
	if fits {
		return ""
	}
	return c.sqlType("sqlite")
}

// isNumber reports whether numeric affinity changes the times of a layout to numbers, such as those of
// 20060102150405. The empty layout is [sqlquery.TimeLayout].
func isNumber(layout string) bool {
	_, err := strconv.ParseFloat(layout, 64)
	return err == nil
}
