package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/history"
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
	if err := installPooler(ctx); err != nil {
		return err
	}
	shared, err := e.startPooler(ctx, 8)
	if err != nil {
		return err
	}
	for _, mode := range poolerModes {
		e.pool = func(source string) (string, error) { return shared.At(source, mode) }
		keys := &keyRun{engine: postgres, mode: keyModes[server.Together], requests: size(e, 150, 5000), kills: size(e, 2, 20),
			deadly: 0.01, double: 0.1}
		r, err := keys.run(ctx, e)
		if err != nil {
			return fmt.Errorf("%s: %w", mode, err)
		}
		r.title = mode + ": " + r.title
		if err := e.finish(r); err != nil {
			return err
		}
		feed := newFeedRun(postgres, server.Outbox)
		feed.title, feed.writes, feed.kills = mode+": a log in the database", size(e, 200, 5000), size(e, 1, 20)
		if err := errors.Join(e.runFeeds(ctx, feed), idleIsKept(ctx, feed.source)); err != nil {
			return err
		}
	}
	return e.defaultMode(ctx)
}

func installPooler(ctx context.Context) error {
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin")
	if _, err := exec.LookPath("pgbouncer"); err == nil {
		return nil
	}
	if out, err := exec.CommandContext(ctx, "../apt", "pgbouncer").CombinedOutput(); err != nil {
		return fmt.Errorf("cannot install PgBouncer: %w\n%s", err, out)
	}
	return nil
}

// startPooler starts a pooler before the PostgreSQL server of e.
func (e *env) startPooler(ctx context.Context, size int) (*database.Pooler, error) {
	e.pool = nil
	source, err := e.newDatabase(ctx, postgres)
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, source, "ALTER ROLE postgres SET idle_in_transaction_session_timeout = '"+poolerIdle+"'"); err != nil {
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
	return p, database.Retry(ctx, func(ctx context.Context) error { return execute(ctx, source, "SELECT 1") })
}

// execute runs a statement over a connection of its own.
func execute(ctx context.Context, source, statement string) error {
	pool, err := database.Pool(source, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	_, err = pool.ExecContext(ctx, statement)
	return err
}

// idleIsKept checks that no node has changed the setting of the database on a shared connection.
func idleIsKept(ctx context.Context, source string) error {
	pool, err := database.Pool(source, 1)
	if err != nil {
		return err
	}
	defer pool.Close()
	var got string
	if err := pool.QueryRowContext(ctx, "SHOW idle_in_transaction_session_timeout").Scan(&got); err != nil {
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
	source, err := e.newDatabase(ctx, postgres)
	if err != nil {
		return err
	}
	command := []string{"keyed", "-db", source}
	if _, err := e.startServer(ctx, 1, nil, command[0], command[1:]...); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	second := exec.CommandContext(limited, os.Args[0], append([]string{"server"}, command...)...)
	var stderr bytes.Buffer
	second.Stderr = &stderr
	err = second.Run()
	r := &result{Violations: &history.Violations{}, title: "control: the default mode of pgx"}
	r.line("the second node: %v: %s", err, strings.TrimSpace(stderr.String()))
	if err == nil || limited.Err() != nil {
		r.fail(errors.New("the second node starts, so this check cannot fail"))
	}
	if !strings.Contains(stderr.String(), "default_query_exec_mode=exec") {
		r.fail(errors.New("the error does not name the mode to use"))
	}
	return e.finish(r)
}
