package sqltabletest

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/job"
	"github.com/stoa-go/stoa/resource/sql/sqltable"
	"github.com/stoa-go/stoa/resource/sql/sqltest/internal/enginetest"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// TestJobsInATable: jobs in a table outlive their process, and those of a dead process are found.
func TestJobsInATable(t *testing.T) {
	enginetest.EachEngine(t, func(t *testing.T, e *enginetest.Engine) {
		db := e.OpenSchema(t)
		table := sqltable.New[job.Job](db, "jobs",
			&sqltable.Options{Index: []string{"state", "finishedAt"}, Forget: true})
		if err := table.CreateTable(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := time.Date(2026, 11, 20, 12, 0, 0, 123456000, time.UTC)
		opts := &job.Options{Now: func() time.Time { return now }, Keep: time.Hour, Lease: time.Hour,
			Principal: func(context.Context) string { return "ann" }}
		first := job.New("jobs", table.Ops(), opts)
		begin := func(do func(context.Context) (jsontext.Value, error)) (string, <-chan struct{}) {
			t.Helper()
			id, done, err := first.Start(t.Context(), "orders/sweep", do)
			if err != nil {
				t.Fatal(err)
			}
			return id, done
		}
		// jsonb does not support U+0000
		nul, done := begin(func(context.Context) (jsontext.Value, error) { return jsontext.Value(`{"a":"\u0000b"}`), nil })
		<-done
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(),
			"CREATE TABLE audits (job text REFERENCES jobs (id))"); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Writer(t.Context()).ExecContext(t.Context(),
			"INSERT INTO audits VALUES ('"+nul+"')"); err != nil {
			t.Fatal(err)
		}
		good, done := begin(func(context.Context) (jsontext.Value, error) { return jsontext.Value(`{"n":[1,2.5]}`), nil })
		<-done
		bad, done := begin(func(context.Context) (jsontext.Value, error) { return nil, resource.ErrForbidden })
		<-done
		end := make(chan struct{})
		hung, ended := begin(func(context.Context) (jsontext.Value, error) { <-end; return nil, nil })
		check := func(id string, want ...string) {
			t.Helper()
			v, err := first.Resource().Get(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			text, err := first.Resource().Type().Append(nil, v.Value)
			for _, part := range want {
				if err != nil || !strings.Contains(string(text), part) {
					t.Errorf("%s, %v: want %s", text, err, part)
				}
			}
		}
		check(nul, `"state":"succeeded"`, map[sqltx.Dialect]string{
			sqltx.SQLite: `"result":{"a":"\u0000b"}`, sqltx.PostgreSQL: `"result":{"a":"�b"}`}[db.Dialect()])
		check(good, `"state":"succeeded"`, `"result":{"n":[1,2.5]}`, `"createdAt":"2026-11-20T12:00:00.123456Z"`)
		check(bad, `"state":"failed"`, `"status":403`)
		check(hung, `"state":"running","createdAt"`, `"finishedAt":null`) // with neither a result nor a problem

		now = now.Add(2*time.Hour + time.Second)
		ops, removed := table.Ops(), 0
		remove := ops.Delete
		ctx, cancel := context.WithCancel(t.Context())
		ops.Delete = func(ctx context.Context, id string, rev resource.Rev) error {
			if removed++; removed == 3 {
				defer cancel()
			}
			return remove(ctx, id, rev)
		}
		second := job.New("jobs", ops, opts)
		if n, err := second.Recover(t.Context()); n != 1 || err != nil {
			t.Errorf("recovered %d, %v, want 1", n, err)
		}
		check(hung, `"state":"failed"`, "outcome-unknown")
		close(end)
		<-ended
		check(hung, `"state":"failed"`, "outcome-unknown")
		second.Run(ctx) // until it has deleted the jobs that are an hour old, except for the one with an audit
		if n, err := ops.Count(t.Context(), query.Query{}); n != 2 || err != nil {
			t.Errorf("%d jobs are left, %v, want 2", n, err)
		}
		check(nul)
		check(hung)
	})
}
