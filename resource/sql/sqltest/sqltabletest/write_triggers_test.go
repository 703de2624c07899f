package sqltabletest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/stoa-go/stoa/query/graphql"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/problem"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// gadget is an item of a table with triggers.
type gadget struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// gadgets creates the table, where triggers log what they do, and one row.
func gadgets(d sqltx.Dialect) []string {
	at := map[sqltx.Dialect]string{sqltx.PostgreSQL: "timestamptz", sqltx.SQLite: "TEXT"}[d]
	return []string{"CREATE TABLE gadgets (id text PRIMARY KEY, name text NOT NULL, rev text NOT NULL DEFAULT 'r', deleted_at " + at + ")",
		"INSERT INTO gadgets (id, name) VALUES ('a', 'old')", "CREATE TABLE effects (name text)"}
}

// pgTrigger and liteTrigger return the statements of a trigger with a side effect and a body.
func pgTrigger(when, body string) []string {
	return []string{"CREATE FUNCTION act() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN INSERT INTO effects VALUES ('secret'); " + body + " END $$",
		"CREATE TRIGGER secret " + when + " ON gadgets FOR EACH ROW EXECUTE FUNCTION act()"}
}

func liteTrigger(when, body string) []string {
	return []string{"CREATE TRIGGER secret " + when + " ON gadgets BEGIN INSERT INTO effects VALUES ('secret'); " + body + " END"}
}

