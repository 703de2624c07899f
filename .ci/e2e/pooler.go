package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/server"
)

// The scenario pgbouncer runs small forms of the scenarios keys and feed with PgBouncer in transaction mode between the nodes and
// PostgreSQL, in each mode of pgx that works with it. The control is the default mode of pgx: the second node must not start, and
// its error has to name the mode to use.

// poolerModes are the values of default_query_exec_mode that work with a pooler in transaction mode.
var poolerModes = []string{"exec", "cache_describe", "simple_protocol"}

// poolerIdle is set for the role of the nodes, as the documentation of sqltx.Options.Idle recommends.
const poolerIdle = "45s"

func pgbouncer(ctx context.Context, e *env) error {
	if err := install(ctx, []string{"pgbouncer"}, "pgbouncer"); err != nil {
		return err
	}
	shared, err := e.startPooler(ctx, 8)
	if err != nil {
		return err
	}
	for _, mode := range poolerModes {
		e.pool = func(source string) (string, error) { return shared.At(source, mode) }
		keys := newKeyLoad(postgres, server.Together, size(e, 150, 5000), size(e, 2, 20), 0, 0.01)
		keys.title = mode + ": " + keys.title
		feed := newFeedLoad(postgres, server.Outbox, mode+": a log in the database")
		feed.writes, feed.faults = size(e, 200, 5000), []fault{feed.killNodes(size(e, 1, 20))}
		if err := e.try(ctx, keys, &feed.trial); err != nil {
			return err
		}
		if err := idleIsKept(ctx, feed.source); err != nil {
			return err
		}
	}
	return e.defaultMode(ctx)
}

// startPooler starts a pooler before the PostgreSQL server of e.
func (e *env) startPooler(ctx context.Context, size int) (*database.Pooler, error) {
	e.pool = nil
	source, err := e.newDatabase(ctx, postgres)
	if err != nil {
		return nil, err
	}
	set := "ALTER ROLE postgres SET idle_in_transaction_session_timeout = '" + poolerIdle + "'"
	if err := database.Ask(ctx, source, set); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(e.dir, "pooler")
	if err != nil {
		return nil, err
	}
	p, err := e.postgres.StartPooler(dir, size, e.log)
	if err != nil {
		return nil, err
	}
	e.closers = append(e.closers, p.Stop)
	if source, err = p.At(source, "exec"); err != nil {
		return nil, err
	}
	return p, database.Retry(ctx, func(ctx context.Context) error { return database.Ask(ctx, source, "SELECT 1") })
}

// idleIsKept checks that no node has changed the setting of the database on a shared connection.
func idleIsKept(ctx context.Context, source string) error {
	var got string
	if err := database.Ask(ctx, source, "SHOW idle_in_transaction_session_timeout", &got); err != nil {
		return err
	}
	if got != poolerIdle {
		return fmt.Errorf("idle_in_transaction_session_timeout is %s, want %s", got, poolerIdle)
	}
	return nil
}

// defaultMode starts two nodes in the default mode of pgx, over one connection to PostgreSQL.
func (e *env) defaultMode(ctx context.Context) error {
	p, err := e.startPooler(ctx, 1)
	if err != nil {
		return err
	}
	e.pool = func(source string) (string, error) { return p.At(source, "cache_statement") }
	t := &trial{title: "control: the default mode of pgx", engine: postgres, nodes: 1, command: []string{"keyed"}}
	t.do = func(ctx context.Context) error {
		limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
		defer cancel()
		second := exec.CommandContext(limited, os.Args[0], "server", "keyed", "-db", t.source)
		var stderr bytes.Buffer
		second.Stderr = &stderr
		err := second.Run()
		t.line("the second node: %v: %s", err, strings.TrimSpace(stderr.String()))
		t.failIf(err == nil || limited.Err() != nil, "the second node starts, so this check cannot fail")
		t.failIf(!strings.Contains(stderr.String(), "default_query_exec_mode=exec"), "the error does not name the mode to use")
		return nil
	}
	return e.try(ctx, t)
}
