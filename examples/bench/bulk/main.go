// Command bulk measures how long the shop takes to import places over HTTP, beside a program that inserts them by hand:
//
//	go run -C examples/bench ./bulk -places FILE                         into new SQLite files
//	go run -C examples/bench ./bulk -places FILE -db 'postgres:///...'   into new databases of that server
//
// FILE is JSON Lines, with the suffix .gz if it is compressed. The shop reads, checks and stores each place as it would
// one that comes alone. By hand they are decoded by encoding/json and inserted by a prepared statement of 500 rows, in
// transactions of as many, into the table that the shop has made, with all of its indexes; nothing is checked.
//
// shop.go is the process that is measured, hand.go its rival and target.go where both write.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bulk:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	flags := flag.NewFlagSet("bulk", flag.ContinueOnError)
	file := flags.String("places", "", "JSON Lines `file`")
	db := flags.String("db", "", "postgres://... of a server; SQLite if empty")
	rounds := flags.Int("rounds", 3, "of both in turn")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 || *file == "" || *rounds < 1 {
		return errors.New("want -places FILE")
	}
	lines, err := readLines(*file)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "bulk")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := buildShop(ctx, dir)
	if err != nil {
		return err
	}
	t, err := newTarget(ctx, *db, dir)
	if err != nil {
		return err
	}
	defer t.close()
	return measure(ctx, s, t, lines, *rounds, out)
}

func readLines(file string) ([]byte, error) {
	content, err := os.ReadFile(file)
	if err != nil || !strings.HasSuffix(file, ".gz") {
		return content, err
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(unzipped)
}

// budget is how much longer the shop may take.
const budget = 2.0

// measure prints a row of a table. Each round has databases of its own, and the medians count.
func measure(ctx context.Context, s shop, t *target, lines []byte, rounds int, out io.Writer) error {
	var byShop, byHand []time.Duration
	var rows int
	for range rounds {
		took, n, err := s.importInto(ctx, t, lines)
		if err != nil {
			return fmt.Errorf("the shop: %w", err)
		}
		byShop = append(byShop, took)
		took, rows, err = s.insertByHand(ctx, t, lines)
		if err != nil {
			return fmt.Errorf("by hand: %w", err)
		}
		byHand = append(byHand, took)
		if n != rows {
			return fmt.Errorf("the shop imported %d places, and by hand there are %d", n, rows)
		}
	}
	shop, hand := median(byShop), median(byHand)
	ratio := float64(shop) / float64(hand)
	perSecond := func(d time.Duration) float64 { return float64(rows) / d.Seconds() }
	fmt.Fprint(out, "| database | places | by HTTP | rows/s | by hand | rows/s | ratio | budget |\n|---|--:|--:|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(out, "| %s | %d | %.1f s | %.0f | %.1f s | %.0f | %.2fx | %.1fx |\n", t.name, rows, shop.Seconds(), perSecond(shop),
		hand.Seconds(), perSecond(hand), ratio, budget)
	if ratio > budget {
		return errBudget
	}
	return nil
}

var errBudget = errors.New("the import takes longer than it should")

func median(times []time.Duration) time.Duration {
	slices.Sort(times)
	return times[len(times)/2]
}
