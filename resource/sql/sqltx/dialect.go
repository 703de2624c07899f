package sqltx

import (
	"strconv"
	"strings"
)

// Dialect identifies the SQL dialect and the error codes of an engine.
type Dialect string

// The supported dialects.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgresql"
)

// Placeholder returns the placeholder of the nth argument of a statement, counted from 1. Both
// dialects number arguments, so an argument can be used more than once.
func (d Dialect) Placeholder(n int) string {
	if d == PostgreSQL {
		return "$" + strconv.Itoa(n)
	}
	return "?" + strconv.Itoa(n)
}

// Quote returns a table or column name as a quoted identifier. It does not validate the name. For
// SQLite it uses backticks, because SQLite treats an unknown name in double quotes as a string,
// which hides the mistake.
func (d Dialect) Quote(name string) string {
	if d == PostgreSQL {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
