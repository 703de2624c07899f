package sqltabletest

import (
	"testing"

	"github.com/stoa-go/stoa/resource/sqltx"
	"github.com/stoa-go/stoa/resource/sqltx/sqltxtest"
)

func TestMain(m *testing.M) { sqltxtest.Main(m) }

// onEngines runs a test on each of the engines.
func onEngines(t *testing.T, test func(t *testing.T, e sqltxtest.Engine)) {
	t.Parallel()
	for _, e := range sqltxtest.Engines() {
		t.Run(e.Name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// exec runs statements that must not fail.
func exec(t testing.TB, db *sqltx.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(), s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
}
