package sqltabletest

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestRaised: a RAISE is 422, with its text if the program allows that, or what the program makes of it.
func TestRaised(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		statements := pgTrigger("BEFORE INSERT OR UPDATE OR DELETE", "RAISE EXCEPTION 'too late';")
		if e.Dialect == sqltx.SQLite {
			statements = nil
			for _, event := range []string{"INSERT", "UPDATE", "DELETE"} {
				statements = append(statements, fmt.Sprintf(
					"CREATE TRIGGER %s_late BEFORE %[1]s ON gadgets BEGIN SELECT RAISE(ABORT, 'too late'); END", event))
			}
		}
		own := func(err error) error {
			if strings.Contains(err.Error(), "too late") {
				return resource.Invalid("name", "late")
			}
			return nil
		}
		tests := []struct {
			name   string
			texts  bool
			fault  func(error) error
			detail string // of the first error
		}{
			{"without its text", false, nil, "The database rejects the content."},
			{"with its text", true, nil, "too late"},
			{"mapped", true, own, "name is not valid (late)"},
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db := e.Open(t, &sqltx.Options{Fault: tt.fault})
				enginetest.MustExec(t, db, append(gadgets(e.Dialect), statements...)...)
				ops := sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true, RaisedTexts: tt.texts}).Ops()
				it, err := ops.Get(t.Context(), "a")
				if err != nil {
					t.Fatal(err)
				}
				_, inserted := ops.Insert(t.Context(), "b", gadget{"b", "x"})
				_, replaced := ops.Replace(t.Context(), "a", it.Rev, gadget{"a", "x"})
				many := ops.InsertMany(t.Context(), []resource.Item[gadget]{{ID: "b", Value: gadget{"b", "x"}}})
				for i, err := range []error{inserted, replaced, many, ops.Delete(t.Context(), "a", it.Rev)} {
					d := resource.Problem(err)
					if d.StatusCode() != 422 || len(d.Errors) != 1 || d.Errors[0].Detail != tt.detail {
						t.Errorf("%d: %d %+v of %v, want 422 %s", i, d.StatusCode(), d.Errors, err, tt.detail)
					}
				}
			})
		}
	})
}

// TestRule138SQLStates: the status of an error by its SQLSTATE.
func TestRule138SQLStates(t *testing.T) {
	tests := []struct {
		name, state string
		status      int
		retryAfter  bool
	}{
		{"statement_timeout", "57014", 503, true},
		{"idle_session_timeout", "57P05", 503, true},
		{"transaction_timeout", "25P04", 503, true},
		{"no privilege", "42501", 403, false},
		{"a data exception", "22000", 422, false},
		{"a text that is no value of the type", "22P02", 422, false},
		{"an error of the program", "P0002", 500, false},
	}
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		if e.Dialect != sqltx.PostgreSQL {
			return // RAISE of SQLite has no code
		}
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				db := e.OpenSchema(t)
				enginetest.MustExec(t, db, append(gadgets(e.Dialect), pgTrigger("BEFORE INSERT OR UPDATE OR DELETE",
					"RAISE EXCEPTION 'secret' USING ERRCODE = '"+tt.state+"';")...)...)
				table := sqltable.New[gadget](db, "gadgets", &sqltable.Options{Forget: true, RaisedTexts: true})
				r := table.Ops().Resource("gadgets", &resource.Options[gadget]{Public: true, HooksOutsideTx: true})
				server := serve(t, nil, r)
				for _, sent := range [][3]string{{"POST", "", `{"id":"b","name":"x"}`}, {"PUT", "/b", `{"name":"x"}`},
					{"PATCH", "/a", `{"name":"x"}`}, {"DELETE", "/a", ""}} {
					status, header, text := request(t, server.Client(), sent[0], server.URL+"/gadgets"+sent[1], sent[2])
					if status != tt.status || (header.Get("Retry-After") != "") != tt.retryAfter || strings.Contains(text, "secret") {
						t.Errorf("%s: %d %s, want %d", sent[0], status, text, tt.status)
					}
				}
			})
		}
	})
}
