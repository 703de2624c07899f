package sqltabletest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

type event struct {
	ID   string    `json:"id"`
	At   time.Time `json:"at"`
	Name string    `json:"name"`
}

// TestUnkeepable sends what a schema allows and a table cannot keep: it is the client's fault, and nothing is left of it.
func TestUnkeepable(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) // what repeats itself is compressed
	long := make([]byte, 9000)
	for i := range long {
		long[i] = 'a' + byte(random.IntN(26))
	}
	tests := []struct {
		name, body string
		want       map[sqltx.Dialect]string
	}{
		{"a time with a year of five digits in UTC", `{"at":"9999-12-31T23:59:59-01:00","name":"x"}`,
			map[sqltx.Dialect]string{sqltx.SQLite: "422 invalid-content /at range", sqltx.PostgreSQL: "422 invalid-content /at range"}},
		{"a time before the year 0 in UTC", `{"at":"0000-01-01T00:00:00+01:00","name":"x"}`,
			map[sqltx.Dialect]string{sqltx.SQLite: "422 invalid-content /at range", sqltx.PostgreSQL: "422 invalid-content /at range"}},
		{"a text too long for the index", fmt.Sprintf(`{"at":"2026-01-01T00:00:00Z","name":"%s"}`, long),
			map[sqltx.Dialect]string{sqltx.SQLite: "201", sqltx.PostgreSQL: "422 invalid-content  range"}},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		table := sqltable.New[event](db, "events", &sqltable.Options{Index: []string{"name"}})
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		server := serve(t, nil, table.Ops().Resource("events", &resource.Options[event]{Query: table.Support(), Public: true}))
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				status, _, text := request(t, server.Client(), "POST", server.URL+"/events", tt.body)
				got := fmt.Sprint(status)
				if status >= 400 {
					got = summary(t, status, text)
				}
				if diff := cmp.Diff(tt.want[e.Dialect], got); diff != "" {
					t.Errorf("POST (-want +got):\n%s\n%s", diff, text[:min(len(text), 300)])
				}
				if status, _, text := request(t, server.Client(), "GET", server.URL+"/events", ""); status != 200 {
					t.Errorf("afterwards the list is %d: %s", status, text)
				}
			})
		}
	})
}

// TestDeferrableID asks Check about a key that ON CONFLICT does not take.
func TestDeferrableID(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, "CREATE TABLE notes (id text PRIMARY KEY DEFERRABLE, rev text NOT NULL)")
		err := sqltable.New[struct {
			ID string `json:"id"`
		}](db, "notes", &sqltable.Options{Forget: true}).Check(t.Context())
		if err == nil || !strings.Contains(err.Error(), "not unique") {
			t.Errorf("Check says %v", err)
		}
	})
}

// TestSwallowedInsert has a trigger that discards the row without an error.
func TestSwallowedInsert(t *testing.T) {
	triggers := map[sqltx.Dialect]string{
		sqltx.SQLite: "CREATE TRIGGER no BEFORE INSERT ON counted BEGIN SELECT RAISE(IGNORE); END",
		sqltx.PostgreSQL: `CREATE FUNCTION no() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
			CREATE TRIGGER no BEFORE INSERT ON counted FOR EACH ROW EXECUTE FUNCTION no()`,
	}
	type item struct {
		ID int64 `json:"id" readOnly:"true"`
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		table := sqltable.New[item](db, "counted", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, s := range strings.SplitAfter(triggers[e.Dialect], "plpgsql AS 'BEGIN RETURN NULL; END';") {
			enginetest.MustExec(t, db, s)
		}
		if it, err := table.Ops().Create(t.Context(), item{}); err == nil {
			t.Errorf("what is not there has been created: %+v", it)
		}
	})
}

// TestConnectionLost closes connections of PostgreSQL during a statement without a transaction. The
// outcome is unknown, and the error reports that.
func TestConnectionLost(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return
		}
		db := e.OpenSchema(t)
		table := sqltable.New[event](db, "events", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		enginetest.MustExec(t, db, `CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
			'BEGIN IF TG_OP = ''DELETE'' OR NEW.name = ''die'' THEN
				PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(10);
			END IF; RETURN NEW; END'`,
			"CREATE TRIGGER die BEFORE INSERT OR UPDATE OR DELETE ON events FOR EACH ROW EXECUTE FUNCTION die()")
		ops := table.Ops()
		it, err := ops.Create(t.Context(), event{Name: "x"})
		if err != nil {
			t.Fatal(err)
		}
		writes := map[string]func(ctx context.Context) error{
			"create": func(ctx context.Context) error { _, err := ops.Create(ctx, event{Name: "die"}); return err },
			"insert": func(ctx context.Context) error { _, err := ops.Insert(ctx, it.ID+"2", event{Name: "die"}); return err },
			"replace": func(ctx context.Context) error {
				_, err := ops.Replace(ctx, it.ID, it.Rev, event{Name: "die"})
				return err
			},
			"delete": func(ctx context.Context) error { return ops.Delete(ctx, it.ID, it.Rev) },
		}
		for name, write := range writes {
			t.Run(name, func(t *testing.T) {
				err := write(t.Context())
				if !errors.Is(err, sqltx.ErrOutcomeUnknown) {
					t.Errorf("by itself: %v", err)
				}
				if d := resource.Problem(err); d.Kind != "outcome-unknown" {
					t.Errorf("a client is told %v of %v", d.Kind, err)
				}
				err = db.InTx(t.Context(), write)
				if !errors.Is(err, resource.ErrUnavailable) || errors.Is(err, sqltx.ErrOutcomeUnknown) {
					t.Errorf("in a transaction, which is rolled back for sure: %v", err)
				}
			})
		}
	})
}

// TestDigits keeps integers that float64 has no place for, in what may be anything. Each is next to one that it has.
func TestDigits(t *testing.T) {
	type bag struct {
		ID  string `json:"id"`
		Any any    `json:"any"`
	}
	const body = `{"id":"a","any":[9007199254740993,-9007199254740993,9007199254740992,-9007199254740992,18446744073709551617,1.5]}`
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		table := sqltable.New[bag](e.OpenSchema(t), "bags", nil)
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		server := serve(t, nil, table.Ops().Resource("bags", &resource.Options[bag]{Public: true}))
		for _, method := range []string{"PUT", "GET"} {
			_, _, text := request(t, server.Client(), method, server.URL+"/bags/a", body)
			if diff := cmp.Diff(body, text); diff != "" {
				t.Errorf("%s (-want +got):\n%s", method, diff)
			}
		}
	})
}
