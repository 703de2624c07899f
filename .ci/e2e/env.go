package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/stoa-go/stoa/ci/e2e/database"
	"github.com/stoa-go/stoa/ci/e2e/fleet"
)

// env is what a scenario gets. It starts what is needed, and ends all of it in close.
type env struct {
	out      io.Writer
	seed     uint64
	full     bool
	scale    int    // of feed-scale
	shopFile string // program of the shop; empty until it is built

	dir       string
	log       *os.File // stderr of all nodes
	postgres  *database.Server
	pool      func(source string) (string, error) // the URL at a pooler; nil if nodes connect directly
	databases int
	closers   []func()
}

// open makes the folder of an env, which is temporary if dir is empty.
func (e *env) open(dir string) (err error) {
	if e.dir = dir; dir == "" {
		if e.dir, err = os.MkdirTemp("", "e2e"); err != nil {
			return err
		}
		e.closers = append(e.closers, func() { os.RemoveAll(e.dir) })
		if err := os.Chmod(e.dir, 0o711); err != nil { // Squid, which is not root, has a folder in it
			return err
		}
	}
	e.log, err = os.OpenFile(filepath.Join(e.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	return err
}

// close ends everything that was started, the last first.
func (e *env) close() {
	for len(e.closers) > 0 {
		last := len(e.closers) - 1
		e.closers[last]()
		e.closers = e.closers[:last]
	}
	e.log.Close() // fails if it is closed already
}

func (e *env) logTail(lines int) string {
	text, _ := os.ReadFile(e.log.Name())
	all := strings.SplitAfter(string(text), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "")
}

// size returns the number for the size of the run.
func size[T any](e *env, short, full T) T {
	if e.full {
		return full
	}
	return short
}

// random returns a source of random values for one participant.
func (e *env) random(part uint64) *rand.Rand { return rand.New(rand.NewPCG(e.seed, part)) }

// Participants that are not writers, which have the numbers from 0.
const (
	faultPart = 1<<32 + iota
	checkPart
	subscriberPart
)

// Engines of databases.
const (
	sqlite   = "SQLite"
	postgres = "PostgreSQL"
)

// newDatabase creates a database and returns its source.
func (e *env) newDatabase(ctx context.Context, engine string) (string, error) {
	if engine == sqlite {
		e.databases++
		return filepath.Join(e.dir, fmt.Sprint(e.databases, ".db")), nil
	}
	if e.postgres == nil {
		script, err := filepath.Abs("../postgres")
		if err != nil {
			return "", err
		}
		server, err := database.StartServer(ctx, script)
		if err != nil {
			return "", err
		}
		e.postgres = server
		e.closers = append(e.closers, func() { server.Stop() })
	}
	source, err := e.postgres.Create(ctx)
	if err != nil || e.pool == nil {
		return source, err
	}
	return e.pool(source)
}

// start starts n nodes of a command. prepare, if not nil, sets the fields of the fleet first.
func (e *env) start(ctx context.Context, n int, prepare func(f *fleet.Fleet), command ...string) (*fleet.Fleet, error) {
	f := fleet.New(n, e.log, command...)
	if prepare != nil {
		prepare(f)
	}
	e.closers = append(e.closers, f.KillAll)
	return f, f.Start(ctx)
}

// startServer starts n nodes of a server under test.
func (e *env) startServer(ctx context.Context, n int, prepare func(f *fleet.Fleet), kind string, flags ...string) (*fleet.Fleet, error) {
	return e.start(ctx, n, prepare, append([]string{os.Args[0], "server", kind}, flags...)...)
}

// startShop starts n nodes of the shop, which is built first unless -shop names a program.
func (e *env) startShop(ctx context.Context, n int, flags ...string) (*fleet.Fleet, error) {
	if e.shopFile == "" {
		file := filepath.Join(e.dir, "shop")
		cmd := exec.CommandContext(ctx, "go", "build", "-C", "../../examples", "-buildvcs=false", "-o", file, "./shop")
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("go build: %w\n%s", err, out)
		}
		e.shopFile = file
	}
	return e.start(ctx, n, nil, append([]string{e.shopFile, "-addr", "127.0.0.1:0"}, flags...)...)
}

// nodes is the number of nodes that share a database: a file of SQLite has one.
func nodes(engine string) int {
	if engine == sqlite {
		return 1
	}
	return 3
}

// crash returns a fault that crashes PostgreSQL.
func (e *env) crash(ctx context.Context, _ *rand.Rand) error {
	return errors.Join(ctx.Err(), e.postgres.Crash(ctx))
}
