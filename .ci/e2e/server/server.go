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
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/stoa-go/stoa/middleware"
)

// Run runs a server until ctx is done: args are its kind and flags. It prints its address to out.
func Run(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("server: want a kind: things, keyed, doctors, tasks, notes, strip-vary or long-links")
	}
	logger := slog.New(slog.NewTextHandler(os.Stderr, nil))
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	switch kind := args[0]; kind {
	case "things":
		return runThings(ctx, flags, args[1:], logger, out)
	case "keyed":
		return runKeyed(ctx, flags, args[1:], logger, out)
	case "doctors":
		return runDoctors(ctx, flags, args[1:], logger, out)
	case "tasks":
		return runTasks(ctx, flags, args[1:], logger, out)
	case "notes":
		return runNotes(ctx, flags, args[1:], out)
	case "strip-vary":
		return runStripVary(ctx, flags, args[1:], out)
	case "long-links":
		return runLongLinks(ctx, flags, args[1:], out)
	default:
		return fmt.Errorf("server: unknown kind %q", kind)
	}
}

// parse parses flags of which -db is required. A database that begins with "-" is a flag without a value.
func parse(flags *flag.FlagSet, args []string, db *string) error {
	flags.StringVar(db, "db", "", "`database`: a file, or postgres:///...")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *db == "" || strings.HasPrefix(*db, "-") {
		return fmt.Errorf("server: invalid database %q", *db)
	}
	return nil
}

// serve serves on a free port, with the limits of middleware.
func serve(ctx context.Context, h http.Handler, out io.Writer) error {
	listener, err := listen(out)
	if err != nil {
		return err
	}
	return middleware.Serve(ctx, middleware.Server(h, nil), listener, nil)
}

func listen(out io.Writer) (net.Listener, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err == nil {
		fmt.Fprintf(out, "e2e: listening on http://%s\n", listener.Addr())
	}
	return listener, err
}
