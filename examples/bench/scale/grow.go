package main

// The second measurement: the cost of a request as the table grows, for each store. A cost that does
// not depend on the number of rows is a level line. It is the processor time of this process, which
// includes SQLite but not PostgreSQL, and therefore the elapsed time for PostgreSQL.

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/stoa-go/stoa/examples/bench/internal/measure"
	"github.com/stoa-go/stoa/examples/bench/internal/report"
	"github.com/stoa-go/stoa/query"
	"github.com/stoa-go/stoa/resource"
	"github.com/stoa-go/stoa/resource/memory"
	"github.com/stoa-go/stoa/resource/patch"
	"github.com/stoa-go/stoa/resource/rest"
)

// request is a kind of request that is measured at each size. make returns one for a random row.
type request struct {
	name string
	make func(ctx context.Context, rng *rand.Rand, rows int) (*http.Request, error)
}

var requests = []request{
	{"GET item at random", func(ctx context.Context, rng *rand.Rand, rows int) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet, randomTown(rng, rows), nil)
	}},
	// The page begins anywhere in the order of an index. Its rows are scattered over the table.
	{"page of 50 by an index", func(ctx context.Context, rng *rand.Rand, rows int) (*http.Request, error) {
		return http.NewRequestWithContext(ctx, http.MethodGet,
			fmt.Sprintf("/towns?population.lt=%d&sort=-population&limit=50", 1+rng.IntN(modulus)), nil)
	}},
	{"PATCH of an indexed member", func(
		ctx context.Context, rng *rand.Rand, rows int,
	) (*http.Request, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodPatch, randomTown(rng, rows),
			strings.NewReader(fmt.Sprintf(`{"population":%d}`, rng.IntN(modulus))))
		if err == nil {
			req.Header.Set("Content-Type", patch.MergeType)
		}
		return req, err
	}},
}

// elapsedPostgreSQL is the store of which the elapsed time is measured.
const elapsedPostgreSQL = "PostgreSQL, elapsed"

func randomTown(rng *rand.Rand, rows int) string { return "/towns/" + strconv.Itoa(1+rng.IntN(rows)) }

// grow measures each request on each store at each size: memory, SQLite, and PostgreSQL if db is its
// URL.
func grow(ctx context.Context, s settings, db string, out io.Writer) (*report.Results, error) {
	stores := []string{"memory", "SQLite"}
	if db != "" {
		stores = append(stores, elapsedPostgreSQL)
	}
	var all [][]report.Curve // by request, then by store
	for _, r := range requests {
		var curves []report.Curve
		for _, store := range stores {
			curves = append(curves, report.Curve{Panel: r.name, Cost: "processor time of a request",
				Size: "rows", Series: store})
		}
		all = append(all, curves)
	}
	fmt.Fprintf(out, "| store | rows | %s | %s | %s |\n|---|--:|--:|--:|--:|\n", requests[0].name,
		requests[1].name, requests[2].name)
	for i, store := range stores {
		for _, rows := range s.sizes {
			times, err := measureStore(ctx, s, store, db, rows)
			if err != nil {
				return nil, fmt.Errorf("%s, %d rows: %w", store, rows, err)
			}
			fmt.Fprintf(out, "| %s | %d |", store, rows)
			for k, t := range times {
				us := float64(t.Nanoseconds()) / 1000
				fmt.Fprintf(out, " %.1f us |", us)
				all[k][i].Points = append(all[k][i].Points, report.Point{Size: rows, Microseconds: us})
			}
			fmt.Fprintln(out)
		}
	}
	results := &report.Results{}
	for _, curves := range all {
		results.Curves = append(results.Curves, curves...)
	}
	return results, nil
}

// measureStore fills a store with rows, measures each request, and removes the rows.
func measureStore(
	ctx context.Context, s settings, store, db string, rows int,
) (times []time.Duration, err error) {
	handler, remove, err := filled(ctx, s, store, db, rows)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, remove()) }()
	runtime.GC() // otherwise the garbage of filling the store would be collected during the first request
	clock := measure.ProcessorTime
	if store == elapsedPostgreSQL {
		began := time.Now()
		clock = func() time.Duration { return time.Since(began) }
	}
	for _, r := range requests {
		rng := rand.New(rand.NewPCG(1, uint64(rows)))
		do := func() error {
			req, err := r.make(ctx, rng, rows)
			if err != nil {
				return err
			}
			w := newSink(true)
			if handler.ServeHTTP(w, req); w.Status != http.StatusOK {
				return fmt.Errorf("%s %s: status %d: %s", req.Method, req.URL, w.Status, w.Body)
			}
			return nil
		}
		each, err := measure.InTurn(rounds, func() (time.Duration, error) {
			return perCallBy(clock, s.round, do)
		})
		if err != nil {
			return nil, err
		}
		times = append(times, measure.Median(each[0], cmp.Compare))
	}
	return times, nil
}

// filled returns a handler over a store with rows. remove removes the rows and closes the store.
func filled(
	ctx context.Context, s settings, store, db string, rows int,
) (handler http.Handler, remove func() error, err error) {
	if store == "memory" {
		handler, err = filledMemory(ctx, rows)
		return handler, func() error { return nil }, err
	}
	// All other tables of the database are those of the user.
	drop := "DROP TABLE towns, towns_deleted"
	if store == "SQLite" {
		db, drop = filepath.Join(s.folder, strconv.Itoa(rows)+".db"), ""
	}
	d, err := open(db)
	if err != nil {
		return nil, nil, err
	}
	remove = func() error {
		if drop == "" {
			return cmp.Or(d.close(), os.Remove(db))
		}
		_, err := d.writer.ExecContext(ctx, drop)
		return cmp.Or(err, d.close())
	}
	if err := d.fill(ctx, rows); err != nil {
		return nil, nil, cmp.Or(err, d.close())
	}
	return d.catalog(), remove, nil
}

// filledMemory returns a handler over the rows that rowsOf generates, in memory.
func filledMemory(ctx context.Context, rows int) (http.Handler, error) {
	towns := memory.New(&memory.Options[town]{Index: []string{"country", "population"}})
	for i := 1; i <= rows; i++ {
		_, err := towns.Create(ctx, town{
			Name:       "Town number " + strconv.Itoa(i),
			Country:    string([]byte{byte('A' + i%26), byte('A' + i/26%26)}),
			Population: int64(i) * 2654435761 % modulus,
		})
		if err != nil {
			return nil, err
		}
	}
	return rest.New(resource.NewCatalog(nil, resource.New("towns", towns, &resource.Options[town]{
		Query: query.Support{
			Filter: map[string][]query.Op{"population": {query.Lt}, "country": {query.Eq}},
			Sort:   []string{"population"},
		},
		Public: true,
	})), nil), nil
}
