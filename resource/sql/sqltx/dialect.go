package sqltx

import (
	"strconv"
	"strings"
)

// Dialect is what an engine expects of a statement and how it words its errors.
type Dialect string

// The dialects.
const (
	SQLite     Dialect = "sqlite"
	PostgreSQL Dialect = "postgresql"
)

// Placeholder returns what stands in a statement for its nth argument, counted from 1. Both dialects number arguments,
// so that one can be used twice.
func (d Dialect) Placeholder(n int) string {
	if d == PostgreSQL {
		return "$" + strconv.Itoa(n)
	}
	return "?" + strconv.Itoa(n)
}

// Quote writes the name of a table or column so that it means just that, whatever characters and words it is made of.
// In SQLite it uses backticks: between double quotes, a name that does not exist is taken for a string, and a mistake
// for an empty answer.
func (d Dialect) Quote(name string) string {
	if d == PostgreSQL {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