// TestRule089NotApplied: a write that a trigger or a rule turns into something else is 409, is not repeated, and
// leaves no side effects.
func TestRule089NotApplied(t *testing.T) {
	const dropped = ` RETURN/**/NULL;` // not found by its text
	const deletedLite = "UPDATE gadgets SET deleted_at = '2026-01-02T03:04:05.000000000Z'"
	tests := []struct {
		name         string
		pg, lite     []string
		opts         sqltable.Options
		method, path string
		status       int
		effects      int // one if the trigger is not known to drop writes
		after        int // the status of a GET
	}{
		{name: "update", pg: pgTrigger("BEFORE UPDATE", "RETURN NULL;"), lite: liteTrigger("BEFORE UPDATE", "SELECT RAISE(IGNORE);"),
			method: "PATCH", path: "/a", status: 409, after: 200},
		{name: "update, not known", pg: pgTrigger("BEFORE UPDATE", dropped), method: "PATCH", path: "/a", status: 409, effects: 1, after: 200},
		{name: "update by a rule", pg: []string{"CREATE RULE secret AS ON UPDATE TO gadgets DO INSTEAD INSERT INTO effects VALUES ('secret')"},
			opts: sqltable.Options{Rev: sqltable.XMin}, method: "PATCH", path: "/a", status: 409, after: 200},
		{name: "delete by a rule", pg: []string{"CREATE RULE secret AS ON DELETE TO gadgets DO INSTEAD INSERT INTO effects VALUES ('secret')"},
			method: "DELETE", path: "/a", status: 409, after: 200},
		{name: "delete", pg: pgTrigger("BEFORE DELETE", "RETURN NULL;"), lite: liteTrigger("BEFORE DELETE", "SELECT RAISE(IGNORE);"),
			method: "DELETE", path: "/a", status: 409, after: 200},
		{name: "delete that hides the row by another column",
			pg: pgTrigger("BEFORE DELETE", "UPDATE gadgets SET name = 'deleted' WHERE id = OLD.id;"+dropped), opts: sqltable.Options{Rev: sqltable.XMin},
			method: "DELETE", path: "/a", status: 409, after: 200},
		{name: "delete that removes the row itself, not known",
			pg:     pgTrigger("BEFORE DELETE", "IF pg_trigger_depth() > 1 THEN RETURN OLD; END IF; DELETE FROM gadgets WHERE id = OLD.id;"+dropped),
			method: "DELETE", path: "/a", status: 204, effects: -1, after: 410},
		{name: "delete that removes the row itself",
			pg:     pgTrigger("BEFORE DELETE", "IF pg_trigger_depth() > 1 THEN RETURN OLD; END IF; DELETE FROM gadgets WHERE id = OLD.id; RETURN NULL;"),
			lite:   liteTrigger("BEFORE DELETE", "DELETE FROM gadgets WHERE id = OLD.id; SELECT RAISE(IGNORE);"),
			method: "DELETE", path: "/a", status: 204, effects: -1, after: 410},
		{name: "soft delete by the trigger", opts: sqltable.Options{SoftDelete: "deleted_at"},
			pg: pgTrigger("BEFORE UPDATE", "IF pg_trigger_depth() > 1 THEN RETURN NEW; END IF; "+
				"UPDATE gadgets SET deleted_at = now() WHERE id = OLD.id; RETURN NULL;"),
			method: "DELETE", path: "/a", status: 204, effects: -1, after: 410},
		{name: "restore", opts: sqltable.Options{SoftDelete: "deleted_at"},
			pg:     append([]string{"UPDATE gadgets SET deleted_at = now()"}, pgTrigger("BEFORE UPDATE", "RETURN NULL;")...),
			lite:   append([]string{deletedLite}, liteTrigger("BEFORE UPDATE", "SELECT RAISE(IGNORE);")...),
			method: "POST", path: "/a/restore", status: 409, after: 410},
		{name: "restore, not known", opts: sqltable.Options{SoftDelete: "deleted_at"},
			pg:     append([]string{"UPDATE gadgets SET deleted_at = now()"}, pgTrigger("BEFORE UPDATE", dropped)...),
			method: "POST", path: "/a/restore", status: 409, after: 410}, // in a transaction, which is rolled back
		{name: "insert", pg: pgTrigger("BEFORE INSERT", "RETURN NULL;"), lite: liteTrigger("BEFORE INSERT", "SELECT RAISE(IGNORE);"),
			method: "PUT", path: "/b", status: 409, after: 404},
		{name: "insert, not known", pg: pgTrigger("BEFORE INSERT", dropped), method: "POST", path: "", status: 409, effects: 1, after: 404},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			statements := tt.pg
			if e.Dialect == sqltx.SQLite {
				statements = tt.lite
			}
			if statements == nil {
				continue
			}
			t.Run(tt.name, func(t *testing.T) {
				db := e.OpenSchema(t)
				enginetest.MustExec(t, db, append(gadgets(e.Dialect), statements...)...)
				table := sqltable.New[gadget](db, "gadgets", &tt.opts)
				if table.Ops().Deleted != nil && tt.opts.SoftDelete == "" {
					at := map[sqltx.Dialect]string{sqltx.PostgreSQL: "timestamptz", sqltx.SQLite: "TEXT"}[e.Dialect]
					enginetest.MustExec(t, db, "CREATE TABLE gadgets_deleted (id text PRIMARY KEY, deleted_at "+at+" NOT NULL)")
				}
				r := table.Ops().Resource("gadgets", &resource.Options[gadget]{Public: true, HooksOutsideTx: true,
					Restore: tt.opts.SoftDelete != ""})
				server := serve(t, nil, r)
				body := `{"name":"new"}`
				if tt.method == http.MethodDelete || strings.HasSuffix(tt.path, "/restore") {
					body = ""
				}
				status, _, text := request(t, server.Client(), tt.method, server.URL+"/gadgets"+tt.path, body)
				if status != tt.status || strings.Contains(text, "secret") || status == 409 && !strings.Contains(text, `"notApplied"`) {
					t.Errorf("%d %s, want %d", status, text, tt.status)
				}
				if got := effects(t, db); tt.effects >= 0 && got != tt.effects {
					t.Errorf("%d side effects, want %d", got, tt.effects)
				}
				path := strings.TrimSuffix(tt.path, "/restore")
				if path == "" {
					path = "/b"
				}
				if status, _, text := request(t, server.Client(), "GET", server.URL+"/gadgets"+path, ""); status != tt.after {
					t.Errorf("GET: %d %s, want %d", status, text, tt.after)
				}
			})
		}
	})
}

