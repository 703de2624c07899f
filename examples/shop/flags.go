package main

// The command line. main.go passes the settings to all other files, which read no flags themselves.

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"
	"time"
	"unicode"

	"github.com/stoa-go/stoa/middleware"
	"github.com/stoa-go/stoa/version"
)

// settings are the values of the command line flags. The fields wait, bookmark and patience have no
// flag; tests set them.
type settings struct {
	addr    string
	db      string // memory, a PostgreSQL URL or a SQLite file; "" means a new temporary file
	files   string // "" means a folder next to the database
	places  string // "" means the embedded places
	cache   string // Cache-Control
	auth    bool   // writes require a bearer token
	seed    bool
	verbose bool // the start-up report has all details
	// wait is how long a retry with the same key waits for the first request. 0 means the default
	// of package idempotency.
	wait   time.Duration
	logger *slog.Logger    // requests and errors; nil means slog.Default
	rate   middleware.Rate // requests per window and principal
	// bookmark is the interval between bookmarks of idle streams. 0 means the default of package
	// feed.
	bookmark time.Duration
	now      time.Time // start of the clock for the life cycle; zero means the real clock
	// elsewhere has the contracts that another shop serves, by name.
	elsewhere map[string]version.Contract
	// patience overrides timeouts in tests: GraphQL responses and sockets, logins, and the start of the
	// feed. 0 means the defaults of the shop.
	patience time.Duration
}

// parseFlags reads the command line.
func parseFlags(args []string, output io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8080", "listen `address`; port 0 picks a free port")
	flags.StringVar(&s.places, "places", "",
		"JSON Lines `file` (gzip by suffix) to load instead of the embedded places")
	flags.StringVar(&s.cache, "cache", "private, no-cache", "`value` of Cache-Control for items and lists")
	flags.BoolVar(&s.verbose, "v", false,
		"print the start-up report with all details, such as capabilities of collections")
	flags.BoolVar(&s.seed, "seed", true, "seed an empty database; -seed=false starts empty")
	flags.StringVar(&s.db, "db", "",
		"memory, a SQLite `file`, or postgres://...; default a new file in a temporary folder")
	flags.StringVar(&s.files, "files", "", "`folder` for the content of /files; default next to the database")
	flags.BoolVar(&s.auth, "auth", false,
		"require a bearer token for every write, and let customers see only their own user and orders")
	flags.Func(
		"rate",
		"`rate` limit: requests per window and principal, such as 100/1m; default no limit",
		func(text string) (err error) {
			s.rate, err = middleware.ParseRate(text)
			return err
		},
	)
	flags.Func(
		"now",
		"`time` at start for the life cycle of contracts, in RFC 3339 format; default the real clock",
		func(text string) (err error) {
			s.now, err = parseNow(text)
			return err
		},
	)
	flags.Func("at", "redirect requests for a contract to another shop, `CONTRACT=URL`",
		func(text string) error { return s.setElsewhere(text, false) })
	flags.Func("forward", "forward requests for a contract to another shop, `CONTRACT=URL`",
		func(text string) error { return s.setElsewhere(text, true) })
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	if flags.NArg() > 0 {
		return settings{}, fmt.Errorf("%q is not a flag", flags.Arg(0))
	}
	if strings.ContainsFunc(s.cache, unicode.IsControl) {
		return settings{}, errors.New("-cache contains control characters")
	}
	return s, checkDB(s.db)
}

// setElsewhere parses the value of -at or -forward.
func (s *settings) setElsewhere(text string, proxy bool) error {
	name, at, _ := strings.Cut(text, "=")
	u, err := url.Parse(at)
	switch {
	case name != "1.0.0" && name != "1.1.0":
		return errors.New("the contract is 1.0.0 or 1.1.0")
	case err != nil, u.Scheme != "http" && u.Scheme != "https", u.Host == "", u.User != nil, u.RawQuery != "":
		return errors.New("use CONTRACT=URL, such as 1.0.0=http://api-v1-0.localhost:8081")
	}
	if s.elsewhere == nil {
		s.elsewhere = map[string]version.Contract{}
	}
	s.elsewhere[name] = version.Contract{At: at, Proxy: proxy}
	return nil
}

// parseNow parses the value of -now. A time before the retirement of 0.9.0 is an error. There is no
// handler of 0.9.0 that could be served again.
func parseNow(text string) (time.Time, error) {
	now, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return now, errors.New("the format is RFC 3339, such as 2027-06-30T23:59:59Z")
	}
	if gone := newLifeCycle().retired09; now.Before(gone) {
		return now, fmt.Errorf("the time is before %s, when contract 0.9.0 was still served",
			gone.Format(time.RFC3339))
	}
	return now, nil
}

// checkDB rejects values of -db that would otherwise become an unintended file. It runs before
// anything is opened, so a typing error leaves no file.
func checkDB(db string) error {
	switch {
	case isPostgres(db):
		return nil
	case strings.Contains(db, "://"):
		scheme, _, _ := strings.Cut(db, "://")
		return fmt.Errorf("-db %s:// is not supported; use postgres://, a SQLite file or memory", scheme)
	case db == ":memory:":
		return errors.New("-db :memory: would open a database for each connection; use -db memory")
	}
	return nil
}
