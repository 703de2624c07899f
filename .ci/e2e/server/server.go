// Package server has the servers under test that the scenarios start besides the shop. Each runs in a process of its own, as
// "e2e server KIND FLAGS", so that it can be killed and its memory measured.
//
// things.go serves a collection whose events subscribers receive, keyed.go writes with idempotency keys, where steps.go can kill
// the process at each step of a write, doctors.go a collection with hooks that read other items, tasks.go one that two releases of a
// program serve, and notes.go one for slow clients.
package server

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/idempotency"
	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/sql/sqlrecords"
	"github.com/stoa-go/stoa/resource/sql/sqltx"
)

// kinds are the servers.
var kinds = map[string]func(ctx context.Context, p *program) error{
	"things": runThings, "keyed": runKeyed, "doctors": runDoctors, "tasks": runTasks, "notes": runNotes,
	"strip-vary": runStripVary, "long-links": runLongLinks,
}

// program is the arguments, the log and the output of a server.
type program struct {
	*flag.FlagSet
	args   []string
	logger *slog.Logger
	out    io.Writer
}

// Run runs a server until ctx is done: args are its kind and flags. It prints its address to out.
func Run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || kinds[args[0]] == nil {
		return fmt.Errorf("server: %q is not one of %v", args, slices.Sorted(maps.Keys(kinds)))
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	return kinds[args[0]](ctx, &program{flag.NewFlagSet(args[0], flag.ContinueOnError), args[1:], logger, out})
}

// parse parses the flags, of which -db is required, and returns it. A database that begins with "-" is a flag without a value.
func (p *program) parse() (db string, err error) {
	p.StringVar(&db, "db", "", "`database`: a file, or postgres:///...")
	if err := p.Parse(p.args); err != nil {
		return "", err
	}
	if db == "" || strings.HasPrefix(db, "-") {
		return "", fmt.Errorf("server: invalid database %q", db)
	}
	return db, nil
}

// open parses the flags and opens the database. opts are those of database.Open, and may be flags.
func (p *program) open(opts *sqltx.Options) (*sqltx.DB, error) {
	source, err := p.parse()
	if err != nil {
		return nil, err
	}
	return database.Open(source, opts)
}

// keyedCatalogOptions are those of a catalog with keys in a table, which all belong to one caller.
func (p *program) keyedCatalogOptions(records *sqlrecords.Store) *resource.CatalogOptions {
	return &resource.CatalogOptions{
		Idempotency: idempotency.New(records, &idempotency.Options{Quota: -1, Logger: p.logger}),
		Principal:   onePrincipal,
		Logger:      p.logger,
	}
}

func onePrincipal(context.Context) string { return "e2e" }

// serve serves on a free port, with the limits of middleware.
func (p *program) serve(ctx context.Context, h http.Handler) error {
	listener, err := p.listen()
	if err != nil {
		return err
	}
	return middleware.Serve(ctx, middleware.Server(h, nil), listener, nil)
}

func (p *program) listen() (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Fprintf(p.out, "e2e: listening on http://%s\n", listener.Addr())
	}
	return listener, err
}
