package sqltabletest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/rowstest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// odd has a column for each encoder, in a table of SQLite without types.
type odd struct {
	ID     string         `json:"id"`
	Text   string         `json:"text"`
	TextN  *string        `json:"textN,omitempty"`
	Tiny   int8           `json:"tiny"`
	Uint   uint8          `json:"uint,omitzero"`
	Float  float64        `json:"float,omitzero"`
	Single *float32       `json:"single"`
	Flag   bool           `json:"flag"`
	At     time.Time      `json:"at"`
	Born   string         `json:"born" format:"date"`
	Price  string         `json:"price" format:"decimal" precision:"9,2"`
	Bytes  []byte         `json:"bytes"`
	Fixed  [2]byte        `json:"fixed"`
	Data   map[string]any `json:"data"`
}

// oddValues are of each storage class, valid for some columns only.
var oddValues = []string{
	"NULL", "0", "1", "-1", "300", "10000000000", "9223372036854775807", "1.5", "-0.0", "1e300", "9e999",
	"''", "'text'", "'12'", "'-12'", "'1.5'", "'true'", "'NaN'", "'é\"'", "CAST(x'80' AS TEXT)", "x''", "x'3132'",
	"x'c3a9'", "x'80ff'", "'2026-11-25T12:00:00Z'", "'2026-11-25T12:00:00.123456789Z'", "'10000-01-01T00:00:00Z'",
	"'2026-11-25'", "'{\"b\": 1, \"a\": [ ]}'", "'{\"a\":1e999}'", "'null'", "'[]'", "'{'",
}

// TestRowsOfOtherTypes stores each value in each column. ListJSON returns the JSON or the error of List.
func TestRowsOfOtherTypes(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.SQLite {
			return
		}
		db := e.OpenSchema(t)
		columns := "text textN tiny uint float single flag at born price bytes fixed data"
		good := "'t', 'n', 1, 2, 1.5, 2.5, 1, '2026-11-25T12:00:00Z', '2026-11-25', 1.25, x'01', x'0102', '{}'"
		enginetest.MustExec(t, db, "CREATE TABLE odds (id TEXT PRIMARY KEY, text, text_n, tiny, uint, float, single, flag, "+
			"at, born, price, bytes, fixed, data, rev TEXT NOT NULL DEFAULT 'r')")
		table := sqltable.New[odd](db, "odds", &sqltable.Options{ReadOnly: true, Rev: "rev"})
		ops := table.Ops()
		for _, field := range strings.Fields(columns) {
			column := strings.Replace(field, "textN", "text_n", 1)
			for i, value := range oddValues {
				id := fmt.Sprintf("%s %d", field, i)
				enginetest.MustExec(t, db, "INSERT INTO odds SELECT '"+id+"', "+good+", 'r'",
					"UPDATE odds SET "+column+" = "+value+" WHERE id = '"+id+"'")
				rowstest.CheckList(t, t.Context(), ops, query.Query{Filter: query.Where("id", query.Eq, id)})
			}
		}
		rowstest.CheckList(t, t.Context(), ops, query.Query{Sort: []query.Order{{Field: "id"}}})
	})
}
