package sqltabletest

import (
	"flag"
	"os"
	"testing"

	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/rowstest"
)

var (
	rowsCount = flag.Int("json-rows", 0, "how many random rows TestRows compares in total; 0 selects the default")
	rowsSeed  = flag.Uint64("json-seed", 1, "seed of the random rows")
)

// TestRows compares List and ListJSON over random rows of all kinds of columns. The gate compares 100,000.
func TestRows(t *testing.T) {
	rows := *rowsCount
	switch {
	case rows > 0:
	case os.Getenv("STOA_TEST") == "full":
		rows = 100_000
	default:
		rows = 12_000
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		rowstest.Run(t, e.OpenSchema(t), rows/3, *rowsSeed)
	})
}
