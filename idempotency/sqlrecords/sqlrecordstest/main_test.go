package sqlrecordstest

import (
	"testing"

	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/idempotency/idempotencytest"
	"github.com/stoa-go/stoa/idempotency/sqlrecords"
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

// made returns a store in a table of its own.
func made(tb testing.TB, db *sqltx.DB) *sqlrecords.Store {
	tb.Helper()
	s := sqlrecords.New(db, nil)
	if err := s.CreateTable(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestKit(t *testing.T) {
	onEngines(t, func(t *testing.T, e sqltxtest.Engine) {
		idempotencytest.Run(t, func(t *testing.T) idempotency.Store { return made(t, e.Open(t, nil)) }, nil)
	})
}
