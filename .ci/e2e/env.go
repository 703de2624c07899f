package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
		server, err := e.startDatabase(ctx, "../postgres")
		if err != nil {
			return "", err
		}
		e.postgres = server
	}
	source, err := e.postgres.Create(ctx)
	if err != nil || e.pool == nil {
		return source, err
	}
	return e.pool(source)
}

// startDatabase starts a server by a script.
func (e *env) startDatabase(ctx context.Context, script string) (*database.Server, error) {
	path, err := filepath.Abs(script)
	if err != nil {
		return nil, err
	}
	server, err := database.StartServer(ctx, path)
	if err == nil {
		e.closers = append(e.closers, func() { server.Stop() })
	}
	return server, err
}

// shop begins the command of the shop, and others that of a server under test.
const shop = "shop"

// startNodes starts n nodes of a command, which is shop or the kind of a server under test, and flags. prepare, if not
// nil, sets the fields of the fleet first.
func (e *env) startNodes(ctx context.Context, n int, prepare func(f *fleet.Fleet), command ...string) (*fleet.Fleet, error) {
	program := []string{os.Args[0], "server", command[0]}
	if command[0] == shop {
		file, err := e.buildShop(ctx)
		if err != nil {
			return nil, err
		}
		program = []string{file, "-addr", "127.0.0.1:0"}
	}
	f := fleet.New(n, e.log, append(program, command[1:]...)...)
	if prepare != nil {
		prepare(f)
	}
	e.closers = append(e.closers, f.KillAll)
	return f, f.Start(ctx)
}

// buildShop returns the program of the shop, which is built first unless -shop names one.
func (e *env) buildShop(ctx context.Context) (file string, err error) {
	if e.shopFile == "" {
		e.shopFile, err = e.build(ctx, shop)
	}
	return e.shopFile, err
}

// build builds a program of examples.
func (e *env) build(ctx context.Context, name string) (file string, err error) {
	file = filepath.Join(e.dir, name)
	cmd := exec.CommandContext(ctx, "go", "build", "-C", "../../examples", "-buildvcs=false", "-o", file, "./"+name)
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return file, nil
}

// install installs packages of Debian unless all programs are there. Some are where only root looks for programs.
func install(ctx context.Context, programs []string, packages ...string) error {
	os.Setenv("PATH", os.Getenv("PATH")+":/usr/local/sbin:/usr/sbin:/sbin")
	missing := func(program string) bool {
		_, err := exec.LookPath(program)
		return err != nil
	}
	if !slices.ContainsFunc(programs, missing) {
		return nil
	}
	if out, err := exec.CommandContext(ctx, "../apt", packages...).CombinedOutput(); err != nil {
		return fmt.Errorf("cannot install %v: %w\n%s", packages, err, out)
	}
	return nil
}