// TestNotAppliedInGraphQL: a write that a trigger drops has the code notApplied in GraphQL, and its error
// names neither the table nor the trigger.
func TestNotAppliedInGraphQL(t *testing.T) {
	tests := []struct{ name, when, mutation string }{
		{"create", "BEFORE INSERT", `createGadget(input: {id: "b", name: "new"}) { id }`},
		{"replace", "BEFORE UPDATE", `replaceGadget(id: "a", input: {name: "new"}) { id }`},
		{"patch", "BEFORE UPDATE", `patchGadget(id: "a", input: {name: "new"}) { id }`},
		{"delete", "BEFORE DELETE", `deleteGadget(id: "a") { id }`},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				statements := pgTrigger(tt.when, "RETURN NULL;")
				if e.Dialect == sqltx.SQLite {
					statements = liteTrigger(tt.when, "SELECT RAISE(IGNORE);")
				}
				db := e.OpenSchema(t)
				statements = append(gadgets(e.Dialect), statements...)
				enginetest.MustExec(t, db, append(statements, "CREATE TABLE gadgets_deleted (id text PRIMARY KEY, deleted_at "+
					map[sqltx.Dialect]string{sqltx.PostgreSQL: "timestamptz", sqltx.SQLite: "TEXT"}[e.Dialect]+" NOT NULL)")...)
				things := sqltable.New[gadget](db, "gadgets", nil).Ops().Resource("things",
					&resource.Options[gadget]{Public: true})
				h := graphql.New(resource.NewCatalog(nil, things), nil)
				res := h.Execute(t.Context(), graphql.Request{Query: "mutation { write: " + tt.mutation + " }"})
				got, err := json.Marshal(res)
				if err != nil {
					t.Fatal(err)
				}
				argument := `"argument":"input",`
				if tt.name == "delete" {
					argument = ""
				}
				want := `{"errors":[{"message":"The database did not apply the write.",` +
					`"locations":[{"line":1,"column":12}],"path":["write"],"extensions":{"code":"CONFLICT",` +
					`"errors":[{` + argument + `"code":"notApplied","detail":"the database did not apply the write","pointer":""}],` +
					`"type":"https://stoa-go.github.io/problems/conflict"}}],"data":{"write":null}}`
				if diff := cmp.Diff(want, string(got)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			})
		}
	})
}

// effects returns how often triggers have run.
func effects(t *testing.T, db *sqltx.DB) (n int) {
	t.Helper()
	rows, err := db.Writer(t.Context()).QueryContext(t.Context(), "SELECT count(*) FROM effects")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	if !rows.Next() {
		t.Fatal(rows.Err())
	}
	if err := rows.Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

// TestNotAppliedInTransaction: the side effects are rolled back and the rest of a transaction is not.
func TestNotAppliedInTransaction(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		statements := pgTrigger("BEFORE UPDATE", "RETURN NULL;")
		if e.Dialect == sqltx.SQLite {
			statements = liteTrigger("BEFORE UPDATE", "SELECT RAISE(IGNORE);")
		}
		enginetest.MustExec(t, db, append(gadgets(e.Dialect), statements...)...)
		ops := sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true}).Ops()
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			it, err := ops.Get(ctx, "a")
			if err != nil {
				return err
			}
			_, err = ops.Replace(ctx, "a", it.Rev, gadget{"a", "new"})
			var d *problem.Details
			if !errors.As(err, &d) || d.StatusCode() != 409 {
				t.Errorf("Replace: %v", err)
			}
			_, err = ops.Insert(ctx, "b", gadget{"b", "kept"})
			return err
		})
		if _, got := ops.Get(t.Context(), "b"); err != nil || got != nil || effects(t, db) != 0 {
			t.Errorf("%v, %v, %d side effects", err, got, effects(t, db))
		}
	})
}

// TestNotAppliedLater: a rule that was created after the triggers were read is found after one failure.
func TestNotAppliedLater(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return // SQLite has no rules
		}
		db := e.OpenSchema(t)
		enginetest.MustExec(t, db, gadgets(e.Dialect)...)
		ops := sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true}).Ops()
		it, err := ops.Replace(t.Context(), "a", "r", gadget{"a", "first"})
		if err != nil {
			t.Fatal(err)
		}
		enginetest.MustExec(t, db, "CREATE RULE secret AS ON UPDATE TO gadgets DO INSTEAD INSERT INTO effects VALUES ('secret')")
		var got [2]int
		for i := range got {
			_, err := ops.Replace(t.Context(), "a", it.Rev, gadget{"a", "second"})
			got[i] = resource.Problem(err).StatusCode()
		}
		if want := [2]int{500, 409}; got != want || effects(t, db) != 0 {
			t.Errorf("%v and %d side effects, want %v and none", got, effects(t, db), want)
		}
	})
}

