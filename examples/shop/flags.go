package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/stoa-go/stoa/middleware"
)

// settings are what the shop was told on its command line.
type settings struct {
	addr    string
	db      string // memory, a URL of PostgreSQL or a SQLite file; "" is a new one in a temporary folder
	files   string // a folder; "" is one beside the database
	places  string // a file; "" is the embedded ones
	cache   string // Cache-Control
	auth    bool   // who writes says who they are
	seed    bool
	verbose bool            // the start-up report has all details
	wait    time.Duration   // for the first of several copies, by keys; zero is what package idempotency says
	logger  *slog.Logger    // of requests and of what goes wrong; nil is the default one
	rate    middleware.Rate // how often one principal may ask
	// bookmark is how often those who listen are told how far they have come; zero is what package feed says.
	bookmark time.Duration
	now      time.Time     // what the clock of the life cycle shows at the start; zero is the present
	patience time.Duration // of tests, for answers and sockets in GraphQL and for the feed when the shop opens; zero is what the shop has
}

// parseFlags reads the command line.
func parseFlags(args []string, output io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8080", "listen `address`; port 0 picks one")
	flags.StringVar(&s.places, "places", "", "JSON Lines `file` (gzip by suffix) to load instead of the embedded places")
	flags.StringVar(&s.cache, "cache", "private, no-cache", "Cache-Control for items and lists")
	flags.BoolVar(&s.verbose, "v", false, "print the start-up report with all details, such as capabilities of collections")
	flags.BoolVar(&s.seed, "seed", true, "false: start empty")
	flags.StringVar(&s.db, "db", "", "memory, a SQLite `file`, or postgres://...; a new file in a temporary folder if empty")
	flags.StringVar(&s.files, "files", "", "`folder` for the bytes of files; beside the database if empty")
	flags.BoolVar(&s.auth, "auth", false, "whoever writes must have logged in, and customers see only their own orders")
	flags.Func("rate", "a `rate`, such as 100/1m: requests per window and principal; off if it is not given", func(text string) (err error) {
		s.rate, err = middleware.ParseRate(text)
		return err
	})
	flags.Func("now", "`time` (RFC 3339) that it is at the start for the life cycle of contracts; the clock goes on from there",
		func(text string) (err error) {
			s.now, err = parseNow(text)
			return err
		})
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	if flags.NArg() > 0 {
		return settings{}, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if strings.ContainsFunc(s.cache, unicode.IsControl) {
		return settings{}, errors.New("-cache cannot be a header: it has control characters")
	}
	return s, checkDB(s.db)
}

// parseNow reads an instant. There is no going back to contracts that are not there any more.
func parseNow(text string) (time.Time, error) {
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return now, errors.New("a time is written like 2027-06-30T23:59:59Z")
	}
	if gone := newLifeCycle().retired09; now.Before(gone) {
		return now, fmt.Errorf("before %s there was the contract 0.9.0, which nobody can serve any more",
			gone.Format(time.RFC3339))
	}
	return now, nil
}

// checkDB refuses what would otherwise become a file of an odd name.
func checkDB(db string) error {
	switch {
	case isPostgres(db):
		return nil
	case strings.Contains(db, "://"):
		scheme, _, _ := strings.Cut(db, "://")
		return fmt.Errorf("-db %s:// is no database that the shop knows: there are postgres://, SQLite files and memory", scheme)
	case db == ":memory:":
		return errors.New("-db :memory: would be a database for each connection: there is -db memory")
	}
	return nil
}
