package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// settings are what the shop was told on its command line.
type settings struct {
	addr   string
	places string // a file; "" is the embedded ones
	cache  string // Cache-Control
	seed   bool
}

// parseFlags reads the command line. What the shop is to understand one day and does not yet is an error that says
// what it waits for: a flag that was ignored would be believed.
func parseFlags(args []string, output io.Writer) (settings, error) {
	var s settings
	flags := flag.NewFlagSet("shop", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.StringVar(&s.addr, "addr", "127.0.0.1:8080", "listen `address`; port 0 picks one")
	flags.StringVar(&s.places, "places", "", "JSON Lines `file` (gzip by suffix) to load instead of the embedded places")
	flags.StringVar(&s.cache, "cache", "private, no-cache", "Cache-Control for items and lists")
	flags.BoolVar(&s.seed, "seed", true, "false: start empty")
	db := flags.String("db", "memory", "memory; SQLite files and postgres:// are not there yet")
	files := flags.String("files", "", "not there yet")
	auth := flags.Bool("auth", false, "not there yet")
	rate := flags.String("rate", "", "not there yet")
	now := flags.String("now", "", "not there yet")
	if err := flags.Parse(args); err != nil {
		return settings{}, err
	}
	if flags.NArg() > 0 {
		return settings{}, fmt.Errorf("%q is no flag", flags.Arg(0))
	}
	if strings.ContainsFunc(s.cache, unicode.IsControl) {
		return settings{}, errors.New("-cache cannot be a header: it has control characters")
	}
	return s, errors.Join(
		notYet(*db != "memory", "-db "+*db, "SQL tables (package resource/sqltable); there is -db memory"),
		notYet(*files != "", "-files", "binary resources (package resource/files)"),
		notYet(*auth, "-auth", "the command auth/login and the bearer tokens of package middleware"),
		notYet(*rate != "", "-rate", "the limits of package middleware"),
		notYet(*now != "", "-now", "the life cycle of contracts (package version), whose dates it is for"),
	)
}

func notYet(asked bool, name, needs string) error {
	if !asked {
		return nil
	}
	return fmt.Errorf("%s is not there yet: it waits for %s", name, needs)
}