// TestLockedWrites: other writers are not mistaken for a trigger that drops writes. Each write locks the row,
// because the trigger may drop one.
func TestLockedWrites(t *testing.T) {
	const writers, writes = 4, 10
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		statements := pgTrigger("BEFORE UPDATE", "IF NEW.name = 'never' THEN RETURN NULL; END IF; RETURN NEW;")
		if e.Dialect == sqltx.SQLite {
			statements = liteTrigger("BEFORE UPDATE", "SELECT RAISE(IGNORE) WHERE NEW.name = 'never';")
		}
		enginetest.MustExec(t, db, append(gadgets(e.Dialect), statements...)...)
		ops := sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true}).Ops()
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for done := 0; done < writes; {
					it, err := ops.Get(t.Context(), "a")
					if err == nil {
						_, err = ops.Replace(t.Context(), "a", it.Rev, gadget{"a", it.Value.Name + "+"})
					}
					switch {
					case err == nil:
						done++
					case !errors.Is(err, resource.ErrStale):
						t.Error(err)
						return
					}
				}
			})
		}
		group.Wait()
		it, err := ops.Get(t.Context(), "a")
		if want := "old" + strings.Repeat("+", writers*writes); err != nil || it.Value.Name != want || effects(t, db) != writers*writes {
			t.Errorf("%q and %d side effects, %v; want %q", it.Value.Name, effects(t, db), err, want)
		}
	})
}

// TestCheckTriggers warns of triggers and rules that may drop a write.
func TestCheckTriggers(t *testing.T) {
	warning := func(name, statement string) string {
		return "the trigger or rule " + name + " may drop writes: " + statement + " then fails with the code notApplied"
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		statements := append(pgTrigger("BEFORE INSERT OR UPDATE", "IF NEW.name = '' THEN RETURN NULL; END IF; RETURN NEW;"),
			"CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'",
			"CREATE TRIGGER harmless BEFORE UPDATE ON gadgets FOR EACH ROW EXECUTE FUNCTION keep()",
			"CREATE FUNCTION after() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'",
			"CREATE TRIGGER after AFTER DELETE ON gadgets FOR EACH ROW EXECUTE FUNCTION after()",
			"CREATE TRIGGER redundant BEFORE UPDATE ON gadgets FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			"CREATE RULE rule AS ON DELETE TO gadgets DO INSTEAD NOTHING",
			"CREATE RULE also AS ON DELETE TO gadgets DO ALSO NOTHING")
		want := []string{warning("redundant", "UPDATE"), warning("rule", "DELETE"), warning("secret", "INSERT"), warning("secret", "UPDATE")}
		if e.Dialect == sqltx.SQLite {
			statements = append(liteTrigger("UPDATE OF name", "SELECT CASE NEW.name WHEN '' THEN RAISE(IGNORE) END;"),
				"CREATE TRIGGER harmless BEFORE DELETE ON gadgets BEGIN SELECT RAISE(ABORT, 'RAISE(IGNORE)') WHERE OLD.name = 'kept'; END",
				"CREATE TRIGGER after AFTER INSERT ON gadgets BEGIN INSERT INTO effects VALUES ('RAISE(IGNORE)'); /* RAISE(IGNORE) */ END")
			want = []string{warning("secret", "UPDATE")}
		}
		enginetest.MustExec(t, db, append(gadgets(e.Dialect), statements...)...)
		warned, faults := warningsOf(t, sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true}))
		if diff := cmp.Diff(want, warned); diff != "" || faults != nil {
			t.Errorf("Check: %v, warnings (-want +got):\n%s", faults, diff)
		}
	})
}

// TestNotAppliedLog: the log names the trigger.
func TestNotAppliedLog(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	db := sqltest.Engines()[0].Open(t, nil)
	enginetest.MustExec(t, db, append(gadgets(sqltx.SQLite), liteTrigger("BEFORE UPDATE", "SELECT RAISE(IGNORE);")...)...)
	ops := sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true}).Ops()
	if _, err := ops.Replace(t.Context(), "a", "r", gadget{"a", "new"}); resource.Problem(err).StatusCode() != 409 {
		t.Errorf("Replace: %v", err)
	}
	if text := log.String(); !strings.Contains(text, "triggers=[secret]") || !strings.Contains(text, "table=gadgets") {
		t.Errorf("the log is %s", text)
	}
}

// TestStalePlanIsNoTrigger: a write with a stale plan, which is repeated, is not logged as one that a trigger has dropped.
func TestStalePlanIsNoTrigger(t *testing.T) {
	var log bytes.Buffer
	old := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	defer slog.SetDefault(old)
	for _, e := range sqltest.Engines() {
		if e.Dialect != sqltx.PostgreSQL {
			continue
		}
		db := e.Open(t, nil)
		enginetest.MustExec(t, db, append(gadgets(e.Dialect),
			pgTrigger("BEFORE UPDATE", "IF NEW.name = '' THEN RETURN NULL; END IF; RETURN NEW;")...)...)
		ops := sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true}).Ops()
		runs := 0
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			runs++
			item, err := ops.Replace(ctx, "a", "r", gadget{"a", "new"})
			if err != nil {
				return err
			}
			if runs == 1 {
				if _, err := db.Writer(ctx).ExecContext(ctx, "ALTER TABLE gadgets ALTER name TYPE varchar(20)"); err != nil {
					return err
				}
			}
			_, err = ops.Replace(ctx, "a", item.Rev, gadget{"a", "newer"})
			return err
		})
		if err != nil || runs != 2 {
			t.Errorf("%v after %d runs, want 2", err, runs)
		}
	}
	if log.Len() > 0 {
		t.Errorf("the log is %s", &log)
	}
}

// TestAfterTrigger: body and tag of a write are those of the row, whatever a trigger does after it.
func TestAfterTrigger(t *testing.T) {
	tests := []struct {
		name     string
		pg, lite string
		opts     sqltable.Options
	}{
		{name: "value", pg: "IF pg_trigger_depth() = 1 THEN UPDATE gadgets SET name = upper(name) WHERE id = NEW.id; END IF; RETURN NULL;",
			lite: "UPDATE gadgets SET name = upper(name) WHERE id = NEW.id;"},
		{name: "revision", pg: "IF pg_trigger_depth() = 1 THEN UPDATE gadgets SET rev = rev || 'x' WHERE id = NEW.id; END IF; RETURN NULL;",
			lite: "UPDATE gadgets SET rev = rev || 'x' WHERE id = NEW.id;"},
		{name: "content", opts: sqltable.Options{Rev: sqltable.Content},
			pg:   "IF pg_trigger_depth() = 1 THEN UPDATE gadgets SET name = upper(name) WHERE id = NEW.id; END IF; RETURN NULL;",
			lite: "UPDATE gadgets SET name = upper(name) WHERE id = NEW.id;"},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db := e.OpenSchema(t)
				statements := pgTrigger("AFTER INSERT OR UPDATE", tt.pg)
				if e.Dialect == sqltx.SQLite {
					statements = []string{"CREATE TRIGGER one AFTER INSERT ON gadgets BEGIN " + tt.lite + " END",
						"CREATE TRIGGER two AFTER UPDATE ON gadgets BEGIN " + tt.lite + " END"}
				}
				enginetest.MustExec(t, db, append(gadgets(e.Dialect), statements...)...)
				tt.opts.Forget = true
				ops := sqltable.New[gadget](db, "gadgets", &tt.opts).Ops()
				made, err := ops.Insert(t.Context(), "b", gadget{"b", "made"})
				if err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"first", "second"} {
					read, err := ops.Get(t.Context(), "b")
					if diff := cmp.Diff(read, made); diff != "" || err != nil {
						t.Errorf("%v (-read +written):\n%s", err, diff)
					}
					if made, err = ops.Replace(t.Context(), "b", made.Rev, gadget{"b", name}); err != nil {
						t.Fatal(err)
					}
				}
			})
		}
	})
}
